"""Reads mjai messages into events, one by one, and finds physical tiles for their faces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from game.events import (
    Ankan,
    Chi,
    Daiminkan,
    Discard,
    DoraRevealed,
    Draw,
    DrawnRound,
    EndGame,
    EndRound,
    Four,
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
from game.layout import AT_HAND, AT_MELD, AT_UNSEEN, PHASE_IDLE
from game.packing import DRAW_REASONS
from game.scoring.settlement import RIICHI_STICK, START_SCORE
from game.state import apply, clone, new_round
from game.table.endings import draw_reason, shown_at_draw, with_value
from game.tiles import TILES, UNSEEN, face_of, mjai_text
from kit.errors import ReplayFormatError, StateMismatchError
from replays.copies import copies_of, free_copy
from replays.record import four

WINDS: Final = "ESWN"

SILENT: Final = ("none", "hello", "error")
"""Types of messages that carry no information about the table."""

_COPIES: Final = {mjai_text(tile): copies_of(face_of(tile)) for tile in range(TILES)}
_CALLS: Final = {"chi": Chi, "pon": Pon, "daiminkan": Daiminkan}


class _UnfitError(Exception):
    """A message is not valid; the text gives the reason."""


class _PhysicalTiles:
    """Finds the physical tiles of a message's faces in the round so far."""

    def __init__(self) -> None:
        self.state = new_round()

    def of(self, message: Mapping[str, Any], texts: list[str], places: list[int]) -> list[int]:
        """Physical tiles of a message's faces: the stated ones, or else free copies at these places."""
        stated = message.get("tiles136")
        if stated is not None:
            if len(stated) != len(texts) or not all(isinstance(tile, int) for tile in stated):
                raise _UnfitError("tiles136 does not fit the faces")
            # a hidden face hides the tile, too: others' hands may have been masked since
            tiles = [UNSEEN if text == "?" else tile for tile, text in zip(stated, texts, strict=True)]
            if [mjai_text(tile) for tile in tiles] != texts:
                raise _UnfitError("tiles136 does not fit the faces")
            return tiles
        taken: list[int] = []
        for text, place in zip(texts, places, strict=True):
            taken.append(UNSEEN if text == "?" else self.copy(text, place, taken))
        return taken

    def copy(self, text: str, place: int, taken: list[int]) -> int:
        """A free copy of a face at a place."""
        copies = _COPIES.get(text)
        if copies is None:
            raise _UnfitError(f"not a tile: {str(text)[:20]!r}")
        tile = free_copy(self.state, copies, place, taken)
        if tile is None:
            red = "; one five of each suit is red, as 5mr" if text[0] == "5" else ""
            raise _UnfitError(f"no {text} is left there{red}")
        return tile

    @staticmethod
    def check(text: Any, tile: int) -> None:
        """Refuse a face of another kind than the physical tile it stands for."""
        if text not in _COPIES or _COPIES[text][0] >> 2 != tile >> 2:
            raise _UnfitError(f"it says {str(text)[:20]!r}, but the tile is {mjai_text(tile)}")

    def hand(self, player: int) -> int:
        """Where the tiles of a player's hand are, as far as known."""
        return AT_HAND + player if self.state["hand_known"][player] else AT_UNSEEN

    def winning_hand(self, player: int, tile: int) -> tuple[int, ...]:
        """A hand with its winning tile; empty if the hand is not known."""
        tiles = {int(t) for t in np.flatnonzero(self.state["where"] == AT_HAND + player)}
        return tuple(sorted(tiles | {tile})) if self.state["hand_known"][player] else ()

    def ura_indicators(self, message: Mapping[str, Any]) -> tuple[int, ...]:
        """The indicators under those shown."""
        if "ura136" in message:
            return tuple(int(tile) for tile in message["ura136"])
        taken: list[int] = []
        for text in message.get("ura_markers", message.get("uradora_markers", ())):
            taken.append(self.copy(text, AT_UNSEEN, taken))
        return tuple(taken)


class MjaiReader:
    """Reads mjai messages one by one, and tracks the round so that faces can become physical tiles."""

    def __init__(self) -> None:
        self._tiles = _PhysicalTiles()
        self._before_wins: np.void | None = None
        """The round before the first win on a tile."""

    @property
    def state(self) -> np.void:
        """The round as described so far; owned by the reader, read-only for others."""
        return self._tiles.state

    @staticmethod
    def knows(message: Mapping[str, Any]) -> bool:
        """Whether `read` accepts a message of this type."""
        kind = message.get("type")
        return isinstance(kind, str) and (kind in SILENT or kind in _READERS)

    def read(self, message: Mapping[str, Any]) -> list[GameEvent]:
        """The events of a message; none for one without information about the table.

        Raises:
            ReplayFormatError: it is not an mjai message, or does not fit those before it.
        """
        kind: Any = message.get("type")
        if not self.knows(message):
            raise ReplayFormatError(f"unknown message type {str(kind)[:40]!r}")
        if kind in SILENT:
            return []
        reader = _READERS[kind]
        try:
            event = reader(self, message)
            apply(self.state, event)
        except (_UnfitError, StateMismatchError) as exc:
            raise ReplayFormatError(f"{kind}: {exc}") from None
        except KeyError as exc:
            raise ReplayFormatError(f"{kind}: {str(exc.args[0])[:40]} is missing") from None
        except (IndexError, TypeError, ValueError, OverflowError):
            raise ReplayFormatError(f"{kind}: a value has a type or range that mjai does not allow") from None
        return [event]

    # --- messages ---

    def start_game(self, m: Mapping[str, Any]) -> GameEvent:
        """Begin a game; the previous round is discarded."""
        names = [str(name)[:64] for name in (*m.get("names", ()), "", "", "", "")]
        self._tiles.state = new_round()
        return StartGame((names[0], names[1], names[2], names[3]), _player(m.get("id", -1), least=-1))

    def start_round(self, m: Mapping[str, Any]) -> GameEvent:
        """Deal; scores that are not stated are carried over, 25,000 each at the start."""
        self.state["where"][:] = AT_UNSEEN
        hands = m["tehais"]
        if len(hands) != 4:
            raise _UnfitError("there must be four hands")
        texts = [m["dora_marker"], *(text for hand in hands for text in hand)]
        tiles = self._tiles.of(m, texts, [AT_UNSEEN] * len(texts))
        dealt = [tuple(tiles[1 + 13 * p : 14 + 13 * p]) for p in range(4)]
        self._before_wins = None
        scores = self.state["scores"].tolist() if self.state["phase"] != PHASE_IDLE else (START_SCORE,) * 4
        return StartRound(
            round_index=4 * [*WINDS].index(m["bakaze"]) + _number(m["kyoku"], 1, 4) - 1,
            honba=_number(m["honba"]),
            riichi_sticks=_number(m["kyotaku"]),
            dealer=_player(m["oya"]),
            scores=_four(m.get("scores", scores)),
            dora_indicator=tiles[0],
            hands=(dealt[0], dealt[1], dealt[2], dealt[3]),
        )

    def draw(self, m: Mapping[str, Any]) -> GameEvent:
        """Take a tile."""
        return Draw(_player(m["actor"]), self._tiles.of(m, [m["pai"]], [AT_UNSEEN])[0])

    def discard(self, m: Mapping[str, Any]) -> GameEvent:
        """Discard a tile."""
        player, tsumogiri = _player(m["actor"]), bool(m["tsumogiri"])
        drawn = int(self.state["drawn"])
        if "tiles136" not in m and drawn != UNSEEN and self.state["hand_known"][player]:
            return Discard(player, self._discarded_tile(m["pai"], player, drawn, tsumogiri), tsumogiri)
        return Discard(player, self._tiles.of(m, [m["pai"]], [self._tiles.hand(player)])[0], tsumogiri)

    def _discarded_tile(self, text: str, player: int, drawn: int, tsumogiri: bool) -> int:
        if tsumogiri:
            self._tiles.check(text, drawn)
            return drawn
        return self._tiles.copy(text, self._tiles.hand(player), [drawn])

    def call(self, m: Mapping[str, Any]) -> GameEvent:
        """Call chi, pon or open kan."""
        player, source = _player(m["actor"]), _player(m["target"])
        last = int(self.state["last_tile"])
        texts = [m["pai"], *m["consumed"]]
        if "tiles136" in m:
            tile, *own = self._tiles.of(m, texts, [])
        else:
            tile = last
            self._tiles.check(m["pai"], tile)
            own = self._tiles.of(m, texts[1:], [self._tiles.hand(player)] * len(texts[1:]))
        event: GameEvent = _CALLS[m["type"]](player, source, tile, tuple(own))
        return event

    def ankan(self, m: Mapping[str, Any]) -> GameEvent:
        """Call a closed kan."""
        player = _player(m["actor"])
        return Ankan(player, four(self._tiles.of(m, m["consumed"], [self._tiles.hand(player)] * 4)))

    def kakan(self, m: Mapping[str, Any]) -> GameEvent:
        """Add to a pon."""
        player = _player(m["actor"])
        places = [self._tiles.hand(player), *[AT_MELD + player] * 3]
        tile, a, b, c = self._tiles.of(m, [m["pai"], *m["consumed"]], places)
        return Kakan(player, tile, (a, b, c))

    def win(self, m: Mapping[str, Any]) -> GameEvent:
        """Win."""
        player, source = _player(m["actor"]), _player(m["target"])
        last = int(self.state["drawn"] if player == source else self.state["last_tile"])
        stated = [int(tile) for tile in m.get("tiles136", ())]
        if last == UNSEEN and not stated:
            last = self._tiles.copy(m["pai"], AT_UNSEEN, [])  # drawn unseen, and shown now
        elif "pai" in m:
            self._tiles.check(m["pai"], stated[0] if stated else last)
        deltas = self._deltas(m)
        if self._before_wins is None:
            self._before_wins = clone(self.state)
        win = Win(
            player=player,
            from_player=source,
            tile=stated[0] if stated else last,
            hand=tuple(stated[1:]) if stated else self._tiles.winning_hand(player, last),
            fu=int(m.get("fu", 0)),
            points=int(m.get("points", 0)),
            limit=int(m.get("limit", 0)),
            yaku=tuple((int(yaku), int(han)) for yaku, han in m.get("yaku", ())),
            yakuman=tuple(int(yaku) for yaku in m.get("yakuman", ())),
            ura_indicators=self._tiles.ura_indicators(m),
            liable=_player(m.get("liable", -1), least=-1),
            deltas=deltas,
            honba=int(m.get("honba", self.state["honba"])),
            riichi_sticks=int(m.get("kyotaku", max(sum(deltas), 0) // RIICHI_STICK)),
            value=m.get("value", "stated"),
        )
        return win if "points" in m else with_value(self._before_wins, win)

    def _deltas(self, m: Mapping[str, Any]) -> Four:
        """The score changes of a result, as stated or from the scores after it."""
        if "deltas" in m or "scores" not in m:
            return _four(m["deltas"])
        after = zip(_four(m["scores"]), self.state["scores"].tolist(), strict=True)
        return _four([score - before for score, before in after])

    def drawn_round(self, m: Mapping[str, Any]) -> GameEvent:
        """End a round without a win."""
        deltas = self._deltas(m) if m.keys() & {"deltas", "scores"} else (0, 0, 0, 0)
        reason = m.get("reason")
        if reason not in DRAW_REASONS or reason == "unknown":
            reason = draw_reason(self.state, deltas)
        if "tehais136" not in m:
            return shown_at_draw(self.state, reason, deltas)
        hands = (None if hand is None else tuple(map(int, hand)) for hand in m["tehais136"])
        return DrawnRound(reason, deltas, four(hands))

    def end_game(self, m: Mapping[str, Any]) -> GameEvent:
        """End the game."""
        scores = _four(m.get("scores", self.state["scores"].tolist()))
        return EndGame(scores, _four(m.get("results_tenths", (0, 0, 0, 0))))


def _player(value: Any, least: int = 0) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= 3:
        raise _UnfitError(f"not a player: {str(value)[:20]!r}")
    return value


def _number(value: Any, least: int = 0, most: int = 999) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise _UnfitError(f"not a number from {least} to {most}: {str(value)[:20]!r}")
    return value


def _four(values: Any) -> Four:
    return four(int(value) for value in values)


_READERS: Final[dict[str, Callable[[MjaiReader, Mapping[str, Any]], GameEvent]]] = {
    "start_game": MjaiReader.start_game,
    "start_kyoku": MjaiReader.start_round,
    "tsumo": MjaiReader.draw,
    "dahai": MjaiReader.discard,
    "chi": MjaiReader.call,
    "pon": MjaiReader.call,
    "daiminkan": MjaiReader.call,
    "ankan": MjaiReader.ankan,
    "kakan": MjaiReader.kakan,
    "dora": lambda r, m: DoraRevealed(r._tiles.of(m, [m["dora_marker"]], [AT_UNSEEN])[0]),
    "reach": lambda _, m: Riichi(_player(m["actor"])),
    "reach_accepted": lambda _, m: RiichiAccepted(_player(m["actor"])),
    "hora": MjaiReader.win,
    "ryukyoku": MjaiReader.drawn_round,
    "end_kyoku": lambda _r, _m: EndRound(),
    "end_game": MjaiReader.end_game,
    "suzaku_left": lambda _, m: PlayerLeft(_player(m["actor"])),
    "suzaku_returned": lambda _, m: PlayerReturned(_player(m["actor"])),
}
