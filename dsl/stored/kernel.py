"""A kernel as data: its program at the size that is worked at, at smaller ones, and inputs.

Designs are run at smaller sizes to be checked. Inputs are there where a function of the kernel's own
makes them: that is Python, so what it makes of seed 0 is kept instead of it.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsl.arrays.inputs import Value, check_inputs, random_inputs
from dsl.arrays.storage import storage_dtype
from dsl.errors.errors import InputError, WeftError
from dsl.kernels.kernel import Kernel
from dsl.programs.program import Array, Program
from dsl.stored.parts import Malformed, fields_of, list_of
from dsl.stored.read import json_of, program_of_data, refuse
from dsl.stored.write import SCHEMA_VERSION, digest, program_data

MOST_INPUTS, MOST_SMALL = 1 << 26, 1 << 22
"""Bytes of the inputs that are kept: at the size that is worked at, and at each smaller one."""

_SEED = 0
_KERNEL = ("makes_inputs", "own", "named", "parts")


class StoredKernel(Kernel):
    """A kernel that was read from data, or is ready to be written: nothing of it runs Python.

    Attributes:
        makes_inputs: A function of the kernel's own made its inputs.
    """

    def __init__(self, program: Program, makes_inputs: bool, inputs: object = None) -> None:
        super().__init__(program.name)
        self._program = program
        self._inputs = inputs
        self.makes_inputs = makes_inputs
        self._smaller: Callable[[str], Iterator[StoredKernel]] = lambda _: iter(())

    def build_in(self, building: tuple[Kernel, ...]) -> Program:
        """See `Kernel.build_in`."""
        return self._program

    @cached_property
    def named(self) -> tuple[StoredKernel, ...]:
        """The kernel at the sizes that it has names for."""
        return tuple(self._smaller("named"))

    @cached_property
    def parts(self) -> tuple[StoredKernel, ...]:
        """The kernel at parts of its own size."""
        return tuple(self._smaller("parts"))

    @property
    def ready(self) -> bool:
        """Inputs can be made for it, those of the first seed at least."""
        return not self.makes_inputs or self._inputs is not None

    def make_inputs(self, seed: int = 0) -> dict[str, Value]:
        """See `Kernel.make_inputs`.

        Raises:
            InputError: W549: the kernel's own function would have to make them; W546, W543, W544:
                what is stored is none.
        """
        if not self.makes_inputs:
            return random_inputs(self._program, seed)
        if self._inputs is None or seed != _SEED:
            which = f"with seed {seed}" if self._inputs is not None else "at this size"
            raise InputError(
                "W549",
                f"a function in the file of '{self.name}' makes its inputs, and those {which} are "
                "not stored",
                help="name the kernel, and its file is run: --kernel FILE.py:NAME",
            )
        try:
            own = _inputs_of(self._inputs, self._program)
        except Malformed as error:
            refuse(f"what is stored of '{self.name}'", str(error))
        found = check_inputs(self._program, {**random_inputs(self._program, seed), **own})
        return {n: np.array(v) if v.shape else v[()] for n, v in found.items()}


def stored_kernel(
    kernel: Kernel, named: Sequence[Kernel] = (), parts: Sequence[Kernel] = ()
) -> StoredKernel:
    """A kernel as data; what its own function for inputs makes is asked for here.

    Args:
        kernel: At the size that is worked at.
        named: It at the sizes that it has names for.
        parts: It at parts of its size.

    Raises:
        LanguageError: The kernel is not a program of the language.
    """
    found = _stored(kernel, MOST_INPUTS)
    smaller = {"named": named, "parts": parts}
    found._smaller = lambda which: (_stored(one, MOST_SMALL) for one in smaller[which])
    return found


def _stored(kernel: Kernel, most: int) -> StoredKernel:
    makes = bool(kernel.own_inputs)
    inputs = _made_inputs(kernel, most) if makes else None
    return StoredKernel(kernel.program, makes, inputs)


# ----------------------------------------------------------------------------------------- JSON


def kernel_json(kernel: StoredKernel, *, most: int = MOST_INPUTS) -> str:
    """The kernel as JSON. Places are kept at its own size only.

    Args:
        kernel: Of `stored_kernel`, or one that was read.
        most: Bytes of inputs; more are left out.
    """
    inner = {
        "makes_inputs": kernel.makes_inputs,
        "own": _sized(kernel, most, places=True),
        "named": [_sized(one, most, places=False) for one in kernel.named],
        "parts": [_sized(one, most, places=False) for one in kernel.parts],
    }
    full = {"schema_version": SCHEMA_VERSION, "digest": digest(inner), "kernel": inner}
    return json.dumps(full, separators=(",", ":")) + "\n"


def _sized(kernel: StoredKernel, most: int, *, places: bool) -> dict[str, Any]:
    inputs = kernel._inputs if _bytes(kernel.program) <= most else None
    return {"program": program_data(kernel.program, places=places), "inputs": inputs}


def kernel_of_json(text: str, where: str) -> StoredKernel:
    """What `kernel_json` wrote; smaller sizes are looked at when they are asked for.

    Raises:
        InputError: W546: it holds no kernel.
    """
    data = json_of(text, where)
    try:
        version, told, inner = fields_of(data, ("schema_version", "digest", "kernel"), "it")
        if type(version) is not int or version != SCHEMA_VERSION:
            raise Malformed(f"its schema_version is not {SCHEMA_VERSION}")
        if digest(inner) != told:
            raise Malformed("its digest is another one: somebody has changed it")
        makes, own, *rest = fields_of(inner, _KERNEL, "the kernel")
        smaller = dict(zip(("named", "parts"), (list_of(r, "sizes") for r in rest), strict=True))
        if type(makes) is not bool:
            raise Malformed("it does not say who makes inputs")
        found = _read(own, makes, where)
    except (Malformed, RecursionError, UnicodeError) as error:
        refuse(where, str(error))
    found._smaller = lambda which: (_read(one, makes, where) for one in smaller[which])
    return found


def _read(data: object, makes: bool, where: str) -> StoredKernel:
    try:
        program, inputs = fields_of(data, ("program", "inputs"), "a size")
    except Malformed as error:
        refuse(where, str(error))
    return StoredKernel(program_of_data(program, where), makes, inputs)


# ---------------------------------------------------------------------------------------- inputs


def _bytes(program: Program) -> int:
    """Of all arguments; wide integers count as eight bytes."""
    return sum(
        storage_dtype(a.dtype).itemsize * int(np.prod(a.shape, dtype=object))
        for a in program.arguments
    )


def _made_inputs(kernel: Kernel, most: int) -> dict[str, Any] | None:
    """What the kernel's function makes otherwise than at random; None where it makes nothing."""
    if _bytes(kernel.program) > most:
        return None
    try:
        made = kernel.make_inputs(_SEED)
    except WeftError:  # who asks for these inputs is told that they are not there
        return None
    plain = random_inputs(kernel.program, _SEED)
    values = ((a, np.asarray(made[a.name])) for a in kernel.program.arguments)
    return {a.name: _packed(v) for a, v in values if not _same(v, np.asarray(plain[a.name]))}


def _same(a: NDArray[Any], b: NDArray[Any]) -> bool:
    if a.dtype.hasobject:
        return bool((a == b).all())
    return a.tobytes() == b.tobytes()


def _packed(values: NDArray[Any]) -> Any:
    """The elements: integers where they are Python's, else the bytes, compressed, as text."""
    if values.dtype.hasobject:
        return [int(v) for v in values.ravel().tolist()]
    data = values.astype(values.dtype.newbyteorder("<")).tobytes()
    return base64.b64encode(zlib.compress(data)).decode()


def _inputs_of(data: object, program: Program) -> Mapping[str, Value]:
    if _bytes(program) > MOST_INPUTS:
        raise Malformed("its inputs are too large to be stored")
    known = {a.name: a for a in program.arguments}
    if not isinstance(data, dict) or not data.keys() <= known.keys():
        raise Malformed("its inputs are not by the names of its arguments")
    return {name: _unpacked(value, known[name]) for name, value in data.items()}


def _unpacked(data: object, array: Array) -> NDArray[Any]:
    dtype = storage_dtype(array.dtype)
    count = int(np.prod(array.shape, dtype=object))
    if dtype.hasobject:
        values = list_of(data, f"the input '{array.name}'", count)
        if not all(type(v) is int for v in values):
            raise Malformed(f"the input '{array.name}' is not of integers")
        found = np.empty(count, dtype=object)
        found[:] = values
        return found.reshape(array.shape)
    size = count * dtype.itemsize
    try:
        packed = base64.b64decode(data if isinstance(data, str) else "!", validate=True)
        raw = zlib.decompressobj().decompress(packed, size + 1)
    except (zlib.error, binascii.Error, ValueError) as error:
        raise Malformed(f"the input '{array.name}' is damaged") from error
    if len(raw) != size:
        raise Malformed(f"the input '{array.name}' is of another size")
    little = np.frombuffer(raw, dtype=dtype.newbyteorder("<"))
    return little.astype(dtype).reshape(array.shape)
