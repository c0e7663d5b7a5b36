"""LUT, FF and DSP of a scheduled design: terms, sharing and binding of units."""
