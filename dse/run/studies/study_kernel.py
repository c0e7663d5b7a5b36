"""The kernel of a study, as data, in a study of its own next to it.

Workers read it once. What is asked for all the time, who is there and what is on offer, must not
carry it along: with the inputs of a kernel it may have megabytes.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from dse.libraries import optuna_library

if TYPE_CHECKING:
    from optuna.storages import BaseStorage

SUFFIX = ".kernel"
_COUNT = "pieces"
_PIECE = 40_000  # characters of a piece: MySQL keeps no more than 65,535
_MOST = 2_000


def keep_kernel(storage: BaseStorage, study: str, kernel: bytes) -> None:
    """Write it, where it is not there already.

    Args:
        storage: of the study.
        study: its name.
        kernel: of `dse.kernels.data.packed`.
    """
    if kernel_in(storage, study) == kernel:
        return
    number = _number(storage, study)
    if number is None:
        direction = optuna_library().study.StudyDirection.MINIMIZE
        number = storage.create_new_study([direction], study + SUFFIX)
    text = base64.b64encode(kernel).decode()
    pieces = [text[n : n + _PIECE] for n in range(0, len(text), _PIECE)]
    for n, piece in enumerate(pieces):
        storage.set_study_user_attr(number, str(n), piece)
    storage.set_study_user_attr(number, _COUNT, len(pieces))


def kernel_in(storage: BaseStorage, study: str) -> bytes | None:
    """What `keep_kernel` wrote; None where it is not there, or is something else."""
    number = _number(storage, study)
    if number is None:
        return None
    attrs = storage.get_study_user_attrs(number)
    count = attrs.get(_COUNT)
    if type(count) is not int or not 0 < count <= _MOST:
        return None
    pieces = [attrs.get(str(n)) for n in range(count)]
    texts = [piece for piece in pieces if isinstance(piece, str)]
    if len(texts) < count:
        return None
    try:
        return base64.b64decode("".join(texts), validate=True)
    except ValueError:
        return None


def _number(storage: BaseStorage, study: str) -> int | None:
    try:
        return storage.get_study_id_from_name(study + SUFFIX)
    except KeyError:
        return None
