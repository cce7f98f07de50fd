"""Attachments of a question: found by name, sent as signed URLs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.store.chat.conversation import Attachment

if TYPE_CHECKING:
    from carrel.client import Client
    from carrel.wire.generation.content import ContentChunk

FOUND = 8
"""Number of suggestions while a name is typed."""
HOURS = 1
"""Validity of a file's signed URL in hours."""

_MENTION = re.compile(r'(?<!\S)@(?:"([^"\n]+)"|(\S+))')
_PUNCTUATION = ".,;:!?)]}»"


def mentions(text: str) -> tuple[str, ...]:
    """Return the distinct names after an `@` in a question: `@lease.pdf`, `@"a b.pdf"`."""
    return tuple(dict.fromkeys(quoted or plain for quoted, plain in _MENTION.findall(text)))


def as_mention(name: str) -> str:
    """Return a name as an `@` mention."""
    return f'@"{name}"' if re.search(r"\s", name) else f"@{name}"


def local_path(name: str) -> Path | None:
    """Return the local file of a name with a folder part, or None if there is none."""
    if not name.startswith(("/", "~", "./", "../")):
        return None
    try:
        path = Path(name).expanduser()
        return path if path.is_file() else None
    except (OSError, RuntimeError, ValueError):
        return None


async def names_like(
    client: Client, text: str, library_ids: Iterable[str] = ()
) -> tuple[Attachment, ...]:
    """Return the files, and the documents of these libraries, whose names contain `text`."""
    found: list[Attachment] = []
    for library_id in library_ids:
        documents = await client.documents.list(library_id, search=text or None, page_size=FOUND)
        found += (Attachment("document", one.id, one.name, library_id) for one in documents.data)
    files = await client.files.list(search=text or None, page_size=FOUND, include_total=False)
    found += (Attachment("file", one.id, one.filename) for one in files.data)
    wanted = text.casefold()
    return tuple(one for one in found if wanted in one.name.casefold())[:FOUND]


async def find_named(
    client: Client, name: str, library_ids: Iterable[str] = ()
) -> Attachment | None:
    """Return the document or file with exactly this name, or None.

    Punctuation at the end may belong to the sentence and is then ignored.
    """
    ids = tuple(library_ids)
    for wanted in dict.fromkeys((name, name.rstrip(_PUNCTUATION))):
        for one in await names_like(client, wanted, ids) if wanted else ():
            if one.name == wanted:
                return one
    return None


async def chunk(client: Client, attachment: Attachment) -> ContentChunk:
    """Return an attachment as a content chunk of a message.

    Its URL is signed anew each time, because it expires.
    """
    from carrel.wire.generation.content import DocumentURLChunk, ImageURLChunk

    if attachment.kind == "file":
        url = (await client.files.url(attachment.id, HOURS)).url
    else:
        url = await client.documents.url(attachment.library_id or "", attachment.id)
    if attachment.is_picture:
        return ImageURLChunk(image_url=url)
    return DocumentURLChunk(document_url=url, document_name=attachment.name)
