"""Where studies are kept: a journal in the run's folder, or a database that machines share.

A URL names the database: ``postgresql://user@host/name`` or ``mysql://user@host/name``. Its password
is shown and written nowhere: where one is needed, it is better kept in ``PGPASSWORD``,
``~/.pgpass`` or the like, or the whole URL in ``WEFT_STORAGE``.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from dse.libraries import need, optuna_library
from dse.run.folder.directory import writing
from dsl.errors.errors import InputError

if TYPE_CHECKING:
    from optuna.storages import BaseStorage

_HIDDEN = "***"
_DRIVERS = {"postgresql": "psycopg", "mysql": "pymysql"}
_NAMES = {"postgresql": "postgresql", "postgres": "postgresql", "mysql": "mysql"}
_ONWARD = (
    "what has ended is kept: weft explore --resume and weft worker go on when the database answers; "
    "--storage-wait S waits longer for it"
)
_BEGINS = 3  # processes may make the tables of a new database at the same time
_NO_STUDY = (LookupError, TypeError, ValueError, AttributeError, AssertionError)
_STALE = 1.0  # seconds: a lock on the journal is held for far less


# ---------------------------------------------------------------------------------------- databases


def shown(url: str) -> str:
    """The URL of a database without its password.

    Raises:
        InputError: W523, W529 as `database`.
    """
    return _hidden(_parsed(url))


@contextlib.contextmanager
def database(
    url: str, seconds: float = 0.0, heard: Callable[[str], None] = lambda _: None
) -> Iterator[BaseStorage]:
    """The studies in a database. Its tables are made where they are not there.

    Args:
        url: of the database.
        seconds: to wait for it each time that it goes away, once it has answered; nothing is lost and
            nothing done twice by that.
        heard: told when it goes away, and when it is back.

    Yields:
        The storage; its connections are closed in the end.

    Raises:
        InputError: W523 Optuna is not installed; W528 the driver is not; W529 it is no URL of a
            database that can be used, or the database does not answer, from the storage's methods
            too.
    """
    made = _connected(url, seconds, heard)
    try:
        yield made
    finally:
        made.remove_session()
        made.engine.dispose()


def clock(storage: BaseStorage) -> float:
    """Seconds by a clock that stands still while the storage's database is waited for.

    What others write there can be late by that, and is no later for it by this clock.
    """
    return time.monotonic() - float(getattr(storage, "waited", 0.0))


def _connected(url: str, seconds: float, heard: Callable[[str], None]) -> Any:
    optuna_library()
    from sqlalchemy.exc import SQLAlchemyError

    from dse.run.studies.patient import Patience, Patient

    parsed = _parsed(url)
    kind = _NAMES[parsed.get_backend_name()]
    need(_DRIVERS[kind], f"a study in {kind}", _DRIVERS[kind], "db")
    full = parsed.set(drivername=f"{kind}+{_DRIVERS[kind]}").render_as_string(hide_password=False)

    def lost(error: Exception) -> InputError:
        return _unusable(parsed, error, _ONWARD)

    for attempt in range(_BEGINS):
        try:
            return Patient(
                full, Patience(seconds, heard), lost, engine_kwargs={"pool_pre_ping": True}
            )
        except (SQLAlchemyError, RuntimeError) as error:
            if attempt == _BEGINS - 1:
                raise _unusable(parsed, error) from None  # the error has the URL
            time.sleep(0.2)
    raise AssertionError


def _unusable(parsed: Any, error: Exception, help_: str | None = None) -> InputError:
    notes = [_without_password(_reason(error), parsed)]
    return InputError(
        "W529", f"the database {_hidden(parsed)} cannot be used", notes=notes, help=help_
    )


def _parsed(url: str) -> Any:
    optuna_library()
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        parsed = None
    if parsed is None or parsed.get_backend_name() not in _NAMES:
        raise InputError(
            "W529",
            "the storage is not the URL of a database that can be used",
            help="postgresql://USER@HOST/NAME or mysql://USER@HOST/NAME",
        ) from None
    return parsed


def _hidden(parsed: Any) -> str:
    query = {k: _HIDDEN if "pass" in k.lower() else v for k, v in parsed.query.items()}
    return str(parsed.set(query=query).render_as_string(hide_password=True))


def _reason(error: Exception) -> str:
    """The first lines of what the driver says, without those on how to look it up."""
    cause = error if getattr(error, "orig", None) else error.__cause__ or error  # Optuna wraps it
    lines = str(getattr(cause, "orig", None) or cause).strip().splitlines()
    return " ".join(line.strip() for line in lines[:2])


def _without_password(text: str, parsed: Any) -> str:
    secrets = [str(parsed.password or "")]
    secrets += [str(v) for k, v in parsed.query.items() if "pass" in k.lower()]
    for secret in filter(None, secrets):
        text = text.replace(secret, _HIDDEN)
    return text


# ------------------------------------------------------------------------------------------ journal


def journal(path: Path) -> BaseStorage:
    """The studies in a journal file, which is made where it is not there.

    It is written without waiting for the disk at each line: what was written survives the end of
    the process, however it comes, and a dozen lines a trial that each wait for the disk would take
    longer than the trial. A line that a killed process left in part is cut off by the next writer.

    Raises:
        InputError: W523 Optuna is not installed; W521 it is damaged.
    """
    library = optuna_library()
    parts = library.storages.journal
    lock = parts.JournalFileSymlinkLock(str(path))

    class Journal(parts.JournalFileBackend):  # type: ignore[name-defined, misc]
        def append_logs(self, logs: list[dict[str, Any]]) -> None:
            lines = "".join(json.dumps(log, separators=(",", ":")) + "\n" for log in logs)
            with writing(path):
                lock.acquire()
                try:
                    with path.open("r+b") as file:
                        _to_last_line(file)
                        file.write(lines.encode())
                finally:
                    lock.release()

    _unlocked(path)
    if path.exists():
        _check(path)
    with writing(path):
        backend = Journal(str(path), lock)
    return _replayed(path, backend)


def journal_to_read(path: Path) -> BaseStorage:
    """The studies in a journal file that is there, and that others may write meanwhile.

    Raises:
        InputError: as `journal`.
    """
    library = optuna_library()
    _check(path)
    return _replayed(path, library.storages.journal.JournalFileBackend(str(path)))


def _check(path: Path) -> None:
    """That every line but the last is whole; a killed process may have left that one in part.

    Raises:
        InputError: W521 one is not, or the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.endswith(b"\n") and not _is_entry(line):
                    raise damaged(f"{path}:{number} is not a line of a study's journal")
    except OSError as error:
        raise damaged(f"cannot read {path}: {error.strerror}") from error


def _is_entry(line: bytes) -> bool:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(entry, dict) and isinstance(entry.get("op_code"), int)


def _replayed(path: Path, backend: Any) -> BaseStorage:
    """The storage that a journal's lines make, one after the other.

    Raises:
        InputError: W521 they make none.
    """
    library = optuna_library()
    number = 0
    read = backend.read_logs

    def counted(start: int) -> Iterator[dict[str, Any]]:
        nonlocal number
        for number, entry in enumerate(read(start), start + 1):  # noqa: B007 - told below
            yield entry

    backend.read_logs = counted
    try:
        made: BaseStorage = library.storages.JournalStorage(backend)
    except _NO_STUDY as error:
        raise damaged(f"{path}:{number} does not fit the lines before it") from error
    finally:
        del backend.read_logs
    return made


def damaged(message: str) -> InputError:
    """The error of a study's journal that cannot be gone on with."""
    return InputError(
        "W521",
        message,
        help="what is in points/ is not lost: move study.journal away, and weft explore --resume "
        "begins another, evaluating nothing again",
    )


def _to_last_line(file: BinaryIO) -> None:
    """Go to the end, and cut off what is there of a line."""
    end = size = file.seek(0, 2)
    while end > 0:
        start = max(0, end - 4096)
        file.seek(start)
        newline = file.read(end - start).rfind(b"\n")
        end = start + newline + 1 if newline >= 0 else start
        if newline >= 0:
            break
    if end < size:
        file.truncate(end)
    file.seek(end)


def _unlocked(path: Path) -> None:
    """Remove a lock on the journal that a killed process left."""
    lock = path.with_name(f"{path.name}.lock")
    try:
        before = lock.lstat()
        time.sleep(_STALE)
        now = lock.lstat()
        if (now.st_ino, now.st_mtime_ns) == (before.st_ino, before.st_mtime_ns):
            lock.unlink()
    except FileNotFoundError:
        return
