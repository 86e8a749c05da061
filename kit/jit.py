"""Kernels: functions compiled by numba, cached on disk in a cache that is never stale.

numba's own cache tracks the file of a function but not the functions it calls, writes an index that two
processes can corrupt, and trusts what it reads. Here each compiled kernel is one checksummed file, in a
folder named after a hash of its sources: its module and every module of ours that it imports.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import pickle  # compiled code has no other form; it is read only from files that nobody else may change
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar, cast, overload

import llvmlite.binding  # type: ignore[import-untyped]
import numba
from llvmlite import ir
from numba.core import caching, compiler, event, serialize, types
from numba.core.runtime import rtsys  # type: ignore[attr-defined]
from numba.extending import intrinsic
from numpy.typing import NDArray

from kit.cache import cache_folder, is_private, make_private, prune, read_checked, write_checked
from kit.files import locked_file
from kit.sources import OWN_PACKAGES, sources_key

# Made once for all kernels of a module, as close as possible to when Python reads the same sources.
_key_at_import: Final = functools.cache(sources_key)
_COMPILING_S: Final = 60.0
"""No kernel takes longer; a process that holds one up for more is stopped or hangs."""

P = ParamSpec("P")
R = TypeVar("R")

WARM_UPS: Final[dict[str, Callable[[], None]]] = {}
"""Functions that the modules imported so far gave to `warms_up`, in that order."""
_KERNELS: Final[list[Any]] = []


@overload
def kernel(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def kernel(*, parallel: bool = ..., inline: str = ...) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def kernel(
    function: Callable[..., Any] | None = None, /, *, parallel: bool = False, inline: str = "never"
) -> Any:
    """Compile a function on its first call, or load the compiled form of an earlier run.

    Kernels release the GIL, divide as NumPy does and call each other freely. Each set of argument types is
    compiled separately, so pass plain ``int`` where Python gives a kernel a number. An array read as a global
    is frozen into the code: pass large arrays through `static_table`.

    Args:
        function: The function to compile.
        parallel: Run ``numba.prange`` loops on all cores.
        inline: "always" to copy the function into its callers before their types are known.
    """
    if function is None:
        return functools.partial(kernel, parallel=parallel, inline=inline)
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "parallel": parallel, "inline": inline}
    options["no_cfunc_wrapper"] = True
    dispatcher: Any = numba.njit(**options)(function)
    dispatcher._cache = KernelCache(function)
    typed = dispatcher.get_call_template
    dispatcher.get_call_template = lambda positional, named: typed(
        tuple(map(_passed, positional)), {name: _passed(each) for name, each in named.items()}
    )
    _KERNELS.append(dispatcher)
    return dispatcher


def _passed(given: Any) -> Any:
    """The type that a kernel gets an argument of another kernel as: any signed integer as a plain ``int``.

    Otherwise numba would compile it again for every constant and every width of an integer.
    """
    plain: Any = types.unliteral(given)  # type: ignore[no-untyped-call]
    return types.intp if isinstance(plain, types.Integer) and cast("Any", plain).signed else plain


def warms_up(function: Callable[[], None]) -> Callable[[], None]:
    """Register a function that calls its module's kernels once, with the argument types used in a game."""
    WARM_UPS[function.__module__] = function
    return function


def compiled_forms() -> int:
    """Number of kernel forms this process has compiled or loaded; constant once all are warm."""
    return sum(len(each.signatures) for each in _KERNELS)


def kernels() -> tuple[int, int]:
    """Number of kernels this process has compiled or loaded, and of those in all modules imported so far."""
    return sum(bool(each.signatures) for each in _KERNELS), len(_KERNELS)


@contextlib.contextmanager
def watched_compiler(tell: Callable[[str], None]) -> Iterator[None]:
    """Call back with the name of each kernel that is compiled, not of those loaded from the cache."""

    class Watch(event.Listener):
        def on_start(self, started: Any) -> None:
            function = started.data["dispatcher"].py_func
            if function.__module__.partition(".")[0] in OWN_PACKAGES:
                tell(f"{function.__module__}.{function.__name__}")

        def on_end(self, ended: Any) -> None:
            pass

    watch = Watch()
    register: Any = event.register
    unregister: Any = event.unregister
    register("numba:compile", watch)
    try:
        yield
    finally:
        unregister("numba:compile", watch)


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
    symbol = f"suzaku_table_{name}"
    llvmlite.binding.add_symbol(symbol, values.ctypes.data)
    _TABLES[symbol] = values
    element = numba.from_dtype(values.dtype)

    @intrinsic
    def load(_typing: Any, _index: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            module = builder.module
            base = module.globals.get(symbol)
            if base is None:
                base = ir.GlobalVariable(module, context.get_data_type(element), symbol)
                base.linkage = "external"
            return builder.load(builder.gep(base, [arguments[0]]))

        return element(types.intp), generate

    return cast(Callable[[int], Any], load)


_TABLES: Final[dict[str, NDArray[Any]]] = {}  # keeps what compiled code points to alive


class KernelCache(caching.Cache):
    """Compiled forms of one kernel, one file for each set of argument types.

    A truncated or modified file counts as missing, as does one that another user may have written; if the
    folder cannot be written, the next run compiles again. A form that another process is compiling is waited
    for.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._py_func = function
        self._name = repr(function)
        self._source = Path(function.__code__.co_filename)
        self._key = _key_at_import(self._source, function.__module__)
        self._cache_path = cache_folder() / "kernels" / f"{function.__module__}-{self._key}"
        self._enabled = bool(self._key) and is_private(self._cache_path)
        self._compiling = dict[Path, contextlib.ExitStack]()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled form for these argument types, or None."""
        body = self._read_or_claim(self._path(sig, target_context.codegen())) if self._enabled else None
        if body is None:
            return None
        # what compiled code needs; all of numba's registries take much longer
        rtsys.initialize(target_context)
        rebuild: Any = compiler.CompileResult._rebuild
        return rebuild(target_context, *pickle.loads(body))  # noqa: S301 - see the import

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled form, unless the sources changed since this process read them."""
        assert not data.library.has_dynamic_globals, f"{self._name}: give large arrays through static_table"
        path = self._path(sig, data.codegen)
        with self._compiling.pop(path, contextlib.ExitStack()):
            if not self._enabled or sources_key(self._source, self._py_func.__module__) != self._key:
                return
            dumps: Any = serialize.dumps
            self._enabled = write_checked(path, dumps(data._reduce()))

    def _read_or_claim(self, path: Path) -> bytes | None:
        """Read a compiled form; None makes it this process's turn to compile it."""
        body = read_checked(path)
        if body is not None or path in self._compiling:
            return body
        claim = contextlib.ExitStack()
        with contextlib.suppress(OSError):  # a read-only folder, or nobody finishes it: compile it here
            if not path.parent.is_dir():
                make_private(path.parent)
                prune(path.parent)
            claim.enter_context(locked_file(path.with_suffix(".lock"), patience_s=_COMPILING_S))
        body = read_checked(path)
        if body is None:
            self._compiling[path] = claim
        else:
            claim.close()
        return body

    def _path(self, sig: Any, codegen: Any) -> Path:
        index_key: Any = self._index_key
        arguments, machine, code = index_key(sig, codegen)
        name = hashlib.sha256(repr((str(arguments), machine, code)).encode()).hexdigest()
        return Path(self._cache_path) / f"{self._py_func.__name__}-{name[:24]}.bin"
