"""A prompt as a page shows it, the requests of a page, and the answers given without asking a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec
import numpy as np

from bot.table.plan import LevelName
from bot.tenhou.session.turn import riichi_discards
from game.actions import PASS, Action, ActionKind
from game.scoring.value import has_yaku
from game.state import clone, unseen34
from game.tiles import face_of, mjai_text
from replays.review.moments import action_text

SwitchName: TypeAlias = Literal["no_calls", "auto_win", "auto_discard", "advice"]

Furiten: TypeAlias = Literal["discarded", "riichi", "passed"]
"""A wait among the own discards; a win passed on in riichi, or since the last discard."""

_CALLS: Final = (ActionKind.CHI, ActionKind.PON, ActionKind.DAIMINKAN)
_WINS: Final = (ActionKind.TSUMO, ActionKind.RON)


class PageRequest(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """Anything a page may say."""


class SitDown(PageRequest, frozen=True, tag="sit"):
    """The person is ready for a game."""


class ChooseLevel(PageRequest, frozen=True, tag="level"):
    """Play the next game against programs of another level."""

    level: LevelName


class ChooseAction(PageRequest, frozen=True, tag="choose"):
    """An answer: the number of the prompt, and the index of one of its actions."""

    prompt: int
    choice: int


class Continue(PageRequest, frozen=True, tag="go_on"):
    """The person has seen the result with this number."""

    result: int


class TakeBack(PageRequest, frozen=True, tag="take_back"):
    """Return to the decision before the prompt with this number, or to the last one if it was answered."""

    prompt: int


class SetSwitch(PageRequest, frozen=True, tag="switch"):
    """Turn a switch on or off."""

    name: SwitchName
    on: bool


AnyRequest: TypeAlias = SitDown | ChooseLevel | ChooseAction | Continue | SetSwitch | TakeBack

_DECODER: Final[msgspec.json.Decoder[AnyRequest]] = msgspec.json.Decoder(AnyRequest)


class Switches(msgspec.Struct, frozen=True):
    """The switches of a seat.

    Attributes:
        no_calls: pass on every chi, pon and kan.
        auto_win: win whenever possible.
        auto_discard: discard what is drawn.
        advice: show what the policy would do.
    """

    no_calls: bool = False
    auto_win: bool = False
    auto_discard: bool = False
    advice: bool = False


def parse_request(text: str) -> AnyRequest | None:
    """The request in a text from a page; None if it is none.

    >>> parse_request('{"type": "choose", "prompt": 3, "choice": 0}')
    ChooseAction(prompt=3, choice=0)
    >>> parse_request('{"type": "choose", "prompt": 3}') is None
    True
    """
    try:
        return _DECODER.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def automatic(legal: Sequence[Action], switches: Switches, drawn: int) -> Action | None:
    """The answer to a prompt that is given without asking; None if the person must decide.

    A win is declined by no switch: who passes on one would be furiten.

    Args:
        legal: the legal actions.
        switches: the switches of the seat.
        drawn: the tile just drawn, -1 for none.

    >>> automatic([Action(ActionKind.PON, 5, (4, 6)), PASS], Switches(no_calls=True), -1).kind.name
    'PASS'
    """
    if len(legal) == 1:
        return legal[0]
    win = next((action for action in legal if action.kind in _WINS), None)
    if win is not None:
        return win if switches.auto_win else None
    if switches.no_calls and PASS in legal and all(a.kind in (*_CALLS, ActionKind.PASS) for a in legal):
        return PASS
    tsumogiri = Action(ActionKind.DISCARD, drawn)
    return tsumogiri if switches.auto_discard and tsumogiri in legal else None


class OpenPrompt(msgspec.Struct, frozen=True):
    """A prompt that waits for the person, or for an answer given without asking.

    Attributes:
        number: as the page knows it; unlike the session's, no two games share one.
        prompt_id: as the session knows it.
        legal: the legal actions; equal faces count once.
        twin: the discard from the hand of the face just drawn, if there is one.
    """

    number: int
    prompt_id: int
    legal: tuple[Action, ...]
    twin: tuple[Action, ...] = ()

    @property
    def choices(self) -> tuple[Action, ...]:
        """Everything the person may choose."""
        return (*self.legal, *self.twin)

    def shown(self, record: np.void, player: int) -> dict[str, Any]:
        """The prompt as the page is told it.

        Args:
            record: the round as the seat sees it.
            player: who sits there, absolute.
        """
        actions = [msgspec.to_builtins(action_text(action, record)) for action in self.choices]
        return {
            "number": self.number,
            "actions": actions,
            "riichi": _after_riichi(self.choices, record, player),
        }


def _after_riichi(legal: Sequence[Action], record: np.void, player: int) -> list[int]:
    """The discards, as indices, that are possible after a riichi."""
    if not any(action.kind is ActionKind.RIICHI for action in legal):
        return []
    allowed = {face_of(action.tile) for action in riichi_discards(record, player)}
    return [
        place
        for place, action in enumerate(legal)
        if action.kind is ActionKind.DISCARD and face_of(action.tile) in allowed
    ]


class Wait(msgspec.Struct, frozen=True):
    """A kind that completes the hand.

    Attributes:
        tile: in mjai's notation.
        left: copies that the player does not see.
        yaku: whether the hand has one with another player's tile.
    """

    tile: str
    left: int
    yaku: bool


def waits_of(record: np.void, player: int) -> list[Wait]:
    """What completes the hand, without the tile just drawn; empty after a call, until the discard."""
    left, mask, drawn = unseen34(record, player), int(record["waits"][player]), int(record["drawn"])
    hand = clone(record)
    if drawn >= 0 and record["turn"] == player:
        hand["hand34"][player][drawn >> 2] -= 1
    if hand["hand34"][player].sum() % 3 != 1:
        return []
    riichi = bool(record["riichi"][player])
    return [
        Wait(mjai_text(tile), int(left[tile >> 2]), riichi or has_yaku(hand, player, tile, is_tsumo=False))
        for tile in range(1, 136, 4)  # no red fives
        if mask >> (tile >> 2) & 1
    ]


def furiten_of(record: np.void, player: int) -> Furiten | None:
    """Why a tenpai player may not win by ron now; None if they may."""
    if not record["waits"][player]:
        return None
    if record["waits"][player] & record["river34"][player]:
        return "discarded"
    if record["missed_riichi"][player]:
        return "riichi"
    return "passed" if record["missed_turn"][player] else None
