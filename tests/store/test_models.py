"""Model servers of this machine: found, offered, used by the running server."""

import json
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from carrel.config.profiles import Profile, folders
from carrel.local import find_model_servers, use_model
from carrel.store.core.actions.loop import OwnerLoop
from carrel.store.store import Store
from support.model import serve_model
from support.process import RunningServer
from support.service import reply, service
from support.slices import until


@contextmanager
def model_server() -> Iterator[str]:
    """A model server on a port of its own; gives its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve_model, args=(listener, 3), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


async def test_only_what_answers_with_models_is_found() -> None:
    async with (
        service(reply({"data": []})) as empty,
        service(reply(b"<html>", content_type="text/html")) as other,
        service(reply({"detail": "Unauthorized"}, 401)) as ours,
    ):
        with model_server() as url:
            addresses = {
                "Nobody": "http://127.0.0.1:1",
                "Ollama": url,
                "Empty": empty.url,
                "Other": other.url,
                "Ours": ours.url,
            }
            found = await find_model_servers(addresses)
    assert [(server.name, server.url, server.models) for server in found] == [
        ("Ollama", url, ("scripted",))
    ]


def test_the_rest_of_the_servers_settings_stays(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("# mine\n[limits]\nocr_pages = 3\n")
    assert use_model(tmp_path, "http://127.0.0.1:11434", "big")
    assert not use_model(tmp_path, "http://127.0.0.1:11434", "big")
    assert file.read_text() == (
        'model_name = "big"\nmodel_url = "http://127.0.0.1:11434/v1"\n'
        "# mine\n[limits]\nocr_pages = 3\n"
    )
    assert use_model(tmp_path, None)
    assert file.read_text() == "# mine\n[limits]\nocr_pages = 3\n"


async def test_the_running_server_takes_another_model_and_its_own_back(home: Path) -> None:
    store = Store(Profile("local"), OwnerLoop.running())
    await store.start()
    with ExitStack() as stack:
        url = stack.enter_context(model_server())
        try:
            await until(store.session.slice, lambda state: state.model is not None, 60)
            assert store.session.slice.value.model == "smollm2 (test model)"
            found = await store.models.look({"Ollama": url})
            assert found is not None
            handle = store.models.use(found[0], "scripted")
            await handle
            assert handle.error is None
            assert store.session.slice.value.model == "scripted"
            assert "Ollama" in store.notifications.slice.value.items[-1].text
            await store.models.use_built_in()
            assert store.session.slice.value.model == "smollm2 (test model)"
        finally:
            await store.close()
            pid = int(json.loads((folders().server / "server.json").read_text())["pid"])
            os.kill(pid, signal.SIGTERM)


async def test_another_service_is_left_alone(store: Store, server: RunningServer) -> None:
    assert await store.models.look({"Ollama": server.url}) == ()
    handle = store.models.use_built_in()
    await handle.settled()
    assert handle.error is not None
    assert "Not the server of this machine" in handle.error.title


@pytest.mark.parametrize("text", ["model_url = ", "model_url = '''\na'''\n"])
def test_settings_that_cannot_be_changed_are_left(text: str, tmp_path: Path) -> None:
    from carrel.config.profiles import ConfigError

    (tmp_path / "settings.toml").write_text(text)
    with pytest.raises(ConfigError):
        use_model(tmp_path, "http://127.0.0.1:1")
    assert (tmp_path / "settings.toml").read_text() == text
