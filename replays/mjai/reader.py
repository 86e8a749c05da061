"""Reads mjai messages into events, one by one, and finds physical tiles for their faces."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, get_args

import msgspec
import numpy as np

from game.events import (
    Ankan,
    Chi,
    Daiminkan,
    Discard,
    DoraRevealed,
    Draw,
    DrawReason,
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
    ValueSource,
    Win,
    four,
)
from game.layout import AT_HAND, AT_MELD, AT_UNSEEN, PHASE_CLAIM, PHASE_ENDED, PHASE_IDLE, PHASE_TURN
from game.packing import DRAW_REASONS
from game.scoring.settlement import RIICHI_STICK, START_SCORE, final_scores
from game.scoring.value import LIMIT_YAKUMAN
from game.state import apply, clone, free_copy, new_round
from game.table.endings import completed, payments_until, shown_at_draw
from game.tiles import TILES, UNSEEN, copies_by, mjai_text
from kit.errors import ReplayFormatError, StateMismatchError
from replays.record import MAX_POINTS, THREE_PLAYERS, check_dealer, end_of_game, in_words, is_said

WINDS: Final = "ESWN"

SILENT: Final = ("none", "hello", "error")
"""Types of messages that carry no information about the table."""

_COPIES: Final = copies_by(mjai_text)
_CALLS: Final = {"chi": Chi, "pon": Pon, "daiminkan": Daiminkan}


_NORTHS: Final = ("kita", "nukidora")
"""Norths set aside in games of three."""
_NO_HAND: Final[tuple[Any, ...]] = ([None], [[]], [[None] * 13], [[""] * 13])
"""What there is for a fourth player in games of three."""
_TENHOU: Final = re.compile("0[mps]|[1-7]z")


class _PhysicalTiles:
    """Finds the physical tiles of a message's faces in the round so far."""

    def __init__(self) -> None:
        self.state = new_round()

    def of(self, message: Mapping[str, Any], texts: list[str], places: list[int]) -> list[int]:
        """Physical tiles of a message's faces: the stated ones, or else free copies at these places."""
        stated = message.get("tiles136")
        if stated is not None:
            if len(stated) != len(texts) or not all(isinstance(tile, int) for tile in stated):
                raise ReplayFormatError("tiles136 does not fit the faces")
            # a hidden face hides the tile, too: others' hands may have been masked since
            tiles = [UNSEEN if text == "?" else tile for tile, text in zip(stated, texts, strict=True)]
            if [mjai_text(tile) for tile in tiles] != texts:
                raise ReplayFormatError("tiles136 does not fit the faces")
            return tiles
        taken: list[int] = []
        for text, place in zip(texts, places, strict=True):
            taken.append(UNSEEN if text == "?" else self.copy(text, place, taken))
        return taken

    def copy(self, text: str, place: int, taken: list[int]) -> int:
        """A free copy of a face at a place."""
        copies = _COPIES.get(text)
        if copies is None:
            hint = (
                "; mjai writes 5mr for a red five, and E S W N P F C for honours"
                if _TENHOU.fullmatch(str(text))
                else ""
            )
            raise ReplayFormatError(f"not a tile: {str(text)[:20]!r}{hint}")
        tile = free_copy(self.state, copies, place, taken)
        if tile is None:
            red = "; one five of each suit is red, as 5mr; other numbers are not supported"
            raise ReplayFormatError(f"no {text} is left there{red if text[0] == '5' else ''}")
        return tile

    @staticmethod
    def check(text: Any, tile: int) -> None:
        """Refuse a face of another kind than the physical tile it stands for."""
        if text not in _COPIES or _COPIES[text][0] >> 2 != tile >> 2:
            raise ReplayFormatError(f"it says {str(text)[:20]!r}, but the tile is {mjai_text(tile)}")

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
            return _tiles(message["ura136"], 5)
        taken: list[int] = []
        for text in message.get("ura_markers", message.get("uradora_markers", ())):
            if text not in (None, "?"):
                taken.append(self.copy(text, AT_UNSEEN, taken))
        return tuple(taken)


class MjaiReader:
    """Reads mjai messages one by one, and tracks the round so that faces can become physical tiles."""

    def __init__(self) -> None:
        self._tiles = _PhysicalTiles()
        self._before_wins: np.void | None = None
        """The round before the first win on a tile."""
        self._payments_known = True
        """Whether the scores so far are known."""

    @property
    def state(self) -> np.void:
        """The round as described so far; owned by the reader, read-only for others."""
        return self._tiles.state

    @staticmethod
    def knows(message: Mapping[str, Any]) -> bool:
        """Whether `read` accepts a message of this type."""
        kind = message.get("type")
        return isinstance(kind, str) and (kind in SILENT or kind in _NORTHS or kind in _READERS)

    def read(self, message: Mapping[str, Any]) -> list[GameEvent]:
        """The events of a message; none for one without information about the table.

        Raises:
            ReplayFormatError: it is not an mjai message, or does not fit those before it.
        """
        kind: Any = message.get("type")
        if _is_for_three(message):
            raise ReplayFormatError(THREE_PLAYERS)
        if not self.knows(message):
            raise ReplayFormatError(f"unknown message type {str(kind)[:40]!r}")
        if kind in SILENT:
            return []
        said = {key: value for key, value in message.items() if value is not None}
        paid = self._implied_stick(said)
        try:
            for stick in paid:
                apply(self.state, stick)
            event = _READERS[kind](self, said)
            if event is None:
                return paid
            apply(self.state, event)
        except (StateMismatchError, ReplayFormatError) as exc:
            raise ReplayFormatError(f"{kind}: {in_words(exc)}") from None
        except KeyError as exc:
            raise ReplayFormatError(f"{kind}: {str(exc.args[0])[:40]} is missing") from None
        except (IndexError, TypeError, ValueError, OverflowError):
            raise ReplayFormatError(f"{kind}: a value has a type or range that mjai does not allow") from None
        return [*paid, event]

    def _implied_stick(self, m: Mapping[str, Any]) -> list[GameEvent]:
        """The payment of a riichi that no message states, though the game goes on after its discard."""
        discarder = int(self.state["last_player"])
        declared = self.state["phase"] == PHASE_CLAIM and self.state["riichi"][discarder] == 1
        goes_on = m["type"] in (*_CALLS, "tsumo", "ryukyoku") and m.get("reason") != "triple_ron"
        return [RiichiAccepted(discarder)] if declared and goes_on else []

    # --- messages ---

    def start_game(self, m: Mapping[str, Any]) -> GameEvent:
        """Begin a game; the previous round is discarded."""
        names = [str(name or "")[:64] for name in (*m.get("names", ()), "", "", "", "")]
        self._tiles.state = new_round()
        return StartGame(four(names[:4]), _player(m.get("id", -1), least=-1))

    def start_round(self, m: Mapping[str, Any]) -> GameEvent:
        """Deal; scores that are not stated are carried over, 25,000 each at the start."""
        self.state["where"][:] = AT_UNSEEN
        hands = m["tehais"]
        if len(hands) != 4:
            raise ReplayFormatError("there must be four hands")
        texts = [m["dora_marker"], *(text for hand in hands for text in hand)]
        tiles = self._tiles.of(m, texts, [AT_UNSEEN] * len(texts))
        left = 0 if self._before_wins is not None else int(self.state["riichi_sticks"])
        self._before_wins = None
        is_first = self.state["phase"] == PHASE_IDLE
        scores = _points(m, "scores")
        self._payments_known |= is_first or scores is not None
        kyoku, wind = _number(m["kyoku"], 1, 4), m["bakaze"]
        if wind not in [*WINDS]:
            raise ReplayFormatError(f"bakaze is none of E, S, W, N: {str(wind)[:20]!r}")
        index = 4 * WINDS.index(wind) + kyoku - 1
        dealer = check_dealer(index, _player(m.get("oya", kyoku - 1)))
        return StartRound(
            round_index=index,
            honba=_number(m["honba"]),
            riichi_sticks=_number(m.get("kyotaku", m.get("kyoutaku", left))),
            dealer=dealer,
            scores=scores or four([START_SCORE] * 4 if is_first else self.state["scores"].tolist()),
            dora_indicator=tiles[0],
            hands=four(tuple(tiles[1 + 13 * p : 14 + 13 * p]) for p in range(4)),
        )

    def draw(self, m: Mapping[str, Any]) -> GameEvent:
        """Take a tile."""
        return Draw(_player(m["actor"]), self._tiles.of(m, [m.get("pai", "?")], [AT_UNSEEN])[0])

    def discard(self, m: Mapping[str, Any]) -> GameEvent:
        """Discard a tile; one that can only be the tile just drawn is that one, whatever is said of it."""
        player, drawn = _player(m["actor"]), int(self.state["drawn"])
        tsumogiri = bool(m.get("tsumogiri"))
        text = m.get("pai", mjai_text(drawn)) if tsumogiri and drawn != UNSEEN else m["pai"]
        place = self._tiles.hand(player)
        if "tiles136" in m or drawn == UNSEEN or place == AT_UNSEEN:
            return Discard(player, self._tiles.of(m, [text], [place])[0], tsumogiri)
        if not tsumogiri and text == mjai_text(drawn):
            kept = free_copy(self.state, _COPIES[text], place, [drawn])
            tsumogiri = "tsumogiri" not in m or kept is None
        if tsumogiri:
            self._tiles.check(text, drawn)
            return Discard(player, drawn, True)
        return Discard(player, self._tiles.copy(text, place, [drawn]), False)

    def call(self, m: Mapping[str, Any]) -> GameEvent:
        """Call chi, pon or open kan."""
        player, source = _player(m["actor"]), _player(m.get("target", int(self.state["last_player"])))
        last = int(self.state["last_tile"])
        texts = [m.get("pai", mjai_text(last)), *m["consumed"]]
        if "tiles136" in m:
            tile, *own = self._tiles.of(m, texts, [])
        else:
            tile = last
            self._tiles.check(texts[0], tile)
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
        turn = "turn" if self.state["phase"] == PHASE_TURN else "last_player"
        player, source = _player(m["actor"]), _player(m.get("target", int(self.state[turn])))
        last = int(self.state["drawn"] if player == source else self.state["last_tile"])
        stated = [*_tiles(m.get("tiles136", ())[:1], 1), *_tiles(m.get("tiles136", ())[1:], 14)]
        if last == UNSEEN and not stated:
            last = self._tiles.copy(m["pai"], AT_UNSEEN, [])  # drawn unseen, and shown now
        elif "pai" in m:
            self._tiles.check(m["pai"], stated[0] if stated else last)
        honba, sticks = int(self.state["honba"]), int(self.state["riichi_sticks"])
        deltas = self._deltas(m, player, source)
        if self._before_wins is None:
            self._before_wins = clone(self.state)
        elif deltas is None:
            honba = sticks = 0  # only the first of several is paid them
        is_whole = {"fu", "points", "limit"} <= m.keys()  # else its value is computed as a whole
        stated_yaku, other = (m.get(key, ()) if is_whole else () for key in ("yaku", "other_yaku"))
        win = Win(
            player=player,
            from_player=source,
            tile=stated[0] if stated else last,
            hand=tuple(stated[1:]) if stated else self._tiles.winning_hand(player, last),
            fu=_number(m.get("fu", 0), most=200),
            points=_number(m.get("points", 0), most=MAX_POINTS),
            limit=_number(m.get("limit", 0), most=LIMIT_YAKUMAN),
            yaku=tuple((_number(yaku), _number(han)) for yaku, han in stated_yaku),
            yakuman=tuple(map(_number, m.get("yakuman", ()) if is_whole else ())),
            other_yaku=tuple((str(name)[:48], _number(han)) for name, han in other),
            ura_indicators=self._tiles.ura_indicators(m),
            liable=_player(m.get("liable", -1), least=-1),
            deltas=deltas or (0, 0, 0, 0),
            honba=_number(m.get("honba", honba)),
            riichi_sticks=_number(
                m.get("kyotaku", sticks if deltas is None else sum(deltas) // RIICHI_STICK)
            ),
            value=_value(m),
            payments_known=deltas is not None,
        )
        win = completed(self._before_wins, win)
        self._payments_known &= win.payments_known
        return win

    def _deltas(self, m: Mapping[str, Any], player: int = -1, source: int = -1) -> Four | None:
        """The score changes of a result, as stated or from the scores after it; None if neither is known."""
        stated = _points(m, "deltas")
        if stated is not None and (player < 0 or any(stated)):
            return stated
        return payments_until(self.state, _points(m, "scores"), player, source)

    def drawn_round(self, m: Mapping[str, Any]) -> GameEvent:
        """End a round without a win."""
        deltas = self._deltas(m)
        known: list[DrawReason] = [reason for reason in DRAW_REASONS if reason == m.get("reason")]
        reason = known[0] if known else "unknown"
        drawn = shown_at_draw(self.state, reason, deltas)
        self._payments_known &= drawn.payments_known
        if "tehais136" in m:
            hands = four(None if hand is None else _tiles(hand, 14) for hand in m["tehais136"])
            drawn = msgspec.structs.replace(drawn, hands=hands)
        return drawn

    def riichi_accepted(self, m: Mapping[str, Any]) -> GameEvent:
        """Pay the stick."""
        player = _player(m["actor"])
        if self.state["phase"] != PHASE_CLAIM:
            raise ReplayFormatError("it comes before the discard of the riichi, and must follow it")
        return RiichiAccepted(player)

    def end_round(self, _: Mapping[str, Any]) -> GameEvent | None:
        """End a round; one without a result is merely over."""
        return EndRound() if self.state["phase"] == PHASE_ENDED else None

    def end_game(self, m: Mapping[str, Any]) -> GameEvent | None:
        """End the game; scores and results that are not stated follow from the last round, if it is known."""
        scores, now = _points(m, "scores") or (0, 0, 0, 0), four(self.state["scores"].tolist())
        if not any(scores):
            if self.state["phase"] != PHASE_ENDED or not self._payments_known:
                return None
            scores = now
        if sum(scores) == sum(now):
            scores = final_scores(scores, int(self.state["riichi_sticks"]))
        return end_of_game(scores, _points(m, "results_tenths"))


def _is_for_three(m: Mapping[str, Any]) -> bool:
    names, scores, hands = (m.get(key) for key in ("names", "scores", "tehais"))
    three = any(isinstance(each, list) and len(each) == 3 for each in (names, scores, hands))
    no_fourth = isinstance(hands, list) and hands[3:] in _NO_HAND
    no_fourth |= scores == [35_000, 35_000, 35_000, 0]
    return three or no_fourth or m.get("num_players") == 3 or m.get("type") in _NORTHS


def _player(value: Any, least: int = 0) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= 3:
        raise ReplayFormatError(f"not a player: {str(value)[:20]!r}")
    return value


def _number(value: Any, least: int = 0, most: int = 99) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ReplayFormatError(f"not a number from {least} to {most}: {str(value)[:20]!r}")
    return value


def _points(m: Mapping[str, Any], key: str) -> Four | None:
    """Four numbers, None if they are not stated."""
    values = m.get(key)
    if not is_said(values):
        return None
    if not isinstance(values, list | tuple) or len(values) != 4:
        raise ReplayFormatError(f"{key} is not a list of four numbers")
    return four(_number(value, -MAX_POINTS, MAX_POINTS) for value in values)


def _tiles(values: Any, most: int) -> tuple[int, ...]:
    """Different physical tiles."""
    tiles = tuple(_number(tile, most=TILES - 1) for tile in values)
    if len(set(tiles)) != len(tiles) or len(tiles) > most:
        raise ReplayFormatError(f"more than {most} physical tiles, or one twice")
    return tiles


def _value(m: Mapping[str, Any]) -> ValueSource:
    value: ValueSource = m.get("value", "stated")
    if value not in get_args(ValueSource):
        raise ReplayFormatError(f"value is none of {', '.join(get_args(ValueSource))}: {str(value)[:20]!r}")
    return value


_READERS: Final[dict[str, Callable[[MjaiReader, Mapping[str, Any]], GameEvent | None]]] = {
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
    "reach_accepted": MjaiReader.riichi_accepted,
    "hora": MjaiReader.win,
    "ryukyoku": MjaiReader.drawn_round,
    "end_kyoku": MjaiReader.end_round,
    "end_game": MjaiReader.end_game,
    "suzaku_left": lambda _, m: PlayerLeft(_player(m["actor"])),
    "suzaku_returned": lambda _, m: PlayerReturned(_player(m["actor"])),
}
