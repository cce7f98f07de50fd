"""Messages to parts: headers, body, and the names of attachments."""

import email
import email.policy
from email.message import EmailMessage
from typing import Any

from carrel.server.formats.charsets import decode_text, paragraphs, unicode_of
from carrel.server.reading.markdown.inline import escaped
from carrel.server.reading.markdown.scored_text import ScoredText
from carrel.server.reading.office.parts import Part, text_part
from carrel.server.reading.office.web.html import parts_of_html

_HEADERS = ("From", "To", "Cc", "Date")
_DEPTH = 5
"""Levels of messages attached to messages that are read."""


def mail_page(data: bytes) -> list[Part]:
    """Return the parts of one message, and of the messages attached to it."""
    if unicode_of(data) not in (None, "utf-8-sig"):
        data = decode_text(data).encode()
    return _message(email.message_from_bytes(data, policy=email.policy.default), 1)


def _message(message: EmailMessage, level: int) -> list[Part]:
    parts = []
    if subject := _plain(message.get("Subject")):
        parts.append(text_part("title", escaped(subject, line_start=False), f"{'#' * level} "))
    head = [(name, text) for name in _HEADERS if (text := _plain(message.get(name)))]
    names = (_plain(part.get_filename()) for part in message.iter_attachments())
    head += [("Attached", name) for name in names if name]
    if head:
        listed = ScoredText()
        for name, value in head:
            listed.syntax("\n- **" if listed.length else "- **")
            listed.content(f"{name}:", ())
            listed.syntax("** ")
            listed.content(escaped(value, line_start=False), ())
        parts.append(Part("list", listed))
    parts += _body(message)
    if level < _DEPTH:
        for attached in message.iter_attachments():
            if attached.get_content_type() == "message/rfc822":
                inner = attached.get_content()
                parts += _message(inner, level + 1) if isinstance(inner, EmailMessage) else []
    return parts


def _plain(value: object) -> str:
    return " ".join(str(value or "").split())


def _body(message: EmailMessage) -> list[Part]:
    body = message.get_body(preferencelist=("html", "plain"))
    if not isinstance(body, EmailMessage):
        return []
    try:
        content = body.get_content()
    except (LookupError, ValueError):
        # The declared character set does not exist.
        payload = body.get_payload(decode=True)
        content = payload.decode("latin-1") if isinstance(payload, bytes) else ""
    if body.get_content_subtype() == "html":
        pictures: dict[str, Any] = {
            f"cid:{str(part.get('Content-ID')).strip('<> ')}": part.get_payload(decode=True)
            for part in message.walk()
            if part.get_content_maintype() == "image"
        }
        return parts_of_html(str(content), pictures.get)
    return plain_parts(str(content))


def plain_parts(text: str) -> list[Part]:
    """Split plain text into paragraphs, otherwise unchanged."""
    return [text_part("text", paragraph) for paragraph in paragraphs(text)]
