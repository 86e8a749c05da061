"""What the opponents have done in a round, as the decisions that a guess at their hands must explain.

A hand now and the public course of the round almost determine the hand at any earlier moment: discards,
called tiles and tsumogiri are seen. What is open is which of its tiles a player drew when, if another was
discarded. Each order in which the tiles may have come belongs to as many deals, so the order is drawn
uniformly and belongs to the guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.actions import PASS, RIICHI, Action, ActionKind
from game.events import (
    Ankan,
    Chi,
    Daiminkan,
    Discard,
    Draw,
    GameEvent,
    Kakan,
    PlayerLeft,
    PlayerReturned,
    Pon,
    Riichi,
)
from game.state import apply, clone, new_round
from game.table import masked
from game.tiles import TILES, UNSEEN
from policies.deals.view import RoundView

Doing: TypeAlias = Literal["discard", "riichi", "call", "pass"]
"""What a player did: a discard, a riichi, a call or kan, or nothing on another player's tile."""

_NEVER: Final = 1 << 30
"""When a tile still held leaves the hand."""
_ACTS: Final = (Draw, Riichi, Discard, Chi, Pon, Daiminkan, Ankan, Kakan)
_CALLS: Final = {Chi: ActionKind.CHI, Pon: ActionKind.PON, Daiminkan: ActionKind.DAIMINKAN}


class PastDecision(msgspec.Struct, frozen=True):
    """One decision of one opponent.

    Attributes:
        record: the round before it, with all hands unknown.
        event: the number of events before it.
        taken: what the player did.
        doing: the same in a word.
        claimed: whether another player called the tile with more right to it than a chi has.
    """

    record: np.void
    event: int
    taken: Action
    doing: Doing
    claimed: bool = False


class _DrawnTile(msgspec.Struct, frozen=True):
    """A draw.

    Attributes:
        event: its event.
        tile: the tile if it is known, else -1.
        only: the tiles it was one of; empty if it may have been any that was there later.
        last: whether nothing has been done with it yet.
    """

    event: int
    tile: int = -1
    only: tuple[int, ...] = ()
    last: bool = False


class Past:
    """The course of a round for one opponent.

    Args:
        view: the round; its events must be known.
        player: the opponent, absolute.

    Attributes:
        decisions: in order.
    """

    def __init__(self, view: RoundView, player: int) -> None:
        self.player = player
        self._changes: list[tuple[int, GameEvent]] = [
            (number, event)
            for number, event in enumerate(view.events)
            if isinstance(event, _ACTS) and event.player == player
        ]
        self.decisions = _decisions(view.events, player)
        self._draws = _draws(self._changes)
        self._leaves = _leaves(self._changes)

    def orders(self, hands: NDArray[np.int16], rng: np.random.Generator) -> NDArray[np.int16]:
        """Draw the order in which tiles came to each hand.

        Args:
            hands: ``[n, size]``, the concealed tiles now, one just drawn last.
            rng: source of the draws.

        Returns:
            ``[n, draws]``: the tile of each of the player's draws.
        """
        count, size = hands.shape
        fixed = np.array(list(self._leaves), np.int16)
        slots = np.concatenate([hands, np.broadcast_to(fixed, (count, len(fixed)))], axis=1)
        leaves = np.array([_NEVER] * size + list(self._leaves.values()))
        free = np.ones((count, len(leaves)), np.bool_)
        orders = np.empty((count, len(self._draws)), np.int16)
        rows = np.arange(count)
        waiting = []
        for number, draw in enumerate(self._draws):
            if draw.tile >= 0:
                orders[:, number] = draw.tile
                free[:, size + fixed.tolist().index(draw.tile)] = False
            elif draw.last:
                orders[:, number] = hands[:, -1]
                free[:, size - 1] = False
            else:
                waiting.append((number, draw))
        # A kan in riichi names few tiles, so it is served first; then the later a draw, the fewer may be it.
        for number, draw in sorted(waiting, key=lambda each: (not each[1].only, -each[1].event)):
            fits = np.isin(slots[0], draw.only) if draw.only else leaves > draw.event
            keys = np.where(free & fits, rng.random(free.shape), -1.0)
            chosen = keys.argmax(axis=1)
            orders[:, number] = slots[rows, chosen]
            free[rows, chosen] = False
        return orders

    def hands_before(
        self, hands: NDArray[np.int16], orders: NDArray[np.int16], decisions: Sequence[PastDecision]
    ) -> dict[int, tuple[NDArray[np.bool_], NDArray[np.int16]]]:
        """The hand before some decisions.

        Args:
            hands: ``[n, size]``, the concealed tiles now.
            orders: ``[n, draws]``, as `orders` returned them.
            decisions: some of `decisions`.

        Returns:
            By the event of a decision: ``[n, 136]`` whether a tile was in the hand, and ``[n]`` the tile just
            drawn, -1 if there was none.
        """
        held = np.zeros((len(hands), TILES), np.bool_)
        rows = np.arange(len(hands))
        held[rows[:, None], hands] = True
        none = np.full(len(hands), -1, np.int16)
        found: dict[int, tuple[NDArray[np.bool_], NDArray[np.int16]]] = {}
        changes, number = self._changes[::-1], len(self._draws)
        moments = sorted({each.event for each in decisions}, reverse=True)
        for place, event in [*changes, (-1, None)]:
            while moments and moments[0] > place:
                on_draw = isinstance(event, Draw | Riichi)
                found[moments.pop(0)] = (held.copy(), orders[:, number - 1] if on_draw else none)
            if isinstance(event, Draw):
                number -= 1
                held[rows, orders[:, number]] = False
            elif event is not None:
                held[:, list(_leaving(event))] = True
        return found


def _leaving(event: GameEvent) -> tuple[int, ...]:
    """The tiles that leave the hand of the player who acts."""
    if isinstance(event, Discard | Kakan):
        return (event.tile,)
    if isinstance(event, Chi | Pon | Daiminkan | Ankan):
        return event.consumed
    return ()


def _draws(changes: list[tuple[int, GameEvent]]) -> list[_DrawnTile]:
    found = []
    in_riichi = False
    for place, (number, event) in enumerate(changes):
        in_riichi |= isinstance(event, Riichi)
        if not isinstance(event, Draw):
            continue
        then = next((after for _, after in changes[place + 1 :] if not isinstance(after, Riichi)), None)
        if isinstance(then, Discard) and then.tsumogiri:
            found.append(_DrawnTile(number, then.tile))
        elif isinstance(then, Ankan) and in_riichi:
            found.append(_DrawnTile(number, only=then.consumed))
        else:
            found.append(_DrawnTile(number, last=then is None))
    return found


def _leaves(changes: list[tuple[int, GameEvent]]) -> dict[int, int]:
    """By tile: the event before which it must have come to the hand.

    A tile discarded from the hand was there before the draw of that turn.
    """
    found = {}
    drawn = -1
    for number, event in changes:
        if isinstance(event, Draw):
            drawn = number
        elif isinstance(event, Discard) and not event.tsumogiri and drawn >= 0:
            found[event.tile] = drawn
            drawn = -1
        else:
            found |= dict.fromkeys(_leaving(event), number)
            if not isinstance(event, Riichi):
                drawn = -1
    return found


def _decisions(events: Sequence[GameEvent], player: int) -> list[PastDecision]:
    found: list[PastDecision] = []
    record = new_round()
    claim: tuple[int, np.void] | None = None
    away = False
    for number, event in enumerate(events):
        if isinstance(event, PlayerLeft | PlayerReturned):
            away = isinstance(event, PlayerLeft) if event.player == player else away
            continue
        if claim is not None and isinstance(event, Draw | Chi | Pon | Daiminkan):
            if not away:
                found.append(_answer(event, player, *claim))
            claim = None
        elif isinstance(event, Discard | Riichi | Ankan | Kakan) and event.player == player and not away:
            found.append(PastDecision(clone(record), number, *_act(event)))
        apply(record, masked(event, UNSEEN))
        if isinstance(event, Discard | Kakan):
            claim = None if event.player == player else (number + 1, clone(record))
    return found


def _answer(event: GameEvent, player: int, number: int, record: np.void) -> PastDecision:
    """What a player did with another's tile, by the event that followed it."""
    if isinstance(event, Chi | Pon | Daiminkan) and event.player == player:
        call = Action(_CALLS[type(event)], event.tile, event.consumed)
        return PastDecision(record, number, call, "call")
    return PastDecision(record, number, PASS, "pass", claimed=isinstance(event, Pon | Daiminkan))


def _act(event: Discard | Riichi | Ankan | Kakan) -> tuple[Action, Doing]:
    """What a player did on a turn."""
    if isinstance(event, Discard):
        return Action(ActionKind.DISCARD, event.tile), "discard"
    if isinstance(event, Riichi):
        return RIICHI, "riichi"
    if isinstance(event, Ankan):
        return Action(ActionKind.ANKAN, UNSEEN, event.consumed), "call"
    return Action(ActionKind.KAKAN, event.tile, event.consumed), "call"
