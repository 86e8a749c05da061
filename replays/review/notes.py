"""Explanatory notes: keys and parameters; `docs/review.md` lists them, and the page contains their texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from game.actions import WINS, Action, ActionKind
from game.events import Four, four
from game.scoring.settlement import (
    HONBA_POINTS,
    LAST_ROUND,
    RIICHI_STICK,
    GameLength,
    deltas,
    game_over,
    placements,
)
from game.scoring.value import WinValue
from game.shanten import waits
from game.state import unseen34
from game.tiles import KINDS, RED_FIVES, mjai_text
from policies.flow.flow import should_win
from replays.review.judging import Opinion
from replays.review.moments import Moment
from replays.review.schema import Note

_BASES: Final = (240, 320, 400, 480, 640, 800, 960, 1280, 1600, 1920, 2000, 3000, 4000, 6000, 8000)
"""Basic points of the hands to consider: 30 to 50 fu, then mangan to yakuman; 70 fu lies in between."""


class Standing(NamedTuple):
    """What determines the payments of a round, and the places after it."""

    round_index: int
    honba: int
    sticks: int
    scores: Four

    @property
    def dealer(self) -> int:
        """The dealer."""
        return self.round_index % 4


def standing_of(moment: Moment) -> Standing:
    """The standing at a decision."""
    record = moment.record
    return Standing(
        int(record["round_index"]),
        int(record["honba"]),
        int(record["riichi_sticks"]),
        four(record["scores"].tolist()),
    )


class Notes:
    """Writes notes for one player's game."""

    def __init__(self) -> None:
        self._told: Standing | None = None

    def of(self, moment: Moment, opinion: Opinion) -> tuple[Note, ...]:
        """The notes of one decision; must be called in the order of the decisions."""
        return (
            *self._furiten(moment, opinion),
            *self._riichi(moment, opinion),
            *self._declined(moment, opinion),
            *self._red_five(moment),
            *self._last_round(moment),
        )

    def _furiten(self, moment: Moment, opinion: Opinion) -> Iterator[Note]:
        record, player = moment.record, moment.player
        ready, river = int(record["waits"][player]), _river(moment)
        yield from self._furiten_after(moment, opinion)
        if not ready:
            return
        if record["missed_riichi"][player]:
            yield Note(key="furiten_riichi", params={"waits": kinds_of(ready)})
        elif ready & river:
            yield Note(
                key="furiten_waits", params={"waits": kinds_of(ready), "thrown": kinds_of(ready & river)}
            )
        elif record["missed_turn"][player]:
            yield Note(key="furiten_turn", params={"waits": kinds_of(ready)})

    def _furiten_after(self, moment: Moment, opinion: Opinion) -> Iterator[Note]:
        """Notes on the discard played and the preferred one, or one note if they are the same kind."""
        chosen: dict[int, list[str]] = {}
        for who, action in (("played", moment.done), ("preferred", opinion.preferred)):
            if action.kind is ActionKind.DISCARD:
                chosen.setdefault(action.tile >> 2, []).append(who)
        for kind, by in chosen.items():
            ready, in_river = furiten_waits(moment, kind)
            if in_river:
                yield Note(
                    key="furiten_after",
                    params={
                        "discard": mjai_text(4 * kind + 3),
                        "by": "both" if len(by) > 1 else by[0],
                        "waits": kinds_of(ready),
                        "thrown": kinds_of(in_river),
                    },
                )

    def _riichi(self, moment: Moment, opinion: Opinion) -> Iterator[Note]:
        riichi = next((action for action in moment.legal if action.kind is ActionKind.RIICHI), None)
        if riichi is None:
            return
        discards = [action for action in moment.legal if action.kind is ActionKind.DISCARD]
        chances = opinion.riichi or {
            action: opinion.probabilities[action]
            for action in discards
            if waits_after(moment, action.tile >> 2)
        }
        best = max(chances, key=chances.__getitem__)
        ready, in_river = furiten_waits(moment, best.tile >> 2)
        unseen = unseen34(moment.record, moment.player)
        yield Note(
            key="riichi_choice",
            params={
                "discard": mjai_text(best.tile),
                "waits": kinds_of(ready),
                "thrown": kinds_of(in_river),
                "tiles": sum(int(unseen[kind]) for kind in range(KINDS) if ready >> kind & 1),
                "probability": round(opinion.probabilities[riichi], 4),
            },
        )

    def _declined(self, moment: Moment, opinion: Opinion) -> Iterator[Note]:
        win = moment.legal[0]
        if win.kind not in WINS or opinion.preferred.kind in WINS:
            return
        if not should_win(moment.record, moment.player, win, moment.length):  # an engine has its own reasons
            yield Note(key="win_declined", params={"place": 4})

    def _red_five(self, moment: Moment) -> Iterator[Note]:
        done = moment.done
        if done.kind is ActionKind.DISCARD and done.tile in RED_FIVES and _has_plain(moment.legal, done):
            yield Note(key="red_five", params={"tile": mjai_text(done.tile)})

    def _last_round(self, moment: Moment) -> Iterator[Note]:
        standing = standing_of(moment)
        if standing.round_index < LAST_ROUND[moment.length] or standing == self._told:
            return
        self._told = standing
        yield placed(standing, moment.player)
        yield from needs(standing, moment.player, moment.length)


def kinds_of(mask: int) -> list[str]:
    """The kinds whose bits are set.

    >>> kinds_of(0b101)
    ['1m', '3m']
    """
    return [mjai_text(4 * kind + 3) for kind in range(KINDS) if mask >> kind & 1]


def waits_after(moment: Moment, kind: int) -> int:
    """The waits of the hand without one tile of a kind, one bit each; 0 if it is not tenpai."""
    hand34 = moment.record["hand34"][moment.player].copy()
    hand34[kind] -= 1
    return int(waits(hand34, int(moment.record["meld_count"][moment.player])))


def _river(moment: Moment) -> int:
    return int(moment.record["river34"][moment.player])


def furiten_waits(moment: Moment, kind: int) -> tuple[int, int]:
    """Waits after a discard, and those of them in the player's own river after it; one bit each."""
    ready = waits_after(moment, kind)
    return ready, ready & (_river(moment) | 1 << kind)


def placed(standing: Standing, player: int) -> Note:
    """A player's place, and the distances to the players next to it."""
    places = placements(standing.scores)
    place = places[player]
    above = places.index(place - 1) if place > 1 else -1
    below = places.index(place + 1) if place < 4 else -1
    own = standing.scores[player]
    return Note(
        key="last_round",
        params={
            "place": place,
            "above": standing.scores[above] - own if above >= 0 else 0,
            "below": own - standing.scores[below] if below >= 0 else 0,
            "above_player": above,
            "below_player": below,
        },
    )


def needs(standing: Standing, player: int, length: GameLength) -> Iterator[Note]:
    """The points a player must win with for each better place, and whether the game may then continue."""
    places = placements(standing.scores)
    for place in range(places[player] - 1, 0, -1):
        above = places.index(place)
        others = [other for other in range(4) if other not in (player, above)]
        tsumo = _least(standing, player, player, place)
        direct = _least(standing, player, above, place)
        anybody = [_least(standing, player, other, place) for other in others]
        ron = max(anybody) if all(anybody) else _NO_HAND
        if tsumo or direct or ron:
            yield Note(
                key="last_round_needs",
                params={
                    "place": place,
                    "tsumo": tsumo.points,
                    "ron": ron.points,
                    "direct": direct.points,
                    "player": above,
                    "goes_on": any(
                        not _ends(standing, player, way.scores, length) for way in (tsumo, ron, direct) if way
                    ),
                },
            )


class _WinningHand(NamedTuple):
    """A winning hand: its points, and all scores after it."""

    points: int
    scores: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return self.points > 0


_NO_HAND: Final = _WinningHand(0)


def _least(standing: Standing, player: int, payer: int, place: int) -> _WinningHand:
    """The cheapest hand that leads to a place."""
    for points, changes in _hands(standing, player, payer):
        scores = tuple(had + gets for had, gets in zip(standing.scores, changes, strict=True))
        if placements(scores)[player] <= place:
            return _WinningHand(points, scores)
    return _NO_HAND


def _ends(standing: Standing, winner: int, scores: Sequence[int], length: GameLength) -> bool:
    return game_over(standing.round_index, winner == standing.dealer, scores, length, aborted=False)


def _hands(standing: Standing, player: int, payer: int) -> Iterator[tuple[int, Four]]:
    """Hands from the cheapest to a yakuman: their points, and the changes of the scores."""
    bonus = HONBA_POINTS * standing.honba + RIICHI_STICK * standing.sticks
    for base in _BASES:
        value = WinValue(0, 0, 0, 0, (), (), base)
        changes = deltas(
            value, player, payer, standing.dealer, honba=standing.honba, riichi_sticks=standing.sticks
        )
        yield changes[player] - bonus, changes


def _has_plain(legal: Sequence[Action], red: Action) -> bool:
    return any(
        action.kind is ActionKind.DISCARD and action.tile >> 2 == red.tile >> 2 and action != red
        for action in legal
    )
