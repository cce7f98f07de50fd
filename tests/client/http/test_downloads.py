"""Downloads: whole or not at all, and by whom a signed address may be fetched."""

from pathlib import Path

import pytest

from carrel.client import Call, Client, NotFound, UnexpectedAnswer, Unreachable
from carrel.system.locking import lock_file
from support.service import reply, service

KEY = "sk-very-secret"


def binary(content: bytes) -> bytes:
    return reply(content, content_type="application/octet-stream")


def files_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.is_file()]


async def test_a_file_replaces_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "x.bin"
    target.write_bytes(b"old")
    seen: list[tuple[int, int | None]] = []
    content = bytes(range(256)) * 4096
    async with service(binary(content)) as odd, Client(odd.url, KEY) as client:
        path = await client.files.download(
            "f1", target, on_progress=lambda done, total: seen.append((done, total))
        )
    assert path.read_bytes() == content
    assert seen[-1] == (len(content), len(content))


async def test_a_download_that_breaks_off_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "x.bin"
    target.write_bytes(b"old")
    async with service(binary(b"x" * 5000)[:-1]) as odd, Client(odd.url, KEY) as client:
        with pytest.raises(Unreachable):
            await client.files.download("f1", target)
    assert files_in(tmp_path) == ["x.bin"]
    assert target.read_bytes() == b"old"


async def test_a_part_that_a_kill_left_becomes_the_file(tmp_path: Path) -> None:
    target = tmp_path / "x.bin"
    async with service(binary(b"x" * 5000)) as odd, Client(odd.url, KEY) as client:
        left: list[str] = []
        await client.files.download("f1", target, lambda *_: left.extend(files_in(tmp_path)))
        (part,) = set(left)
        (tmp_path / part).write_bytes(b"half of another" * 9000)
        await client.files.download("f1", target)
        assert (files_in(tmp_path), target.read_bytes()) == (["x.bin"], b"x" * 5000)
        # Another process that saves there keeps its part.
        with lock_file(tmp_path / part):
            await client.files.download("f1", target)
            assert {*files_in(tmp_path)} == {"x.bin", part}


async def test_a_file_that_is_not_there_makes_no_file(tmp_path: Path) -> None:
    async with service(reply({"message": "No."}, 404)) as odd, Client(odd.url, KEY) as client:
        with pytest.raises(NotFound):
            await client.files.download("f1", tmp_path / "x.bin")
    assert not (tmp_path / "x.bin").exists()


async def test_content_arrives_in_pieces() -> None:
    async with (
        service(binary(b"abc" * 100_000)) as odd,
        Client(odd.url, KEY) as client,
        client.files.content("f1") as content,
    ):
        pieces = [piece async for piece in content]
    assert b"".join(pieces) == b"abc" * 100_000
    assert len(pieces) > 1


async def test_a_signed_address_is_fetched_without_the_key(tmp_path: Path) -> None:
    calls: list[Call] = []
    async with service(binary(b"%PDF")) as storage:
        moved = reply(b"", 302, location=f"{storage.url}/blob")
        async with service(moved) as front:
            signed = f"{front.url}/signed/secret-token?sig=secret"
            async with (
                service(reply(signed)) as odd,
                Client(odd.url, KEY, on_call=calls.append) as client,
            ):
                path = await client.documents.download("l1", "d1", tmp_path / "d.pdf")
    assert path.read_bytes() == b"%PDF"
    assert odd.requests[0].headers["authorization"] == f"Bearer {KEY}"
    for request in (*front.requests, *storage.requests):
        assert KEY not in str(request.headers)
    assert "secret" not in str(calls)


async def test_a_signed_address_on_the_same_host_is_fetched_without_the_key(
    tmp_path: Path,
) -> None:
    async with service(b"", binary(b"%PDF")) as odd, Client(odd.url, KEY) as client:
        odd.answers[0] = reply(f"{odd.url}/signed/token")
        await client.documents.download("l1", "d1", tmp_path / "d.pdf")
    assert "authorization" not in odd.requests[1].headers


@pytest.mark.parametrize("url", ["file:///etc/passwd", "/signed/x", "http://", ""])
async def test_an_address_that_is_none_is_not_opened(url: str, tmp_path: Path) -> None:
    async with service(reply(url)) as odd, Client(odd.url, KEY) as client:
        with pytest.raises(UnexpectedAnswer, match="cannot be opened"):
            await client.documents.download("l1", "d1", tmp_path / "d.pdf")
