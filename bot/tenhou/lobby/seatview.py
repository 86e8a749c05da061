"""The frames sent to one seat, made from events and the table's record, and the meaning of its replies.

Players are absolute in events and relative in frames: seat 0 is the viewer, seat 1 the next to play.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final, TypeVar

import numpy as np

from bot.tenhou.messages import (
    OFFERS,
    ClientMessage,
    DeclareRiichi,
    DiscardTile,
    FinalScores,
    IndicatorShown,
    MeldMade,
    OwnResult,
    Respond,
    ResponseType,
    RiichiStep,
    RoundDealt,
    RoundDrawn,
    RoundSnapshot,
    RoundWon,
    ScoresResumed,
    ServerMessage,
    TileDiscarded,
    TileDrawn,
)
from game.actions import PASS, Action, ActionKind
from game.events import (
    Ankan,
    Chi,
    Daiminkan,
    Discard,
    DoraRevealed,
    Draw,
    DrawnRound,
    EndGame,
    GameEvent,
    Kakan,
    Pon,
    Riichi,
    RiichiAccepted,
    StartRound,
    Win,
    four,
)
from game.layout import RIVER_CALLED, RIVER_RIICHI
from game.melds import MeldKind, encode_meld
from game.scoring.settlement import RIICHI_STICK, placements
from game.state import hand_tiles, melds_of, river_of
from game.tiles import UNSEEN, face_of
from kit.errors import RemoteProtocolError
from replays.mjlog.writer import meld_of, tenths_text

T = TypeVar("T")

_BY_KIND: Final = {
    ResponseType.DAIMINKAN: ActionKind.DAIMINKAN,
    ResponseType.RON: ActionKind.RON,
    ResponseType.TSUMO: ActionKind.TSUMO,
    ResponseType.NINE_TERMINALS: ActionKind.NINE_TERMINALS,
}
_CALLS: Final = {ResponseType.PON: ActionKind.PON, ResponseType.CHI: ActionKind.CHI}


def rotated(values: Sequence[T], viewer: int) -> tuple[T, T, T, T]:
    """Values by player in the viewer's order, the viewer's own first.

    >>> rotated("ESWN", 3)
    ('N', 'E', 'S', 'W')
    """
    return four(values[(viewer + seat) % 4] for seat in range(4))


def offers_of(legal: Iterable[Action]) -> int:
    """The bits of ``t`` for the legal actions of a seat."""
    bits = 0
    for action in legal:
        bits |= OFFERS.get(action.kind, 0)
    return bits


def frame_of(
    event: GameEvent, before: np.void, viewer: int, *, offers: int = 0, final: EndGame | None = None
) -> ServerMessage | None:
    """The frame that reports an event to a viewer, None for events that have no frame.

    Args:
        event: with all tiles known.
        before: the round before it.
        viewer: the recipient, absolute.
        offers: bits of the viewer's legal responses.
        final: the end of the game, if this result ends it.
    """

    def seat(player: int) -> int:
        return (player - viewer) % 4

    match event:
        case Draw(player=player, tile=tile):
            own = player == viewer
            return TileDrawn(seat(player), tile if own else UNSEEN, offers if own else 0)
        case Discard(player=player, tile=tile, tsumogiri=tsumogiri):
            own = player == viewer
            return TileDiscarded(seat(player), tile, tsumogiri and not own, 0 if own else offers)
        case Chi() | Pon() | Daiminkan() | Ankan():
            return MeldMade(seat(event.player), encode_meld(meld_of(event)))
        case Kakan(player=player):
            return MeldMade(seat(player), _kakan_code(event, before), 0 if player == viewer else offers)
        case DoraRevealed(indicator=indicator):
            return IndicatorShown(indicator)
        case Riichi(player=player):
            return RiichiStep(seat(player), 1)
        case RiichiAccepted(player=player):
            scores = before["scores"].tolist()
            scores[player] -= RIICHI_STICK
            return RiichiStep(seat(player), 2, rotated(scores, viewer))
        case Win():
            return _won(event, before, viewer, final)
        case DrawnRound():
            return _drawn(event, before, viewer, final)
        case _:
            return None


def deal_for(event: StartRound, viewer: int, dice: tuple[int, int]) -> RoundDealt:
    """INIT for one seat."""
    return RoundDealt(
        round_index=event.round_index,
        honba=event.honba,
        riichi_sticks=event.riichi_sticks,
        dora_indicator=event.dora_indicator,
        scores=rotated(event.scores, viewer),
        dealer=(event.dealer - viewer) % 4,
        hand=event.hands[viewer],
        dice=dice,
    )


def snapshot_for(record: np.void, viewer: int, dice: tuple[int, int]) -> RoundSnapshot:
    """REINIT for one seat: the state of the round for a player who reconnects."""
    rivers = [_left_in_river(record, player) for player in range(4)]
    codes = [tuple(encode_meld(meld) for meld in reversed(melds_of(record, player))) for player in range(4)]
    return RoundSnapshot(
        round_index=int(record["round_index"]),
        honba=int(record["honba"]),
        riichi_sticks=int(record["riichi_sticks"]),
        indicators=indicators_of(record),
        scores=rotated(record["scores"].tolist(), viewer),
        dealer=(int(record["dealer"]) - viewer) % 4,
        hand=tuple(hand_tiles(record, viewer)),
        melds=rotated(codes, viewer),
        rivers=rotated([tiles for tiles, _ in rivers], viewer),
        riichi_at=rotated([riichi_at for _, riichi_at in rivers], viewer),
        dice=dice,
    )


def scores_for(record: np.void, viewer: int) -> ScoresResumed:
    """SAIKAI for one seat."""
    return ScoresResumed(
        honba=int(record["honba"]),
        riichi_sticks=int(record["riichi_sticks"]),
        dealer=(int(record["dealer"]) - viewer) % 4,
        scores=rotated(record["scores"].tolist(), viewer),
    )


def standing_of(player: int, events: Iterable[GameEvent], final: EndGame, lobby: str, kind: int) -> OwnResult:
    """PROF: result, place, bust, and numbers of rounds, wins, deal-ins, open hands and riichi hands."""
    rounds = wins = deal_ins = called = riichi = 0
    called_in = -1
    for event in events:
        match event:
            case StartRound():
                rounds += 1
            case Win():
                wins += event.player == player
                deal_ins += event.from_player == player and event.player != player
            case Chi() | Pon() | Daiminkan() if event.player == player and called_in != rounds:
                called, called_in = called + 1, rounds
            case RiichiAccepted():
                riichi += event.player == player
            case _:
                pass
    assert final.results is not None
    place = placements(final.scores)[player]
    places = [int(place == nth) for nth in (1, 2, 3, 4)]
    figures = (*places, int(final.scores[player] < 0), rounds, wins, deal_ins, called, riichi)
    return OwnResult(
        lobby=lobby,
        game_type=kind,
        figures=",".join((tenths_text(final.results[player]), *map(str, figures))),
    )


def indicators_of(record: np.void) -> tuple[int, ...]:
    """The dora indicators shown so far."""
    return tuple(int(tile) for tile in record["indicators"][: record["indicator_count"]])


def _left_in_river(record: np.void, player: int) -> tuple[tuple[int, ...], int]:
    """A river without the called tiles, and the index of the riichi discard in it (-1 for none)."""
    tiles: list[int] = []
    riichi_at = -1
    for tile, marks in zip(river_of(record, player), record["river_marks"][player], strict=False):
        if marks & RIVER_RIICHI:
            riichi_at = len(tiles)
        if not marks & RIVER_CALLED:
            tiles.append(tile)
    return tuple(tiles), riichi_at


def _kakan_code(event: Kakan, before: np.void) -> int:
    pon = next(
        meld
        for meld in melds_of(before, event.player)
        if meld.kind is MeldKind.PON and meld.tiles[0] >> 2 == event.tile >> 2
    )
    return encode_meld(meld_of(event, pon))


def _final_for(final: EndGame | None, viewer: int) -> FinalScores | None:
    if final is None:
        return None
    assert final.results is not None
    return FinalScores(rotated(final.scores, viewer), rotated(final.results, viewer))


def _won(event: Win, before: np.void, viewer: int, final: EndGame | None) -> RoundWon:
    return RoundWon(
        seat=(event.player - viewer) % 4,
        from_seat=(event.from_player - viewer) % 4,
        tile=event.tile,
        hand=event.hand,
        melds=tuple(encode_meld(meld) for meld in reversed(melds_of(before, event.player))),
        fu=event.fu,
        points=event.points,
        limit=event.limit,
        yaku=event.yaku,
        yakuman=event.yakuman,
        indicators=indicators_of(before),
        ura_indicators=event.ura_indicators,
        honba=event.honba,
        riichi_sticks=event.riichi_sticks,
        scores=rotated(before["scores"].tolist(), viewer),
        deltas=rotated(event.deltas, viewer),
        liable=(event.liable - viewer) % 4 if event.liable >= 0 else -1,
        final=_final_for(final, viewer),
    )


def _drawn(event: DrawnRound, before: np.void, viewer: int, final: EndGame | None) -> RoundDrawn:
    return RoundDrawn(
        reason=event.reason,
        honba=int(before["honba"]),
        riichi_sticks=int(before["riichi_sticks"]),
        scores=rotated(before["scores"].tolist(), viewer),
        deltas=rotated(event.deltas, viewer),
        hands=rotated(event.hands, viewer),
        final=_final_for(final, viewer),
    )


# --- replies ------------------------------------------------------------------------------------------


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
