"""Index arithmetic: products with the lengths of rows, divisions by numbers of banks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Indices:
    """Products of a row's number with its length, which addresses of a flattened nest need.

    Attributes:
        row_states: states of one that a DSP slice multiplies and adds to.
        row_add_states: states of any other: of shifted copies that are added, or of a product of its own.
        row_dsp: DSP slices of one that a slice multiplies and adds to; 0 if none takes any.
        remainder_stages: stages of a divider besides one for each bit of a subscript, which tells the bank of an
            access where the number of banks is no power of two; 0 where no access waits for it. Versions that
            `IndexDivision` is known of have their own.
    """

    row_states: int = 0
    row_add_states: int = 0
    row_dsp: int = 1
    remainder_stages: int = 0


@dataclass(frozen=True, slots=True)
class IndexDivision:
    """Divisions of subscripts by numbers of banks that are no powers of two.

    What does not move with a pipeline is divided around it, once, so that a nest that updates an array whose
    rows are in banks by a remainder is not flattened. A load whose bank such a remainder tells reads every
    bank, where ports take those of all copies in an interval, and what they deliver waits.

    Attributes:
        states: of one; more of an index of many bits.
        unbounded_states: of one whose index has no known bound.
        hidden_states: of these, what is hidden where only stores want it.
        logic_bits: an index of up to so many bits is multiplied, or divided, in logic.
        dsp: DSP slices of a wider one.
        exit_dsp: DSP slices of one behind an exit of an unrolled loop around others.
    """

    states: int
    unbounded_states: int
    hidden_states: int
    logic_bits: int
    dsp: int
    exit_dsp: int

    def in_slices(self, extent: int) -> bool:
        """Whether an index below ``extent`` has more bits than logic multiplies, or divides."""
        return (extent - 1).bit_length() > self.logic_bits
