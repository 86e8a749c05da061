from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
import pytest
from rich.console import Console

from bot.adaptation.status import AdaptationStatus
from bot.terminal.table import render
from game.actions import Action, ActionKind
from game.events import Discard, Draw, Pon, Riichi, RiichiAccepted, StartRound
from game.state import apply_all, new_round
from game.tiles import parse_hand
from policies.flow.decisions import Decision, Improvement, Option

NAMES = ("Suzaku", "alice", "bob", "carol")
HIDDEN = (-1,) * 13


def shown(
    record: np.void,
    player: int = 0,
    names: Sequence[str] = NAMES,
    decision: Decision | None = None,
    adaptation: AdaptationStatus | None = None,
) -> str:
    console = Console(file=io.StringIO(), width=100, color_system=None)
    with console.capture() as captured:
        console.print(render(record, player, names, decision, adaptation))
    return captured.get()


def styled(record: np.void) -> str:
    console = Console(file=io.StringIO(), width=100, force_terminal=True, color_system="standard")
    with console.capture() as captured:
        console.print(render(record, 0, NAMES, None))
    return captured.get()


def a_round() -> np.void:
    """South 2, seen by player 0, who drew and discarded; player 1 declared riichi, player 2 called pon."""
    record = new_round()
    hand = tuple(parse_hand("1230m456p789s112z"))
    wests = (116, 117, 118)
    apply_all(
        record,
        [
            StartRound(5, 2, 1, 1, (30000, 21000, 25000, 23000), 60, (hand, HIDDEN, HIDDEN, HIDDEN)),
            Draw(1),
            Riichi(1),
            Discard(1, wests[0], tsumogiri=False),
            RiichiAccepted(1),
            Pon(3, 1, wests[0], (wests[1], wests[2])),
            Discard(3, 135, tsumogiri=False),
            Draw(0, 84),
            Discard(0, 84, tsumogiri=True),
            Draw(1),
            Discard(1, 128, tsumogiri=True),
            Draw(2),
            Discard(2, 113, tsumogiri=False),
            Draw(3),
            Discard(3, 131, tsumogiri=True),
            Draw(0, 88),
        ],
    )
    return record


def test_the_table_shows_the_round_and_all_players_us_first() -> None:
    text = shown(a_round())
    title, heads = text.splitlines()[:2]
    for part in ("South 2", "honba 2", "sticks 2", "dora indicator 7p", "64 left"):
        assert part in title
    assert heads.index("Suzaku") < heads.index("alice") < heads.index("bob") < heads.index("carol")
    assert "E* alice" in heads
    assert ">N  Suzaku" in heads
    for part in ("20000 riichi", "3z!6z ", "pon 3z3z3z ^"):
        assert part in text
    from_bob = shown(a_round(), player=2).splitlines()[1]
    assert from_bob.index("bob") < from_bob.index("carol") < from_bob.index("Suzaku")


def test_tsumogiri_is_dim_and_tedashi_is_not() -> None:
    text = styled(a_round())
    assert "\x1b[2;37m6z" in text  # player 1, tsumogiri
    assert "\x1b[37m2z" in text  # player 2, tedashi


def test_the_hand_shows_the_drawn_tile_apart_and_red_fives() -> None:
    line = next(line for line in shown(a_round()).splitlines() if "hand" in line)
    assert "0m 1m" not in line
    assert line.split("hand")[1].strip(" │").endswith("1z 1z 2z   0s")
    assert "1m 2m 3m 0m" in line


def test_waits_and_furiten_are_shown() -> None:
    record = new_round()
    hand = tuple(parse_hand("123456789m1123z"))[:13]
    waiting = tuple(parse_hand("123456789m111z2z"))
    assert len(hand) == len(waiting) == 13
    apply_all(
        record,
        [
            StartRound(0, 0, 0, 0, (25000,) * 4, 60, (waiting, HIDDEN, HIDDEN, HIDDEN)),
            Draw(0, 113),
            Discard(0, 113, tsumogiri=True),
        ],
    )
    text = shown(record)
    assert "waits 2z" in text
    assert "furiten" in text


def test_the_decision_comes_with_its_top_three_options_and_any_fallback() -> None:
    options = tuple(
        Option(Action(ActionKind.DISCARD, tile), p) for tile, p in ((0, 0.5), (4, 0.3), (8, 0.15), (12, 0.05))
    )
    decision = Decision(
        action=options[0].action,
        source="fallback",
        step="discard",
        options=options,
        shanten=1,
        latency_ms=1.26,
        fallback_reason="no answer \x1b[31m after 3000 ms",
    )
    text = shown(a_round(), decision=decision)
    assert "discard 1m  (discard, fallback, 1.3 ms)  no answer [31m after 3000 ms" in text
    assert "discard 1m 50%   discard 2m 30%   discard 3m 15%" in text
    assert "discard 4m" not in text


def test_what_stands_behind_a_decision_is_shown_beside_what_the_policy_alone_would_do() -> None:
    first, base = (Option(Action(ActionKind.DISCARD, tile), 0.5) for tile in (0, 16))
    thought = Improvement("both", base.action, playouts=1_096)
    decision = Decision(first.action, "model", "discard", (first, base), 1, 1.26, improvement=thought)
    text = shown(a_round(), decision=decision)
    assert "adapted, search, 1,096 rounds played out; alone discard 0m" in text


@pytest.mark.parametrize(
    ("status", "lines"),
    [
        (AdaptationStatus(0, 1_000, "global"), ["adapt 0 of 1,000 rounds played out"]),
        (
            AdaptationStatus(128, 1_000, "global"),
            ["adapt 128 of 1,000 rounds played out", "nothing found to learn"],
        ),
        (
            AdaptationStatus(512, 1_250, "global", -1.24, 2.96),
            [
                "adapt 512 of 1,250 rounds played out",
                "found and given up: -1.2 ± 3.0 rank points over other deals",
            ],
        ),
        (
            AdaptationStatus(512, 1_250, "points", 820.4, 71.3, used=True),
            ["adapt 512 of 1,250 rounds played out", "in use: +820 ± 71 points over other deals"],
        ),
        (
            AdaptationStatus(512, 1_250, "uma", 1.24, 0.5, used=True),
            ["adapt 512 of 1,250 rounds played out", "in use: +1.2 ± 0.5 uma over other deals"],
        ),
    ],
)
def test_how_adapting_to_the_round_goes_is_shown(status: AdaptationStatus, lines: list[str]) -> None:
    plain = shown(a_round()).splitlines()
    more = [line for line in shown(a_round(), adaptation=status).splitlines() if line not in plain]
    assert [line.strip("│ ") for line in more] == lines


def test_hostile_names_steer_neither_terminal_nor_layout() -> None:
    names = ("\x1b[2J\x07boo", "[red]x[/red]", "\u202eevil\n\n", "ひよこ" * 20)
    text = shown(a_round(), names=names)
    plain = shown(a_round())
    assert not any(ord(c) < 32 and c != "\n" for c in text)
    assert "\u202e" not in text
    assert "[red]x[/red]" in text
    assert len(text.splitlines()) == len(plain.splitlines())


def test_an_empty_table_can_be_shown_before_the_first_deal() -> None:
    assert "East 1" in shown(new_round(), player=-1, names=("", "", "", ""))
