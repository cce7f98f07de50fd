"""The copies that read documents find their reader imported."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.documents import digital_pdf, docx

# A process of its own: this one has imported everything.
_READ = """
import sys
from pathlib import Path
from carrel.server.reading import parser
from carrel.server.reading.options import ReadOptions
path, mimetype = Path(sys.argv[1]), sys.argv[2]
parser._prepare(mimetype)
before = set(sys.modules)
with parser._open(path, mimetype) as document:
    rest = () if mimetype.startswith(("text/", "application/vnd")) else (None,)
    for page in document.pages(ReadOptions(), *rest):
        assert "Heron" in page.markdown
print(*{name.split(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names))
"""
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@pytest.mark.parametrize(
    "mimetype",
    ["text/plain", "text/markdown", "text/html", "text/csv", "application/pdf", _WORD],
)
def test_a_copy_imports_no_library(tmp_path: Path, mimetype: str) -> None:
    path = tmp_path / "document"
    if mimetype == "application/pdf":
        digital_pdf(path, text="Heron")
    elif mimetype == _WORD:
        docx(path, "Heron")
    else:
        path.write_text("Heron,egret\n1,2\n")
    done = subprocess.run(
        [sys.executable, "-c", _READ, str(path), mimetype], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert not done.stdout.split()


@pytest.mark.parametrize("mimetype", ["application/pdf", "image/png"])
def test_what_finds_text_in_pictures_is_there(mimetype: str) -> None:
    read = f"import sys\nfrom carrel.server.reading import parser\nparser._prepare({mimetype!r})"
    done = subprocess.run([sys.executable, "-c", f"{read}\nprint('cv2' in sys.modules)"],
                          capture_output=True, text=True)  # fmt: skip
    assert done.stdout.strip() == "True", done.stderr
