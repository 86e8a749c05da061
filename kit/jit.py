"""Kernels: functions compiled by numba, cached on disk in a cache that is never stale.

numba's own cache tracks the file of a function but not the functions it calls, writes an index that two
processes can corrupt, and trusts what it reads. Here each compiled kernel is one checksummed file, in a
folder named after a hash of its sources: its module and every module of ours that it imports.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import multiprocessing
import os
import pickle  # compiled code has no other form; it is read only from files that nobody else may change
import platform
import re
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar, cast, overload

import llvmlite.binding  # type: ignore[import-untyped]
import numba
import numpy as np
import platformdirs
import structlog
from llvmlite import ir
from numba.core import caching, compiler, event, serialize, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from kit.errors import ConfigError
from kit.files import expand_home, locked_file, replace_file

CACHE_VARIABLE: Final = "SUZAKU_CACHE_DIR"
"""Environment variable that relocates everything we keep between runs."""

OWN_PACKAGES: Final = ("kit", "game", "policies", "replays", "learning", "bot")
_KEPT_VERSIONS: Final = 3
_COMPILING_S: Final = 60.0
"""No kernel takes longer; a process that holds one up for more is stopped or hangs."""
_IMPORT: Final = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)|import[ \t]+([^\n#]+))", re.MULTILINE
)

P = ParamSpec("P")
R = TypeVar("R")

WARM_UPS: Final[dict[str, Callable[[], None]]] = {}
"""Functions that the modules imported so far gave to `warms_up`, in that order."""
_KERNELS: Final[list[Any]] = []
_told: Final = set[Path]()

log = structlog.get_logger(__name__)


def cache_folder() -> Path:
    """The folder of compiled kernels: ``SUZAKU_CACHE_DIR``, else the user's cache folder.

    Raises:
        ConfigError: the variable is not a path.
    """
    moved = os.environ.get(CACHE_VARIABLE)
    try:
        return expand_home(moved) if moved else platformdirs.user_cache_path("suzaku")
    except ValueError as exc:
        raise ConfigError(f"{CACHE_VARIABLE}: {exc}") from exc


@overload
def kernel(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def kernel(*, parallel: bool = ..., inline: str = ...) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def kernel(
    function: Callable[..., Any] | None = None, /, *, parallel: bool = False, inline: str = "never"
) -> Any:
    """Compile a function on its first call, or load the compiled form of an earlier run.

    Kernels release the GIL, divide as NumPy does and call each other freely. Each set of argument types is
    compiled separately, so pass plain ``int`` where a kernel takes a number. An array read as a global is
    frozen into the code: pass large arrays through `static_table`.

    Args:
        function: The function to compile.
        parallel: Run ``numba.prange`` loops on all cores.
        inline: "always" to copy the function into its callers before their types are known.
    """
    if function is None:
        return functools.partial(kernel, parallel=parallel, inline=inline)
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "parallel": parallel, "inline": inline}
    dispatcher: Any = numba.njit(**options)(function)
    dispatcher._cache = KernelCache(function)
    _KERNELS.append(dispatcher)
    return dispatcher


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
        target_context.refresh()
        body = self._read_or_claim(self._path(sig, target_context.codegen())) if self._enabled else None
        if body is None:
            return None
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
                _make_private(path.parent)
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


def is_private(folder: Path) -> bool:
    """Whether no other user may change a folder of the cache; if some may, that is logged once.

    Args:
        folder: in the cache folder; it need not exist yet.
    """
    top = cache_folder()
    for each in (folder, *folder.parents):
        try:
            if not _is_ours(each.stat()):
                _tell_once(each, "other users may write there", f"run `chmod go-w {each}` if it is yours")
                return False
        except OSError:  # not there yet
            pass
        if each == top:
            break
    return True


def _is_ours(found: os.stat_result) -> bool:
    """Whether only this user and root may change a file, or what is there already in a folder."""
    if sys.platform == "win32":
        return True
    guarded = not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) or bool(found.st_mode & stat.S_ISVTX)
    return found.st_uid in (0, os.geteuid()) and guarded


def _tell_once(folder: Path, reason: str, hint: str) -> None:
    """Log why a folder of the cache is not used; processes that this program starts say nothing."""
    if not _told and multiprocessing.parent_process() is None:
        log.warning(
            "kernels.cache_unused",
            folder=str(folder),
            reason=reason,
            hint=f"kernels are compiled in every run; {hint}, or set {CACHE_VARIABLE} to another folder",
        )
    _told.add(folder)


def _make_private(folder: Path) -> None:
    """Make a folder of the cache, and those above it, for this user only."""
    for each in reversed((folder, *folder.parents)):
        each.mkdir(mode=0o700, exist_ok=True)


def read_checked(path: Path) -> bytes | None:
    """The data that `write_checked` wrote.

    None if the file is missing, truncated or modified, or if another user may have written it.
    """
    if not is_private(path.parent):
        return None
    try:
        with path.open("rb") as file:
            data = file.read() if _is_ours(os.fstat(file.fileno())) else b""
    except OSError:
        return None
    return data[32:] if hashlib.sha256(data[32:]).digest() == data[:32] else None


def write_checked(path: Path, body: bytes) -> bool:
    """Write a file with its checksum, atomically even if other processes write it at the same time.

    Returns:
        Whether it could be written; a cache folder may be read-only or full, which is logged once.
    """
    if not is_private(path.parent):
        return False
    try:
        _make_private(path.parent)
        replace_file(path, hashlib.sha256(body).digest() + body)
    except OSError as exc:
        _tell_once(path.parent, exc.strerror or type(exc).__name__, "make it writable")
        return False
    return True


def sources_key(source: Path, module: str) -> str:
    """Hash of everything a kernel's code depends on: its module, our modules it imports, and the compilers.

    Args:
        source: File of the module.
        module: Its dotted name.

    Returns:
        Hexadecimal digits; empty if a source cannot be read.
    """
    if module == "__main__" or not source.is_file():
        return ""
    source = source.resolve()
    root = source.parents[module.count(".") + (source.name == "__init__.py")]
    waiting, texts = [source], dict[Path, str]()
    try:
        while waiting:
            path = waiting.pop()
            if path not in texts:
                texts[path] = path.read_text(encoding="utf-8")
                waiting.extend(_imports(path, texts[path], root))
    except (OSError, UnicodeDecodeError):
        return ""
    versions = (numba.__version__, llvmlite.__version__, np.__version__, sys.version, platform.machine())
    switches = [os.environ.get(name) for name in ("NUMBA_OPT", "NUMBA_BOUNDSCHECK")]
    parts = [(path.relative_to(root).as_posix(), texts[path]) for path in sorted(texts)]
    return hashlib.sha256(repr((versions, switches, parts)).encode()).hexdigest()[:16]


# Read once for all kernels of a module, as close as possible to when Python reads the same sources.
_key_at_import: Final = functools.cache(sources_key)


@functools.cache  # many modules with kernels import the same ones
def _imports(path: Path, text: str, root: Path) -> list[Path]:
    """Files of our own modules that a source imports anywhere."""
    found: list[Path] = []
    for base, names, plain in _IMPORT.findall(text):
        dotted = [item.split()[0] for item in plain.split(",") if item.split()]
        if base:
            start = _absolute(base, path, root)
            dotted = [start, *(f"{start}.{name}" for name in re.findall(r"\w+", names))]
        for name in dotted:
            if name.split(".")[0] in OWN_PACKAGES:
                found.extend(_files(name, root))
    return found


def _absolute(base: str, path: Path, root: Path) -> str:
    level = len(base) - len(base.lstrip("."))
    if level == 0:
        return base
    parts = path.relative_to(root).parts[:-level]
    return ".".join((*parts, base[level:])).strip(".")


def _files(dotted: str, root: Path) -> list[Path]:
    place = root.joinpath(*dotted.split("."))
    packages = [
        root.joinpath(*dotted.split(".")[:end]) / "__init__.py" for end in range(1, dotted.count(".") + 2)
    ]
    return [file for file in (place.with_suffix(".py"), *packages) if file.is_file()]


def prune(current: Path) -> None:
    """Remove older versions of a file or folder ``name-key``: all but the newest few."""
    name = current.name.rpartition("-")[0]
    with contextlib.suppress(OSError):
        others = [p for p in current.parent.iterdir() if p.name.rpartition("-")[0] == name and p != current]
        others.sort(key=lambda p: p.stat().st_mtime, reverse=True)
        for old in others[_KEPT_VERSIONS:]:
            if old.is_dir():
                shutil.rmtree(old, ignore_errors=True)
            else:
                old.unlink()
