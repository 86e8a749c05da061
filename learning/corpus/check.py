"""Checks every aspect of one game, and lists each difference with its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

from game.events import DrawnRound, PlayerLeft, Win
from game.fold import REASONS
from game.forbidden import NOT_COMPLETE, RULES
from game.layout import AT_HAND
from game.packing import DRAW_REASONS
from game.scoring.settlement import GameLength, deltas, liable_player
from game.scoring.value import context_of, evaluate
from game.table.endings import drawn_round, exhausted
from kit.errors import ReplayError, StateMismatchError
from learning.corpus import follow
from learning.corpus.absences import acts_of_absent
from learning.corpus.follow import BROKEN, TABLE, WHOLE, Follower
from learning.corpus.order import Oddity, Outcome, end_findings, start_findings, went_on
from learning.corpus.rounds import RecordedRound, split_rounds
from replays.record import GameRecord
from replays.wall import Wall, game_walls

Finding: TypeAlias = tuple[int, str]
"""Player (-1 for none) and the difference."""

_WALL_RAN_OUT: Final = ("exhaustive", "nagashi_mangan")


def win_findings(before: npt.NDArray[np.void], wins: Sequence[Win]) -> Iterator[Finding]:
    """Compare the wins of a round with the results under our rules.

    Args:
        before: ``[5]`` the views before the first win.
        wins: in order; the first takes honba and sticks.
    """
    for place, win in enumerate(wins):
        for field, theirs, ours in _win_fields(before[win.player], win, is_first=place == 0):
            if theirs != ours:
                yield win.player, f"{field} {theirs} in the record, {ours} by our rules"


def _win_fields(view: np.void, win: Win, *, is_first: bool) -> Iterator[tuple[str, Any, Any]]:
    player, source = win.player, win.from_player
    context = context_of(view, player, win.tile, source, win.ura_indicators)
    value = evaluate(context)
    if value is None:
        yield "a hand", win.hand, "no yaku"
        return
    honba, sticks = int(view["honba"]), int(view["riichi_sticks"]) if is_first else 0
    liable = liable_player(view, player, value)
    dealer = int(view["dealer"])
    paid = deltas(
        value, player, source, dealer, honba=honba if is_first else 0, riichi_sticks=sticks, liable=liable
    )
    yield "hand", tuple(sorted(win.hand)), context.hand
    if win.value == "stated":
        yield "yaku", win.yaku, value.yaku
        yield "yakuman", win.yakuman, value.yakuman
        yield "han", sum(han for _, han in win.yaku) + 13 * len(win.yakuman), value.han
        yield "fu", win.fu, value.fu
        yield "points", win.points, value.points
        yield "limit", win.limit, value.limit
    yield "liable player", win.liable, liable
    yield "score changes", win.deltas, paid
    yield "honba", win.honba, honba  # Tenhou states it with every win; only the first is paid for it
    yield "sticks", win.riichi_sticks, sticks
    shown = int(view["indicator_count"]) if context.riichi else 0
    yield "ura indicators", len(win.ura_indicators), shown


def drawn_findings(before: npt.NDArray[np.void], drawn: DrawnRound) -> Iterator[Finding]:
    """Compare a round without a win with the result under our rules."""
    table = before[TABLE]
    ours, _ = exhausted(table) if drawn.reason in _WALL_RAN_OUT else (drawn_round(table, drawn.reason, ()), 0)
    if drawn.reason not in (ours.reason, "unknown"):
        yield -1, f"{drawn.reason} in the record, {ours.reason} by our rules"
    if drawn.deltas != ours.deltas:
        yield -1, f"score changes {drawn.deltas} in the record, {ours.deltas} by our rules"
    for player, hand in enumerate(drawn.hands):
        if hand is not None and not _holds(table, player, hand):
            yield player, f"shows {hand}, which is not their hand"
        elif drawn.reason in _WALL_RAN_OUT and (hand is None) != (ours.hands[player] is None):
            yield player, f"{'is' if ours.hands[player] else 'is not'} tenpai by our rules"


def _holds(table: np.void, player: int, hand: Sequence[int]) -> bool:
    held = np.flatnonzero(table["where"] == AT_HAND + player)
    return sorted(hand) == held.tolist()


Kind: TypeAlias = Literal["unreadable", "event", "legality", "result", "order", "end", "wall"]

_UNSUPPORTED: Final = (
    (16, "three players"),
    (2, "no red fives"),
    (4, "no open tanyao"),
    (512 | 1024, "chips"),
)
_HANCHAN: Final = 8


class RecordDifference(msgspec.Struct, frozen=True):
    """One thing in a record that our rules do not produce.

    Attributes:
        game_id: the game.
        round: name of the round, "" for the game as a whole.
        turn: discards of the round before it.
        kind: the check that found it.
        player: the player it concerns, -1 for none.
        text: the difference.
        oddity: a name in `ODDITIES` where Tenhou itself deviates.
        forbidden: the rule in `game.forbidden.RULES` that a player broke with the server's consent.
    """

    game_id: str
    round: str
    turn: int
    kind: Kind
    player: int
    text: str
    oddity: Oddity = ""
    forbidden: str = ""


class Checked(msgspec.Struct, frozen=True):
    """Result of checking one game.

    Attributes:
        game_id: the game.
        unsupported: why it was not checked, "" if it was.
        rounds: rounds in it.
        events: events in it.
        moves: moves looked up in the legal sets.
        claims: calls and wins on other players' tiles looked up.
        passes: passed chances looked up.
        wins: wins in it.
        seeded: whether its walls were checked.
        disconnected: whether a player left it.
        differences: everything found.
    """

    game_id: str
    unsupported: str = ""
    rounds: int = 0
    events: int = 0
    moves: int = 0
    claims: int = 0
    passes: int = 0
    wins: int = 0
    seeded: bool = False
    disconnected: bool = False
    differences: tuple[RecordDifference, ...] = ()


def unsupported(game_type: int) -> str:
    """Reason why games of this type are not checked, "" if they are."""
    return next((why for bits, why in _UNSUPPORTED if game_type & bits), "")


class Checker:
    """Checks games one after another."""

    def __init__(self) -> None:
        self._follower = Follower()

    def check(self, record: GameRecord) -> Checked:
        """Check a complete game."""
        why = unsupported(record.game_type) or ("" if record.is_complete else "hidden hands")
        if why:
            return Checked(record.game_id, why)
        rounds = split_rounds(record.events)
        self._follower.counts[:] = 0
        try:
            walls = list(game_walls(record))
            differences = tuple(self._game(record, rounds, walls))
        except (ReplayError, StateMismatchError) as exc:
            return Checked(
                record.game_id,
                differences=(RecordDifference(record.game_id, "", 0, "unreadable", -1, str(exc)),),
            )
        events, moves, claims, passes = self._follower.counts.tolist()
        return Checked(
            record.game_id,
            rounds=len(rounds),
            events=events,
            moves=moves,
            claims=claims,
            passes=passes,
            wins=sum(len(played.wins) for played in rounds),
            seeded=bool(walls),
            disconnected=any(isinstance(event, PlayerLeft) for event in record.events),
            differences=differences,
        )

    def _game(
        self, record: GameRecord, rounds: list[RecordedRound], walls: list[Wall]
    ) -> Iterator[RecordDifference]:
        name = record.game_id
        length: GameLength = "hanchan" if record.game_type & _HANCHAN else "tonpuu"
        year = int(name[:4]) if name[:4].isdigit() else 0
        last: Outcome | None = None
        for number, played in enumerate(rounds):
            if last is not None:
                for text, oddity in went_on(last, length, year):
                    yield RecordDifference(name, last.played.name, last.played.turns, "end", -1, text, oddity)
            if number == 0 or last is not None:
                for text in start_findings(played, last):
                    yield RecordDifference(name, played.name, 0, "order", -1, text)
            if walls:
                dice = record.dice[number] if number < len(record.dice) else (0, 0)
                for turn, text in _wall_findings(played, walls[number], dice):
                    yield RecordDifference(name, played.name, turn, "wall", -1, text)
            found, last = self._round(name, played)
            yield from found
        for deal, turn, event in acts_of_absent(record.events):
            where = RecordedRound(deal).name if deal else ""
            text = f"{event!r} by a player who is away"
            yield RecordDifference(name, where, turn, "legality", getattr(event, "player", -1), text)
        end = record.ending
        if end is None:
            yield RecordDifference(name, "", 0, "end", -1, "the game has no end")
        elif last is not None:
            for text, oddity in end_findings(last, end, length, year):
                yield RecordDifference(name, last.played.name, last.played.turns, "end", -1, text, oddity)

    def _round(self, name: str, played: RecordedRound) -> tuple[list[RecordDifference], Outcome | None]:
        """Differences in a round, and how it left the table; None if it could not be followed to its end."""
        follower = self._follower
        found = [_fault(name, played, *fault) for fault in follower.follow(played.packed()).tolist()]
        if follower.reached == BROKEN:
            return found, None
        before = follower.before
        findings = list(win_findings(before, played.wins))
        if played.drawn is not None:
            findings += drawn_findings(before, played.drawn)
        found += [
            RecordDifference(name, played.name, played.turns, "result", player, text)
            for player, text in findings
        ]
        if follower.reached != WHOLE:
            return found, None
        return found, Outcome(played, before[TABLE], follower.after[TABLE])


def _fault(
    name: str, played: RecordedRound, what: int, place: int, player: int, detail: int
) -> RecordDifference:
    turn, event = played.event_at(place)
    kind: Kind = "event"
    forbidden = ""
    match what:
        case follow.DOES_NOT_FIT:
            whose = "the table" if player == TABLE else f"player {player}'s view"
            text = f"{event!r} does not fit {whose}: {REASONS[detail]}"
        case follow.NOT_LEGAL:
            text, kind = f"{event!r} is not offered to player {player} by their own view", "legality"
            # Every server checks winning hands itself: if ours finds no win, our rules are wrong.
            forbidden = RULES[detail] if detail != NOT_COMPLETE else ""
            if forbidden:
                text = f"{event!r} is forbidden: {forbidden}"
        case follow.NO_PASS:
            text, kind = f"player {player} may not let {event!r} happen", "legality"
        case follow.NOT_CALLED_OFF:
            text, kind = f"{event!r} although {DRAW_REASONS[detail]} ends the round", "legality"
        case follow.NO_REASON:
            text, kind = f"called off for {DRAW_REASONS[detail]}, which is not so", "legality"
        case follow.INDICATORS:
            text = f"{detail} indicators lie open before {event!r}"
        case _:
            text = f"the round has no result, or something stands after it: {event!r}"
    whom = -1 if player == TABLE else player
    return RecordDifference(name, played.name, turn, kind, whom, text, forbidden=forbidden)


def _wall_findings(played: RecordedRound, wall: Wall, dice: tuple[int, int]) -> Iterator[tuple[int, str]]:
    """Compare deal, draws, indicators and dice with a wall: discards before each difference, and its text."""
    start = played.start
    if dice != wall.dice:
        yield 0, f"dice {dice} in the record, {wall.dice} from the seed"
    for player, (theirs, ours) in enumerate(zip(start.hands, wall.hands(start.dealer), strict=True)):
        if theirs != ours:
            yield 0, f"player {player} is dealt {theirs}, {ours} from the seed"
    for replacement, drawn, tiles in (
        (False, played.live, wall.draws),
        (True, played.replacements, wall.replacements),
    ):
        number = _first_difference(drawn, tiles)
        if number is not None:
            what = "replacement" if replacement else "draw"
            due = tiles[number] if number < len(tiles) else "none"
            turn = played.turn_of_draw(number, replacement=replacement)
            yield turn, f"{what} {number + 1} is {drawn[number]}, {due} from the seed"
    number = _first_difference(played.indicators, wall.indicators)
    if number is not None:
        yield played.turns, f"indicators {played.indicators} in the record, {wall.indicators} from the seed"
    for win in played.wins:
        if win.ura_indicators and win.ura_indicators != wall.ura_indicators[: len(win.ura_indicators)]:
            yield played.turns, f"ura {win.ura_indicators} in the record, {wall.ura_indicators} from the seed"


def _first_difference(theirs: list[int], ours: tuple[int, ...]) -> int | None:
    if tuple(theirs) == ours[: len(theirs)]:
        return None
    return next((n for n, tile in enumerate(theirs) if n >= len(ours) or tile != ours[n]), None)
