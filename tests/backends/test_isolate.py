"""Code in a child process: its answer, its error, its crash, its hanging."""

from __future__ import annotations

import ctypes
import time

from backends.isolate import in_child


def test_the_answer_comes_back() -> None:
    large = bytes(range(256)) * 40_000  # more than a pipe holds at once
    assert in_child(lambda: large, 60).data == large
    assert in_child(lambda: b"", 60).status == "ok"


def test_nothing_it_writes_is_seen_here() -> None:
    seen: list[int] = []
    assert in_child(lambda: seen.append(1) or b"x", 60).status == "ok"
    assert seen == []


def test_an_exception_is_an_error() -> None:
    def work() -> bytes:
        raise KeyError("A")

    ended = in_child(work, 60)
    assert (ended.status, ended.detail) == ("error", "KeyError: 'A'")


def test_a_crash_is_a_result() -> None:
    def work() -> bytes:
        ctypes.string_at(0)
        return b""

    ended = in_child(work, 60)
    assert (ended.status, ended.detail) == ("crash", "SIGSEGV")


def test_hanging_is_a_result() -> None:
    def work() -> bytes:
        time.sleep(60)
        return b""

    start = time.monotonic()
    ended = in_child(work, 0.5)
    assert ended.status == "timeout"
    assert time.monotonic() - start < 20
