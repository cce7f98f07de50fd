"""Grain of a noisy picture, measured and removed before text is detected."""

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]

NOISY = 6.0
"""Least noise to remove, in greys of 255: scans and photographs have less and lose by smoothing."""
_STRENGTH = 1.2
"""Difference at which greys count as the same, as a multiple of the noise."""
_PATCH, _WINDOW = 3, 9
"""Pixels of a patch, and of the window in which similar patches are averaged."""
_SHARPEN, _RADIUS = 0.6, 2.0


def noise(grey: Pixels) -> float:
    """Return the standard deviation of a picture's grain, in greys.

    Measured on the residual of each pixel against its neighbours, which on most of a page is noise
    alone (J. Immerkær, Fast Noise Variance Estimation, 1996); the median ignores the text.
    """
    kernel = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32)
    rest = cv2.filter2D(grey, cv2.CV_32F, kernel)
    # Median absolute deviation in greys; the kernel multiplies it by six.
    return float(np.median(np.abs(rest))) / 0.6745 / 6


def without_noise(picture: Pixels) -> Pixels:
    """Remove the grain of a BGR picture, and its colours, if it has much."""
    grey = np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), np.uint8)
    grain = noise(grey)
    if grain < NOISY:
        return picture
    smooth = cv2.fastNlMeansDenoising(grey, None, _STRENGTH * grain, _PATCH, _WINDOW)
    blurred = cv2.GaussianBlur(smooth, (0, 0), _RADIUS)
    sharp = cv2.addWeighted(smooth, 1 + _SHARPEN, blurred, -_SHARPEN, 0)
    return np.asarray(cv2.cvtColor(sharp, cv2.COLOR_GRAY2BGR), np.uint8)
