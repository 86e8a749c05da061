"""Reports that commands print: tables for people, JSON for programs, both from the same fields."""

from __future__ import annotations

import csv
import io
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

import msgspec

Report = TypeVar("Report")

_WIDTH: Final = 110
_CELL: Final = 30
"""Longest text in a table."""
_COLUMNS: Final = 10
_GROUP: Final = 4
"""Most values in one cell."""
_FORMULA: Final = tuple("=+-@\uff1d\uff0b\uff0d\uff20")
"""First characters, also of full width, that make a text a formula in a spreadsheet."""

Cells: TypeAlias = dict[str, str]
"""Texts by column."""


def number_text(value: float) -> str:
    """A number with four digits that count, and none after the point from a thousand on.

    >>> number_text(0.123456), number_text(1234567.8), number_text(1200)
    ('0.1235', '1,234,568', '1,200')
    """
    return f"{value:,.0f}" if isinstance(value, int) or abs(value) >= 1000.0 else f"{value:.4g}"


def json_text(report: object) -> str:
    """A report as JSON, indented by two spaces.

    >>> print(json_text({"games": 2, "places": (1, 4)}))
    {
      "games": 2,
      "places": [
        1,
        4
      ]
    }
    """
    return msgspec.json.format(msgspec.json.encode(report), indent=2).decode()


def write_json(report: object) -> None:
    """Write a report to stdout as JSON."""
    sys.stdout.write(json_text(report) + "\n")


def csv_table(rows: Sequence[Mapping[str, str | float | None]], columns: Sequence[str] = ()) -> bytes:
    r"""A table for a spreadsheet: UTF-8 with a mark by which Excel knows it.

    Columns are those of the first row, or as given. Text stays text: an apostrophe comes before what a
    spreadsheet would take for a formula.

    >>> csv_table([{"name": "=1+1", "points": -300, "place": None}]).decode()
    "\ufeffname,points,place\r\n'=1+1,-300,\r\n"
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, columns or (list(rows[0]) if rows else []))
    writer.writeheader()
    writer.writerows({name: _plain(value) for name, value in row.items()} for row in rows)
    return text.getvalue().encode("utf-8-sig", "replace")


def _plain(value: str | float | None) -> str | float | None:
    if not isinstance(value, str):
        return value
    text = "".join(letter for letter in value if letter.isprintable())
    return f"'{text}" if text.startswith(_FORMULA) else text


def tables(report: msgspec.Struct) -> str:
    """A report as a paragraph of its plain fields, and a table for each field that has items.

    A nested struct has a paragraph of its own, or columns where it is in a table. A struct with ``__str__``
    is one value. Fields without names, such as matrices, are in the JSON only.

    >>> Row = msgspec.defstruct("Row", [("name", str), ("won", float)])
    >>> Report = msgspec.defstruct("Report", [("games", int), ("players", list[Row])])
    >>> print(tables(Report(1200, [Row("a", 0.5), Row("b", 1 / 3)])))
    games 1,200
    <BLANKLINE>
    players
    name     won
    a        0.5
    b     0.3333
    """
    return "\n".join(_paragraphs(report, ""))


def write_report(report: Report, text_of: Callable[[Report], str] | None = None, *, as_json: bool) -> int:
    """Write a report to stdout, as JSON or as text; return its exit code: its ``exit_code``, or 0.

    Args:
        report: what to write.
        text_of: formats it as text, without a final line break; its ``__str__`` if None, or else `tables`.
        as_json: write JSON.
    """
    text: Callable[[Any], str] = json_text if as_json else text_of or (str if _has_text(report) else tables)
    sys.stdout.write(text(report) + "\n")
    return getattr(report, "exit_code", 0)


def aligned(*rows: Sequence[str]) -> Iterator[str]:
    """Lines of a table with its columns aligned, those left out that are empty below their names.

    >>> for line in aligned(("name", "won", "lost"), ("a", "0.5", ""), ("bob", "12", "")):
    ...     print(line)
    name  won
    a     0.5
    bob    12
    """
    columns = [[*_aligned(column)] for column in zip(*rows, strict=True) if any(column[1:])]
    return ("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def _paragraphs(value: msgspec.Struct | Mapping[str, Any], title: str) -> Iterator[str]:
    """The plain fields of a struct, those of each struct in it, and its tables."""
    cells: Cells = {}
    parts: list[Iterator[str]] = []
    for name, each in _named(value):
        label, text = name.replace("_", " "), _cell(each)
        if text is not None:
            cells[label] = text
        elif isinstance(each, msgspec.Struct) or (isinstance(each, Mapping) and _is_flat(each)):
            parts.append(_paragraphs(each, f"{title} {label}".strip()))
        else:
            parts.append(_section(f"{title} {label}".strip(), each))
    if cells:
        said = ", ".join(f"{name} {text}" for name, text in cells.items())
        yield from textwrap.wrap(f"{title}: {said}" if title else said, _WIDTH, break_on_hyphens=False)
    for part in parts:
        yield from part


def _section(name: str, value: Any) -> Iterator[str]:
    """The table of a field, and those of its items' own fields."""
    found = [
        (key, *_parts(item)) for key, item in _items(value) if isinstance(item, msgspec.Struct | Mapping)
    ]
    if not found:
        return
    rows = [({name: key} if key else {}) | cells for key, cells, _ in found]
    yield from ("", *([] if name in rows[0] else [name]))
    columns = list(dict.fromkeys(column for row in rows for column in row))
    grid = [columns, *([row.get(column, "") for column in columns] for row in rows)]
    if len(columns) > _COLUMNS:
        grid = [list(line) for line in zip(*grid, strict=True)]
    yield from _blocks(grid)
    for key, cells, fields in found:
        for field, each in fields.items():
            if field.replace(" ", "_") in getattr(each, "__struct_fields__", (field.replace(" ", "_"),)):
                yield from _section(f"{key or next(iter(cells.values()), '')}, {field}", each)


def _blocks(grid: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of a table, its columns aligned; those that do not fit come beneath, each with its labels."""
    first, *others = ([*_aligned(column)] for column in zip(*grid, strict=True))
    while others:
        block = [first, others.pop(0)]
        while others and sum(len(column[0]) + 2 for column in (*block, others[0])) <= _WIDTH:
            block.append(others.pop(0))
        for label, *texts in zip(*block, strict=True):
            if any(text.strip(" -") for text in texts):
                yield "  ".join((label, *texts)).rstrip()
        if others:
            yield ""


def _aligned(column: Sequence[str]) -> Iterator[str]:
    """A column's cells at equal width; words to the left, numbers to the right."""
    width = max(map(len, column))
    side = "<" if any(text[:1].isalpha() for text in column[1:]) else ">"
    return (f"{text:{side}{width}}" for text in column)


def _parts(value: msgspec.Struct | Mapping[str, Any], prefix: str = "") -> tuple[Cells, dict[str, Any]]:
    """The cells of a struct with those of the structs in it, and its own fields that have items."""
    cells: Cells = {}
    items: dict[str, Any] = {}
    for name, each in _named(value):
        label = f"{prefix} {name}".strip().replace("_", " ")
        text = _cell(each)
        if text is not None:
            cells[label] = text
        elif isinstance(each, msgspec.Struct) or (isinstance(each, Mapping) and _is_flat(each)):
            cells |= _parts(each, label)[0]
        elif not prefix:
            items[label] = each
    return cells, items


def _named(value: msgspec.Struct | Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The fields of a struct, or the entries of a mapping."""
    if isinstance(value, Mapping):
        yield from ((str(name), each) for name, each in value.items())
    else:
        yield from ((name, getattr(value, name)) for name in value.__struct_fields__)


def _items(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """The items of nested mappings and sequences, each with its keys."""
    if isinstance(value, Mapping) and not _is_flat(value):
        for name, each in value.items():
            yield from _items(each, f"{key} {name}".strip())
    elif isinstance(value, list | tuple):
        for number, each in enumerate(value, 1):
            yield from _items(each, f"{key} {number}" if key else "")
    else:
        yield key, value


def _is_flat(value: Mapping[str, Any]) -> bool:
    return all(_cell(each) is not None for each in value.values())


def _cell(value: Any) -> str | None:
    """A value as text; None if it has parts of its own.

    >>> _cell(0.123456), _cell(1234567.8), _cell((1, None)), _cell({"a": 1})
    ('0.1235', '1,234,568', '1 / -', None)
    """
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, list | tuple):
        texts = [_cell(each) for each in value]
        return None if None in texts or len(texts) > _GROUP else " / ".join(filter(None, texts)) or "-"
    if isinstance(value, Mapping) or (isinstance(value, msgspec.Struct) and not _has_text(value)):
        return None
    text = "".join(letter for letter in str(value) if letter.isprintable())
    return text if len(text) <= _CELL else "…" + text[1 - _CELL :] if "/" in text else text[: _CELL - 1] + "…"


def _has_text(value: object) -> bool:
    return type(value).__str__ is not object.__str__
