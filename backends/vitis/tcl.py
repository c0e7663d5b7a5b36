"""``run_hls.tcl``: the classic flow of Vitis HLS (commands as in UG1399, 2022.1 to 2025.2)."""

from __future__ import annotations

import re

from backends.vitis.files import PROJECT, SOLUTION, ProjectFiles

_PLAIN = re.compile(r"[A-Za-z0-9_./-]+")
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def tcl_word(text: str) -> str:
    """`text` as one word of Tcl that is substituted to exactly `text`.

    Every character that could mean something is escaped by a backslash, so no brace, bracket,
    dollar, quote, semicolon or white space in it is ever seen by the interpreter.
    """
    if not text:
        return "{}"
    if _PLAIN.fullmatch(text):
        return text
    return "".join(_escaped(c) for c in text)


def _escaped(c: str) -> str:
    if _PLAIN.fullmatch(c):
        return c
    if c in _NAMED:
        return _NAMED[c]
    if c.isascii() and c.isprintable():
        return f"\\{c}"
    if ord(c) > 0xFFFF:
        return c  # no escape of Tcl 8 reaches it, and it means nothing to Tcl
    return f"\\u{ord(c):04x}"


_SCRIPT = """\
# Vitis HLS project of @TOP@. Run one or more steps, in this order:
#
#   vitis_hls -f run_hls.tcl csim csynth cosim
#   WEFT_STEPS="csynth impl" vitis-run --mode hls --tcl run_hls.tcl
#
# csim    compile and run the testbench       csynth  C to RTL
# cosim   simulate the RTL                    export  package the RTL as IP
# impl    package it, synthesise, place and route it in Vivado (out of context)
#
# Without steps: csim csynth.

set known {csim csynth cosim export impl}
set asked {}
if {[info exists ::env(WEFT_STEPS)]} {
    set asked $::env(WEFT_STEPS)
} elseif {[info exists ::argv]} {
    # Depending on the version, the tool's own "-f run_hls.tcl" is among the arguments.
    foreach word $::argv {
        if {![string match -* $word] && ![string match *.tcl $word]} { lappend asked $word }
    }
}
set steps {}
foreach word $asked {
    if {$word ni $known} {
        puts stderr "run_hls.tcl: no step is called '$word'; there is $known"
        exit 2
    }
    lappend steps $word
}
if {![llength $steps]} { set steps {csim csynth} }

cd [file dirname [file normalize [info script]]]

# Synthesis starts afresh. Steps after it build on what an earlier run left, if there is any.
if {![file isdirectory @PROJECT@/@SOLUTION@/syn] && "csynth" ni $steps} {
    foreach word {cosim export impl} {
        if {$word in $steps} {
            set steps [linsert $steps [lsearch $steps $word] csynth]
            break
        }
    }
}
set reset [expr {"csynth" in $steps ? "-reset" : ""}]

set status [catch {
    open_project {*}$reset @PROJECT@
    set_top @TOP@
    add_files @SOURCE@
@TESTBENCH@
    open_solution {*}$reset @SOLUTION@ -flow_target vivado
    set_part @PART@
    create_clock -period @PERIOD@ -name default
@MARGIN@@MATH@@ASKED@@FLUSH@    foreach step $steps {
        switch $step {
            csim   { csim_design }
            csynth { csynth_design }
            cosim  { cosim_design -rtl verilog }
            export { export_design -rtl verilog -format ip_catalog }
            impl   { export_design -flow impl -rtl verilog -format ip_catalog }
        }
    }
    close_project
} message]
if {$status} {
    puts stderr "run_hls.tcl: $message"
    exit 1
}
exit 0
"""


def run_hls_tcl(files: ProjectFiles) -> str:
    """The script; its arguments, or ``WEFT_STEPS``, choose what runs."""
    testbench = [f"    add_files -tb {tcl_word(files.testbench)}"]
    testbench += [f"    add_files -tb {tcl_word(path)}" for path in files.data]
    values = {
        "TOP": tcl_word(files.top),
        "PROJECT": PROJECT,
        "SOLUTION": SOLUTION,
        "SOURCE": tcl_word(files.source),
        "TESTBENCH": "\n".join(testbench),
        "PART": tcl_word(files.device.part),
        "PERIOD": tcl_word(files.period),
        "MARGIN": f"    set_clock_uncertainty {files.margin}\n" if files.margin else "",
        "MATH": "    config_compile -unsafe_math_optimizations\n" if files.unsafe_math else "",
        "ASKED": "    config_compile -pipeline_loops 0\n" if files.only_asked else "",
        "FLUSH": "    config_compile -pipeline_style flp\n" if files.flushing else "",
    }
    return re.sub(r"@([A-Z]+)@", lambda m: values[m[1]], _SCRIPT)
