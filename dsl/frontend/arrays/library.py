"""Functions of NumPy in the language itself: they are read for the arrays that they are called with, never executed.

Integers are summed in 32 bits, or in as many as one term has, where the result is kept in an array or a local.
"""

from __future__ import annotations

# ruff: noqa: ANN001, ANN201
# mypy: ignore-errors
import numpy as np


def cumsum(x):
    """The sums of all elements up to each."""
    y = [0] * len(x)
    total = 0
    for i in range(len(x)):
        total += x[i]
        y[i] = total
    return y


def cumprod(x):
    """The products of all elements up to each."""
    y = [0] * len(x)
    product = 1
    for i in range(len(x)):
        product *= x[i]
        y[i] = product
    return y


def cumsum_0(m):
    """The sums of the rows up to each."""
    y = [[0] * len(m[0]) for _ in range(len(m))]
    for j in range(len(m[0])):
        total = 0
        for i in range(len(m)):
            total += m[i, j]
            y[i][j] = total
    return y


def cumsum_1(m):
    """The sums of each row up to each element."""
    y = [[0] * len(m[0]) for _ in range(len(m))]
    for i in range(len(m)):
        total = 0
        for j in range(len(m[0])):
            total += m[i, j]
            y[i][j] = total
    return y


def prod(x):
    """The product of all elements."""
    product = 1
    for i in range(len(x)):
        product *= x[i]
    return product


def all_bits(x):
    """The bits that all elements have."""
    bits = x[0]
    for i in range(1, len(x)):
        bits &= x[i]
    return bits


def any_bits(x):
    """The bits that any element has."""
    bits = x[0]
    for i in range(1, len(x)):
        bits |= x[i]
    return bits


def parities(x):
    """The bits that an odd number of elements has."""
    bits = x[0]
    for i in range(1, len(x)):
        bits ^= x[i]
    return bits


def cummax(x):
    """The largest of all elements up to each."""
    y = np.empty(len(x), x.dtype)
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = max(y[i - 1], x[i])
    return y


def cummin(x):
    """The least of all elements up to each."""
    y = np.empty(len(x), x.dtype)
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = min(y[i - 1], x[i])
    return y


def bincount(x, count):
    """How many elements are 0, 1, and so on."""
    y = [0] * count
    for i in range(len(x)):
        y[x[i]] += 1
    return y


def argmax(x):
    """The place of the first largest element."""
    place = 0
    best = x[0]
    for i in range(1, len(x)):
        if x[i] > best:
            best = x[i]
            place = i
    return place


def argmin(x):
    """The place of the first least element."""
    place = 0
    best = x[0]
    for i in range(1, len(x)):
        if x[i] < best:
            best = x[i]
            place = i
    return place


def sort(x):
    """In ascending order, by odd-even transposition: the exchanges of a pass are of pairs of their own."""
    y = np.empty(len(x), x.dtype)
    for i in range(len(x)):
        y[i] = x[i]
    for p in range(len(x)):
        for i in range(p % 2, len(x) - 1, 2):
            low = min(y[i], y[i + 1])
            high = max(y[i], y[i + 1])
            y[i] = low
            y[i + 1] = high
    return y


def argsort(x):
    """The places of the elements in ascending order, equal ones in the order in which they stand."""
    y = np.empty(len(x), x.dtype)
    at = [0] * len(x)
    for i in range(len(x)):
        y[i] = x[i]
        at[i] = i
    for p in range(len(x)):
        for i in range(p % 2, len(x) - 1, 2):
            if y[i] > y[i + 1]:
                y[i], y[i + 1] = y[i + 1], y[i]
                at[i], at[i + 1] = at[i + 1], at[i]
    return at


def median_odd(x):
    """The element in the middle of an odd number of them."""
    y = sort(x)
    return y[len(x) // 2]


def median_even(x):
    """The mean of the two in the middle."""
    y = sort(x)
    return 0.5 * (y[len(x) // 2 - 1] + y[len(x) // 2])


def pad(x, before, after, value):
    """With constants in front and behind."""
    y = np.full(before + len(x) + after, value, x.dtype)
    for i in range(len(x)):
        y[before + i] = x[i]
    return y


def pad_like(x, before, after, kind):
    """With its own elements in front and behind, as `surround` says."""
    y = np.empty(before + len(x) + after, x.dtype)
    surround(x, y, before, after, kind)
    return y


def pad_rows_like(m, before, after, kind):
    """`pad_like` of the rows of a matrix."""
    y = np.empty((before + len(m) + after, len(m[0])), m.dtype)
    surround(m, y, before, after, kind)
    return y


def surround(x, y, before, after, kind):
    """In `y` all of `x`, and its own elements in front and behind: 0 the first and the last, 1 and 2 mirrored, 3 from the other end."""
    n = len(x)
    for i in range(n):
        y[before + i] = x[i]
    if kind == 0:
        for i in range(before):
            y[i] = x[0]
        for i in range(after):
            y[before + n + i] = x[n - 1]
    elif kind == 3:
        for i in range(before):
            y[before - 1 - i] = x[n - 1 - i]
        for i in range(after):
            y[before + n + i] = x[i]
    else:
        for i in range(before):
            y[before - 1 - i] = x[kind - 1 + i]
        for i in range(after):
            y[before + n + i] = x[n - kind - i]


def pad_matrix_like(m, top, bottom, left, right, kind):
    """`pad_like` of rows and columns."""
    rows = len(m)
    y = np.empty((rows, left + len(m[0]) + right), m.dtype)
    for i in range(rows):
        y[i] = pad_like(m[i], left, right, kind)
    return pad_rows_like(y, top, bottom, kind)


def concatenate(a, b):
    """One behind the other."""
    y = [0] * (len(a) + len(b))  # of a type that holds both
    for i in range(len(a)):
        y[i] = a[i]
    for i in range(len(b)):
        y[len(a) + i] = b[i]
    return y


def convolve_full(a, v):
    """Wherever they overlap."""
    y = [0] * (len(a) + len(v) - 1)
    for n in range(len(a) + len(v) - 1):
        y[n] = sum(a[k] * v[n - k] for k in range(max(0, n - len(v) + 1), min(len(a), n + 1)))
    return y


def convolve_valid(a, v):
    """Where they overlap completely; ``v`` is not the longer one."""
    y = [0] * (len(a) - len(v) + 1)
    for n in range(len(a) - len(v) + 1):
        y[n] = sum(a[n + len(v) - 1 - k] * v[k] for k in range(len(v)))
    return y


def convolve_same(a, v):
    """As many elements as ``a`` has, which is not the shorter one."""
    y = [0] * len(a)
    first = (len(v) - 1) // 2
    for n in range(len(a)):
        y[n] = sum(
            a[k] * v[n + first - k]
            for k in range(max(0, n + first - len(v) + 1), min(len(a), n + first + 1))
        )
    return y


def var(x):
    """The mean of squared distances from the mean."""
    m = x.mean()
    return ((x - m) * (x - m)).mean()


def std(x):
    """The root of the variance."""
    m = x.mean()
    return np.sqrt(((x - m) * (x - m)).mean())
