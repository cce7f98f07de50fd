"""512 MiB through `carrel serve` to and from an S3 server, against obstore moving a file itself.

The store is a real one, SeaweedFS, on this machine. The peer has the whole file and writes it to
the store in the same parts; the server receives, hashes and keeps it first. The memory is the
most that the server held during its uploads and downloads beyond what it held before them.
"""

import os
import tempfile
import time
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from statistics import median
from unittest.mock import patch
from uuid import uuid4

import obstore
from obstore.store import S3Store

from benchmarks.report import Figure
from benchmarks.uploads import SIZE, memory, to_carrel
from carrel.server.blobs.bucket import Bucket
from support.libraries import connect
from support.peers import in_turn
from support.process import RunningServer, serve
from support.s3 import s3_server

_MIB = 1024 * 1024
_PART_BYTES = 8 * _MIB
_PARALLEL_PARTS = 2
_ROUNDS = 3


def measure() -> Iterable[Figure]:
    with tempfile.TemporaryDirectory() as name, s3_server(Path(name, "s3")) as s3:
        url = f"s3://benchmarks/{uuid4().hex}"
        file = Path(name, "file")
        file.write_bytes(os.urandom(_MIB) * SIZE)
        store = _store(s3.bucket(url))
        with (
            patch.dict(os.environ, s3.environment),
            serve(Path(name, "data"), "--blobs", url) as server,
        ):
            to_carrel(server)
            before = memory(server, "VmRSS")
            Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")
            times = in_turn(
                _ROUNDS,
                lambda: _put(store, file),
                lambda: to_carrel(server),
                lambda: _download(server),
            )
            grown = memory(server, "VmHWM") - before
    puts, uploads, downloads = zip(*times, strict=True)
    yield Figure(
        "upload, share of obstore's speed",
        median(put / upload for put, upload in zip(puts, uploads, strict=True)),
        0.3,
        detail=f"{SIZE} MiB at {SIZE / median(uploads):.0f} MiB/s, obstore"
        f" {SIZE / median(puts):.0f}, the middle of {_ROUNDS} rounds",
    )
    yield Figure("download, MiB/s", SIZE / median(downloads))
    yield Figure("memory, MiB more", grown, 96, "lower")


def _store(bucket: Bucket) -> S3Store:
    return S3Store(
        bucket.name,
        prefix=bucket.prefix,
        endpoint=bucket.endpoint,
        access_key_id=bucket.access_key,
        secret_access_key=bucket.secret_key,
        region=bucket.region,
        client_options={"allow_http": True, "timeout": timedelta(seconds=60)},
    )


def _put(store: S3Store, file: Path) -> float:
    began = time.perf_counter()
    obstore.put(store, "peer", file, chunk_size=_PART_BYTES, max_concurrency=_PARALLEL_PARTS)
    return time.perf_counter() - began


def _download(server: RunningServer) -> float:
    with connect(server) as http:
        id = http.get("/v1/files").json()["data"][0]["id"]
        began = time.perf_counter()
        with http.stream("GET", f"/v1/files/{id}/content") as answer:
            if sum(map(len, answer.iter_raw())) != SIZE * _MIB:
                raise RuntimeError("the download is not the whole file")
        return time.perf_counter() - began
