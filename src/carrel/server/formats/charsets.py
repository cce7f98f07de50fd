"""The character set of a text file, from its bytes."""

SAMPLE_BYTES = 8192
"""Bytes at the beginning by which a text is judged."""
_MARKS = (
    (b"\xff\xfe\x00\x00", "utf-32"),  # before UTF-16, whose mark it begins with
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_ZEROS = 0.3
"""Share of zero bytes at every second place of UTF-16; the others have nearly none."""
_FOREIGN, _ENOUGH = 0.2, 8
"""Share and number of bytes above ASCII, over which a text is not in a western language."""
_LEGACY = [
    *("cp932", "gb18030", "big5", "cp949"),
    *("cp1250", "cp1251", "koi8_r", "cp1253", "cp1256"),
]


def unicode_of(data: bytes) -> str | None:
    """Return the Unicode encoding of a text by Python's name, or None if it is not Unicode."""
    head = data[:SAMPLE_BYTES]
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    if b"\x00" in head:
        return _detect_unmarked(head)
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        # A character cut by the end of the sample is still valid text.
        if len(head) < SAMPLE_BYTES or error.start <= len(head) - 4:
            return None
    return "utf-8-sig"


def _detect_unmarked(head: bytes) -> str | None:
    """Return the encoding of UTF-16 without a byte order mark: every other byte is mostly zero."""
    if len(head) % 2:
        return None
    places = len(head) // 2
    big, little = head[::2].count(0) / places, head[1::2].count(0) / places
    if max(big, little) < _ZEROS or min(big, little) > _ZEROS / 10:
        return None
    name = "utf-16-be" if big > little else "utf-16-le"
    try:
        text = head.decode(name)
    except UnicodeDecodeError as error:
        text = head[: error.start].decode(name) if error.start >= len(head) - 2 else "\x00"
    return name if all(letter.isprintable() or letter.isspace() for letter in text) else None


def decode_text(data: bytes) -> str:
    """Decode a text file from Unicode, else from the character set that its bytes suggest.

    Text with few bytes above ASCII is Windows-1252.
    """
    if (name := unicode_of(data)) is not None:
        try:
            return data.decode(name, "strict" if name == "utf-8-sig" else "replace")
        except UnicodeDecodeError:
            pass
    return data.decode(_legacy(data), "replace")


def paragraphs(text: str) -> list[str]:
    """Split plain text at its empty lines, otherwise unchanged."""
    parts = text.replace("\r\n", "\n").replace("\r", "\n").split("\n\n")
    return [part.strip("\n").rstrip() for part in parts if part.strip()]


def _legacy(data: bytes) -> str:
    foreign = sum(byte > 0x7F for byte in data[: 8 * SAMPLE_BYTES])
    letters = sum(byte > 0x20 for byte in data[: 8 * SAMPLE_BYTES])
    if foreign >= max(_ENOUGH, _FOREIGN * letters):
        from charset_normalizer import from_bytes

        if best := from_bytes(data, cp_isolation=_LEGACY).best():
            return best.encoding
    return "cp1252"
