"""A field of a record that is left out, null or wrong: the second table of `files/README.md`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kit.errors import ReplayError
from replays.formats import read_game
from replays.record import GameRecord

FILES = Path(__file__).parent / "files"
TABLE = re.findall(
    r"^\| `([a-z0-9]+) ([\w.]+)` \| (.+) \| (.+) \| (.+) \|$",
    (FILES / "README.md").read_text("utf-8"),
    re.MULTILINE,
)
SOURCES = {
    "mjlog": "mjlog-win.xml",
    "tenhou6": "tenhou6-soul-head.json",
    "mjai": "mjai-with-all-fields.jsonl",
    "majiang": "kobalab-tonpuu.json",
}
WRONG = "\N{SNOWMAN}"


def changed(form: str, field: str, value: object) -> str:
    """A record with another value of a field, or without it if the value is `Ellipsis`."""
    text = (FILES / "ok" / SOURCES[form]).read_text("utf-8")
    if form == "mjlog":
        tag, _, name = field.partition(".")
        new = "" if value is ... else f'{name}="{value or ""}"'
        return re.sub(rf'(<{tag}\b[^>]*?) {name}="[^"]*"', rf"\1 {new}", text, count=1)
    lines = [json.loads(line) for line in text.splitlines()]
    *path, last = (int(part) if part.isdigit() else part for part in field.split("."))
    for line in lines:
        for node in _nodes(line, path):
            if isinstance(last, int) or last in node:
                node[last] = value
                if value is ...:
                    del node[last]
    return "\n".join(map(json.dumps, lines))


def _nodes(value: Any, path: list[str | int]) -> list[Any]:
    """The objects at a path, or the lists of numbered places; mjai's begin with the type of a message."""
    if path and isinstance(path[0], int):
        return _nodes(value[path[0]], path[1:]) if len(path) > 1 else [value[path[0]]]
    if isinstance(value, list):
        return [node for each in value for node in _nodes(each, path)]
    if not isinstance(value, dict):
        return []
    if path and value.get("type") == path[0]:
        return _nodes(value, path[1:])
    if not path:
        return [value]
    found = _nodes(value[path[0]], path[1:]) if path[0] in value else []
    return found or [node for key in ("log",) if key in value for node in _nodes(value[key], path)]


def outcome(form: str, field: str, value: object) -> str:
    """How a changed record is read: what differs, or why it is refused."""
    usual = read_game(FILES / "ok" / SOURCES[form])
    try:
        record = read_game(changed(form, field, value))
    except ReplayError as exc:
        return f"refused: {exc}"
    return "; ".join(_differences(usual, record)) or "the same"


def _differences(usual: GameRecord, record: GameRecord) -> list[str]:
    heads = ("game_id", "game_type", "lobby", "names", "ranks", "rates", "sexes", "rules_said")
    changes = [name for name in heads if getattr(record, name) != getattr(usual, name)]
    found = [f"{name} {getattr(record, name)}" for name in changes]
    if len(record.events) != len(usual.events):
        return [*found, f"{len(record.events) - len(usual.events):+} events"]
    for one, other in zip(usual.events, record.events, strict=True):
        names = one.__struct_fields__ if one != other else ()
        was, now = ([getattr(event, name, None) for name in names] for event in (one, other))
        found += [f"{name} {new}" for name, old, new in zip(names, was, now, strict=True) if old != new]
    return [text if len(text) < 80 else text.split()[0] for text in dict.fromkeys(found)][:3]


@pytest.mark.parametrize(("form", "field", "absent", "null", "wrong"), TABLE)
def test_a_field_may_be_absent_null_or_wrong(
    form: str, field: str, absent: str, null: str, wrong: str
) -> None:
    found = [outcome(form, field, value) for value in (..., None, WRONG)]
    assert found == [text.replace("\\|", "|") for text in (absent, null, wrong)]
    if form != "mjlog" and field != "log" and not field.startswith("log."):
        assert null == absent
