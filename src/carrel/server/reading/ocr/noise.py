"""The grain of a noisy picture, measured and taken away before text is looked for."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy import uint8
    from numpy.typing import NDArray

    Pixels = NDArray[uint8]

_NOISY = 6.0
"""Greys, of 255. Scanned paper and photographs have less, and lose by smoothing."""
_STRENGTH = 1.2
"""How far greys may differ to be taken for the same, as a multiple of the noise."""
_PATCH, _WINDOW = 3, 9
"""Pixels. Places that look alike are averaged, if they lie within the window."""
_SHARPEN, _RADIUS = 0.6, 2.0


def noise(grey: "Pixels") -> float:
    """The standard deviation of the grain of a picture, in greys.

    What is left of it is what no neighbour explains, which on most of a page is noise alone
    (J. Immerkær, Fast Noise Variance Estimation, 1996); the median does not see the text.
    """
    import cv2
    import numpy as np

    kernel = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32)
    rest = cv2.filter2D(grey, cv2.CV_32F, kernel)
    # A mean deviation in greys; the kernel makes it six times larger.
    return float(np.median(np.abs(rest))) / 0.6745 / 6


def without_noise(picture: "Pixels") -> "Pixels":
    """A picture of blue, green and red, in greys and without its grain if it has much."""
    import cv2
    import numpy as np

    grey = np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), np.uint8)
    grain = noise(grey)
    if grain < _NOISY:
        return picture
    smooth = cv2.fastNlMeansDenoising(grey, None, _STRENGTH * grain, _PATCH, _WINDOW)
    blurred = cv2.GaussianBlur(smooth, (0, 0), _RADIUS)
    sharp = cv2.addWeighted(smooth, 1 + _SHARPEN, blurred, -_SHARPEN, 0)
    return np.asarray(cv2.cvtColor(sharp, cv2.COLOR_GRAY2BGR), np.uint8)
