"""Files of weights: the header is checked in full before anything in it is used.

As in the safetensors library, a file is eight bytes with the length of the header, the header in JSON (for
each tensor its type, shape and range in the data) and the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Annotated, Final

import msgspec
import numpy as np
import safetensors.numpy
from msgspec import Meta
from numpy.typing import NDArray

from kit.errors import CheckpointCorrupt, CheckpointMismatch
from policies.checkpoint.card import excerpt
from policies.nets.architectures import Arrays, Floats
from policies.nets.shapes import Shapes

LARGEST_HEADER: Final = 1 << 20
"""Largest size of a header in bytes; that of 50 blocks has about 50,000."""

_BYTES: Final = {"F32": 4, "F16": 2, "BF16": 2}
"""Size of one number, by the types that can be read."""
_TYPES: Final = {"F32": "<f4", "F16": "<f2"}
_WIDEST: Final = max(_BYTES.values())
_LENGTH: Final = 8

_Count = Annotated[int, Meta(ge=0)]


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    dtype: str
    shape: tuple[_Count, ...]
    data_offsets: tuple[_Count, _Count]


def pack(arrays: Arrays) -> bytes:
    """The content of a file with these weights."""
    return safetensors.numpy.save(
        {name: np.ascontiguousarray(array, np.float32) for name, array in arrays.items()}
    )


def largest_size(shapes: Shapes) -> int:
    """Largest size in bytes of a file with tensors of these shapes."""
    return _LENGTH + LARGEST_HEADER + _WIDEST * sum(map(prod, shapes.values()))


def unpack(data: bytes, shapes: Shapes, path: Path) -> dict[str, Floats]:
    """Weights from the content of a file.

    Args:
        data: the whole content.
        shapes: the tensors it must contain, no more and no fewer.
        path: path of the file, for messages.

    Returns:
        The weights by name.

    Raises:
        CheckpointCorrupt: the content is not a file of weights, or some weights are not finite.
        CheckpointMismatch: it contains other tensors.
    """
    entries, size = _header(data, path)
    _check_names(entries, shapes, path)
    _check_ranges(entries, size, path)
    start = len(data) - size
    arrays = {name: _numbers(data, entry, start) for name, entry in entries.items()}
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise CheckpointCorrupt(path, name, "contains numbers that are not finite")
    return arrays


def _numbers(data: bytes, entry: _Entry, start: int) -> Floats:
    """An array of the data, which begins at a place in the file."""
    count, at = prod(entry.shape), start + entry.data_offsets[0]
    if entry.dtype == "BF16":  # the upper half of a float32
        halves = np.frombuffer(data, "<u2", count, at).astype(np.uint32)
        found: NDArray[np.float32] = (halves << 16).view(np.float32)
    else:
        found = np.frombuffer(data, _TYPES[entry.dtype], count, at).astype(np.float32)
    return found.reshape(entry.shape)


def _header(data: bytes, path: Path) -> tuple[dict[str, _Entry], int]:
    """The entries of the header, and the size of the data after it."""
    length = int.from_bytes(data[:_LENGTH], "little")
    most = min(LARGEST_HEADER, len(data) - _LENGTH)
    if not 0 < length <= most:
        raise CheckpointCorrupt(path, "header length", f"{length}, expected 1 to {most}")
    try:
        header = msgspec.json.decode(data[_LENGTH : _LENGTH + length], type=dict[str, _Entry])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise CheckpointCorrupt(path, "header", str(exc)[:200]) from None
    return header, len(data) - _LENGTH - length


def _check_names(entries: Mapping[str, _Entry], shapes: Shapes, path: Path) -> None:
    for name in shapes:
        if name not in entries:
            raise CheckpointMismatch(path, name, "missing, but the card's architecture has it")
    for name, entry in entries.items():
        if name not in shapes:
            raise CheckpointMismatch(path, excerpt(name), "not part of the card's architecture")
        if entry.shape != shapes[name]:
            found, wanted = (list(shape) for shape in (entry.shape[:8], shapes[name]))
            raise CheckpointMismatch(path, name, f"shape {found}, but the card's architecture has {wanted}")
        if entry.dtype not in _BYTES:
            problem = f"type {excerpt(entry.dtype)}, but only {', '.join(_BYTES)} can be read"
            raise CheckpointMismatch(path, name, problem)


def _check_ranges(entries: Mapping[str, _Entry], size: int, path: Path) -> None:
    """Each tensor must begin where the previous one ends, and the last must end with the file."""
    at = 0
    for name, entry in sorted(entries.items(), key=lambda pair: pair[1].data_offsets):
        begin, end = entry.data_offsets
        length = prod(entry.shape) * _BYTES[entry.dtype]
        if (begin, end) != (at, at + length):
            problem = f"is at {begin} to {end}, expected {at} to {at + length}"
            raise CheckpointCorrupt(path, name, problem)
        at = end
    if at != size:
        raise CheckpointCorrupt(path, "file", f"{size} bytes of tensors, but {at} in the header")
