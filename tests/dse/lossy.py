"""A way to a server that breaks at the worst moment: behind a commit, before its acknowledgement."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

COMMIT = b"COMMIT"


@dataclass
class Lossy:
    """A relay of TCP connections. ``cut`` so many commits lose what the server says to them."""

    port: int
    cut: int = 0
    lost: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def takes(self) -> bool:
        """Whether the commit at hand is one to cut."""
        with self.lock:
            if not self.cut:
                return False
            self.cut -= 1
            self.lost += 1
            return True


def _relay(lossy: Lossy, client: socket.socket, server: socket.socket) -> None:
    """Pass on what one side says to the other, until either is gone or a commit is cut."""
    cut = threading.Event()

    def back() -> None:
        with contextlib.suppress(OSError):
            while data := server.recv(65536):
                if cut.is_set():  # the server has committed: nobody hears of it
                    break
                client.sendall(data)
        _shut(client, server)

    with client, server:
        other = threading.Thread(target=back, daemon=True)
        other.start()
        with contextlib.suppress(OSError):
            while data := client.recv(65536):
                if COMMIT in data and lossy.takes():
                    cut.set()
                server.sendall(data)
        _shut(client, server)
        other.join()


def _shut(*ends: socket.socket) -> None:
    for end in ends:
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def lossy(port: int) -> Iterator[Lossy]:
    """A relay to a port of this machine."""
    listening = socket.create_server(("127.0.0.1", 0))
    made = Lossy(listening.getsockname()[1])
    relays: list[threading.Thread] = []

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listening.accept()
                server = socket.create_connection(("127.0.0.1", port))
                relays.append(threading.Thread(target=_relay, args=(made, client, server)))
                relays[-1].start()

    with listening:
        serving = threading.Thread(target=serve)
        serving.start()
        yield made
        _shut(listening)
        serving.join(30)
        for relay in relays:
            relay.join(30)
