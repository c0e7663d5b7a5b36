"""Arrays of several elements a word: one access of a port for all lanes, words that are read before they are written in part."""

import pytest

import weft
from dse.estimates.estimation import estimated, setting
from dse.estimates.support import marks_of
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from qor_gnn.design.from_module import kernel_of_module
from qor_gnn.design.from_tree import kernel_of_tree
from weft import f32, i8, i32, u8


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


@weft.kernel
def product(W: u8[16, 64], x: u8[64], y: i32[16]):
    for i in range(16):
        y[i] = 0
        for j in range(64):
            y[i] += W[i, j] * x[j]


@weft.kernel
def shifted(x: i8[64], y: i8[64]):
    t: i8[64]
    for i in range(64):
        t[i] = x[i] + 1
    for i in range(64):
        y[i] = t[63 - i]


@weft.kernel
def updated(A: f32[16, 32], B: f32[32, 16], C: f32[16, 16]):
    for i in range(16):
        for k in range(32):
            for j in range(16):
                C[i, j] += A[i, k] * B[k, j]


@weft.kernel
def scattered(index: u8[64], table: i32[256], y: i32[64]):
    for i in range(64):
        y[i] = table[index[i]]


def intervals(kernel, schedule, tool="vitis-2023.2"):
    return [loop.ii for loop in weft.estimate(kernel, schedule, tool=tool).loops if loop.overlaps]


def widths(kernel, schedule):
    """Bits and words of each memory as the model sees it."""
    design = weft.compile(kernel, schedule)
    regions = kernel_of_module(design.module)
    assert regions == kernel_of_tree(design.tree)
    return {m.name: (m.word_bits, m.shape) for m in regions.memories}


def test_a_word_is_one_access_of_a_port():
    start = steps().split("j", 8).pipeline("j_0")
    assert intervals(product, start.build()) == [4], "eight loads through two ports"
    words = start.reshape("W", 1, "cyclic", 8).reshape("x", 0, "cyclic", 8).build()
    assert intervals(product, words) == [1]
    assert widths(product, words) == {"W": (64, (16, 8)), "x": (64, (8,)), "y": (32, (16,))}


@pytest.mark.parametrize(
    ("scheme", "factor", "shape"),
    [("cyclic", 5, (13,)), ("block", 6, (11,)), ("complete", 0, (1,))],
)
def test_words_are_as_wide_and_as_many_as_the_scheme_says(scheme, factor, shape):
    asked = steps().pipeline("S1.i").reshape("t", 0, scheme, factor).build()
    assert widths(shifted, asked)["t"] == (8 * (factor or 64), shape)
    assert Schedule.from_json(asked.to_json()) == asked


def test_a_word_that_is_written_in_part_is_read_before():
    # A store and the load of the next iteration are to one word, without any value going from one to the other.
    part = steps().pipeline("S0.i").pipeline("S1.i").reshape("t", 0, "cyclic", 8).build()
    for tool in ("vitis-2022.1", "vitis-2023.2", "vitis-2025.1"):
        assert intervals(shifted, part, tool) == [3, 1]
    whole = steps().split("S0.i", 8).pipeline("i_0").reshape("t", 0, "cyclic", 8)
    whole = whole.reshape("x", 0, "cyclic", 8).build()
    assert weft.verify(shifted, whole).ok
    assert intervals(shifted, whole)[0] == 1, "all lanes are stored: nothing has to be read"


def test_lanes_of_a_word_do_not_wait_for_each_other():
    # Four sums of one word in an iteration, whether the loop is split or unrolled; the word comes again after four.
    halves = steps().reshape("B", 1, "cyclic", 4).reshape("C", 1, "cyclic", 4).build()
    split = steps().split("j", 4).pipeline("j_0").build().then(*halves)
    copies = steps().unroll("j", 4).pipeline("j").build().then(*halves)
    assert intervals(updated, split) == intervals(updated, copies) == [3]


def test_a_lane_that_data_choose_is_shifted_out():
    plain = steps().pipeline("i").build()
    words = steps().pipeline("i").reshape("table", 0, "cyclic", 4).build()
    assert widths(scattered, words)["table"] == (128, (64,))
    found, before = weft.estimate(scattered, words), weft.estimate(scattered, plain)
    assert found.lut > before.lut + 128, "a shift over the word"


def test_no_pragma_denies_what_words_bring():
    @weft.kernel
    def folded(a: i32[64]):
        for i in range(32):
            a[i] = a[63 - i] + 1

    plain = steps().pipeline("i").build()
    words = plain.then(*steps().reshape("a", 0, "cyclic", 2).build())
    assert "dependence variable=a type=inter false" in weft.compile(folded, plain).hls_cpp
    text = weft.compile(folded, words).hls_cpp
    assert "#pragma HLS array_reshape variable=a type=cyclic factor=2 dim=1\n" in text
    assert "dependence" not in text


def test_storage_is_that_of_wide_words():
    @weft.kernel
    def reversed_(x: i32[1024], y: i32[1024]):
        t: i32[1024]
        for i in range(1024):
            t[i] = x[i]
        for i in range(1024):
            y[i] = t[1023 - i]

    def blocks(*asked, device="xczu9eg"):
        found = weft.estimate(reversed_, Schedule(asked), device=device, tool="vitis-2022.1")
        return found.bram18_range

    reshaped = steps().reshape("t", 0, "cyclic", 8).build()
    banks = steps().partition("t", 0, "cyclic", 8).build()
    # 256 bits by 128 words are eight blocks of 36 bits; eight banks of 32 bits by 128 words one each.
    assert blocks(*reshaped)[0] == 8
    assert blocks(*banks)[0] == 8
    bytes_ = steps().reshape("t", 0, "cyclic", 2).build()
    assert blocks(*bytes_)[0] == 2, "64 bits by 512 words, as a bank of 1024 by 32 is two"


def test_what_labels_do_not_show_is_said():
    words = steps().pipeline("i").reshape("table", 0, "cyclic", 4).build()
    found = estimated(scattered.program, words, setting("vitis-2023.2"))
    assert "arrays reshaped to words of several elements" in marks_of(found).unseen


def test_the_open_backend_has_no_such_memory():
    words = steps().pipeline("i").reshape("table", 0, "cyclic", 4).build()
    with pytest.raises(weft.WeftError, match="W460") as caught:
        weft.estimate(scattered, words, tool="open")
    assert 'partition("table"' in str(caught.value.render())


@weft.kernel
def scaled(x: f32[256], y: f32[256]):
    for i in range(256):
        y[i] = x[i] * 2.0


@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.parametrize("copies", [2, 4, 8])
def test_whole_words_are_not_read_before_they_are_written(lanes: int, copies: int) -> None:
    """Of several words an iteration too: each is an access of one of two ports."""
    many = steps().split("i", copies).unroll("i_1").pipeline("i_0")
    words = max(1, copies // lanes)
    parts = lanes > copies  # of a word, which is read before it is written
    schedule = many.reshape("x", 0, "cyclic", lanes).reshape("y", 0, "cyclic", lanes).build()
    (found,) = intervals(scaled, schedule)
    assert found == -(-words // 2) if not parts else found > 1
