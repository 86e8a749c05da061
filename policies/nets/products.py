"""Matrix products with weights: of floats, and of bytes where processors have instructions for them.

Every number of a result depends on its row and its column only, to the last bit: products of floats are
summed in the order of ``K``, each by one fused multiplication and addition, so all processors that have these
agree. BLAS libraries sum in orders that depend on the number of rows and on a row's place among them.

NumPy multiplies bytes one at a time. AVX-512 VNNI and AVX-VNNI multiply four unsigned bytes with four signed
ones and add all to an int32, in 16 or 8 places at a time. They are used where there is AMX (amx-int8), too.
Sums of bytes are exact.

A tile of the result, some rows of two vectors, stays in registers while the products are summed. All are of
one size: the last columns overlap those before them, and in place of rows below the last that is repeated.
"""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from kit.jit import kernel, warms_up

_VECTORS: Final = 2
"""Of a row of a tile."""
_HEIGHTS: Final = {4: 6, 8: 6, 16: 7}
"""Rows of a tile by the lanes of a vector: sums take 12 of 16 registers, and factors three. AVX-512 has 32,
but taller tiles are no faster, and a position has 7 honours."""


class Layer:
    """A product with a weight, and what is added to it.

    Args:
        weight: ``[inputs, outputs]`` float32.
        bias: ``[outputs]``.

    Attributes:
        weight: the same.
        bias: the same.
    """

    def __init__(self, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> None:
        self.weight, self.bias = weight, bias

    def multiply(self, rows: NDArray[np.float32], out: NDArray[np.float32]) -> None:
        """The product of ``[M, inputs]``, without bias, in ``out [M, outputs]``."""
        multiply(rows, self._packed, out)

    def __call__(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """``[..., outputs]`` with bias, from ``[..., inputs]``."""
        found = np.empty((*rows.shape[:-1], len(self.bias)), np.float32)
        self.multiply(rows.reshape(-1, rows.shape[-1]), found.reshape(-1, len(self.bias)))
        found += self.bias
        return found

    @functools.cached_property
    def _packed(self) -> NDArray[np.float32]:
        return packed(self.weight)


def multiplies_bytes() -> bool:
    """Whether this processor has instructions for products of bytes."""
    return _byte_lanes() > 0


def packed(weight: NDArray[Any]) -> NDArray[Any]:
    """Lay a weight out as `multiply` reads it.

    Args:
        weight: ``[K, N]``, float32, or int8 on a processor that multiplies bytes.

    Returns:
        ``[panels, ceil(K / group), columns, group]``: what a tile needs for the next group of its rows lies
        together. A group is four bytes or one float.
    """
    depth, outputs = weight.shape
    group = 4 // weight.itemsize
    columns = _columns(group)
    padded = np.zeros((-(-depth // group) * group, max(outputs, columns)), weight.dtype)
    padded[:depth, :outputs] = weight
    firsts = np.minimum(np.arange(0, outputs, columns), padded.shape[1] - columns)
    panels = padded.T[firsts[:, None] + np.arange(columns)]
    return np.ascontiguousarray(panels.reshape(len(firsts), columns, -1, group).swapaxes(1, 2))


def multiply(rows: NDArray[Any], weight: NDArray[Any], out: NDArray[Any]) -> None:
    """The product with a weight.

    Args:
        rows: ``[M, K]``, float32 or uint8.
        weight: ``[K, N]``, `packed`, float32 or int8.
        out: ``[M, N]``, float32 or int32, contiguous; filled.
    """
    (count, depth), outputs = rows.shape, out.shape[1]
    panels, groups, columns, group = weight.shape
    assert (len(out), -(-outputs // columns), -(-depth // group)) == (count, panels, groups)
    assert out.flags.c_contiguous
    assert rows.itemsize == weight.itemsize
    if depth < groups * group:
        rows = np.pad(rows, ((0, 0), (0, groups * group - depth)))
    product = out if outputs >= columns else np.empty((count, columns), out.dtype)
    multiply_tiles(np.ascontiguousarray(rows), weight, product, _HEIGHTS[columns // _VECTORS])
    if product is not out:
        out[:] = product[:, :outputs]


@kernel
def multiply_tiles(rows: Any, weight: Any, out: Any, height: int) -> None:
    """As `multiply`, where groups are whole, and rows of ``out`` as long as a tile's or longer.

    Args:
        rows: as for `multiply`.
        weight: as for `multiply`.
        out: as for `multiply`.
        height: rows of a tile.
    """
    last_row, last_column = len(rows) - 1, out.shape[1] - weight.shape[2]
    for panel in range(len(weight)):
        column = min(panel * weight.shape[2], last_column)
        for row in range(0, len(rows), height):
            _multiply_tile(rows, row, last_row, weight, panel, out, column, weight.shape[1])


@warms_up
def _warm_up() -> None:
    Layer(np.zeros((1, 1), np.float32), np.zeros(1, np.float32))(np.zeros((1, 1), np.float32))
    if multiplies_bytes():
        multiply(np.zeros((1, 4), np.uint8), packed(np.zeros((4, 1), np.int8)), np.zeros((1, 1), np.int32))


@functools.cache
def _columns(group: int) -> int:
    """Columns of a tile, asked for at each weight; the features of the processor take 0.14 ms to find."""
    return _VECTORS * (_byte_lanes() if group > 1 else _float_lanes())


def _has(*features: str) -> bool:
    import llvmlite.binding  # type: ignore[import-untyped]  # noqa: PLC0415 - for those who multiply

    found = llvmlite.binding.get_host_cpu_features()
    return all(found.get(each) for each in features)


def _byte_lanes() -> int:
    """Sums that one instruction adds to; 0 on processors without it."""
    return 16 if _has("avx512vnni") else 8 if _has("avxvnni") else 0


def _float_lanes() -> int:
    return 16 if _has("avx512f") else 8 if _has("avx2", "fma") else 4


def _emit_tile(context: Any, builder: Any, signature: Any, arguments: Any) -> None:
    """Write a loop over the groups of rows; all else is unrolled."""
    from llvmlite import ir  # noqa: PLC0415
    from numba.core import cgutils, types  # noqa: PLC0415

    tools: Any = cgutils
    _, row, last_row, _, panel, _, column, groups = arguments
    of_bytes = signature.args[0].dtype == types.uint8
    number, index = ir.IntType(32) if of_bytes else ir.FloatType(), ir.IntType(64)
    lanes = _byte_lanes() if of_bytes else _float_lanes()
    vector = ir.VectorType(number, lanes)
    zeros = ir.Constant(vector, None)
    # the name is that of AVX-512; without it, the same instruction of AVX-VNNI is selected
    name = f"llvm.x86.avx512.vpdpbusd.{32 * lanes}" if of_bytes else f"llvm.fmuladd.v{lanes}f32"
    add_product = tools.get_or_insert_function(builder.module, ir.FunctionType(vector, [vector] * 3), name)

    def pointer(kind: Any, which: int, *place: Any) -> Any:
        array = context.make_array(signature.args[which])(context, builder, arguments[which])
        item = tools.get_item_pointer(context, builder, signature.args[which], array, place)
        return builder.bitcast(item, kind.as_pointer())

    below = [builder.add(row, index(r)) for r in range(_HEIGHTS[lanes])]
    rows = [builder.select(builder.icmp_signed("<", each, last_row), each, last_row) for each in below]
    sums = [[tools.alloca_once_value(builder, zeros) for _ in range(_VECTORS)] for _ in rows]
    of_rows = [pointer(number, 0, each, index(0)) for each in rows]
    of_panel = pointer(ir.ArrayType(vector, _VECTORS), 3, panel, index(0), index(0), index(0))
    with tools.for_range(builder, groups) as loop:
        factors = builder.load(builder.gep(of_panel, [loop.index]), align=4)
        for of_row, of_sums in zip(of_rows, sums, strict=True):
            group = builder.load(builder.gep(of_row, [loop.index]), align=1 if of_bytes else 4)
            once = builder.insert_element(zeros, group, index(0))
            repeated = builder.shuffle_vector(
                once, once, ir.Constant(ir.VectorType(ir.IntType(32), lanes), None)
            )
            for v, each in enumerate(of_sums):
                product, sum_ = (repeated, builder.extract_value(factors, v)), builder.load(each)
                terms = (sum_, *product) if of_bytes else (*product, sum_)
                builder.store(builder.call(add_product, terms), each)
    for each, of_sums in zip(rows, sums, strict=True):
        of_out = pointer(vector, 5, each, column)
        for v, each_sum in enumerate(of_sums):
            builder.store(builder.load(each_sum), builder.gep(of_out, [index(v)]), align=4)


def _tile_type() -> Any:
    from numba.core import registry, types  # noqa: PLC0415
    from numba.extending import intrinsic  # noqa: PLC0415

    @intrinsic
    def tile(
        _typing: Any,
        rows: Any,
        row: Any,
        last_row: Any,
        weight: Any,
        panel: Any,
        out: Any,
        column: Any,
        groups: Any,
    ) -> Any:
        return types.void(rows, row, last_row, weight, panel, out, column, groups), _emit_tile

    typing: Any = registry.cpu_target.typing_context
    typing.refresh()
    return typing.resolve_value_type(tile)


class _Tile:
    """A function for kernels: a tile that begins with a row, and with the first column of a panel."""

    parts = (_tile_type,)
    """The dependencies of the code of a kernel that calls it."""
    _numba_type_ = functools.cached_property(lambda _: _tile_type())


_multiply_tile: Final[Any] = _Tile()
