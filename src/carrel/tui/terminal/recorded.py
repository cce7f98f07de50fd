"""A terminal driver that records its output."""

from textual.driver import Driver

from carrel.recording.recorder import Recorder


def record_driver(driver: type[Driver], recorder: Recorder) -> type[Driver]:
    """Return the driver, extended to record everything that the app draws."""

    class Recorded(driver):  # type: ignore[misc,valid-type]
        def write(self, data: str) -> None:
            recorder.output(data)
            super().write(data)

    return Recorded
