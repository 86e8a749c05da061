"""Kernels: functions compiled by numba, or loaded from a cache on disk, when they are first called.

numba is imported then, too, so that a program that calls no kernel does not wait for it.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, Final, ParamSpec, TypeVar, cast, overload

from numpy.typing import NDArray

P = ParamSpec("P")
R = TypeVar("R")

WARM_UPS: Final[dict[str, Callable[[], None]]] = {}
"""Functions that the modules imported so far gave to `warms_up`, in that order."""
KERNELS: Final[list[Kernel]] = []
"""All kernels of the modules imported so far."""
_UNBOUND: Final[list[Table]] = []
"""Tables that compiled code cannot find yet."""
_WATCHING: Final[list[Callable[[str], None]]] = []
_preparing: Final = threading.RLock()


@overload
def kernel(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def kernel(*, inline: str = ...) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def kernel(function: Any = None, /, *, inline: str = "never") -> Any:
    """Compile a function on its first call, or load the compiled form of an earlier run.

    Kernels release the GIL, divide as NumPy does and call each other freely. Each set of argument types is
    compiled separately, so pass plain ``int`` where Python gives a kernel a number. Numbers, tuples, arrays
    and dtypes read as globals are frozen into the code: pass large arrays through `static_table`.

    Args:
        function: The function to compile.
        inline: "always" to copy the function into its callers before their types are known.
    """
    if function is None:
        return functools.partial(kernel, inline=inline)
    made = Kernel(function, inline)
    KERNELS.append(made)
    return made


class Kernel:
    """A function that is replaced by numba's dispatcher when it is first called.

    ``__call__`` is a slot, so later calls reach the dispatcher without a Python function in between. To numba
    the kernel looks like its dispatcher, too (``_numba_type_``, ``targetoptions`` and ``py_func``).
    """

    __slots__ = ("__call__", "__dict__", "_callee", "_dispatcher")
    __call__: Callable[..., Any]

    def __init__(self, function: FunctionType, inline: str) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.targetoptions = {
            "nogil": True,
            "error_model": "numpy",
            "inline": inline,
            "no_cfunc_wrapper": True,
        }
        self._dispatcher: Any = None
        self._callee: Any = None
        self.__call__ = self._first_call

    def _first_call(self, *arguments: Any, **named: Any) -> Any:
        return self.dispatcher(*arguments, **named)

    @property
    def parts(self) -> tuple[object, ...]:
        """The dependencies of its code, for its fingerprint."""
        return self.targetoptions, self.py_func

    @property
    def dispatcher(self) -> Any:
        """numba's, for calls from Python, made when it is first needed."""
        with _preparing:
            if self._dispatcher is None:
                from kit import compiler  # noqa: PLC0415 - numba takes half a second

                while _UNBOUND:
                    table = _UNBOUND.pop()
                    compiler.bind(table.symbol, table.values.ctypes.data)
                self._dispatcher = compiler.dispatcher(self, self._path, _tell)
                self.__call__ = self._dispatcher
        return self._dispatcher

    @property
    def callee(self) -> Any:
        """The same for calls from other kernels."""
        with _preparing:
            if self._callee is None:
                from kit import compiler  # noqa: PLC0415 - as above

                self._callee = compiler.callee(self, self._path, _tell)
        return self._callee

    @property
    def _numba_type_(self) -> Any:
        return self.callee._numba_type_

    @property
    def _path(self) -> str:
        return f"{self.py_func.__module__}.{self.py_func.__name__}"

    @property
    def forms(self) -> int:
        """Number of forms compiled or loaded so far, one for each set of argument types."""
        return sum(len(each.overloads) for each in (self._dispatcher, self._callee) if each is not None)


def warms_up(function: Callable[[], None]) -> Callable[[], None]:
    """Register a function that calls its module's kernels once, with the argument types used in a game."""
    WARM_UPS[function.__module__] = function
    return function


def compiled_forms() -> int:
    """Number of kernel forms this process has compiled or loaded; constant once all are warm."""
    return sum(each.forms for each in KERNELS)


def kernels() -> tuple[int, int]:
    """Number of kernels this process has compiled or loaded, and of those in all modules imported so far."""
    return sum(bool(each.forms) for each in KERNELS), len(KERNELS)


@contextlib.contextmanager
def watched_compiler(tell: Callable[[str], None]) -> Iterator[None]:
    """Call back with the name of each kernel that is compiled, not of those loaded from the cache."""
    _WATCHING.append(tell)
    try:
        yield
    finally:
        _WATCHING.remove(tell)


def _tell(name: str) -> None:
    for each in _WATCHING:
        each(name)


def static_table(name: str, values: NDArray[Any]) -> Callable[[int], Any]:
    """Let kernels read a table stored outside their code.

    The code refers to the table by name and resolves it when loaded, so the table is neither compiled into
    nor cached with the kernels that read it. Modules whose kernels use the table import the one that calls
    this.

    Args:
        name: Unique among all tables.
        values: One-dimensional and contiguous; never resized or freed, and read without bounds checks.

    Returns:
        A function for kernels (not Python) that reads one element by index.
    """
    assert values.ndim == 1
    assert values.flags.c_contiguous
    table = Table(f"suzaku_table_{name}", values)
    _UNBOUND.append(table)
    return cast(Callable[[int], Any], table)


class Table:
    """What `static_table` returns. It keeps the values that compiled code points to alive."""

    def __init__(self, symbol: str, values: NDArray[Any]) -> None:
        self.symbol = symbol
        self.values = values

    @property
    def parts(self) -> tuple[object, ...]:
        """The dependencies of the code of a kernel that reads the table: not the values."""
        return self.symbol, self.values.dtype

    @functools.cached_property
    def _numba_type_(self) -> Any:
        from kit import compiler  # noqa: PLC0415 - as above

        return compiler.reader(self.symbol, self.values.dtype)
