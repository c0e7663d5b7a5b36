"""What a module will take of an ECP5 after routing, and at which clock, without any tool.

A module is brought to bits (`elaborate`), what nothing needs goes (`needed`), functions are covered
with tables of four inputs (`cover`), sums are joined (`sums`), and what is left is counted by kind
(`cells`): registers, multipliers and block RAM nearly exactly. What each kind takes of the tables, and
how much longer the longest path (`timing`) is once it is placed, was fitted to routed designs (`costs`).
"""
