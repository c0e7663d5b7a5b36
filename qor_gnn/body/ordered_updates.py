"""Arrays whose updates the tool keeps in the order of the copies that make them.

Where an iteration updates more elements of an array than the tool compares with each other (see
`storage_auto`), no copy of the outermost loop inside loads anything of the array before the copy in
front of it has stored all that it stores, and nothing of that is forwarded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class CopiesInOrder:
    """What the copies of a body have done to such arrays, by memory.

    Attributes:
        copy: the number of the copy that is appended.
        stored: the stores of the copy in front, which every load of the next one waits for.
    """

    copy: int = 0
    stored: dict[int, list[int]] = field(default_factory=dict)
    _inside: bool = False
    _last: dict[int, int] = field(default_factory=dict)
    _held: dict[int, set[int]] = field(default_factory=dict)

    def enter(self) -> bool:
        """A loop begins; True where it is the outermost one, whose iterations are the copies."""
        outermost, self._inside = not self._inside, True
        return outermost

    def leave(self) -> None:
        """The outermost loop has ended."""
        self._inside = False

    def touch(
        self, memory: int, address: int, commit: Callable[[int, int], int | None]
    ) -> set[int]:
        """An access by the current copy: addresses of which nothing is known from now on.

        Args:
            memory: the array, ``address`` the element.
            commit: makes the store to an address of the array an operation, if there is one.
        """
        held = self._held.setdefault(memory, set())
        gone: set[int] = set()
        if self._last.get(memory, self.copy) != self.copy:
            made = (commit(memory, a) for a in sorted(held))
            self.stored[memory] = [n for n in made if n is not None]
            gone, self._held[memory] = held, set()
        self._last[memory] = self.copy
        self._held[memory].add(address)
        return gone
