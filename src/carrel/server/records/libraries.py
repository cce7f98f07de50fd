"""Libraries: who may see them, and what they may do there."""

import math
import re
from datetime import UTC, datetime
from enum import IntEnum
from typing import Any

import sqlalchemy as sa

from carrel.server.records import trash
from carrel.server.records.accounts.caller import Caller
from carrel.server.records.errors import InvalidField, NotAllowed, NotFound
from carrel.server.records.sql.conditions import contains, is_unexpired, list_after
from carrel.server.records.sql.database import take_turns
from carrel.server.records.sql.ids import new_id
from carrel.server.records.sql.tables import documents, libraries, library_shares
from carrel.wire.id_lists import IdQuery
from carrel.wire.libraries import (
    Library,
    LibraryCreate,
    LibraryList,
    LibraryQuery,
    LibraryUpdate,
    Pagination,
)


class Role(IntEnum):
    """A caller's role in a library; each role includes the ones before."""

    VIEWER = 1
    """Read and search it."""
    EDITOR = 2
    """Change its name and its documents."""
    OWNER = 3
    """Share and delete it."""

    @property
    def word(self) -> str:
        """The role as the interface spells it."""
        return self.name.capitalize()


def get(connection: sa.Connection, caller: Caller, id: str, needed: Role = Role.VIEWER) -> Library:
    """Return a library the caller may see.

    Raises:
        NotFound, NotAllowed: the caller's role does not suffice.
    """
    require(connection, caller, id, needed)
    row = connection.execute(_accessible(caller).where(libraries.c.id == id)).one()
    return _library(row)


def require(connection: sa.Connection, caller: Caller, id: str, needed: Role = Role.VIEWER) -> None:
    """Check the caller's role in a library, without its figures, which are slow to add up.

    Raises:
        NotFound, NotAllowed: the caller's role does not suffice.
    """
    role = _find_role(connection, caller, id)
    if role is None:
        raise NotFound.of("library", id)
    if role < needed:
        raise NotAllowed(
            f"You are a {Role(role).word} of this library; this needs its"
            f" {needed.word}. Ask the library's owner."
        )


def _find_role(connection: sa.Connection, caller: Caller, id: str) -> int | None:
    asked = {"id": id, "user": caller.user_id, "organisation": caller.organisation_id}
    return connection.scalar(_ROLE, asked)


def page(connection: sa.Connection, caller: Caller, query: LibraryQuery) -> LibraryList:
    """Return a page of the libraries the caller may see, newest first."""
    number = _page_number(query)
    wanted = _accessible(caller)
    if query.search:
        wanted = wanted.where(
            contains(libraries.c.name, query.search)
            | contains(libraries.c.description, query.search)
        )
    if query.filter_owned_by_me is not None:
        owned = _owner_is(caller.user_id, caller.organisation_id)
        wanted = wanted.where(owned == query.filter_owned_by_me)
    total = connection.scalar(sa.select(sa.func.count()).select_from(wanted.subquery())) or 0
    rows = connection.execute(
        wanted.order_by(libraries.c.created_at.desc(), libraries.c.id.desc())
        .limit(query.page_size)
        .offset(number * query.page_size)
    )
    pagination = paginate(total, number, query.page_size)
    return LibraryList(
        data=[_library(row) for row in rows],
        pagination=pagination,
        next_page_token=str(number + 1) if pagination.has_more else None,
    )


def page_after(
    connection: sa.Connection, caller: Caller, query: IdQuery
) -> tuple[list[Library], bool]:
    """Return a page of the libraries the caller may see, and whether there are more.

    Raises:
        NotFound: the caller may see no library of the id `after`.
    """
    last = None if query.after is None else get(connection, caller, query.after)
    rows, more = list_after(connection, libraries, _accessible(caller), query, last)
    return [_library(row) for row in rows], more


def accessible_ids(connection: sa.Connection, caller: Caller, ids: list[str]) -> list[str]:
    """Return the subset of the libraries that the caller may see."""
    return [id for id in ids if _find_role(connection, caller, id) is not None]


def find_missing(connection: sa.Connection, caller: Caller, ids: list[str]) -> list[str]:
    """Return the `ids` of libraries that do not exist for the caller."""
    visible = accessible_ids(connection, caller, ids) if ids else []
    return [id for id in ids if id not in visible]


def create(connection: sa.Connection, caller: Caller, new: LibraryCreate) -> Library:
    """Add a library that belongs to the caller, or to the caller's organisation."""
    now = datetime.now(UTC)
    id = new_id()
    connection.execute(
        libraries.insert().values(
            id=id,
            number=next_number(connection),
            organisation_id=caller.organisation_id,
            owner_id=caller.user_id if new.owner_type == "User" else caller.organisation_id,
            owner_type=new.owner_type,
            name=new.name,
            description=new.description,
            chunk_size=new.chunk_size,
            created_at=now,
            updated_at=now,
        )
    )
    return get(connection, caller, id)


def find_owned(connection: sa.Connection, caller: Caller, new: LibraryCreate) -> Library | None:
    """Return the oldest library that has a new library's name and owner.

    Transactions with the same owner take turns, so that two make no library twice.
    """
    owner = caller.user_id if new.owner_type == "User" else caller.organisation_id
    take_turns(connection, f"libraries of {owner}")
    query = (
        sa.select(libraries.c.id)
        .where(
            libraries.c.organisation_id == caller.organisation_id,
            libraries.c.owner_id == owner,
            libraries.c.name == new.name,
        )
        .order_by(libraries.c.created_at, libraries.c.id)
    )
    id = connection.scalar(query.limit(1))
    return None if id is None else get(connection, caller, id)


def next_number(connection: sa.Connection) -> int:
    """Return the number for a new library."""
    take_turns(connection, "library numbers")
    return (connection.scalar(sa.select(sa.func.max(libraries.c.number))) or 0) + 1


def update(connection: sa.Connection, caller: Caller, id: str, change: LibraryUpdate) -> Library:
    """Change the name or the description of a library; return the changed library.

    Raises:
        NotFound, or NotAllowed without the role of an editor.
    """
    get(connection, caller, id, Role.EDITOR)
    values = change.body()
    if values:
        connection.execute(
            libraries.update()
            .where(libraries.c.id == id)
            .values(**values, updated_at=datetime.now(UTC))
        )
    return get(connection, caller, id)


def delete(connection: sa.Connection, caller: Caller, id: str, trash_days: int) -> Library:
    """Move a library with its documents to the trash; return what it was.

    Raises:
        NotFound, or NotAllowed for anyone but the owner.
    """
    library = get(connection, caller, id, Role.OWNER)
    trash.delete(connection, caller, "library", id, library.name, days=trash_days)
    return library


def paginate(total: int, page: int, page_size: int) -> Pagination:
    """Return the pagination fields of a page in a list of `total` items."""
    pages = math.ceil(total / page_size)
    return Pagination(
        total_items=total,
        total_pages=pages,
        current_page=page,
        page_size=page_size,
        has_more=page + 1 < pages,
    )


def _page_number(query: LibraryQuery) -> int:
    if query.page_token is None:
        return query.page
    if not re.fullmatch("[0-9]{1,9}", query.page_token):
        raise InvalidField(("query", "page_token"), "Use the next_page_token of the page before.")
    return int(query.page_token)


def _owner_is(user: Any, organisation: Any) -> sa.ColumnElement[bool]:
    return libraries.c.owner_id.in_((user, organisation))


def _accessible(caller: Caller) -> sa.Select[Any]:
    """Return the libraries a caller may see, each with the caller's role and the library's
    figures.
    """
    role = _role(caller.user_id, caller.organisation_id)
    size = sa.func.coalesce(sa.func.sum(documents.c.size), 0)
    return sa.select(
        libraries,
        role.label("caller_role"),
        _of_documents(sa.func.count()).label("nb_documents"),
        _of_documents(size).label("total_size"),
        _of_shares(sa.func.count(), "User").label("explicit_user_members_count"),
        _of_shares(sa.func.count(), "Workspace").label("explicit_workspace_members_count"),
        _of_shares(sa.func.min(library_shares.c.role), "Org").label("org_sharing_role"),
    ).where(libraries.c.organisation_id == caller.organisation_id, role.is_not(None))


def _role(user: Any, organisation: Any) -> sa.ColumnElement[int]:
    """Return the role of a user of an organisation in a library; null without one."""
    shares = library_shares.c
    level = sa.case((shares.role == Role.EDITOR.word, int(Role.EDITOR)), else_=int(Role.VIEWER))
    shared = (
        sa.select(sa.func.max(level))
        .where(
            shares.library_id == libraries.c.id, shares.share_with_uuid.in_((user, organisation))
        )
        .scalar_subquery()
    )
    return sa.case((_owner_is(user, organisation), int(Role.OWNER)), else_=shared)


# Built once: every document request and every search uses them.
_ROLE = sa.select(_role(sa.bindparam("user"), sa.bindparam("organisation"))).where(
    libraries.c.id == sa.bindparam("id"),
    libraries.c.organisation_id == sa.bindparam("organisation"),
)


def _of_documents(figure: sa.ColumnElement[int]) -> sa.ScalarSelect[int]:
    return (
        sa.select(figure)
        .select_from(documents)
        .where(documents.c.library_id == libraries.c.id, is_unexpired(documents))
        .scalar_subquery()
    )


def _of_shares(figure: sa.ColumnElement[Any], kind: str) -> sa.ScalarSelect[Any]:
    shares = library_shares.c
    return (
        sa.select(figure)
        .select_from(library_shares)
        .where(shares.library_id == libraries.c.id, shares.share_with_type == kind)
        .scalar_subquery()
    )


def _library(row: sa.Row[Any]) -> Library:
    return Library(**row._asdict())
