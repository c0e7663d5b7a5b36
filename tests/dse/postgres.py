"""A PostgreSQL server of Debian's packages, in a temporary folder."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

USER, SECRET = "weft", "s3cret-w0rd"
_NOBODY = 65534


def program(name: str) -> str | None:
    found = shutil.which(name)
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return found or (str(places[-1]) if places else None)


@dataclass(frozen=True)
class Server:
    """A server: its URL, with the password, and what starts and stops it."""

    url: str
    start: Callable[[], None]
    stop: Callable[[str], None]  # how: fast, immediate

    @contextlib.contextmanager
    def away(self, how: str = "immediate") -> Iterator[None]:
        """The server is not there for a while: as in a crash, or stopped in order."""
        self.stop(how)
        try:
            yield
        finally:
            self.start()


@contextlib.contextmanager
def server() -> Iterator[str]:
    """The URL of a server, with the password."""
    with restartable() as made:
        yield made.url


@contextlib.contextmanager
def restartable() -> Iterator[Server]:
    """A server; it refuses to be run by root."""
    initdb, pg_ctl = program("initdb"), program("pg_ctl")
    assert initdb is not None
    assert pg_ctl is not None
    folder = Path(tempfile.mkdtemp(prefix="weft-postgres-", dir="/tmp"))
    whom: dict[str, object] = {}
    (folder / "password").write_text(SECRET)
    if os.geteuid() == 0:
        whom = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
        for path in (folder, folder / "password"):
            os.chown(path, _NOBODY, _NOBODY)

    def run(*words: str | Path) -> None:
        # The server inherits the streams and outlives pg_ctl: they have to be files.
        with (folder / "log").open("a") as log:
            subprocess.run(
                [*map(str, words)], check=True, timeout=120, cwd=folder, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, **whom,
            )  # fmt: skip

    data = folder / "data"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    try:
        run(initdb, "-D", data, "-U", USER, "-A", "scram-sha-256", "--pwfile", folder / "password")
        options = f"-p {port} -k {folder} -c fsync=off -c listen_addresses=127.0.0.1"

        def start() -> None:
            run(pg_ctl, "-D", data, "-w", "-o", options, "-l", folder / "server.log", "start")

        def stop(how: str) -> None:
            run(pg_ctl, "-D", data, "-w", "-m", how, "stop")

        start()
        try:
            yield Server(f"postgresql://{USER}:{SECRET}@127.0.0.1:{port}/postgres", start, stop)
        finally:
            stop("immediate")
    finally:
        shutil.rmtree(folder)
