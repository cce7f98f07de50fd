"""An organisation of its own at a server that others use, too: it sees nothing of theirs."""

import os
import uuid
from dataclasses import replace

from support import storage
from support.process import RunningServer


def new_organisation(server: RunningServer) -> RunningServer:
    """The server with the key of a new organisation, which has nothing stored."""
    name = uuid.uuid4().hex
    mask = os.umask(0o077)
    try:
        # It sets the mask of this process.
        _, key = storage.key_chain(server.data).add(name, organisation=name, user=name)
    finally:
        os.umask(mask)
    return replace(server, api_key=key, organisation=name)
