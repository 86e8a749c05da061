"""The log of a duel: every state, with both hands and the wall, as JSON lines.

The first line says what was played: names, wall and where the deal comes from. Every further line is a state
and what the player did in it; the last is the end. Nothing is hidden. A log that is read is played again, and
every state must be the one it says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

import msgspec

from game.tiles import KINDS, kind_text
from game.two_player.game import PHASE_NAMES, TwoPlayerGame, hand_kinds
from game.two_player.layout import DECK, MELD_NAMES, NO_TILE, PLAYERS, action_of, action_text, meld_tiles
from kit.errors import IllegalActionError, ReplayFormatError

FORMAT: Final = "suzaku-duel/1"
BEGINNING: Final = b'{"format":"suzaku-duel/'
"""How every log begins."""
Line = TypeVar("Line")
_KINDS: Final = {kind_text(kind): kind for kind in DECK}


class LoggedMeld(msgspec.Struct, frozen=True):
    """A meld: chi, pon, ankan, daiminkan or kakan, and its tiles."""

    form: str
    tiles: list[str]


class PolicyChoice(msgspec.Struct, frozen=True):
    """The choice of an abstract policy, made just before an action.

    Attributes:
        policy: the policy chosen.
        stage: beginning, middle or end.
        key: number of the information set.
        fields: what the key says of the hand, by name.
        probabilities: of the policies to choose from, by name; empty if the player plays one policy only.
    """

    policy: str
    stage: str
    key: int
    fields: dict[str, int]
    probabilities: dict[str, float]


class LoggedState(msgspec.Struct, frozen=True, kw_only=True):
    """One state, and what was done in it.

    Attributes:
        round: tiles drawn so far.
        phase: claim, drawn, discard or over.
        player: to act.
        hands: concealed tiles of both players, ascending.
        melds: of both players.
        rivers: discards of both players that nobody took.
        wall_left: tiles left to draw.
        offered: the discard that may be claimed.
        drawn: the tile just drawn.
        legal: the legal actions; none at the end.
        choice: of a policy, if one was made here.
        policy: that the player follows.
        action: what the player did; None at the end.
        winner: at the end, None if nobody won.
        points: of the winner.
    """

    round: int
    phase: str
    player: int
    hands: list[list[str]]
    melds: list[list[LoggedMeld]]
    rivers: list[list[str]]
    wall_left: int
    offered: str | None
    drawn: str | None
    legal: list[str]
    choice: PolicyChoice | None = None
    policy: str | None = None
    action: str | None = None
    winner: int | None = None
    points: int = 0


class DuelHeader(msgspec.Struct, frozen=True):
    """The settings of a logged match.

    Attributes:
        format: `FORMAT`.
        names: of the players; the first draws first.
        wall: in deal order.
        seed: of the series of deals.
        deal: number of the deal in it.
    """

    format: str
    names: list[str]
    wall: list[str]
    seed: int
    deal: int


class DuelLog(msgspec.Struct, frozen=True):
    """A whole log."""

    header: DuelHeader
    states: list[LoggedState]


def logged_state(
    game: TwoPlayerGame,
    action: int | None,
    *,
    choice: PolicyChoice | None = None,
    policy: str | None = None,
) -> LoggedState:
    """The current state of a game as it is logged.

    Args:
        game: the game before the action.
        action: what the player does; None at the end.
        choice: of a policy, just made.
        policy: that the player follows.
    """
    position = game.position
    winner = int(position["winner"])
    return LoggedState(
        round=game.round,
        phase=PHASE_NAMES[int(position["phase"])],
        player=game.player,
        hands=[_texts(hand_kinds(position["hands"][player])) for player in range(PLAYERS)],
        melds=[
            [
                LoggedMeld(MELD_NAMES[meld // KINDS], _texts(meld_tiles(meld)))
                for meld in position["melds"][player][: position["meld_count"][player]].tolist()
            ]
            for player in range(PLAYERS)
        ],
        rivers=[_texts(river) for river in game.rivers()],
        wall_left=int(position["back"] - position["front"]),
        offered=_text(int(position["offered"])),
        drawn=_text(int(position["drawn"])),
        legal=[action_text(each) for each in game.legal()],
        choice=choice,
        policy=policy,
        action=None if action is None else action_text(action),
        winner=winner if winner >= 0 else None,
        points=int(position["points"]),
    )


def write_log(log: DuelLog) -> bytes:
    """A log as the bytes of a file."""
    return b"".join(msgspec.json.encode(line) + b"\n" for line in (log.header, *log.states))


def parse_log(data: bytes) -> DuelLog:
    """Read a log, and check it by playing it again.

    Raises:
        ReplayFormatError: it is no log, cut short, or says something that cannot have happened; the message
            names the line.
    """
    lines = data.splitlines()
    header = _decoded(lines[0] if lines else b"", DuelHeader, 1)
    if header.format != FORMAT:
        raise ReplayFormatError(f"line 1: format {header.format[:40]!r}, expected {FORMAT}")
    if len(header.names) != PLAYERS:
        raise ReplayFormatError(f"line 1: {len(header.names)} names, expected {PLAYERS}")
    try:
        game = TwoPlayerGame([_KINDS[tile] for tile in header.wall])
    except KeyError as exc:
        raise ReplayFormatError(f"line 1: wall: no tile {str(exc.args[0])[:10]!r} in this game") from None
    except ValueError as exc:
        raise ReplayFormatError(f"line 1: wall: {exc}") from None
    states: list[LoggedState] = []
    for number, line in enumerate(lines[1:], 2):
        if game.over and states and states[-1].action is None:
            raise ReplayFormatError(f"line {number}: the game is over")
        state = _decoded(line, LoggedState, number)
        _play(game, state, number)
        states.append(state)
    if not states or states[-1].action is not None:
        raise ReplayFormatError(f"line {len(lines) + 1}: missing; the log is cut short")
    return DuelLog(header, states)


def _play(game: TwoPlayerGame, state: LoggedState, number: int) -> None:
    """Compare a state with the game's, and carry out its action."""
    action = None if state.action is None else action_of(state.action)
    if state.action is not None and action is None:
        raise ReplayFormatError(f"line {number}: no action {state.action[:40]!r}")
    actual = logged_state(game, action, choice=state.choice, policy=state.policy)
    for field in LoggedState.__struct_fields__:
        if getattr(actual, field) != getattr(state, field):
            raise ReplayFormatError(
                f"line {number}: {field} is not what the game says: {getattr(actual, field)!r}"
            )
    if action is None:
        if not game.over:
            raise ReplayFormatError(f"line {number}: no action, but the game is not over")
        return
    try:
        game.play(action)
    except IllegalActionError as exc:
        raise ReplayFormatError(f"line {number}: {exc}") from None


def _decoded(line: bytes, form: type[Line], number: int) -> Line:
    try:
        return msgspec.json.decode(line, type=form)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as exc:
        raise ReplayFormatError(f"line {number}: not the log of a duel: {exc}") from None


def _texts(kinds: Sequence[int]) -> list[str]:
    return [kind_text(kind) for kind in kinds]


def _text(kind: int) -> str | None:
    return None if kind == NO_TILE else kind_text(kind)
