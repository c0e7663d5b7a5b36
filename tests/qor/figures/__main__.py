"""Record anew what the model says, and tell what changed: ``python -m tests.qor.figures``.

With a key of a design behind it: show that design's figures in full, and record nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from tests.qor.figures.answers import estimates
from tests.qor.figures.designs import designs
from tests.qor.figures.lines import flow, line, rest, sums
from tests.qor.figures.summary import summary
from tests.qor.figures.tables import by_name, lines_now, recorded_lines, write


def shown(key: str) -> Iterator[str]:
    """Everything of one design, under every personality."""
    for design in designs():
        if design.key == key:
            for tool, answer in estimates(*design.make()):
                yield line(key, tool, answer)
                if not isinstance(answer, str):
                    loops = [text for row in answer.loops for text in rest(row).splitlines()]
                    details = (*sums(answer.sums), *flow(answer), *loops)
                    yield from (f"    {text}" for text in details)


def main(arguments: list[str]) -> int:
    """Record, or show."""
    if arguments:
        lines = [text for key in arguments for text in shown(key)]
    else:
        now = by_name(lines_now(designs()))
        lines = summary(by_name(recorded_lines()), now)
        write(now)
    sys.stdout.write("".join(f"{text}\n" for text in lines))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
