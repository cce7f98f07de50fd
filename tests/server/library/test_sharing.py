"""Who may do what with whose library."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from carrel.server.datadir.folder import DataFolder
from carrel.server.http.errors import api_error
from carrel.server.records import documents, libraries, shares
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.documents import NewDocument
from carrel.server.records.errors import RecordError
from carrel.server.records.sql.tables import organisations, users
from carrel.wire.documents import Document, DocumentQuery, DocumentUpdate, TextQuery
from carrel.wire.libraries import (
    Library,
    LibraryCreate,
    LibraryQuery,
    LibraryUpdate,
    ShareRemoval,
    ShareRequest,
)
from support import storage

OWNER = Caller("north", "olga")
COLLEAGUE = Caller("north", "carl")
OUTSIDER = Caller("south", "otto")
PAPER = NewDocument("a.txt", "0" * 64, 4, "text/plain", "txt")


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sa.Connection]:
    """A connection to a fresh database with two organisations and three users."""
    with DataFolder(tmp_path / "data") as folder:
        storage.prepare(folder)
        with storage.connected(folder.path) as connection:
            now = datetime.now(UTC)
            for organisation in ("north", "south"):
                row = {"id": organisation, "name": organisation, "created_at": now}
                connection.execute(organisations.insert().values(row))
            for caller in (OWNER, COLLEAGUE, OUTSIDER):
                row = {
                    "id": caller.user_id,
                    "organisation_id": caller.organisation_id,
                    "name": caller.user_id,
                    "created_at": now,
                }
                connection.execute(users.insert().values(row))
            yield connection


@pytest.fixture
def library(connection: sa.Connection) -> Library:
    """A library of the owner's."""
    return libraries.create(connection, OWNER, LibraryCreate(name="Papers"))


def share(level: str, caller: Caller) -> ShareRequest:
    return ShareRequest.model_validate(
        {"level": level, "share_with_uuid": caller.user_id, "share_with_type": "User"}
    )


def removal(caller: Caller) -> ShareRemoval:
    return ShareRemoval(share_with_uuid=caller.user_id, share_with_type="User")


def refused(status: int, action: Callable[[], object]) -> None:
    with pytest.raises(RecordError) as refusal:
        action()
    assert api_error(refusal.value).status == status


def everything(
    connection: sa.Connection, caller: Caller, library: Library, document: Document
) -> list[Callable[[], object]]:
    """All that can be done with a library and a document in it."""
    ids = (connection, caller, library.id)
    return [
        lambda: libraries.get(*ids),
        lambda: libraries.update(*ids, LibraryUpdate(name="x")),
        lambda: libraries.delete(*ids, 7),
        lambda: shares.get_all(*ids),
        lambda: shares.put(*ids, share("Viewer", COLLEAGUE)),
        lambda: shares.delete(*ids, removal(COLLEAGUE)),
        lambda: documents.page(*ids, DocumentQuery()),
        lambda: documents.add(*ids, PAPER),
        lambda: documents.get(*ids, document.id),
        lambda: documents.update(*ids, document.id, DocumentUpdate(name="x")),
        lambda: documents.page_texts(*ids, document.id, TextQuery()),
        lambda: documents.delete(*ids, document.id, 7),
    ]


def test_others_see_nothing(connection: sa.Connection, library: Library) -> None:
    document, _ = documents.add(connection, OWNER, library.id, PAPER)
    for caller in (COLLEAGUE, OUTSIDER):
        assert libraries.page(connection, caller, LibraryQuery()).data == []
        assert libraries.accessible_ids(connection, caller, [library.id]) == []
        for action in everything(connection, caller, library, document):
            refused(404, action)


def test_a_viewer_reads_and_changes_nothing(connection: sa.Connection, library: Library) -> None:
    document, _ = documents.add(connection, OWNER, library.id, PAPER)
    shares.put(connection, OWNER, library.id, share("Viewer", COLLEAGUE))
    ids = (connection, COLLEAGUE, library.id)
    assert [found.id for found in libraries.page(connection, COLLEAGUE, LibraryQuery()).data] == [
        library.id
    ]
    assert documents.get(*ids, document.id).document.name == "a.txt"
    for action in (
        lambda: documents.add(*ids, PAPER),
        lambda: documents.delete(*ids, document.id, 7),
        lambda: libraries.update(*ids, LibraryUpdate(name="x")),
        lambda: libraries.delete(*ids, 7),
        lambda: shares.put(*ids, share("Editor", COLLEAGUE)),
    ):
        refused(403, action)


def test_an_editor_changes_documents_but_not_who_may(
    connection: sa.Connection, library: Library
) -> None:
    shares.put(connection, OWNER, library.id, share("Viewer", COLLEAGUE))
    shares.put(connection, OWNER, library.id, share("Editor", COLLEAGUE))
    ids = (connection, COLLEAGUE, library.id)
    document, created = documents.add(*ids, PAPER)
    assert created
    assert document.uploaded_by_id == COLLEAGUE.user_id
    assert libraries.update(*ids, LibraryUpdate(name="New")).name == "New"
    documents.delete(*ids, document.id, 7)
    refused(403, lambda: libraries.delete(*ids, 7))
    refused(403, lambda: shares.put(*ids, share("Viewer", COLLEAGUE)))


def test_who_is_not_the_owner_may_only_leave(connection: sa.Connection, library: Library) -> None:
    shares.put(connection, OWNER, library.id, share("Editor", COLLEAGUE))
    organisation = {"share_with_uuid": "north", "share_with_type": "Org"}
    shares.put(
        connection,
        OWNER,
        library.id,
        ShareRequest.model_validate({**organisation, "level": "Viewer"}),
    )
    ids = (connection, COLLEAGUE, library.id)
    refused(403, lambda: shares.delete(*ids, ShareRemoval.model_validate(organisation)))
    assert shares.delete(*ids, removal(COLLEAGUE)).role == "Editor"
    # The organisation's share is left, as a viewer.
    refused(403, lambda: documents.add(*ids, PAPER))


def test_nobody_outside_the_organisation(connection: sa.Connection, library: Library) -> None:
    ids = (connection, OWNER, library.id)
    refused(400, lambda: shares.put(*ids, share("Viewer", OUTSIDER)))
    refused(400, lambda: shares.put(*ids, share("Viewer", Caller("north", "nobody"))))
    other = {"level": "Viewer", "share_with_uuid": "south", "share_with_type": "Org"}
    refused(400, lambda: shares.put(*ids, ShareRequest.model_validate(other)))


def test_a_library_of_the_organisation_belongs_to_all_its_users(
    connection: sa.Connection,
) -> None:
    new = LibraryCreate(name="Ours", owner_type="Workspace")
    library = libraries.create(connection, OWNER, new)
    assert (library.owner_type, library.owner_id) == ("Workspace", "north")
    assert libraries.get(connection, COLLEAGUE, library.id, libraries.Role.OWNER) == library
    refused(404, lambda: libraries.get(connection, OUTSIDER, library.id))
