"""Reads Tenhou's record format into events: strictly checked, bounded in time and memory.

It is not an XML parser: records contain bare ampersands, and entities must never be followed. Three-player
games are rejected with a message that names them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote

from game.events import (
    Discard,
    DoraRevealed,
    Draw,
    DrawnRound,
    EndRound,
    GameEvent,
    PlayerLeft,
    PlayerReturned,
    Riichi,
    RiichiAccepted,
    StartGame,
    StartRound,
    Win,
    four,
)
from game.melds import meld_event
from game.state import apply, clone, new_round
from game.table.endings import completed, is_stated
from game.tiles import TILES, UNSEEN
from kit.errors import ReplayFormatError, ReplayTooLarge, StateMismatchError
from replays.mjlog.attributes import MjlogTag, parse_tag
from replays.mjlog.tags import (
    UNFINISHED,
    UNPAID,
    FinalScores,
    read_agari,
    read_init,
    read_meld,
    read_ryuukyoku,
)
from replays.record import (
    KNOWN_BITS,
    MAX_TYPE,
    THREE_PLAYERS,
    GameRecord,
    Names,
    check_dealer,
    check_type,
    end_of_game,
    in_words,
    lobby_of,
    sexes_of,
    usual_type,
)

MAX_CHARACTERS: Final = 2 * 1024 * 1024
"""A long hanchan has about 60,000."""
MAX_TAGS: Final = 20_000

_DECLARATION: Final = re.compile(r"\?xml[^<>]*\?>\s*")


def read_record(text: str, game_id: str = "") -> GameRecord:
    """Read a game from its mjlog text; the text itself does not contain the id.

    Raises:
        ReplayFormatError: it is not a complete four-player mjlog.
        ReplayTooLarge: it is longer than any game can be.
    """
    if len(text) > MAX_CHARACTERS:
        raise ReplayTooLarge(f"{len(text)} characters; at most {MAX_CHARACTERS} are read")
    if text.count("<") > MAX_TAGS:
        raise ReplayTooLarge(f"more than {MAX_TAGS} tags")
    _, *tags = _without_comments(text).split("<")
    if tags and ">" not in tags[-1]:
        raise ReplayFormatError("cut short within its last tag; save the record again")
    reader = _Reader()
    try:
        reader.add_all(tags)
    except ReplayFormatError as exc:
        raise ReplayFormatError(
            f"mjlog round {reader.rounds}: {exc}" if reader.rounds else str(exc)
        ) from None
    return reader.record(game_id)


def _without_comments(text: str) -> str:
    """The text from its first tag on, without XML comments."""
    parts = text.split("<!--")
    kept = [parts[0]]
    for part in parts[1:]:
        comment, end, rest = part.partition("-->")
        if not end:
            raise ReplayFormatError(f"a comment does not end: {comment[:40]!r}")
        kept.append(rest)
    return "".join(kept)


# Nine tags in ten are a draw or a discard; these texts after "<" map to their events without parsing.
_DRAWS: Final = tuple(tuple(Draw(player, tile) for tile in range(TILES)) for player in range(4))
_DRAW_TEXTS: Final = {
    f"{'TUVW'[draw.player]}{draw.tile}/>": draw for of_player in _DRAWS for draw in of_player
}
_DISCARD_TEXTS: Final = {
    f"{'DEFG'[draw.player]}{draw.tile}/>": (
        draw,
        Discard(draw.player, draw.tile, tsumogiri=True),
        Discard(draw.player, draw.tile, tsumogiri=False),
    )
    for of_player in _DRAWS
    for draw in of_player
}


class _Reader:
    """Collects events tag by tag."""

    def __init__(self) -> None:
        self._events: list[GameEvent] = []
        self._dice: list[tuple[int, int]] = []
        self.rounds = 0
        """Rounds whose deal came."""
        self._shuffles: list[str] = []
        self._header: dict[str, MjlogTag] = {}
        self._in_round = False
        self._takes_moves = False
        """Whether the round still lacks its result."""
        self._ended = False
        self._drawn: Draw | None = None
        """The draw that a discard may follow; riichi, an indicator or a lost connection may come between."""

    def add_all(self, tags: list[str]) -> None:
        """Add all tags, each without its "<"."""
        events = self._events
        for number, text in enumerate(tags):
            plain = text if text[-1:] == ">" else text[: text.rfind(">") + 1]
            if self._takes_moves:
                draw = _DRAW_TEXTS.get(plain)
                if draw is not None:
                    events.append(draw)
                    self._drawn = draw
                    continue
                discard = _DISCARD_TEXTS.get(plain)
                if discard is not None:
                    same, tsumogiri, tedashi = discard
                    events.append(tsumogiri if self._drawn is same else tedashi)
                    self._drawn = None
                    continue
            if number == 0 and _DECLARATION.fullmatch(plain):
                continue
            tag = parse_tag(plain)
            if tag is not None:
                self._add(tag)

    def _add(self, tag: MjlogTag) -> None:
        """Add the next tag."""
        if not self._header and tag.name != "mjloggm":
            raise ReplayFormatError("not an mjlog: it does not begin with <mjloggm>")
        if tag.name in _HEADER_TAGS and not (tag.name == "UN" and "UN" in self._header):
            self._header[tag.name] = tag
            if tag.name == "GO" and tag.has("type"):
                check_type(tag.number("type", 0, MAX_TYPE))
            return
        handler = _HANDLERS.get(tag.name)
        if handler is None:
            raise tag.fail("unknown tag")
        if self._ended and tag.name not in ("BYE", "UN"):
            raise tag.fail("comes after the end of the game")
        handler(self, tag)

    def record(self, game_id: str) -> GameRecord:
        """Return the whole game."""
        first = self._header.get("mjloggm")
        if not self._ended and first is not None and first.has(UNFINISHED):
            if not self._takes_moves:
                self._close_round()
        elif not self._ended:
            raise ReplayFormatError("cut short: no final result; save the record again when the game is over")
        names = self._names()
        un, go, shuffle = self._header["UN"], self._header.get("GO"), self._header.get("SHUFFLE")
        stated = go.number("type", 0, MAX_TYPE) & KNOWN_BITS if go and go.has("type") else None
        return GameRecord(
            game_id=game_id,
            game_type=usual_type(self._events) if stated is None else stated,
            lobby=lobby_of(go.take("lobby", "0")) if go else 0,
            names=names,
            ranks=un.four("dan", 0, 99) if un.take("dan", "") else (0, 0, 0, 0),
            rates=un.ratings("rate") if un.take("rate", "") else four([1500.0] * 4),
            sexes=sexes_of(un.take("sx", "").split(",")),
            events=(StartGame(names=names), *_with_values(self._events)),
            dice=tuple(self._dice),
            shuffle=shuffle.take("seed") if shuffle and shuffle.has("seed") else "",
            round_shuffles=tuple(self._shuffles) if len(self._shuffles) == len(self._dice) else (),
            rules_said=stated is not None,
        )

    def _names(self) -> Names:
        un = self._header.get("UN")
        if un is None:
            raise ReplayFormatError("no <UN>: the players are missing")
        return four(unquote(un.take(f"n{p}", ""))[:64] for p in range(4))

    def _needs_round(self, tag: MjlogTag) -> None:
        if not self._takes_moves:
            raise tag.fail("is outside of a round")

    # --- the tags ------------------------------------------------------------------------------------

    def _skip(self, tag: MjlogTag) -> None:
        """Ignore elements that only group others."""

    def init(self, tag: MjlogTag) -> None:
        if self._takes_moves:
            raise tag.fail("a round begins before the previous one ended")
        self._close_round()
        self.rounds += 1
        init = read_init(tag)
        if init.hands[3] == () and tag.has("hai0"):
            raise tag.fail(THREE_PLAYERS)
        self._dice.append(init.seed.dice)
        if tag.has("shuffle"):
            self._shuffles.append(tag.take("shuffle"))
        self._events.append(
            StartRound(
                round_index=init.seed.round_index,
                honba=init.seed.honba,
                riichi_sticks=init.seed.riichi_sticks,
                dealer=check_dealer(init.seed.round_index, init.dealer),
                scores=init.scores,
                dora_indicator=init.seed.indicators[0],
                hands=four(hand or (UNSEEN,) * 13 for hand in init.hands),
            )
        )
        self._in_round, self._takes_moves, self._drawn = True, True, None

    def draw(self, tag: MjlogTag) -> None:
        self._needs_round(tag)
        player, tile = "TUVW".index(tag.name), tag.own_tile(may_be_unseen=True)
        self._drawn = Draw(player) if tile == UNSEEN else _DRAWS[player][tile]
        self._events.append(self._drawn)

    def discard(self, tag: MjlogTag) -> None:
        self._needs_round(tag)
        player, tile = "DEFG".index(tag.name.upper()), tag.own_tile()
        tsumogiri = tag.name.islower() or self._drawn is _DRAWS[player][tile]
        self._events.append(Discard(player, tile, tsumogiri))
        self._drawn = None

    def meld(self, tag: MjlogTag) -> None:
        self._needs_round(tag)
        call = read_meld(tag)
        if call.meld is None:
            raise tag.fail(THREE_PLAYERS)
        self._drawn = None
        self._events.append(meld_event(call.who, call.meld))

    def indicator(self, tag: MjlogTag) -> None:
        self._needs_round(tag)
        self._events.append(DoraRevealed(tag.number("hai", 0, TILES - 1)))

    def riichi(self, tag: MjlogTag) -> None:
        self._needs_round(tag)
        player = tag.player()
        declared = tag.number("step", 1, 2) == 1
        self._events.append(Riichi(player) if declared else RiichiAccepted(player))

    def win(self, tag: MjlogTag) -> None:
        if not self._in_round or not (self._takes_moves or isinstance(self._events[-1], Win)):
            raise tag.fail("is outside of a round")
        won = read_agari(tag)
        self._events.append(won.win)
        self._finish_round(won.final)

    def drawn(self, tag: MjlogTag) -> None:
        self._needs_round(tag)
        result = read_ryuukyoku(tag)
        known = not tag.has(UNPAID)
        self._events.append(DrawnRound(result.reason, result.deltas, result.hands, known))
        self._finish_round(result.final)

    def left(self, tag: MjlogTag) -> None:
        self._events.append(PlayerLeft(tag.player()))

    def returned(self, tag: MjlogTag) -> None:
        for player in range(4):
            if tag.has(f"n{player}") and not tag.has("dan"):
                self._events.append(PlayerReturned(player))

    def _finish_round(self, final: FinalScores | None) -> None:
        self._takes_moves = False
        if final is not None:
            self._close_round()
            self._events.append(end_of_game(final.scores, final.results))
            self._ended = True

    def _close_round(self) -> None:
        if self._in_round:
            self._events.append(EndRound())
        self._in_round = False


def _with_values(events: list[GameEvent]) -> list[GameEvent]:
    """The events, with a value for each win of which the record states no yaku."""
    valued, state = list(events), new_round()
    if any(isinstance(event, Win) and not is_stated(event) for event in events):
        before = state
        try:
            for place, event in enumerate(events):
                if isinstance(event, Win):
                    valued[place] = completed(before, event)
                apply(state, event)
                if not isinstance(event, Win):
                    before = clone(state)
        except StateMismatchError as exc:
            raise ReplayFormatError(f"mjlog: {in_words(exc)}") from None
    return valued


_HEADER_TAGS: Final = ("mjloggm", "SHUFFLE", "GO", "UN", "TAIKYOKU")
_HANDLERS: Final[dict[str, Callable[[_Reader, MjlogTag], None]]] = {
    "Scene": _Reader._skip,
    "INIT": _Reader.init,
    **dict.fromkeys("TUVW", _Reader.draw),
    **dict.fromkeys("DEFGdefg", _Reader.discard),
    "N": _Reader.meld,
    "DORA": _Reader.indicator,
    "REACH": _Reader.riichi,
    "AGARI": _Reader.win,
    "RYUUKYOKU": _Reader.drawn,
    "BYE": _Reader.left,
    "UN": _Reader.returned,
}
