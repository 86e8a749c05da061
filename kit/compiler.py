"""numba as kernels use it, with a cache on disk that is never stale.

numba's own cache tracks the file of a function but not the functions it calls, writes an index that two
processes can corrupt, and trusts what it reads. Here each compiled form is one checksummed file, in a folder
named after the kernel and its `key`.

Only `kit.jit` imports this module, when the first kernel is called: it takes half a second.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import pickle  # compiled code has no other form; it is read only from files that nobody else may change
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

import llvmlite.binding  # type: ignore[import-untyped]
import numba
from llvmlite import ir
from numba.core import compiler, config, serialize, types
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.runtime import rtsys  # type: ignore[attr-defined]
from numba.extending import intrinsic

from kit.cache import cache_folder, is_private, make_private, prune, read_checked, write_checked
from kit.files import locked_file
from kit.fingerprint import fingerprint

_SWITCHES: Final = ("OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE", "USING_SVML")
"""Of numba's, those that change code."""
COMPILING_S: Final = 60.0
"""No kernel takes longer; a process that holds one up for more is stopped or hangs."""


def dispatcher(kernel: Any, name: str, compiling: Callable[[str], None]) -> Any:
    """A kernel for Python: it chooses, loads or compiles a form for the types of the arguments.

    Args:
        kernel: has a function and options, and a fingerprint.
        name: of the kernel, with its module.
        compiling: called with the name before a form is compiled.
    """
    made: Any = numba.njit(**kernel.targetoptions)(kernel.py_func)
    made._cache = KernelCache(kernel, name, compiling)
    return made


def callee(kernel: Any, name: str, compiling: Callable[[str], None]) -> Any:
    """A kernel for other kernels; the arguments are those of `dispatcher`."""
    options = {**kernel.targetoptions, "nopython": True, "boundscheck": None, "no_cpython_wrapper": True}
    made: Any = Callee(kernel.py_func, targetoptions=options, pipeline_class=_CalleeCompiler)
    made._cache = CalleeCache(kernel, name, compiling)
    return made


class Callee(CPUDispatcher):
    """Forms of a kernel that are linked into its callers, and become optimised machine code only there.

    numba does so for every function and all that it calls in turn, again for each of its callers.
    """

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """The form for these types, compiled if necessary."""
        passed = {name: _passed(each) for name, each in kws.items()}
        return super().get_call_template(tuple(map(_passed, args)), passed)

    def add_overload(self, cres: Any) -> None:
        """Let callers find a form, which has no function of Python's to go by."""
        context: Any = self.targetctx
        context.insert_user_function(cres.fndesc, cres.fndesc, [cres.library])
        self.overloads[tuple(cres.signature.args)] = cres._replace(entry_point=cres.fndesc)


class _CalleeCompiler(compiler.Compiler):
    def _compile_core(self) -> Any:
        state: Any = self.state
        state.flags = state.flags.copy()
        state.flags.no_compile = True
        library: Any = _CalleeLibrary
        state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
        compiled: Any = super()
        return compiled._compile_core()


class _CalleeLibrary(JITCodeLibrary):
    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self: Any) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


def _passed(given: Any) -> Any:
    """The type that a kernel gets an argument of another kernel as: any signed integer as a plain ``int``.

    Otherwise numba would compile it again for every constant and every width of an integer.
    """
    plain: Any = types.unliteral(given)  # type: ignore[no-untyped-call]
    return types.intp if isinstance(plain, types.Integer) and cast("Any", plain).signed else plain


def bind(symbol: str, address: int) -> None:
    """Tell compiled code, which refers to a table by a symbol, where the table is."""
    llvmlite.binding.add_symbol(symbol, address)


def reader(symbol: str, dtype: Any) -> Any:
    """The type of a function that kernels call with an index to read an element of a table."""
    load = _reading(symbol, numba.from_dtype(dtype))
    typing: Any = cpu_target.typing_context
    typing.refresh()
    return typing.resolve_value_type(load)


def _reading(symbol: str, element: Any) -> Any:
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

    return load


def key(kernel: Any, *, anew: bool = False) -> str:
    """Hash of everything that a kernel's compiled code depends on, but for types and processor.

    Args:
        kernel: as for `dispatcher`.
        anew: see `fingerprint`.
    """
    versions = (numba.__version__, llvmlite.__version__)
    switches = [str(getattr(config, name)) for name in _SWITCHES]
    shaping = (_passed, _reading, _described, KernelCache._packed, CalleeCache._packed)
    parts = (fingerprint(kernel, anew=anew), versions, switches, [fingerprint(each) for each in shaping])
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _described(data: Any) -> tuple[Any, ...]:
    """What is kept of a compiled form beside its code, as `_result` takes it."""
    data.fndesc.typemap = data.fndesc.calltypes = None
    return data.fndesc, data.environment, data.signature, data._find_referenced_environments()


def _result(target_context: Any, library: Any, *described: Any) -> Any:
    """A compiled form as numba returns it."""
    names = ("fndesc", "environment", "signature", "referenced_envs")
    make: Any = compiler.compile_result
    kept = dict(zip(names, described, strict=True))
    return make(library=library, target_context=target_context, objectmode=False, **kept)


class KernelCache:
    """Compiled forms of one kernel, one file for each set of argument types and each kind of processor.

    A truncated or modified file counts as missing, as does one that another user may have written; if the
    folder cannot be written, the next run compiles again. A form that another process is compiling is waited
    for.
    """

    def __init__(self, kernel: Any, name: str, compiling: Callable[[str], None]) -> None:
        self._kernel = kernel
        self._name = name
        self._tell = compiling
        self._key = key(kernel)
        self.cache_path = cache_folder() / "kernels" / f"{name}-{self._key}"
        self._enabled = is_private(self.cache_path)
        self._compiling = dict[Path, contextlib.ExitStack]()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled form for these argument types, or None."""
        body = self._read_or_claim(self._path(sig, target_context.codegen())) if self._enabled else None
        if body is not None:
            with contextlib.suppress(ModuleNotFoundError):  # a kernel in it is in another module by now
                return self._unpacked(target_context, pickle.loads(body))  # noqa: S301 - see the import
        self._tell(self._name)
        return None

    def _unpacked(self, target_context: Any, packed: Any) -> Any:
        # what compiled code needs; all of numba's registries take much longer
        rtsys.initialize(target_context)
        (name, code, symbols), reload_init, *rest = packed
        for each in reload_init:
            each()
        made: Any = JITCodeLibrary
        library = made(target_context.codegen(), name)
        library.enable_object_caching()
        library._set_compiled_object(code)
        library._finalize_final_module()
        library.codegen._engine._defined_symbols.update(symbols)
        result = _result(target_context, library, *rest)
        entry = target_context.get_executable(library, result.fndesc, result.environment)
        for env in result.referenced_envs:
            library.codegen.set_env(env.env_name, env)
        return result._replace(entry_point=entry)

    def _packed(self, data: Any) -> Any:
        """Without the bitcode that numba keeps beside the code: parsing it takes longer than all the rest."""
        library, module = data.library, data.library._final_module
        defined = itertools.chain(module.functions, module.global_variables)
        symbols = [each.name for each in defined if not each.is_declaration]
        for env in data._find_referenced_environments():  # callees have no code that would have done it
            data.codegen.set_env(env.env_name, env)
        return (library.name, library._get_compiled_object(), symbols), data.reload_init, *_described(data)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled form, unless a constant has changed since the key was made."""
        assert not data.library.has_dynamic_globals, f"{self._name}: give large arrays through static_table"
        path = self._path(sig, data.codegen)
        packed = self._packed(data)
        dumps: Any = serialize.dumps
        with self._compiling.pop(path, contextlib.ExitStack()):
            if self._enabled and key(self._kernel, anew=True) == self._key:
                self._enabled = write_checked(path, dumps(packed))

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
            claim.enter_context(locked_file(path.with_suffix(".lock"), patience_s=COMPILING_S))
        body = read_checked(path)
        if body is None:
            self._compiling[path] = claim
        else:
            claim.close()
        return body

    def _path(self, sig: Any, codegen: Any) -> Path:
        name = hashlib.sha256(repr((str(sig), codegen.magic_tuple())).encode()).hexdigest()
        return Path(self.cache_path) / f"{name[:24]}.bin"


class CalleeCache(KernelCache):
    """The same for forms that are only linked into others: their code in the compiler's own language."""

    def _unpacked(self, target_context: Any, packed: Any) -> Any:
        (name, _, code), reload_init, *rest = packed
        make: Any = _CalleeLibrary
        library = make(target_context.codegen(), name)
        library._final_module = llvmlite.binding.parse_bitcode(code)
        library._reload_init.update(reload_init)
        library._finalize_final_module()
        return _result(target_context, library, *rest)

    def _packed(self, data: Any) -> Any:
        return data.library.serialize_using_bitcode(), data.library._reload_init, *_described(data)

    def _path(self, sig: Any, codegen: Any) -> Path:
        return super()._path(sig, codegen).with_suffix(".bc")
