"""The meaning of a client's frame in the current state of the table: a legal action, or an error."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from bot.tenhou.messages import ClientMessage, DeclareRiichi, DiscardTile, Respond, ResponseType
from game.actions import PASS, Action, ActionKind
from game.tiles import face_of
from kit.errors import RemoteProtocolError

_BY_KIND: Final = {
    ResponseType.DAIMINKAN: ActionKind.DAIMINKAN,
    ResponseType.RON: ActionKind.RON,
    ResponseType.TSUMO: ActionKind.TSUMO,
    ResponseType.NINE_TERMINALS: ActionKind.NINE_TERMINALS,
}
_CALLS: Final = {ResponseType.PON: ActionKind.PON, ResponseType.CHI: ActionKind.CHI}


def action_of(message: ClientMessage, legal: Sequence[Action], twins: Collection[int] = ()) -> Action:
    """The legal action that a frame requests.

    Another copy of the same face counts as the tile listed: the legal set has every face once.

    Args:
        message: the frame.
        legal: the seat's legal actions.
        twins: other copies of the drawn tile that may be discarded instead of it.

    Raises:
        RemoteProtocolError: the requested action is not legal now.
    """
    match message:
        case DiscardTile(tile=tile):
            if tile in twins:
                return Action(ActionKind.DISCARD, tile)
            found = _find(legal, lambda a: a.kind is ActionKind.DISCARD and a.tile == tile) or _find(
                legal, lambda a: a.kind is ActionKind.DISCARD and face_of(a.tile) == face_of(tile)
            )
            asked = f"discard {tile}"
        case DeclareRiichi():
            found = _find(legal, lambda a: a.kind is ActionKind.RIICHI)
            asked = "riichi"
        case Respond(choice=choice, tiles=tiles):
            found = _response(choice, tiles, legal)
            asked = f"N type {int(choice)} {list(tiles)}"
        case _:
            found, asked = None, type(message).__name__
    if found is None:
        raise RemoteProtocolError(
            f"{asked} is not legal; legal: {', '.join(map(str, legal)) or 'nothing'}"[:300]
        )
    return found


def default_action(legal: Sequence[Action], drawn: int) -> Action:
    """The action for a player who does not answer: pass, or discard the drawn or else the right-most tile.

    Args:
        legal: the player's legal actions.
        drawn: the drawn tile, -1 for none.
    """
    if PASS in legal:
        return PASS
    discards = [action for action in legal if action.kind is ActionKind.DISCARD]
    return next((action for action in discards if action.tile == drawn), discards[-1])


def _find(legal: Sequence[Action], wanted: Callable[[Action], bool]) -> Action | None:
    return next((action for action in legal if wanted(action)), None)


def _response(choice: ResponseType, tiles: tuple[int, ...], legal: Sequence[Action]) -> Action | None:
    if choice is ResponseType.PASS:
        return PASS if PASS in legal else None
    if choice in _BY_KIND:
        return _find(legal, lambda a: a.kind is _BY_KIND[choice])
    if choice in _CALLS:
        faces = _faces(tiles)
        return _find(legal, lambda a: a.kind is _CALLS[choice] and _faces(a.consumed) == faces)
    if choice is ResponseType.ANKAN:
        return _find(legal, lambda a: a.kind is ActionKind.ANKAN and a.consumed[0] >> 2 == tiles[0] >> 2)
    if choice is ResponseType.KAKAN:
        return _find(legal, lambda a: a.kind is ActionKind.KAKAN and a.tile >> 2 == tiles[0] >> 2)
    return None


def _faces(tiles: Sequence[int]) -> list[int]:
    return sorted(map(face_of, tiles))
