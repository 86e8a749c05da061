"""Finished games for tests of the records, played at the table."""

from __future__ import annotations

import functools

import msgspec

from game.events import EndGame, GameEvent, PlayerLeft, PlayerReturned, StartGame, StartRound
from game.scoring.settlement import final_results, final_scores
from game.table.table import Table, masked
from policies.heuristic.player import HeuristicPolicy
from policies.play.decide import decide
from replays.record import GameRecord

GAME_ID = "2026010203gm-0001-0000-0123abcd"


@functools.cache
def whole_game(seed: int = 1) -> GameRecord:
    """A tonpuu game by four heuristic players; one of them is away for a while."""
    names = ("Genbu", "犬猫", 'a"<&>%', "")
    table = Table(seed=seed, length="tonpuu", names=names)
    policy = HeuristicPolicy()
    events: list[GameEvent] = list(table.events)
    for turn in range(10_000):
        if table.done:
            break
        answers = {}
        for player in table.waiting():
            answers[player] = decide(table.observe(player), policy).action
        events += table.step(answers)
        if turn == 20:
            events.append(PlayerLeft(2))
        if turn == 60:
            events.append(PlayerReturned(2))
    return GameRecord(
        game_id=GAME_ID,
        game_type=1,
        names=names,
        ranks=(16, 17, 18, 0),
        rates=(2100.5, 1500.0, 1999.99, 1502.64),
        sexes=("M", "F", "M", "C"),
        events=tuple(events),
        dice=((0, 5), (3, 4)),
    )


def ended_early(rounds: int) -> GameRecord:
    """The first rounds of a game, as if it had ended after them."""
    whole = whole_game()
    following = [place for place, event in enumerate(whole.events) if isinstance(event, StartRound)][rounds]
    start = whole.events[following]
    assert isinstance(start, StartRound)
    scores = final_scores(start.scores, start.riichi_sticks)
    end = EndGame(scores, final_results(scores))
    return msgspec.structs.replace(whole, events=(*whole.events[:following], end), dice=())


def seen_from(record: GameRecord, player: int) -> GameRecord:
    """The game as one of its players saw it."""
    events = tuple(masked(event, player) for event in record.events)
    events = (StartGame(record.names), *events[1:])
    return msgspec.structs.replace(record, events=events)
