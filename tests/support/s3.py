"""A real S3 server (SeaweedFS) as a process of its own, which checks every signature."""

import json
import signal
import socket
import subprocess
import sysconfig
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import obstore
from obstore.store import S3Store

from carrel.server.blobs.bucket import Bucket

ACCESS_KEY, SECRET_KEY = "AKIATESTONLY", "a-secret-of-the-tests"
_PORTS = [
    "-master.port",
    "-master.port.grpc",
    "-volume.port",
    "-volume.port.grpc",
    "-filer.port",
    "-filer.port.grpc",
    "-s3.port.grpc",
]


@dataclass(frozen=True)
class S3Server:
    """A server that answers at `endpoint`; it makes buckets when they are written to."""

    endpoint: str
    process: subprocess.Popen[bytes]

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which a client finds it."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        }

    def bucket(self, url: str) -> Bucket:
        """A bucket of it."""
        return Bucket.of(url, self.environment)


def stored(bucket: Bucket) -> set[str]:
    """The name of every object below the bucket's prefix, by an S3 client of its own."""
    store = S3Store(
        bucket.name,
        prefix=bucket.prefix or None,
        endpoint=bucket.endpoint,
        access_key_id=bucket.access_key,
        secret_access_key=bucket.secret_key,
        region=bucket.region,
        client_options={"allow_http": True},
    )
    return {item["path"].rpartition("/")[2] for item in obstore.list(store).collect()}


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on at this moment."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [taken.getsockname()[1] for taken in sockets]
    for taken in sockets:
        taken.close()
    return ports


@contextmanager
def s3_server(folder: Path, port: int | None = None) -> Iterator[S3Server]:
    """Starts a server on a folder and ends it with SIGKILL."""
    folder.mkdir(exist_ok=True)
    credentials = {"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}
    identity = {"name": "tests", "credentials": [credentials], "actions": ["Admin"]}
    identities = folder / "identities.json"
    identities.write_text(json.dumps({"identities": [identity]}))
    port = port or free_ports(1)[0]
    command = [f"{sysconfig.get_path('scripts')}/weed", "-logtostderr", "server"]
    command += ["-ip", "127.0.0.1", "-ip.bind", "127.0.0.1", "-dir", str(folder), "-filer"]
    command += ["-volume.max", "0", "-master.volumeSizeLimitMB", "64", "-s3", "-s3.iam=false"]
    command += ["-s3.config", str(identities), "-s3.port.iceberg", "0", "-s3.port.lance", "0"]
    ports = dict(zip(_PORTS, free_ports(len(_PORTS)), strict=True)) | {"-s3.port": port}
    for name, number in ports.items():
        command += [name, str(number)]
    log = folder / "log"
    with log.open("ab") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        server = S3Server(f"http://127.0.0.1:{port}", process)
        _wait(server, log)
        yield server
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        for number in ports.values():
            for path in Path("/tmp").glob(f"seaweedfs-*-{number}.sock"):
                path.unlink()


def _wait(server: S3Server, log: Path) -> None:
    address = server.bucket("s3://tests").sign("PUT", "ready", 600)
    deadline = time.monotonic() + 60
    with closing(httpx.Client(timeout=10)) as http:
        while True:
            try:
                if http.put(address, content=b"").is_success:
                    return
            except httpx.TransportError:
                pass
            if server.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the S3 server did not start:\n{log.read_text()[-4000:]}")
            time.sleep(0.05)
