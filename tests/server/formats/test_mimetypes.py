"""What a file is, from its bytes."""

import io
import zipfile
from pathlib import Path

import pytest

from carrel.server.formats.mimetypes import sniff

OFFICE = "application/vnd.openxmlformats-officedocument"


def archive(*names: str, mimetype: str | None = None) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        if mimetype is not None:
            file.writestr(zipfile.ZipInfo("mimetype"), mimetype)
        for name in names:
            file.writestr(zipfile.ZipInfo(name), "content")
    return buffer.getvalue()


def compound(*streams: str) -> bytes:
    """An old office file whose directory, in its second sector, names some streams."""
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".ljust(30, b"\0") + b"\x09\0"
    directory = b"".join(name.encode("utf-16-le").ljust(128, b"\0") for name in streams)
    start = head.ljust(48, b"\0") + (1).to_bytes(4, "little")
    # What is embedded stands before the directory, too.
    return start.ljust(512, b"\0") + "WordDocument".encode("utf-16-le").ljust(512) + directory


@pytest.mark.parametrize(
    ("data", "filename", "expected"),
    [
        (b"%PDF-1.7\n", "x", ("application/pdf", "pdf")),
        (b"\n\n%PDF-1.7\n", "report.txt", ("application/pdf", "pdf")),
        (b"\x89PNG\r\n\x1a\n", "x.jpg", ("image/png", "png")),
        (b"\xff\xd8\xff\xe0", "scan", ("image/jpeg", "jpg")),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "x", ("image/webp", "webp")),
        (b"II*\x00", "x", ("image/tiff", "tiff")),
        (
            archive("[Content_Types].xml", "word/document.xml"),
            "letter",
            (f"{OFFICE}.wordprocessingml.document", "docx"),
        ),
        (
            archive("[Content_Types].xml", "ppt/presentation.xml"),
            "x.zip",
            (f"{OFFICE}.presentationml.presentation", "pptx"),
        ),
        (
            archive("[Content_Types].xml", "xl/workbook.xml"),
            "x",
            (f"{OFFICE}.spreadsheetml.sheet", "xlsx"),
        ),
        (
            archive("content.xml", mimetype="application/vnd.oasis.opendocument.text"),
            "x",
            ("application/vnd.oasis.opendocument.text", "odt"),
        ),
        (archive("word.txt"), "letter.docx", ("application/zip", "zip")),
        (b"PK\x03\x04 cut short", "x.docx", ("application/zip", "zip")),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old.doc", ("application/msword", "doc")),
        (
            compound("Root Entry", "Workbook", "MBD1", "WordDocument"),
            "x",
            ("application/vnd.ms-excel", "xls"),
        ),
        (compound("Root Entry", "Book"), "x", ("application/vnd.ms-excel", "xls")),
        (compound("Root Entry", "WORKBOOK"), "x", ("application/vnd.ms-excel", "xls")),
        (
            archive("[content_types].xml", "xl\\workbook.xml"),
            "x",
            (f"{OFFICE}.spreadsheetml.sheet", "xlsx"),
        ),
        (b"# Title\n", "notes.md", ("text/markdown", "md")),
        (b'{"a": 1}\n', "rows.jsonl", ("application/jsonl", "jsonl")),
        (b"<!DOCTYPE html><p>x", "page", ("text/html", "html")),
        (b"plain", "noextension", ("text/plain", "txt")),
        (b"BM\x36\x00\x00\x00\x00\x00\x00\x00\x36", "x", ("image/bmp", "bmp")),
        (b"BMW, maker of cars", "cars.txt", ("text/plain", "txt")),
        ("grüße".encode(), "a.txt", ("text/plain", "txt")),
        (b"", "empty.txt", ("text/plain", "txt")),
        (b"\x00\x01\x02", "x.txt", ("application/octet-stream", "txt")),
        (b"caf\xe9 latin", "x", ("application/octet-stream", "")),
        (b"caf\xe9;latin", "x.csv", ("text/csv", "csv")),
        (b"caf\xe9\x01", "x.csv", ("application/octet-stream", "csv")),
        (b"<!doctype html><p>x", "page.txt", ("text/html", "html")),
        (b"<html> is a tag\n", "notes.md", ("text/markdown", "md")),
        (b"From: a@b.example\nSubject: x\n\nHi", "letter.txt", ("message/rfc822", "eml")),
        (b"From: the start\nit was clear", "x.txt", ("text/plain", "txt")),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "Workbook".encode("utf-16-le"),
            "x.doc",
            ("application/vnd.ms-excel", "xls"),
        ),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else str(value)[:8],
)
def test_the_content_decides(
    tmp_path: Path, data: bytes, filename: str, expected: tuple[str, str]
) -> None:
    path = tmp_path / "blob"
    path.write_bytes(data)
    assert sniff(path, filename) == expected


def test_a_character_cut_by_the_end_of_the_sample_is_still_text(tmp_path: Path) -> None:
    path = tmp_path / "blob"
    path.write_bytes(b"a" * 8191 + "é".encode() * 10)
    assert sniff(path, "x.txt").mimetype == "text/plain"
