"""A schedule brought to a board, or why it cannot be: one that says what becomes of loops is for arrays that are on the
chip as a whole, and tiles are other loops.
"""

from __future__ import annotations

from backends.deploy.boards import Board
from backends.deploy.outside import outside
from dsl.errors.errors import ToolError, WeftError
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Buffer
from polyhedral.schedule import apply


def brought_to(program: Program, schedule: Schedule, board: Board) -> Schedule:
    """The schedule with all arguments in memory outside; see `backends.deploy.outside.outside`.

    Raises:
        ToolError: W407, W254, as `outside`; W409, arrays do not fit on the chip as a whole and are copied in tiles, whose
            loops the schedule was not made for.
        ScheduleError: the schedule is refused on the chip as well.
    """
    found = outside(program, schedule, board)
    own = {s.name or f"{s.array}_buf" for s in schedule if isinstance(s, Buffer)}
    copies = [s for s in found if isinstance(s, Buffer) and s.name not in own]
    tiled = sorted({copy.array for copy in copies if copy.at})
    if not tiled:
        return found
    try:
        apply(program, found)
    except WeftError as refused:
        apply(program, schedule)  # what is wrong without a board is told as it is
        raise ToolError(
            "W409",
            f"the schedule of '{program.name}' is for arrays on the chip, and {', '.join(tiled)} "
            f"{'does' if len(tiled) == 1 else 'do'} not fit on that of {board.name} as a whole: they are copied in tiles, "
            f"whose loops are others ({refused.message})",
            help=f"search for a design in tiles: weft explore --deploy {board.name}, and export what it finds; or write the "
            "tiles into the schedule, with interface(..., 'm_axi') and buffer(array, at)",
        ) from refused
    return found
