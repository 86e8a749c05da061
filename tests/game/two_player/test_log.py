"""Logs of duels: written, read back, and refused where they say what cannot have happened."""

from __future__ import annotations

import json

import msgspec
import numpy as np
import pytest

from game.two_player.layout import POSITION, TILES, shuffle
from game.two_player.log import BEGINNING, DuelLog, parse_log, write_log
from kit.errors import ReplayFormatError
from policies.two_player.abstraction import KEYS, NORMAL, POLICIES, POLICY_NAMES, TRIPLETS, NodeKey, encode
from policies.two_player.playing import BY_TABLE, COMMITMENT, RANDOM_ACTIONS, play_duel
from policies.two_player.watched import duel_text, watched_duel

UNIFORM = np.zeros((KEYS, POLICIES))
TABLES = (UNIFORM, UNIFORM)


def watched(ways: tuple[int, int], deal: int) -> DuelLog:
    return watched_duel(("one", "other"), ways, TABLES, 4, deal, deal)


def changed(log: DuelLog, line: int, **fields: object) -> bytes:
    """The log with some fields of a line changed."""
    lines = [json.loads(each) for each in write_log(log).splitlines()]
    lines[line] |= fields
    return b"\n".join(json.dumps(each, separators=(",", ":")).encode() for each in lines)


@pytest.mark.parametrize("ways", [(BY_TABLE, BY_TABLE), (NORMAL, TRIPLETS), (RANDOM_ACTIONS, BY_TABLE)])
def test_a_watched_duel_is_the_game_that_kernels_play(ways: tuple[int, int]) -> None:
    position, commitment = np.zeros(1, POSITION)[0], np.zeros(1, COMMITMENT)[0]
    wall = np.zeros(TILES, np.int8)
    for deal in range(10):
        shuffle(4, deal, wall)
        points = play_duel(position, wall, commitment, ways, TABLES, 4, deal)
        last = watched(ways, deal).states[-1]
        assert (last.winner, last.points) == ((None, 0) if points == 0 else (int(points < 0), abs(points)))


def test_a_log_is_read_as_it_was_written() -> None:
    for deal in range(10):
        log = watched((BY_TABLE, RANDOM_ACTIONS), deal)
        data = write_log(log)
        assert data.startswith(BEGINNING)
        assert parse_log(data) == log


def test_choices_say_what_the_player_knew() -> None:
    choices = [state.choice for deal in range(20) for state in watched((BY_TABLE, NORMAL), deal).states]
    found = [choice for choice in choices if choice]
    assert {choice.stage for choice in found} == {"beginning", "middle", "end"}
    for choice in found:
        assert encode(NodeKey(**choice.fields)) == choice.key
        if choice.probabilities:
            assert sum(choice.probabilities.values()) == pytest.approx(1.0, abs=1e-3)
            assert set(choice.probabilities) <= set(POLICY_NAMES)
            assert choice.policy in choice.probabilities


def test_a_log_that_cannot_have_happened_is_refused() -> None:
    log = watched((NORMAL, BY_TABLE), 0)
    data = write_log(log)
    lines = data.splitlines()
    wall = log.header.wall
    cases = {
        b"": "line 1: not the log of a duel",
        b"{}": "line 1: not the log of a duel",
        b"\xff": "line 1: not the log of a duel",
        changed(log, 0, format="suzaku-duel/9"): r"line 1: format 'suzaku-duel/9', expected suzaku-duel/1",
        changed(log, 0, names=["one"]): "line 1: 1 names, expected 2",
        changed(log, 0, wall=[*wall[:-1], "5p"]): "line 1: wall: no tile '5p' in this game",
        changed(log, 0, wall=[*wall[1:], wall[1]]): "line 1: wall: not the wall of a two-player game",
        changed(log, 1, round=2): "line 2: round is not what the game says: 1",
        changed(log, 1, hands=[["1m"], ["2m"]]): "line 2: hands is not what the game says",
        changed(log, 1, action="pon"): "line 2: pon is illegal for player 0; legal: pass",
        changed(log, 1, action="ron"): "line 2: no action 'ron'",
        changed(log, 1, action=None): "line 2: no action, but the game is not over",
        b"\n".join(lines[:1]): "line 2: missing; the log is cut short",
        b"\n".join(lines[:-1]): f"line {len(lines)}: missing; the log is cut short",
        b"\n".join([*lines, lines[-1]]): f"line {len(lines) + 1}: the game is over",
        b"\n".join([*lines[:3], b"[" * 100_000]): "line 4: not the log of a duel",
    }
    for bad, message in cases.items():
        with pytest.raises(ReplayFormatError, match=message):
            parse_log(bad)


def test_a_duel_as_text() -> None:
    for deal in range(4):
        log = watched((BY_TABLE, NORMAL), deal)
        text = duel_text(log)
        assert "one chooses" in text
        assert text.splitlines()[0] == f"one against other, deal {deal}, seed 4"
        last = log.states[-1]
        end = (
            "nobody wins"
            if last.winner is None
            else f"{log.header.names[last.winner]} wins {last.points} point"
        )
        assert end in text.splitlines()[-1]
        assert msgspec.json.decode(msgspec.json.encode(log), type=DuelLog) == log
