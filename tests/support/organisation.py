"""An organisation of its own at a server that others use, too: it sees nothing of theirs."""

import uuid
from dataclasses import replace

from support import storage
from support.process import RunningServer


def new_organisation(server: RunningServer) -> RunningServer:
    """The server with the key of a new organisation, which has nothing stored."""
    name = uuid.uuid4().hex
    _, key = storage.key_chain(server.data).add(name, organisation=name, user=name)
    return replace(server, api_key=key, organisation=name)
