"""A hash of what a function does: its code, and the values and functions of ours that the code reads.

Comments, docstrings and line numbers make no difference, nor does anything else in the function's module.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import sys
from collections.abc import Mapping
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, Final

import numpy as np

_BY_NAME: Final = {*sys.stdlib_module_names, "numpy", "numba", "llvmlite"}
"""Packages whose versions are kept with every fingerprint, so that a name says what it refers to."""
_PLAIN: Final = {type(None), type(...), bool, int, float, complex, str, bytes}


def fingerprint(function: Any, *, anew: bool = False) -> str:
    """Hash of a function, of those it calls, and of the constants that all of them read.

    Args:
        function: a Python function, or an object whose ``parts`` name one and what else decides its code.
        anew: read everything again, because a value may have changed since the last fingerprint.

    Raises:
        TypeError: the code reads something of a kind that is unknown here.
    """
    found = called_by(function, anew=anew)
    numbers = {each: number for number, each in enumerate(found)}
    parts = [(code, [numbers[each] for each in called]) for code, called in found.values()]
    return _hash((sys.version, np.__version__, parts))[:24]


def called_by(function: Any, *, anew: bool = False) -> dict[Any, tuple[str, list[Any]]]:
    """A function and those it calls, directly or not: of each, the hash and the functions it refers to."""
    read = _read.__wrapped__ if anew else _read
    found = dict[Any, tuple[str, list[Any]]]()
    for each in (waiting := [function]):
        if each not in found:
            found[each] = read(each)
            waiting += found[each][1]
    return found


@functools.cache  # kernels call the same kernels
def _read(function: Any) -> tuple[str, list[Any]]:
    """Hash of one function, and the functions it refers to, in an order that the hash depends on."""
    called: list[Any] = []
    if not isinstance(function, FunctionType):
        return _hash(_described(function.parts, called)), called
    code = function.__code__
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    known = {**function.__globals__, **dict(zip(code.co_freevars, cells, strict=True))}
    values: dict[str, Any] = {name: known[name] for name in sorted(_names(code)) if name in known}
    values[""] = function.__defaults__, tuple((function.__kwdefaults__ or {}).items())
    try:
        described = [(name, _described(value, called)) for name, value in values.items()]
    except TypeError as exc:
        raise TypeError(f"{function.__module__}.{function.__qualname__} reads {exc}") from None
    return _hash((_code(code, called), described)), called


def _hash(described: object) -> str:
    return hashlib.sha256(repr(described).encode()).hexdigest()


def _names(code: CodeType) -> set[str]:
    """Names that a code may read as globals or from its closure; attributes are among them."""
    inner = (_names(each) for each in code.co_consts if isinstance(each, CodeType))
    return {*code.co_names, *code.co_freevars}.union(*inner)


def _code(code: CodeType, called: list[Any]) -> object:
    """Instructions with their constants numbered by first use: the docstring is none of them."""
    numbers, instructions, wide = dict[int, int](), [], 0
    for operation, low in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        argument = wide | low
        wide = argument << 8 if operation == dis.EXTENDED_ARG else 0
        if operation in dis.hasconst:
            argument = numbers.setdefault(argument, len(numbers))
        instructions.append(argument << 8 | operation)
    constants = [_described(code.co_consts[number], called) for number in numbers]
    names = (code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars)
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
    kind = code.co_flags & 0xFF  # above are a docstring's and those of __future__
    return instructions, constants, names, counts, kind, code.co_exceptiontable


def _described(value: Any, called: list[Any]) -> object:
    """A value as something whose `repr` is the same in every process; functions are added to ``called``."""
    kind = type(value)
    if kind in _PLAIN:
        return kind.__name__, repr(value)
    if isinstance(value, tuple):
        fields = getattr(kind, "_fields", None)
        return kind.__qualname__, fields, [_described(each, called) for each in value]
    if isinstance(value, Mapping):
        return kind.__qualname__, [_described(item, called) for item in value.items()]
    if isinstance(value, frozenset):
        return "frozenset", sorted(repr(_described(each, called)) for each in value)
    if isinstance(value, np.dtype):
        return "dtype", repr(value), value.itemsize, value.alignment
    if isinstance(value, np.ndarray | np.generic):
        flags = (value.shape, value.strides, value.flags.writeable)
        return kind.__name__, _described(value.dtype, called), flags, hashlib.sha256(value.tobytes()).digest()
    if isinstance(value, CodeType):
        return _code(value, called)
    return _named(value, called)


def _named(value: Any, called: list[Any]) -> object:
    """Modules, classes and functions: those of others by name, ours by content."""
    if isinstance(value, ModuleType):
        name = value.__name__
    elif isinstance(value, type | FunctionType | BuiltinFunctionType):
        name = f"{value.__module__}.{value.__qualname__}"
    else:
        name = ""
    if name.partition(".")[0] in _BY_NAME:
        return name
    if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
        return name, value._fields
    if isinstance(value, FunctionType) or hasattr(value, "parts"):
        called.append(value)
        return "function"
    raise TypeError(f"{value!r}: a {type(value).__qualname__} has no fingerprint")
