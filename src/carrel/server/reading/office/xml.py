"""XML of office files: parsed without entities and network, read by local names."""

from typing import Any

from lxml import etree

from carrel.server.reading.office.archive import member


def parsed(content: bytes) -> Any:
    """Return the root element of a document.

    Raises:
        etree.XMLSyntaxError: it is damaged.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)
    return etree.fromstring(content, parser)


def parsed_member(data: bytes, name: str) -> Any | None:
    """Return the root element of a file of an archive, or None if it is missing or damaged."""
    content = member(data, name)
    try:
        return None if content is None else parsed(content)
    except etree.XMLSyntaxError:
        return None


def attribute(element: Any, name: str) -> str:
    """Return an attribute by its local name, in any namespace; empty without it."""
    return next((v for k, v in element.attrib.items() if k.rpartition("}")[2] == name), "")
