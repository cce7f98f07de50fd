import logging
from pathlib import Path

from carrel.store.core import logs


def test_the_log_is_in_the_state_folder_and_has_no_secrets(home: Path) -> None:
    path = logs.start()
    assert path is not None and path.is_relative_to(home)
    assert logs.start() == path
    logging.getLogger("carrel.store").warning("GET http://host/signed/s3cr3t failed")
    text = path.read_text()
    assert text.count("GET http://host/signed/… failed") == 1
    assert "s3cr3t" not in text


def test_without_a_folder_to_write_to_there_is_no_log(home: Path) -> None:
    (home / "state").write_text("in the way")
    assert logs.start() is None
