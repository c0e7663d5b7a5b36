"""Small reports in the layout of Vitis HLS and Vivado HLS, written for tests: of modules, schedules, and routing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

RULE = "=" * 64


@dataclass(frozen=True)
class Made:
    """A project that a test writes: what its tool, device and clock are."""

    name: str
    version: str = "2023.2"
    part: str = "xc7z020-clg400-1"
    family: str = "zynq"
    clock: float = 10.0
    uncertainty: float = 2.7
    date: str = "Sun Feb 23 14:49:46 2025"

    @property
    def tool(self) -> str:
        """In the words of reports."""
        return "Vivado" if self.version < "2020.1" else "Vitis"


def heading(made: Made, module: str) -> str:
    """The heading of a report of a module."""
    return f"""

{RULE}
== {made.tool} HLS Report for '{module}'
{RULE}
* Date:           {made.date}

* Version:        {made.version} (Build 5238294 on Nov  8 2024)
* Project:        {made.name}
* Solution:       solution1 (Vivado IP Flow Target)
* Product family: {made.family}
* Target device:  {made.part}


{RULE}
== Performance Estimates
{RULE}
+ Timing:
    * Summary:
    +--------+----------+----------+------------+
    |  Clock |  Target  | Estimated| Uncertainty|
    +--------+----------+----------+------------+
    |ap_clk  |  {made.clock:.2f} ns|  7.256 ns|     {made.uncertainty:.2f} ns|
    +--------+----------+----------+------------+

+ Latency:
    * Summary:
    +---------+---------+----------+----------+-----+-----+---------+
    |  Latency (cycles) |  Latency (absolute) |  Interval | Pipeline|
    |   min   |   max   |    min   |    max   | min | max |   Type  |
    +---------+---------+----------+----------+-----+-----+---------+
    |       56|       56|  0.560 us|  0.560 us|   56|   56|       no|
    +---------+---------+----------+----------+-----+-----+---------+
"""


def module_report(made: Made, module: str, instances: Sequence[tuple[str, int, int, int]]) -> str:
    """``<module>_csynth.rpt``: instances by the names of their modules, with DSP, FF and LUT."""
    dsp = "DSP48E" if made.version < "2020.1" else "DSP"
    rows = "\n".join(
        f"    |{name}_U{n}  |{name}  |        0|{d:4}|{f:5}|{lut:5}|    0|"
        for n, (name, d, f, lut) in enumerate(instances, 1)
    )
    rule = "    +------------------+------------------+---------+----+-----+-----+-----+"
    return f"""{heading(made, module)}
{RULE}
== Utilization Estimates
{RULE}
* Summary:
+-----------------+---------+-----+--------+-------+-----+
|       Name      | BRAM_18K| {dsp} |   FF   |  LUT  | URAM|
+-----------------+---------+-----+--------+-------+-----+
|{dsp}            |        -|    -|       -|      -|    -|
|Expression       |        -|    -|       0|     39|    -|
|Instance         |        0|    5|     348|    711|    -|
+-----------------+---------+-----+--------+-------+-----+
|Total            |        0|    5|     348|    750|    0|
+-----------------+---------+-----+--------+-------+-----+

+ Detail:
    * Instance:
{rule}
    |     Instance     |      Module      | BRAM_18K| {dsp}|  FF | LUT | URAM|
{rule}
{rows}
{rule}
    |Total             |                  |        0|   5|  348|  711|    0|
{rule}

    * Memory:
    N/A

    * Expression:
    +--------------------+----------+----+---+----+------------+------------+
    |    Variable Name   | Operation| {dsp}| FF| LUT| Bitwidth P0| Bitwidth P1|
    +--------------------+----------+----+---+----+------------+------------+
    |add_ln12_fu_235_p2  |         +|   0|  0|  39|          32|           1|
    +--------------------+----------+----+---+----+------------+------------+
    |Total               |          |   0|  0|  39|          32|           1|
    +--------------------+----------+----+---+----+------------+------------+
"""


def schedule_report(made: Made, module: str, cores: Sequence[tuple[str, str, int, float]]) -> str:
    """``<module>.verbose.sched.rpt``: operations with the core, the latency and the delay of each."""
    key = "CoreInst" if made.tool == "Vitis" else "Core"
    lines = "\n".join(
        f'ST_1 : Operation {n} [{lat + 1}/{lat + 1}] ({delay:.2f}ns)   --->   "%x_{n} = {op} i32 %a, i32 %b" '
        f"[k.cpp:{n}->k.cpp:3]   --->   Operation {n} '{op}' 'x_{n}' <Predicate = true> <Delay = {delay:.2f}> "
        f"<{key} = \"{core}\">   --->   Core {n} '{core}' <Latency = {lat}> <II = 1> <Delay = {delay:.2f}> "
        f"<FuncUnit> <Opcode : '{op}'> <InPorts = 2> <OutPorts = 1>"
        for n, (op, core, lat, delay) in enumerate(cores, 18)
    )
    return f"""{heading(made, module)}
============================================================
+ Verbose Summary: Schedule
============================================================
* Number of FSM states : 13

State 1 <SV = 0> <Delay = 7.25>
ST_1 : Operation 14 [1/1] (0.00ns)   --->   "%i = alloca i32 1"   --->   Operation 14 'alloca' 'i' <Predicate = true> <Delay = 0.00>
ST_1 : Operation 15 [2/2] (3.25ns)   --->   "%A_load = load i10 %A_addr"   --->   Operation 15 'load' 'A_load' <Predicate = true> <Delay = 3.25> <{key} = "RAM">   --->   Core 82 'RAM' <Latency = 1> <II = 1> <Delay = 3.25> <Storage> <Opcode : 'load' 'store'> <Ports = 2> <Width = 32> <Depth = 1000> <RAM>
{lines}
"""


def summary_report(made: Made, top: str, bound: Sequence[tuple[str, str, str, str, int]]) -> str:
    """``csynth.rpt``: bound operators by name, pragma (``yes`` or nothing), op, impl and latency."""
    rule = "+------------------------------+-----+--------+------------+--------+-----------+---------+"
    rows = "\n".join(
        f"|    {name}_U{n} |     | {pragma:6} | x_{n}       | {op:6} | {impl:9} | {latency:7} |"
        for n, (name, pragma, op, impl, latency) in enumerate(bound, 1)
    )
    return f"""

{RULE}
== Synthesis Summary Report of '{top}'
{RULE}
+ General Information:
    * Date:           {made.date}
    * Version:        {made.version} (Build 5238294 on Nov  8 2024)
    * Project:        {made.name}
    * Solution:       hls (Vitis Kernel Flow Target)
    * Product family: {made.family}
    * Target device:  {made.part}


+ Performance & Resource Estimates:

    PS: '+' for module; 'o' for loop; '*' for dataflow
    +-------------+------+------+---------+
    |   Modules   | Issue|      | Latency |
    |   & Loops   | Type | Slack| (cycles)|
    +-------------+------+------+---------+
    |+ {top}      |     -|  0.00|     3159|
    +-------------+------+------+---------+

{RULE}
== Bind Op Report
{RULE}
{rule}
| Name                         | DSP | Pragma | Variable   | Op     | Impl      | Latency |
{rule}
| + {top}                      | 5   |        |            |        |           |         |
{rows}
{rule}
"""


def totals_xml(made: Made, top: str, lut: int, ff: int) -> str:
    """``csynth.xml`` of a design."""
    return f"""<profile><ReportVersion><Version>{made.version}</Version></ReportVersion>
<UserAssignments><Part>{made.part}</Part><TopModelName>{top}</TopModelName>
<TargetClockPeriod>{made.clock:.2f}</TargetClockPeriod><ClockUncertainty>{made.uncertainty:.2f}</ClockUncertainty>
</UserAssignments><PerformanceEstimates><SummaryOfOverallLatency/></PerformanceEstimates>
<AreaEstimates><Resources><DSP>5</DSP><FF>{ff}</FF><LUT>{lut}</LUT><BRAM_18K>0</BRAM_18K></Resources></AreaEstimates>
</profile>
"""


def routed_report(made: Made, lut: int, ff: int) -> str:
    """``<top>_export.rpt`` after place and route."""
    return f"""

Implementation tool: Xilinx Vivado v.{made.version}
Project:             {made.name}
Solution:            solution1
Device target:       {made.part}

#=== Post-Implementation Resource usage ===
SLICE:            0
LUT:           {lut}
FF:            {ff}
DSP:              5
BRAM:             0

#=== Final timing ===
CP required:                     {made.clock:.3f}
CP achieved post-synthesis:      6.037
CP achieved post-implementation: 7.490
Timing met
"""


ADDER, PRODUCT = (
    ("fadd_32ns_32ns_32_5_full_dsp_1", 2, 205, 390),
    ("fmul_32ns_32ns_32_4_max_dsp_1", 3, 143, 321),
)
CORES = (("fadd", "FAddSub_fulldsp", 4, 7.25), ("fmul", "FMul_maxdsp", 3, 5.70))
"""What reports for an xc7z020-1 at 10 ns show."""


def project(
    folder: Path,
    made: Made,
    *,
    modules: Sequence[str] = ("top",),
    instances: Sequence[tuple[str, int, int, int]] = (ADDER, PRODUCT),
    cores: Sequence[tuple[str, str, int, float]] = CORES,
    routed: tuple[int, int, int, int] | None = None,
) -> Path:
    """Write a project into a folder.

    Args:
        folder: where to; the project is a folder of its name in it.
        made: its tool, device and clock.
        modules: that it has.
        instances, cores: of each module.
        routed: LUT and FF of csynth, and those after place and route; None where it was not routed.
    """
    place = folder / made.name / "solution1"
    for part in ("syn/report", ".autopilot/db", "impl/report/verilog"):
        (place / part).mkdir(parents=True, exist_ok=True)
    for module in modules:
        report = place / "syn/report" / f"{module}_csynth.rpt"
        report.write_text(module_report(made, module, instances))
        schedule = place / ".autopilot/db" / f"{module}.verbose.sched.rpt"
        schedule.write_text(schedule_report(made, module, cores))
    if routed is not None:
        lut, ff, *left = routed
        (place / "syn/report/csynth.xml").write_text(totals_xml(made, modules[0], lut, ff))
        export = place / "impl/report/verilog" / f"{modules[0]}_export.rpt"
        export.write_text(routed_report(made, *left))
    return folder / made.name
