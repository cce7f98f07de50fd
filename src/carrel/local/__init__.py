"""The client side of the local server: find, start, lease, stop."""

from carrel.local.address import Address, find
from carrel.local.installed import LocalError, NotInstalled, require_server
from carrel.local.lease import Lease
from carrel.local.models import ModelServer, find_model_servers, use_model
from carrel.local.start import ensure
from carrel.local.stop import stop

__all__ = [
    "Address",
    "Lease",
    "LocalError",
    "ModelServer",
    "NotInstalled",
    "ensure",
    "find",
    "find_model_servers",
    "require_server",
    "stop",
    "use_model",
]
