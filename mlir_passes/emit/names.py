"""Names in C++: the user's own wherever C++ lets them be, unique, and never a reserved word."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from dsl.programs.names import unused
from mlir_passes.emit.macros import MACROS

_KEYWORDS = """
alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bitand bitor bool
break case catch char char8_t char16_t char32_t class compl concept const consteval constexpr
constinit const_cast continue co_await co_return co_yield decltype default delete do double
dynamic_cast else enum explicit export extern false float for friend goto if inline int long
mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public
reflexpr register reinterpret_cast requires restrict return short signed sizeof static
static_assert static_cast struct switch synchronized template this thread_local throw true try
typedef typeid typename typeof union unsigned using virtual void volatile wchar_t while xor xor_eq
"""
# Types and namespaces that the generated text or the headers it includes may use, and macros of
# other machines and tools than those of `MACROS`.
_USED = """
ap_int ap_uint ap_fixed ap_ufixed half std hls weft main i386 INLINE
"""
# Ports that Vitis HLS adds to every top function.
_PORTS = """
ap_clk ap_rst ap_rst_n ap_start ap_done ap_idle ap_ready ap_continue ap_return ap_ce interrupt
"""
# Functions of the C library: a top function of that name with C linkage would collide.
_C_LIBRARY = """
abort abs acos acosh asin asinh atan atan2 atanh atexit atof atoi atol bsearch calloc cbrt ceil
clock close copysign cos cosh div drem erf erfc erff exit exp exp10 exp2 expm1 fabs fdim floor fma
fmax fmin fmod free frexp gamma getenv hypot ilogb index isinf isnan j0 j1 jn labs ldexp ldiv lgamma
link llabs lldiv llrint llround log log10 log1p log2 logb lrint lround malloc memchr memcmp memcpy
memmove memset modf nan nearbyint nextafter open pipe pow pow10 printf putc puts qsort raise rand
random read realloc remainder remove remquo rename rindex rint round scalb scalbln scalbn scanf
select send signal significand sin sincos sinh sleep sqrt srand stat strcat strcmp strcpy strlen
strtod swab system tan tanh tgamma time trunc write y0 y1 yn
"""
RESERVED = frozenset((_KEYWORDS + _USED + _PORTS).split()) | MACROS
C_FUNCTIONS = frozenset(_C_LIBRARY.split())

_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_]")


def spelled(name: str, avoid: frozenset[str] = RESERVED) -> str:
    """A C++ identifier for a name: other characters by their code, reserved ones with ``_``."""
    text = _NOT_A_NAME.sub(lambda m: "_" if ord(m[0]) < 128 else f"u{ord(m[0]):x}", name)
    text = re.sub(r"__+", "_", text) if "__" in text else text
    if not text or text[0].isdigit():
        text = f"v{text}"
    if text[0] == "_" and (len(text) == 1 or text[1].isupper()):
        text = f"v{text}"
    if text in avoid or text.upper().startswith("AP_") or text.startswith("_ssdm"):
        text = f"{text}_"
    return text


@dataclass(slots=True)
class Names:
    """Hands out unique names: ``i``, then ``i_2``, ``i_3``.

    ``taken`` are those of the whole function, ``scoped_names`` those of loop variables, which
    nests beside one another may share.
    """

    taken: set[str] = field(default_factory=set)
    scoped_names: set[str] = field(default_factory=set)

    def fresh(self, name: str) -> str:
        """A name that nothing has, and nothing gets from now on."""
        result = unused(spelled(name), self.taken | self.scoped_names)
        self.taken.add(result)
        return result

    def scoped(self, name: str, around: Iterable[str]) -> str:
        """A name for a loop variable; loops that are not around may have it too."""
        result = unused(spelled(name), self.taken.union(around))
        self.scoped_names.add(result)
        return result

    def numbered(self, prefix: str) -> str:
        """``t0``, ``t1``, ...: the next that nothing has."""
        n = 0
        while f"{prefix}{n}" in self.taken or f"{prefix}{n}" in self.scoped_names:
            n += 1
        self.taken.add(f"{prefix}{n}")
        return f"{prefix}{n}"
