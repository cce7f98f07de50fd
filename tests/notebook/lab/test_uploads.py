"""Uploads through a real JupyterLab: a large one that arrives whole, and one that is stopped."""

import hashlib
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from support.lab import Notebook, run_cell
from support.rounds import rounds

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.timeout(600)]

MIB = 1 << 20
LARGEST = 512_000_000
"""Bytes that a file may have."""
SLOW_MS = 300_000


@pytest.fixture
def files(notebook: Notebook) -> Locator:
    """A Files panel; a second cell tells the hash of the newest file."""
    page = notebook(
        "import carrel, hashlib\nfrom pathlib import Path\nbench = carrel.connect()\nbench.files",
        "newest = bench.client.files.list().data[0]\n"
        "bench.client.files.download(newest.id, Path('back.bin'))\n"
        "print(newest.filename, hashlib.file_digest(open('back.bin', 'rb'), 'sha256').hexdigest())",
    )
    return page.get_by_role("region", name="Files")


def random_file(path: Path, size: int) -> str:
    """Writes bytes that repeat nowhere; gives their hash."""
    digest = hashlib.sha256()
    with path.open("wb") as file, Path("/dev/urandom").open("rb") as source:
        while size:
            block = source.read(min(size, MIB))
            size -= len(block)
            digest.update(block)
            file.write(block)
    return digest.hexdigest()


@pytest.mark.soak
def test_a_large_upload_arrives_whole(files: Locator, tmp_path: Path) -> None:
    size = rounds(24 * MIB, LARGEST)
    digest = random_file(tmp_path / "large.bin", size)
    files.get_by_label("Files to upload").set_input_files(tmp_path / "large.bin")
    expect(files.get_by_role("list", name="Under way")).to_contain_text("large.bin")
    expect(files.get_by_role("row", name="large.bin")).to_be_visible(timeout=SLOW_MS)
    expect(files.get_by_role("list", name="Under way")).to_be_hidden()
    run_cell(files.page, 1)
    expect(files.page.get_by_text(f"large.bin {digest}")).to_be_visible()


def test_an_upload_that_is_stopped_leaves_nothing(files: Locator, tmp_path: Path) -> None:
    with (tmp_path / "stopped.bin").open("wb") as file:
        file.truncate(LARGEST)
    files.get_by_label("Files to upload").set_input_files(tmp_path / "stopped.bin")
    files.get_by_role("button", name="Stop stopped.bin").click()
    expect(files.get_by_role("list", name="Under way")).to_be_hidden(timeout=30_000)
    expect(files.get_by_role("row", name="stopped.bin")).to_have_count(0)
    (tmp_path / "after.txt").write_text("the next one goes up")
    files.get_by_label("Files to upload").set_input_files(tmp_path / "after.txt")
    expect(files.get_by_role("row", name="after.txt")).to_be_visible(timeout=30_000)
    expect(files.get_by_role("row", name="stopped.bin")).to_have_count(0)
