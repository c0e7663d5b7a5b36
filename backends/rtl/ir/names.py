"""Legal, unique names: what users call things is hostile input to Verilog and to Verilator's C++."""

from __future__ import annotations

import re

LONGEST = 80

# Verilog-2005 and SystemVerilog (Verilator reads it by default), then C++ and what Verilator's
# generated classes call their own: it warns of a port with such a name.
_WORDS = """
accept_on alias always always_comb always_ff always_latch and assert assign assume automatic
before begin bind bins binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle
checker class clocking cmos config const constraint context continue cover covergroup coverpoint
cross deassign default defparam design disable dist do edge else end endcase endchecker endclass
endclocking endconfig endfunction endgenerate endgroup endinterface endmodule endpackage
endprimitive endprogram endproperty endsequence endspecify endtable endtask enum event
eventually expect export extends extern final first_match for force foreach forever fork
forkjoin function generate genvar global highz0 highz1 if iff ifnone ignore_bins illegal_bins
implements implies import incdir include initial inout input inside instance int integer
interconnect interface intersect join join_any join_none large let liblist library local
localparam logic longint macromodule matches medium modport module nand negedge nettype new
nexttime nmos nor noshowcancelled not notif0 notif1 null or output package packed parameter pmos
posedge primitive priority program property protected pull0 pull1 pulldown pullup
pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase randsequence rcmos real realtime
ref reg reject_on release repeat restrict return rnmos rpmos rtran rtranif0 rtranif1 s_always
s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal showcancelled
signed small soft solve specify specparam static string strong strong0 strong1 struct super
supply0 supply1 sync_accept_on sync_reject_on table tagged task this throughout time
timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior trireg type typedef union
unique unique0 unsigned until until_with untyped use uwire var vectored virtual void wait
wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor alignas alignof
and_eq asm auto bitand bitor bool catch char char8_t char16_t char32_t co_await co_return
co_yield compl concept const_cast consteval constexpr constinit decltype delete double
dynamic_cast explicit false float friend goto inline long mutable namespace noexcept not_eq
nullptr operator or_eq private public register reinterpret_cast requires short sizeof
static_assert static_cast std switch template thread_local throw true try typeid typename using
volatile wchar_t xor_eq abort abs acos asctime asin atan atexit atof atoi atol bsearch calloc
ceil clearerr clock cos ctime difftime div errno exit exp fabs fclose feof ferror floor fmod
fopen fprintf fputs fread free frexp fscanf fseek ftell fwrite getc getchar getenv gets gmtime
labs ldexp localtime log main malloc mktime modf pow printf putc puts qsort raise realloc remove
rename rewind scanf signal sin sinh sqrt srand sscanf stdin stdout stderr strcat strcmp strcpy
strlen strstr tan tanh tmpfile tmpnam tolower toupper ungetc vprintf clk rst eval trace contextp
name rootp
"""
RESERVED = frozenset(_WORDS.split())


def legal(name: str) -> str:
    """A simple identifier that looks like ``name``.

    Letters, digits and single underscores; not longer than `LONGEST`. Runs of anything else become
    one underscore (two would be escaped in Verilator's C++ names), also at the end.
    """
    text = re.sub(r"[^A-Za-z0-9]+", "_", name)[:LONGEST].rstrip("_")
    if not text or not text[0].isalpha():
        text = f"n_{text.lstrip('_')}".rstrip("_")
    return text


class Names:
    """Hands out each name once; ``clk``, ``rst`` and all keywords are taken from the start."""

    def __init__(self) -> None:
        self._taken = set(RESERVED)
        self._next: dict[str, int] = {}

    def take(self, name: str) -> str:
        """``name`` made legal, with a number behind it where it is taken."""
        base = legal(name)
        text, count = base, self._next.get(base, 2)
        # Verilator leaves out names with "unused" from its search for unused signals.
        while text.lower() in self._taken or "unused" in text.lower():
            text = f"{base.lower().replace('unused', 'idle')}_{count}"
            count += 1
        self._next[base] = count
        self._taken.add(text.lower())
        return text
