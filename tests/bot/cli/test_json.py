"""What `--json` prints: the results of all commands, with every optional field filled, are JSON."""

from __future__ import annotations

import enum
import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import msgspec
import pytest

from bot.cli.records import _as_json
from kit.reports import json_text
from policies.checkpoint.card import encode_card
from replays.review.report import as_json
from tests.cli import commands

TRAINED: Final = ("policies.checkpoint.card.Card",)
RESULTS: Final[dict[str, Sequence[str]]] = {
    "play": ["bot.terminal.result.RunResult"],
    "check": ["bot.check.CheckResult"],
    "games": ["replays.store.index.GameEntry"],
    "review": ["replays.review.schema.Review", "replays.review.schema.ReviewIndex"],
    "ask": ["bot.ask.command.PositionAnswer"],
    "arena": [
        "learning.selfplay.arena.report.ArenaReport",
        "learning.selfplay.arena.differences.DifferencesPlan",
        "learning.selfplay.arena.differences_report.DifferencesFigures",
    ],
    "selfplay": ["learning.selfplay.run.SelfPlaySummary"],
    "duel": ["learning.cfr.duel.DuelReport"],
    "corpus build": ["learning.data.build.BuildReport"],
    "corpus extract": ["learning.data.extract.Extracted"],
    **{
        f"train {each}": TRAINED
        for each in ("discard", "riichi", "chi", "pon", "kan", "critic", "hands", "rl")
    },
    "train reward": ["learning.train.reward.RewardReport"],
    "train cfr": ["learning.cfr.run.CfrReport"],
    "eval accuracy": ["learning.measure.accuracy.AccuracyReport"],
    "eval hands": ["learning.measure.hands.HandsReport"],
    "eval adaptation": [
        "learning.measure.adaptation.AdaptationPlan",
        "learning.measure.adaptation.AdaptationFigures",
    ],
    "eval prices": ["learning.measure.prices.PricesPlan", "learning.measure.prices.PricesFigures"],
    "eval exploitability": ["learning.cfr.exploitability.ExploitReport"],
    "bench features": ["learning.measure.bench.FeatureBench"],
    "bench decision": ["learning.measure.bench.DecisionBench"],
    "bench selfplay": ["learning.measure.bench.SelfPlayBench"],
    "bench training": ["learning.measure.bench.TrainingBench"],
}
"""The types of each command's result."""
WRITERS: Final[Mapping[str, Callable[[Any], str | bytes]]] = {
    "games": lambda entry: json_text(_as_json(entry)),
    "review": as_json,
    "policies.checkpoint.card.Card": encode_card,
}
"""What writes a command's result, or a type of it, other than `json_text`."""
PLAIN: Final = {int: 2, float: 0.5, str: "あ", bool: True, bytes: b"x", Path: Path("folder"), Any: "any"}


def filled(hint: Any) -> Any:
    """A value of a type: nothing that may be absent is."""
    origin, arguments = get_origin(hint), get_args(hint)
    match origin or hint:
        case kind if kind in PLAIN:
            return PLAIN[kind]
        case kind if kind is Annotated:
            return filled(arguments[0])
        case kind if kind is Literal:
            return arguments[0]
        case kind if kind in (Union, UnionType):
            return filled(next(each for each in arguments if each is not type(None)))
        case kind if kind is tuple:
            return tuple(filled(each) for each in arguments if each is not ...)
        case kind if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return kind(**{field.name: filled(field.type) for field in msgspec.structs.fields(kind)})
        case kind if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return next(iter(kind))
        case kind if isinstance(kind, type) and issubclass(kind, Mapping):
            return {filled(arguments[0]): filled(arguments[1])}
        case kind if isinstance(kind, type) and issubclass(kind, Sequence):
            return [filled(arguments[0])]
    raise TypeError(f"no example of {hint}")


def test_every_command_that_prints_json_is_listed() -> None:
    options = {" ".join(path): app.assemble_argument_collection() for path, app in commands()}
    assert set(RESULTS) == {
        path for path, found in options.items() if any("--json" in each.names for each in found)
    }


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_with_every_optional_field_is_json(name: str) -> None:
    for path in RESULTS[name]:
        module, _, kind = path.rpartition(".")
        write = WRITERS.get(path) or WRITERS.get(name) or json_text
        json.loads(write(filled(getattr(importlib.import_module(module), kind))))
