"""Finds the decisions of one player in the events of a game: the legal actions, and the one chosen.

Only real decisions count: not forced moves, events while the player was away, or calls that a player with a
higher claim to the tile took, or may have taken. A ron hides every call, and a pon or an open kan hides the
next player's chi. A win hides no other win: on Tenhou every player who may have the tile is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, cast

import numpy as np

from game.actions import DISCARDS, PASS, WINS, Action, ActionKind
from game.events import (
    Ankan,
    Chi,
    Daiminkan,
    Discard,
    DoraRevealed,
    DrawnRound,
    EndGame,
    EndRound,
    GameEvent,
    Kakan,
    PlayerLeft,
    PlayerReturned,
    Pon,
    Riichi,
    RiichiAccepted,
    StartGame,
    StartRound,
    Win,
)
from game.forbidden import broken_rule
from game.layout import PHASE_TURN
from game.observation import Observation
from game.rules import legal_actions
from game.scoring.settlement import GameLength
from game.state import apply, clone, declared, new_round
from game.tiles import face_of, mjai_text
from kit.errors import ReplayFormatError, StateMismatchError
from replays.mjai.lines import Message, render
from replays.record import in_words
from replays.review import schema

_KINDS: Final = {
    Discard: ActionKind.DISCARD,
    Riichi: ActionKind.RIICHI,
    Chi: ActionKind.CHI,
    Pon: ActionKind.PON,
    Daiminkan: ActionKind.DAIMINKAN,
    Ankan: ActionKind.ANKAN,
    Kakan: ActionKind.KAKAN,
}
_ENDS: Final = (EndRound, EndGame, StartGame, StartRound)
"""Events after which nothing of the round is recorded; it has no result if one follows a discard."""
ASIDES: Final = (RiichiAccepted, DoraRevealed, PlayerLeft, PlayerReturned)
"""Events that open no choice; they may come between a tile and the claim to it."""


class Moment(Observation, frozen=True, kw_only=True):
    """One decision of a recorded game: what the player saw, a copy owned by this moment, and did.

    At least two actions are legal; those that another player may have taken away are left out.

    Attributes:
        round: index of the round.
        event: index of the last event before it among those of the round.
        done: the action taken; a riichi has the tile discarded with it.
    """

    round: int
    event: int
    done: Action


class RoundEvents(NamedTuple):
    """One round: its deal, all its events, and the mjai messages of those that have one."""

    start: StartRound
    events: list[GameEvent]
    messages: list[Message]


class FollowedGame(NamedTuple):
    """A game followed: its rounds, the player's decisions, and the number of decisions the record hides."""

    rounds: list[RoundEvents]
    moments: list[Moment]
    hidden: int


class _Claim(NamedTuple):
    event: int
    record: np.void
    legal: tuple[Action, ...]


def follow(events: Sequence[GameEvent], player: int, length: GameLength) -> FollowedGame:
    """Follow a game from the view of one player.

    Args:
        events: of the whole game.
        player: absolute.
        length: of the game.

    Raises:
        ReplayFormatError: an event does not fit, or is neither a legal action of the player nor one that a
            known rule forbids; the message names the round.
    """
    following = _Following(player, length)
    for place, event in enumerate(events):
        try:
            following.add(event, events[place:])
        except (StateMismatchError, ReplayFormatError) as exc:
            raise ReplayFormatError(f"{following.where}: {in_words(exc)}") from exc
    return FollowedGame(following.rounds, following.moments, following.hidden)


class _Following:
    def __init__(self, player: int, length: GameLength) -> None:
        self.rounds: list[RoundEvents] = []
        self.moments: list[Moment] = []
        self.hidden = 0
        self._player = player
        self._length: GameLength = length
        self._state = new_round()
        self._claim: _Claim | None = None
        self._before_dora: tuple[int, np.void] | None = None
        self._away = False
        self._declared = False

    @property
    def where(self) -> str:
        """The current round, for messages."""
        if not self.rounds:
            return "before the first round"
        return round_text(self.rounds[-1].start.round_index, self.rounds[-1].start.honba)

    def add(self, event: GameEvent, onward: Sequence[GameEvent]) -> None:
        """Follow one event; ``onward`` is the events from it on."""
        if isinstance(event, StartRound):
            self.rounds.append(RoundEvents(event, [], []))
            self._claim = self._before_dora = None
        self._update_away(event)
        if self._claim is not None and not isinstance(event, ASIDES):
            self._answer(self._claim, onward)
            self._claim = None
        self._update_turn(event, onward[1:2])
        self._declared = isinstance(event, Riichi)
        if not isinstance(event, DoraRevealed):
            self._before_dora = None
        elif self._state["phase"] == PHASE_TURN and self._before_dora is None:
            # the indicator of an open or added kan is revealed after the player has chosen the discard
            self._before_dora = self._last, clone(self._state)
        apply(self._state, event)
        if self.rounds:
            self.rounds[-1].events.append(event)
            message = render(event)
            if message:
                self.rounds[-1].messages.append(message)
        if isinstance(event, Discard | Kakan | Ankan) and event.player != self._player and not self._away:
            legal = tuple(legal_actions(self._state, self._player))
            if len(legal) > 1:
                self._claim = _Claim(self._last, clone(self._state), legal)

    @property
    def _last(self) -> int:
        return len(self.rounds[-1].messages) - 1

    def _update_away(self, event: GameEvent) -> None:
        if isinstance(event, PlayerLeft | PlayerReturned) and event.player == self._player:
            self._away = isinstance(event, PlayerLeft)
            self._claim = None

    def _update_turn(self, event: GameEvent, following: Sequence[GameEvent]) -> None:
        """Note the player's act on their own turn; riichi and its discard are one."""
        match event:
            case Discard(player=player) | Riichi(player=player) | Ankan(player=player) | Kakan(player=player):
                pass
            case Win(player=player, from_player=from_player) if player == from_player:
                pass
            case DrawnRound(reason="nine_terminals"):
                player = int(self._state["turn"])
            case _:
                return
        if player != self._player or self._away or self._declared:
            return
        at, record = self._before_dora or (self._last, clone(self._state))
        if broken_rule(record, event):
            return  # the server allowed it; there is no choice to compare it with
        legal = tuple(legal_actions(record, player))
        done = _matched(event, legal)
        if isinstance(event, Riichi):
            if not (following and isinstance(following[0], Discard)):
                self.hidden += 1
                return
            done = Action(
                ActionKind.RIICHI,
                _matched(following[0], legal_actions(declared(record, player), player)).tile,
            )
        kinds = {action.tile >> 2 if action.kind is ActionKind.DISCARD else action for action in legal}
        if len(kinds) > 1:
            self._note(at, record, legal, done)

    def _answer(self, claim: _Claim, onward: Sequence[GameEvent]) -> None:
        """Note the player's answer to another player's tile, from what came next."""
        event, legal = onward[0], claim.legal
        if getattr(event, "player", -1) == self._player and broken_rule(self._state, event):
            return
        could_win = legal[0].kind is ActionKind.RON
        if isinstance(event, _ENDS) or (isinstance(event, DrawnRound) and event.reason == "unknown"):
            self.hidden += 1  # the record does not tell what the player did
            return
        done = PASS
        if isinstance(event, Win):
            won = next((e for e in onward[:3] if isinstance(e, Win) and e.player == self._player), None)
            if won is not None:
                done = _matched(won, legal)
            else:
                legal = (legal[0], PASS) if could_win else ()
        elif isinstance(event, DrawnRound) and event.reason == "triple_ron":
            done, legal = (legal[0], legal) if could_win else (PASS, ())
        elif isinstance(event, Chi | Pon | Daiminkan):
            if event.player == self._player:
                done = _matched(event, legal)
            elif not isinstance(event, Chi):
                legal = tuple(action for action in legal if action.kind is not ActionKind.CHI)
        if len(legal) > 1:
            self._note(claim.event, claim.record, legal, done)
        else:
            self.hidden += 1

    def _note(self, event: int, record: np.void, legal: tuple[Action, ...], done: Action) -> None:
        index = len(self.rounds) - 1
        self.moments.append(
            Moment(record, self._player, legal, self._length, round=index, event=event, done=done)
        )


def _matched(event: GameEvent, legal: Sequence[Action]) -> Action:
    """The legal action that matches an event: equal faces, regardless of copies."""
    for action in legal:
        if _is(event, action):
            return action
    raise ReplayFormatError(f"{event!r} is not a legal action")


def _is(event: GameEvent, action: Action) -> bool:
    if isinstance(event, Win):
        return action.kind in WINS
    if isinstance(event, DrawnRound):
        return action.kind is ActionKind.NINE_TERMINALS
    if _KINDS.get(type(event)) is not action.kind:
        return False
    match event:
        case Discard(tile=tile) | Kakan(tile=tile):
            return face_of(tile) == face_of(action.tile)
        case Ankan(consumed=consumed):
            return consumed[0] >> 2 == action.consumed[0] >> 2
        case Chi(consumed=consumed) | Pon(consumed=consumed) | Daiminkan(consumed=consumed):
            return sorted(map(face_of, consumed)) == sorted(map(face_of, action.consumed))
        case _:
            return True


def round_text(round_index: int, honba: int) -> str:
    """The name of a round.

    >>> round_text(5, 2)
    'S2-2'
    """
    return f"{'ESWN'[round_index // 4]}{round_index % 4 + 1}-{honba}"


def action_text(action: Action, record: np.void) -> schema.ReviewAction:
    """An action by its faces; ``record`` shows which tile was drawn."""
    return schema.ReviewAction(
        kind=cast(schema.ActionName, action.kind.name.lower()),
        tile=mjai_text(action.tile) if action.tile >= 0 else "",
        consumed=tuple(mjai_text(tile) for tile in action.consumed),
        tsumogiri=action.kind in DISCARDS and 0 <= action.tile == int(record["drawn"]),
    )
