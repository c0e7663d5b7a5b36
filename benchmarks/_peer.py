"""Peers: other tools, each installed by its benchmark in a virtual environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "build" / "peers"
INSTALL_TIMEOUT_S = 900


class PeerError(Exception):
    """A peer cannot be installed or does not answer; its text says why."""


@dataclass(frozen=True)
class Peer:
    """A tool to compare with.

    Attributes:
        name: names its environment, `build/peers/NAME`.
        requirements: exact pins: the figures are of these versions.
        program: Python file run in that environment. It answers each line of JSON on its stdin
            with one on its stdout.
    """

    name: str
    requirements: tuple[str, ...]
    program: Path

    @property
    def environment(self) -> Path:
        """Folder of the virtual environment."""
        return PEERS / self.name

    @property
    def python(self) -> Path:
        """Interpreter of the virtual environment."""
        return self.environment / "bin" / "python"

    def install(self) -> None:
        """Make the environment, unless it is there with the same pins.

        Raises:
            PeerError: it cannot be made: no network, no wheel for this Python.
        """
        stamp = self.environment / ".requirements"
        pins = "\n".join(self.requirements)
        if stamp.exists() and stamp.read_text() == pins:
            return
        create = [sys.executable, "-m", "venv", "--clear", str(self.environment)]
        install = [str(self.python), "-m", "pip", "install", "--quiet", *self.requirements]
        for command in (create, install):
            try:
                done = subprocess.run(
                    command, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                raise PeerError(f"{self.name} cannot be installed: {error}") from error
            if done.returncode != 0:
                why = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
                raise PeerError(f"{self.name} cannot be installed: " + "; ".join(why[-3:]))
        stamp.write_text(pins)


class PeerProcess:
    """A running peer; `with PeerProcess(peer) as p: p.ask({...})`."""

    def __init__(self, peer: Peer) -> None:
        """Start the program of `peer`, which must be installed; its stderr goes to a log file.

        The environment is bare, so that no setting of the user's changes what is measured.
        """
        work = PEERS / f"{peer.name}-work"
        work.mkdir(parents=True, exist_ok=True)
        self._name = peer.name
        self._log = work / "stderr.log"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [str(peer.python), "-W", "ignore", str(peer.program)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=work,
                env={"PATH": os.environ.get("PATH", ""), "HOME": str(work)},
            )

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Send one line of JSON and wait for the answer.

        Raises:
            PeerError: the peer reported an error, or ended.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(question) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise PeerError(f"{self._name} ended early, see {self._log}") from error
        line = self._process.stdout.readline()
        if not line:
            raise PeerError(f"{self._name} ended early, see {self._log}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise PeerError(f"{self._name}: {answer['error']}")
        return answer

    def __enter__(self) -> PeerProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let the peer end: its stdin is closed, and after ten seconds it is killed."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
