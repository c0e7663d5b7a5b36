"""Arguments in memory outside: options of their ports, and the control of the function."""

from __future__ import annotations

import pytest

from tests.schedule.test_requests import Build, compiled, refused

ACTS: list[tuple[str, Build, str]] = [
    (
        "interface, outside",
        lambda s: s.interface("A", "m_axi", "g", width=256, burst=16, latency=0, bank="HBM[0:3]"),
        "depth=48 max_widen_bitwidth=256 latency=0 max_read_burst_length=16",
    ),
    (
        "interface, outstanding",
        lambda s: s.interface("B", "m_axi", outstanding=4, offset="off"),
        "offset=off depth=48 num_write_outstanding=4",
    ),
    ("control", lambda s: s.interface("return", "ap_ctrl_none"), "mode=ap_ctrl_none port=return"),
    (
        "control, with an address",
        lambda s: s.interface("A", "m_axi").interface("return", "ap_ctrl_chain"),
        "mode=s_axilite port=a",
    ),
]

REFUSED: list[tuple[Build, str, str]] = [
    (lambda s: s.interface("A", "m_axi", width=96), "W207", "a power of two from 8 to 1024"),
    (lambda s: s.interface("A", "m_axi", width=16), "W207", "no multiple of an element of 'A'"),
    (lambda s: s.interface("A", "m_axi", burst=512), "W207", "a power of two from 2 to 256"),
    (lambda s: s.interface("A", "m_axi", width=512, burst=128), "W207", "has at most 64 beats"),
    (lambda s: s.interface("A", "m_axi", outstanding=-1), "W207", "it is 1 to 256"),
    (lambda s: s.interface("A", "m_axi", latency=-2), "W207", "it is 0 to 1024"),
    (lambda s: s.interface("A", "m_axi", offset="slav"), "W215", "did you mean 'slave'?"),
    (lambda s: s.interface("A", "m_axi", bank="HBM[32]"), "W215", "no memory is called"),
    (lambda s: s.interface("A", "m_axi", bank="DDR[2:1]"), "W215", "no memory is called"),
    (lambda s: s.interface("A", "bram", width=64), "W215", "width is an option of m_axi"),
    (lambda s: s.interface("return", "m_axi"), "W215", "m_axi is no control of a function"),
    (lambda s: s.interface("return", "s_axilite", "c"), "W215", "has no bundle"),
    (
        lambda s: s.interface("A", "m_axi", "g", width=64).interface("B", "m_axi", "g"),
        "W223",
        "'A' and 'B' share bundle 'g', but not its width",
    ),
    (
        lambda s: s.interface("return", "ap_ctrl_hs").interface("return", "ap_ctrl_none"),
        "W223",
        "the control of the function is asked for twice",
    ),
]


@pytest.mark.parametrize(("name", "build", "text"), ACTS, ids=[row[0] for row in ACTS])
def test_what_is_asked_for_is_there(name: str, build: Build, text: str) -> None:
    assert text in compiled(build)
    assert text not in compiled(lambda s: s)


@pytest.mark.parametrize(("build", "code", "text"), REFUSED)
def test_what_does_not_fit_is_refused(build: Build, code: str, text: str) -> None:
    error = refused(build)
    assert error.code == code
    assert text in error.render()


def test_one_slave_port_drives_all() -> None:
    lines = [
        line.removeprefix("#pragma HLS interface mode=")
        for line in compiled(
            lambda s: s.interface("A", "m_axi", "g").interface("B", "m_axi", "h")
        ).splitlines()
        if line.startswith("#pragma HLS interface")
    ]
    assert lines == [
        "m_axi port=A bundle=g offset=slave depth=48",
        "m_axi port=B bundle=h offset=slave depth=48",
        "s_axilite port=A",
        "s_axilite port=B",
        "s_axilite port=a",
        "s_axilite port=return",
    ]
