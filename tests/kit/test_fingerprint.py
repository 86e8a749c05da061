"""What makes a new fingerprint, and a new key of compiled code, and what does not."""

from __future__ import annotations

import numba
import pytest

from kit import compiler
from kit.fingerprint import fingerprint

SOURCE = '''
import math
from typing import NamedTuple
import numpy as np
from kit.jit import kernel, static_table

NUMBER = 3
UNREAD = 4
RATE = 0.5
PAIR = (1, 2)
ARRAY = np.array([1, 2])
MASK = np.uint64(7)
RECORD = np.dtype([("first", np.int8), ("second", np.int32)])
TABLE = static_table("probe_table", np.arange(5))

class Limits(NamedTuple):
    low: int
    high: int

LIMITS = Limits(0, 9)

def times(factor):
    @kernel
    def product(number):
        return factor * number
    return product

double = times(2)
triple = times(3)

@kernel
def bottom(number):
    """Comes last."""
    return number + NUMBER + LIMITS.high + Limits(1, 2).low

@kernel(inline="always")
def middle(number):
    return bottom(number) + ARRAY[0] + PAIR[1] + TABLE(1) + double(1) - triple(number)

@kernel
def unrelated(number):
    return number

@kernel
def top(number):
    def inner(value):
        return value + 1
    a, b = number, np.zeros(1, RECORD)
    if b[:1][0]["first"] in {1, 2}:
        return None
    return middle(a) * RATE + MASK + math.floor(inner(1.5))
'''


def make(source: str) -> object:
    module: dict[str, object] = {"__name__": "probe"}
    exec(source, module)
    return module["top"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("middle(a) *", "middle(b) *"),
        ("[:1]", "[:2]"),
        ("math.floor", "math.ceil"),
        ("return number + NUMBER", "return number - NUMBER"),
        ("NUMBER = 3", "NUMBER = 3.0"),
        ("np.array([1, 2])", "np.array([1, 3])"),
        ("np.array([1, 2])", "np.array([1, 0, 2])[::2]"),
        ("MASK = np.uint64", "MASK = np.int64"),
        ('("second", np.int32)', '("second", np.int64)'),
        ("probe_table", "probe_table_2"),
        ("Limits(0, 9)", "Limits(0, 8)"),
        ("times(2)", "times(4)"),
        ("double(1) - triple(number)", "triple(1) - double(number)"),
        ('inline="always"', 'inline="never"'),
        ("def bottom(number)", "def bottom(number, more=1)"),
    ],
)
def test_a_change_of_what_the_code_reads_makes_a_new_one(old: str, new: str) -> None:
    assert old in SOURCE
    assert fingerprint(make(SOURCE.replace(old, new))) != fingerprint(make(SOURCE))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("NUMBER = 3", "NUMBER = 3  # three"),
        ('    """Comes last."""\n', ""),
        ("def top(number):", 'def top(number):\n    """Now described."""'),
        ("UNREAD = 4", "UNREAD = 5"),
        ("    return number\n", "    return -number\n"),
        ("np.arange(5)", "np.arange(6)"),
    ],
)
def test_anything_else_keeps_it(old: str, new: str) -> None:
    assert old in SOURCE
    assert fingerprint(make(SOURCE.replace(old, new))) == fingerprint(make(SOURCE))


def test_more_than_256_constants_are_told_apart() -> None:
    lines = [f"    x = (x, {number / 2})\n" for number in range(300)]
    source = "from kit.jit import kernel\n@kernel\ndef top(x):\n" + "".join(lines)
    first, second = (f"{source}    return x, {number / 2}\n" for number in (2, 258))
    assert fingerprint(make(first)) != fingerprint(make(second))


def test_what_has_no_fingerprint_is_named() -> None:
    with pytest.raises(TypeError, match=r"probe.bottom reads \[3\]: a list has no fingerprint"):
        fingerprint(make(SOURCE.replace("NUMBER = 3", "NUMBER = [3]")))


@pytest.mark.parametrize(
    ("owner", "name"), [(numba, "__version__"), (compiler.config, "OPT"), (compiler.config, "BOUNDSCHECK")]
)
def test_other_compilers_and_switches_have_keys_of_their_own(
    monkeypatch: pytest.MonkeyPatch, owner: object, name: str
) -> None:
    top = make(SOURCE)
    before = compiler.key(top)
    monkeypatch.setattr(owner, name, "1")
    assert compiler.key(top) != before
