"""One name stands for one thing, and the names in files that users have stay as they are."""

from __future__ import annotations

import ast
from collections import defaultdict

import msgspec
import pytest

from learning.arena.report import ArenaReport
from learning.danger.report import ClassFigures
from learning.matches.tally import GameRow
from replays.review.schema import Comparison, IndexEntry, Review
from tests.faults import ROOT

PACKAGES = ("game", "policies", "replays", "learning", "bot")


def test_no_two_classes_have_the_same_name() -> None:
    found = defaultdict(list)
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    found[node.name.lstrip("_")].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert len(found) > 300
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


@pytest.mark.parametrize(
    ("struct", "keys"),
    [
        (GameRow, {"seats"}),
        (ArenaReport, {"course"}),
        (ClassFigures, {"thrown", "thrown_rate"}),
        (Review, {"seat"}),
        (IndexEntry, {"seat"}),
        (Comparison, {"seat"}),
    ],
)
def test_json_keys_that_users_have_stay(struct: type[msgspec.Struct], keys: set[str]) -> None:
    assert keys <= {field.encode_name for field in msgspec.structs.fields(struct)}
