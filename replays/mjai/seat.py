"""mjai from the view of one seat: the messages between an arena and an engine.

The arena sends a seat the messages of a `SeatFeed` and reads its answers with `read_action`; an engine reads
messages with `replays.mjai.reader` and answers with `write_action`. Riichi takes two steps, as in
`game.actions`: ``reach``, and the discard after the seat has received its own ``reach``.

Source: the mjai protocol as used by Mortal and mjai.app.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeGuard

import numpy as np

from game.actions import CALLS, Action, ActionKind
from game.events import (
    Chi,
    Discard,
    DoraRevealed,
    Draw,
    DrawnRound,
    EndGame,
    EndRound,
    GameEvent,
    Kakan,
    Pon,
    Riichi,
    StartGame,
    StartRound,
)
from game.forbidden import why_not
from game.rules import legal_actions, twins_of_drawn
from game.state import apply, hand_tiles, new_round
from game.table.table import masked
from game.tiles import TILES, mjai_text
from kit.errors import IllegalActionError
from replays.mjai.lines import Message, render

NONE: Final[Message] = {"type": "none"}
"""The answer of a seat that passes, or that was asked nothing."""

_WORDS: Final = {
    ActionKind.DISCARD: "dahai",
    ActionKind.RIICHI: "reach",
    ActionKind.CHI: "chi",
    ActionKind.PON: "pon",
    ActionKind.DAIMINKAN: "daiminkan",
    ActionKind.ANKAN: "ankan",
    ActionKind.KAKAN: "kakan",
    ActionKind.TSUMO: "hora",
    ActionKind.RON: "hora",
    ActionKind.NINE_TERMINALS: "ryukyoku",
}

_MEANT: Final = {word: kind for kind, word in reversed(_WORDS.items())} | {"none": ActionKind.PASS}
"""Action for each word; ``hora`` is a tsumo or a ron."""
_FACES: Final = frozenset(mjai_text(tile) for tile in range(TILES))

_SHOWN: Final = 120
"""Characters of a wrong answer shown in its error."""


def seen_by(event: GameEvent, player: int) -> Message | None:
    """An event as sent to a player: hidden tiles are ``"?"``, ``start_game`` has the player's ``id``.

    Returns:
        None for an event that mjai cannot express.
    """
    return render(masked(event, player))


class SeatFeed:
    """Messages of a game for one seat, each event once, with what the seat may do.

    ``possible_actions`` are those besides a discard and a pass: at the seat's own draw, and at others'
    discards and added kans. ``cannot_dahai`` are the tiles in the hand that may not follow the seat's own
    call or riichi.

    Args:
        player: who sits there, absolute.

    Source: the first mjai server, and mjai.app.
    """

    def __init__(self, player: int) -> None:
        self._player = player
        self._told = 0
        self._state = new_round()

    def messages(self, events: Sequence[GameEvent]) -> list[Message]:
        """Events since the last call, as this seat sees them.

        Args:
            events: all events of the game so far, as in `game.table.table.Table.events`.
        """
        new = events[self._told :]
        self._told = len(events)
        return [message for event in new if (message := self._message(event))]

    def _message(self, event: GameEvent) -> Message | None:
        message, player = seen_by(event, self._player), self._player
        if isinstance(event, StartGame | EndRound | EndGame) or message is None:
            return message
        apply(self._state, masked(event, player))
        own = not isinstance(event, StartRound | DoraRevealed | DrawnRound) and event.player == player
        if own and isinstance(event, Chi | Pon | Riichi):
            message["cannot_dahai"] = self._barred()
        elif isinstance(event, Draw) if own else isinstance(event, Discard | Kakan):
            message["possible_actions"] = [
                write_action(action, self._state, player)
                for action in legal_actions(self._state, player)
                if action.kind not in (ActionKind.DISCARD, ActionKind.PASS)
            ]
        return message

    def _barred(self) -> list[str]:
        """The faces in the hand that may not be discarded."""
        allowed = {mjai_text(action.tile) for action in legal_actions(self._state, self._player)}
        hand = dict.fromkeys(mjai_text(tile) for tile in hand_tiles(self._state, self._player))
        return [face for face in hand if face not in allowed]


# --- writing answers --------------------------------------------------------------------------------------


def write_action(action: Action, record: np.void, player: int) -> Message:
    """Write a choice as the answer an arena expects.

    Args:
        action: one of the player's legal actions.
        record: the round in which the player is asked, with the player's hand known.
        player: the choosing player, absolute.
    """
    if action.kind is ActionKind.PASS:
        return dict(NONE)
    return {"type": _WORDS[action.kind], "actor": player, **_details(action, record, player)}


def _details(action: Action, record: np.void, player: int) -> Message:
    """The fields of an action besides its name."""
    pai = {"pai": mjai_text(action.tile)}
    consumed = {"consumed": [mjai_text(tile) for tile in action.consumed]}
    source = {"target": int(record["last_player"])}
    match action.kind:
        case ActionKind.DISCARD:
            return {**pai, "tsumogiri": action.tile == int(record["drawn"])}
        case ActionKind.CHI | ActionKind.PON | ActionKind.DAIMINKAN:
            return {**source, **pai, **consumed}
        case ActionKind.ANKAN:
            return consumed
        case ActionKind.KAKAN:
            return {**pai, **consumed}
        case ActionKind.TSUMO:
            return {"target": player, **pai}
        case ActionKind.RON:
            return {**source, **pai}
        case ActionKind.NINE_TERMINALS:
            return {"reason": "kyushukyuhai"}
        case _:
            return {}


# --- reading answers --------------------------------------------------------------------------------------


def read_action(message: object, legal: Sequence[Action], record: np.void, player: int) -> Action:
    """Find the action that an engine's answer means.

    Missing parts of an answer are taken from the legal actions if only one of them fits; keys specific to the
    engine are ignored.

    Args:
        message: the answer, one JSON value.
        legal: the player's legal actions.
        record: the round in which the player is asked, with the player's hand known.
        player: the answering player, absolute.

    Returns:
        One of ``legal``; or, for a tile that was just drawn and has a twin in the hand, but is to be
        discarded from the hand, the discard of that twin, which `game.table.table.Table.step` accepts as
        well.

    Raises:
        IllegalActionError: it is not mjai, matches none of the legal actions, or is ambiguous.
    """
    if not isinstance(message, Mapping):
        raise IllegalActionError(
            f"player {player} answered {_excerpt(message)}, which is not an mjai message"
        )
    meant = [action for action in legal if _fits(message, write_action(action, record, player))]
    twins = [Action(ActionKind.DISCARD, twin) for twin in twins_of_drawn(record, player, legal)[:1]]
    meant = meant or [twin for twin in twins if _fits(message, write_action(twin, record, player))]
    if len(meant) == 1:
        return meant[0]
    if meant:
        several = ", ".join(map(str, meant))
        raise IllegalActionError(
            f"player {player} answered {_excerpt(message)}, which may mean any of: {several}"
        )
    allowed = ", ".join(map(str, legal)) or "nothing"
    why = _why_not(message, record, player)
    because = f": {why}" if why else ""
    raise IllegalActionError(f"player {player} answered {_excerpt(message)}{because}; it may only: {allowed}")


def _why_not(answer: Mapping[Any, Any], record: np.void, player: int) -> str:
    """Why an answer matches none of the legal actions; "" if that is obvious."""
    word = answer.get("type")
    kind = _MEANT.get(word) if isinstance(word, str) else None
    if kind is None:
        return ""
    actor, pai, consumed = answer.get("actor", player), answer.get("pai"), answer.get("consumed")
    if actor != player:
        return f"it plays for player {player}"
    if kind is ActionKind.TSUMO and int(record["turn"]) != player:
        kind = ActionKind.RON
    tile = _tiles([pai], record, player)[0] if _is_face(pai) else -1
    if kind is ActionKind.DISCARD and tile < 0:
        return "it names no tile"
    if kind in CALLS and pai == mjai_text(int(record["last_tile"])):
        tile = -1
    faces = consumed if isinstance(consumed, list) and all(map(_is_face, consumed)) else []
    from_hand = () if kind is ActionKind.KAKAN else _tiles(faces, record, player)
    why = why_not(record, player, Action(kind, tile, from_hand))
    if not why and kind is ActionKind.DISCARD and tile != int(record["drawn"]):
        return f"{pai} is not the tile just drawn"
    return why


def _is_face(tile: object) -> TypeGuard[str]:
    return isinstance(tile, str) and tile in _FACES


def _tiles(faces: Sequence[str], record: np.void, player: int) -> tuple[int, ...]:
    """Tiles of these faces, from the hand if it has them; -1 for a fifth of one face."""
    hand = hand_tiles(record, player)
    found: list[int] = []
    for face in faces:
        left = (tile for tile in (*hand, *range(TILES)) if mjai_text(tile) == face and tile not in found)
        found.append(next(left, -1))
    return tuple(found)


def _fits(answer: Mapping[Any, Any], written: Message) -> bool:
    """Whether an answer agrees with a message in every key it has."""
    if answer.get("type") != written["type"] or (written["type"] == "dahai" and "pai" not in answer):
        return False
    return all(
        _same_tiles(answer[key], value) if key == "consumed" else answer[key] == value
        for key, value in written.items()
        if key in answer and key != "reason"
    )


def _same_tiles(answered: object, written: list[str]) -> bool:
    return isinstance(answered, list) and sorted(map(str, answered)) == sorted(written)


def _excerpt(message: object) -> str:
    try:
        text = json.dumps(message, ensure_ascii=True, default=str)
    except (ValueError, RecursionError):
        text = f"a {type(message).__name__}"
    return text[:_SHOWN]
