"""``weft devices``: the parts and boards that designs can be made for."""

from __future__ import annotations

import click

from dse.views.output import format_option, show

COLUMNS = ("device", "family", "part", "lut", "ff", "dsp", "bram18", "uram", "boards")


@click.command()
@click.argument("text", default="", metavar="[TEXT]")
@format_option
def command(text: str, form: str) -> int:
    """List the devices that designs can be made for, and the boards that have them.

    \b
    weft devices
    weft devices zynq
    weft devices zcu

    With TEXT those whose name, family, part or board has it. --device takes a name, a part number of
    another package or speed grade, or a name with a grade (xc7z020-2); --board takes a board. Boards
    with a star are those that designs can be brought to (--deploy). Counts are of the whole device.
    Exits with 3 where none fits.
    """
    from backends.deploy.boards import boards
    from backends.devices import BOARDS, DEVICES, board

    on: dict[str, list[str]] = {}
    for name in BOARDS:
        on.setdefault(board(name).name, []).append(name)
    rows = [
        {
            **{c: getattr(chip, "name" if c == "device" else c) for c in COLUMNS[:-1]},
            "dsp_kind": chip.dsp_kind,
            "slrs": chip.slrs,
            "speed": chip.speed,
            "timing_class": chip.timing_class,
            "boards": " ".join(on.get(chip.name, [])),
            "deploy": " ".join(n for n in on.get(chip.name, []) if n in boards()),
        }
        for chip in DEVICES.values()
    ]
    wanted = text.lower()
    words = ("device", "family", "part", "boards")
    found = [row for row in rows if any(wanted in str(row[w]).lower() for w in words)]
    from dse.views import console

    if form == "table":
        for row in found:
            reached = str(row["deploy"]).split()
            row["boards"] = " ".join(n + "*" * (n in reached) for n in str(row["boards"]).split())
    if found or form != "table":
        show("devices", COLUMNS, found, form)
        if form == "table" and any(row["deploy"] for row in found):
            console.say("*: designs can be brought to it (--deploy)")
    else:
        console.say(f"no device or board has '{text}' in its name")
    return 0 if found else 3
