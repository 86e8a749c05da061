"""Reads tenhou.net/6 records into events: strictly checked, bounded in time and memory."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar
from urllib.parse import unquote

import msgspec
import numpy as np

from game.events import (
    DrawReason,
    EndGame,
    EndRound,
    Four,
    GameEvent,
    RiichiAccepted,
    StartGame,
    StartRound,
    ValueSource,
    Win,
    four,
)
from game.layout import AT_UNSEEN, PHASE_CLAIM, PHASE_ENDED
from game.scoring.settlement import RIICHI_STICK
from game.scoring.value import (
    YAKU_DOUBLE_RIICHI,
    YAKU_RIICHI,
    YAKU_ROUND_WIND,
    YAKU_SEAT_WIND,
    YAKU_URA_DORA,
    context_of,
    evaluate,
)
from game.state import clone, free_copy, hand_tiles
from game.table.endings import completed, drawn_round, payments_until, shown_at_draw
from kit.errors import ReplayFormatError, ReplayTooLarge, StateMismatchError
from replays.names import (
    ALL_READY,
    NO_RESULT,
    NONE_READY,
    ROUND_WIND,
    SEAT_WIND,
    is_for_three,
    is_win,
    length_in,
    reason_of,
)
from replays.record import (
    HANCHAN,
    KNOWN_BITS,
    MAX_POINTS,
    THREE_PLAYERS,
    TONPUU,
    GameRecord,
    Names,
    check_type,
    end_of_game,
    fault_in,
    in_words,
    is_said,
    known_id,
    lobby_of,
    sexes_of,
    usual_type,
)
from replays.tenhou6.order import Lists, SearchNode, in_order
from replays.tenhou6.tokens import Faces, parse_discard, parse_draw, parse_value, parse_yaku, tile_name

MAX_CHARACTERS: Final = 1024 * 1024
"""A long hanchan has about 30,000."""
MAX_LINK: Final = 512 * 1024
"""Characters of a link, which encodes each character of the record as up to three."""
MAX_ROUNDS: Final = 100
MAX_LIST: Final = 40
MAX_NAME: Final = 64

RANKS: Final = (
    "新人", *(f"{number}級" for number in "９８７６５４３２１"),
    "初段", "二段", "三段", "四段", "五段", "六段", "七段", "八段", "九段", "十段", "天鳳位",
)  # fmt: skip
"""Names of the ranks by Tenhou's index."""

_RANK_INDEX: Final = {name: number for number, name in enumerate(RANKS)} | {
    f"{10 - number}級": number for number in range(1, 10)
}
_LINK: Final = re.compile(r"https?://tenhou\.net/[56]/?[^#\s]{0,200}#json=")
_REF_TYPE: Final = re.compile(r"[0-9]{10}gm-([0-9a-f]{4})-([0-9]{4,5})-.*")
_RED: Final = re.compile(rb"(?<![0-9])r?5[123](?![0-9])")
"""A red five among the tiles of a log."""
_SIGNS: Final = re.compile("(?:大会|[般上特鳳])?三?[東南]喰?赤?速?(?:祝[0-9０-９]*)?")
"""Rules in Tenhou's notation; other programs write other words there."""
_ROOMS: Final = {"般": 0, "上": 128, "特": 32, "鳳": 160}
_RIICHI_YAKU: Final = (YAKU_RIICHI, YAKU_DOUBLE_RIICHI)

T = TypeVar("T")


class _Rule(msgspec.Struct, frozen=True):
    disp: str | None = ""
    aka: int | None = None
    aka51: int | None = None
    aka52: int | None = None
    aka53: int | None = None


class _Document(msgspec.Struct):
    log: list[msgspec.Raw]
    name: list[str | None] = []
    stated_rule: _Rule | list[Any] = msgspec.field(name="rule", default=_Rule())
    computed: list[int] = []
    ref: str = ""
    lobby: int | str = 0
    dan: list[str | None] = []
    rate: list[float | None] = []
    sx: list[str | None] = []
    sc: list[float | None] = []

    @property
    def rule(self) -> _Rule:
        """The rules; a tournament's are a list of dates and codes, which say nothing here."""
        return self.stated_rule if isinstance(self.stated_rule, _Rule) else _Rule()

    @property
    def words(self) -> str:
        """The rules in words, "" without any."""
        return self.rule.disp or ""


_Tokens = list[int | str]


class _LoggedRound(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """One round as stored in ``log``."""

    place: tuple[int, int, int]
    scores: Four
    indicators: list[int]
    ura: list[int]
    hand0: list[int]
    draws0: _Tokens
    discards0: _Tokens
    hand1: list[int]
    draws1: _Tokens
    discards1: _Tokens
    hand2: list[int]
    draws2: _Tokens
    discards2: _Tokens
    hand3: list[int]
    draws3: _Tokens
    discards3: _Tokens
    result: list[Any]

    @property
    def hands(self) -> tuple[list[int], ...]:
        return self.hand0, self.hand1, self.hand2, self.hand3

    @property
    def draws(self) -> tuple[_Tokens, ...]:
        return self.draws0, self.draws1, self.draws2, self.draws3

    @property
    def tiles(self) -> list[int | str]:
        """All tiles that were dealt or drawn."""
        dealt = [tile for hand in self.hands for tile in hand]
        return [*dealt, *(tile for draws in self.draws for tile in draws)]

    @property
    def discards(self) -> tuple[_Tokens, ...]:
        return self.discards0, self.discards1, self.discards2, self.discards3


_documents: Final = msgspec.json.Decoder(_Document)
_arrays: Final = msgspec.json.Decoder(list[msgspec.Raw])
_rounds: Final = msgspec.json.Decoder(_LoggedRound)


def is_link(text: str) -> bool:
    """Whether a text is a link to Tenhou's viewer that contains a record."""
    return _LINK.match(text) is not None


def read_record(text: str) -> GameRecord:
    """Read a game from its JSON, or from a ``https://tenhou.net/6#json=`` link that contains it.

    Several links or JSON texts, a line each or in an array, are the rounds of one game: editors make a link
    a round. What the format does not store is filled in: see `replays.tenhou6.writer`.

    Raises:
        ReplayFormatError: it is not such a record; names the round and the place.
        ReplayTooLarge: it is longer than any game can be.
    """
    text = text.strip()
    limit = MAX_LINK if is_link(text) else MAX_CHARACTERS
    if len(text) > limit:
        raise ReplayTooLarge(f"{len(text)} characters; at most {limit} are read")
    first, *others = [_decode(_document, part, "tenhou6") for part in _parts(text)]
    return _record(_joined(first, others) if others else first)


def _parts(text: str) -> list[bytes]:
    """The JSON of each document in a text."""
    if text.startswith("["):
        return [bytes(part) for part in _decode(_arrays.decode, text.encode("utf-8", "replace"), "tenhou6")]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    several = len(lines) > 1 and all(is_link(line) or line.startswith('{"') for line in lines)
    return [_json_of(part).encode("utf-8", "replace") for part in (lines if several else [text])]


def _document(data: bytes) -> _Document:
    """A document; keys without a value, as some programs write them, are left out."""
    stated = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    return _documents.decode(
        msgspec.json.encode({key: value for key, value in stated.items() if bytes(value) != b"null"})
    )


def _row(data: bytes) -> _LoggedRound:
    """A round; parts without a value are empty."""
    parts = msgspec.json.decode(data, type=list[msgspec.Raw])
    if len(parts) == len(_LoggedRound.__struct_fields__) - 3:
        raise ReplayFormatError(f"tenhou6: {THREE_PLAYERS}")
    return _rounds.decode(msgspec.json.encode([[] if bytes(part) == b"null" else part for part in parts]))


def _joined(first: _Document, others: list[_Document]) -> _Document:
    for number, other in enumerate(others, 2):
        if other.name != first.name:
            raise ReplayFormatError(f"tenhou6: text {number} has other players; save each game as a file")
    documents = [first, *others]
    computed, rounds = [], 0
    for document in documents:
        computed += [rounds + number for number in document.computed]
        rounds += len(document.log)
    log = [row for document in documents for row in document.log]
    return msgspec.structs.replace(first, log=log, computed=computed, sc=documents[-1].sc)


def _json_of(text: str) -> str:
    found = _LINK.match(text)
    if found is None:
        return text
    # The viewer's own settings (&ts=, &tw=) may follow.
    return re.sub(r"(?:&[a-z]{1,8}=[0-9]{0,6}){1,8}$", "", unquote(text[found.end() :]))


def _decode(decode: Callable[[bytes], T], data: bytes, what: str) -> T:
    try:
        return decode(data)
    except (msgspec.MsgspecError, RecursionError) as exc:
        raise ReplayFormatError(f"{what}: {fault_in(exc)}") from None


def _record(document: _Document) -> GameRecord:
    if len(document.log) > MAX_ROUNDS:
        raise ReplayTooLarge(f"{len(document.log)} rounds; at most {MAX_ROUNDS} are read")
    if not document.log:
        raise ReplayFormatError("tenhou6: it contains no round")
    stated, lobby = _type_and_lobby(document)
    words = document.words
    check_type(stated or 0)
    if is_for_three(words) or len(document.name) == 3:
        raise ReplayFormatError(f"tenhou6: {THREE_PLAYERS}")
    if "祝" in words:
        raise ReplayFormatError("tenhou6: chip games are not supported")
    rows = [
        _decode(_row, bytes(raw), f"tenhou6 round {number}") for number, raw in enumerate(document.log, 1)
    ]
    if not all(row.hand3 for row in rows):
        raise ReplayFormatError(f"tenhou6: {THREE_PLAYERS}")
    reds = _reds(document, rows)
    faces = Faces(reds)
    names = _names(document.name)
    events: list[GameEvent] = [StartGame(names)]
    scores = document.sc[::2]
    ending = _end_of_game(document.sc) if any(scores) and None not in scores else None
    after = [*(row.scores for row in rows[1:]), ending.scores if ending else None]
    for number, row in enumerate(rows):
        computed = number in document.computed
        events += _read_round(row, number + 1, faces, after[number], computed=computed)
    if ending is not None:
        events.append(ending)
    return GameRecord(
        game_id=known_id(document.ref),
        game_type=_assumed_type(document, events, reds) if stated is None else stated,
        lobby=lobby,
        names=names,
        ranks=_ranks(document.dan),
        rates=_rates(document.rate),
        sexes=sexes_of(document.sx),
        events=tuple(events),
        rules_said=stated is not None,
    )


# --- the head ---------------------------------------------------------------------------------------------


def _type_and_lobby(document: _Document) -> tuple[int | None, int]:
    """The type from the id or from rules in Tenhou's notation, None without either; and the lobby."""
    lobby = lobby_of(document.lobby)
    found = _REF_TYPE.fullmatch(document.ref[:80])
    if found:
        return int(found[1], 16) & KNOWN_BITS, lobby or int(found[2])
    words = document.words
    if not _SIGNS.fullmatch(words):
        return None, lobby
    no_reds = not all(_stated_reds(document.rule) or ("赤" in words,))
    room = next((bits for word, bits in _ROOMS.items() if word in words), 0)
    return (
        1 | no_reds * 2 | ("喰" not in words) * 4 | ("南" in words) * 8 | room | ("速" in words) * 64,
        lobby,
    )


def _assumed_type(document: _Document, events: list[GameEvent], reds: tuple[bool, ...]) -> int:
    """The type of a game whose rules are not in Tenhou's notation: open tanyao is assumed."""
    words = document.words
    length = {"hanchan": HANCHAN, "tonpuu": TONPUU}.get(length_in(words) or "") or usual_type(events)
    return length | (not all(reds)) * 2


def _reds(document: _Document, rows: Sequence[_LoggedRound]) -> tuple[bool, bool, bool]:
    """Which red fives are in play: as the rules state, or all unless four plain fives were dealt or drawn."""
    stated = _stated_reds(document.rule)
    if stated is not None:
        return stated
    if _SIGNS.fullmatch(document.words):
        every = "赤" in document.words
    else:
        seen = any(_RED.search(bytes(raw)) for raw in document.log)
        every = seen or not any(row.tiles.count(five) == 4 for row in rows for five in (15, 25, 35))
    return every, every, every


def _stated_reds(rule: _Rule) -> tuple[bool, bool, bool] | None:
    stated = (rule.aka51, rule.aka52, rule.aka53)
    known = [bool(red) for red in (*stated, rule.aka) if red is not None]
    if not known:
        return None
    m, p, s = (known[0] if red is None else bool(red) for red in stated)
    return m, p, s


def _names(names: Sequence[str | None]) -> Names:
    if len(names) > 4:
        raise ReplayFormatError(f"tenhou6: name has {len(names)} players instead of 4")
    return four([*((name or "")[:MAX_NAME] for name in names), *[""] * (4 - len(names))])


def _ranks(texts: list[str | None]) -> Four:
    return four(([_RANK_INDEX.get(text or "", 0) for text in texts] + [0] * 4)[:4])


def _rates(stated: list[float | None]) -> tuple[float, float, float, float]:
    values = [1500.0 if value is None else value for value in stated]
    if not all(abs(value) < 1e6 for value in values):
        raise ReplayFormatError("tenhou6: a rating is out of range")
    return four(([round(value, 2) for value in values] + [1500.0] * 4)[:4])


def _end_of_game(values: list[float | None]) -> EndGame:
    stated = [value or 0.0 for value in values]
    if len(stated) != 8 or not all(abs(value) <= MAX_POINTS for value in stated):
        raise ReplayFormatError("tenhou6: sc is not a list of four scores and results")
    return end_of_game(four(map(round, stated[::2])), four(round(10 * value) for value in stated[1::2]))


# --- a round ----------------------------------------------------------------------------------------------


def _read_round(
    row: _LoggedRound, number: int, faces: Faces, after: Four | None, *, computed: bool
) -> list[GameEvent]:
    """The events of a round; ``after`` are the scores that the next one begins with."""
    index, honba, _ = row.place
    name = f"round {number} ({'ESWN'[index // 4 % 4]}{index % 4 + 1}, honba {honba})"
    try:
        place = in_order(_start(row, faces), _lists(row), faces)
        reader = _ResultReader(place, row.ura, faces, after, "computed" if computed else "stated")
        reader.add(row.result)
    except (ReplayFormatError, StateMismatchError, ValueError) as exc:
        raise ReplayFormatError(f"tenhou6 {name}: {in_words(exc)}") from None
    return [*place.events, EndRound()] if place.state["phase"] == PHASE_ENDED else place.events


def _start(row: _LoggedRound, faces: Faces) -> StartRound:
    index, honba, sticks = row.place
    if not 0 <= index <= 15 or not 0 <= honba <= 99 or not 0 <= sticks <= 99:
        raise ValueError("round, honba or sticks are out of range")
    if not 1 <= len(row.indicators) <= 5 or len(row.ura) > 5:
        raise ValueError(f"{len(row.indicators)} dora and {len(row.ura)} ura indicators; at most 5 are read")
    if any(len(hand) != 13 for hand in row.hands):
        raise ValueError(f"hands of {[len(hand) for hand in row.hands]} tiles are dealt instead of 13")
    first, *dealt = _deal([row.indicators[0], *(tile for hand in row.hands for tile in hand)], faces)
    hands = four(tuple(dealt[13 * player : 13 * player + 13]) for player in range(4))
    return StartRound(index, honba, sticks, index % 4, row.scores, first, hands)


def _lists(row: _LoggedRound) -> Lists:
    return Lists(
        indicators=tuple(row.indicators),
        draws=_parsed(row.draws, parse_draw, "draws"),
        discards=_parsed(row.discards, parse_discard, "discards"),
    )


def _parsed(
    lists: tuple[_Tokens, ...], parse: Callable[[int | str], T], name: str
) -> tuple[tuple[T, ...], ...]:
    parsed = []
    for player, tokens in enumerate(lists):
        if len(tokens) > MAX_LIST:
            raise ValueError(f"{name} of player {player}: more than {MAX_LIST} entries")
        entries = []
        for number, token in enumerate(tokens, 1):
            try:
                entries.append(parse(token))
            except ValueError as exc:
                raise ValueError(f"{name} of player {player} entry {number}: {exc}") from None
        parsed.append(tuple(entries))
    return tuple(parsed)


def _deal(numbers: list[int], faces: Faces) -> list[int]:
    tiles: list[int] = []
    for number in numbers:
        tile = next((t for t in faces.copies.get(number, ()) if t not in tiles), None)
        if tile is None:
            raise ValueError(f"the deal: no {tile_name(number)} is left{_red_hint(number, faces)}")
        tiles.append(tile)
    return tiles


def _red_hint(number: int, faces: Faces) -> str:
    """The likely reason why a tile is missing."""
    suit = number - 51 if number > 50 else number // 10 - 1
    if (number <= 50 and number % 10 != 5) or not 0 <= suit < 3 or not faces.reds[suit]:
        return ""
    return f"; one five of each suit is red, as {51 + suit}; other numbers of red ones are not supported"


class _ResultReader:
    """Adds the end of a round to its moves."""

    def __init__(
        self, place: SearchNode, ura: list[int], faces: Faces, after: Four | None, value: ValueSource
    ) -> None:
        self._place = place
        # All wins are valued in the state at the first one.
        self._moment = clone(place.state)
        self._faces = faces
        self._ura = ura
        self._after = after
        self._value: ValueSource = value

    def add(self, result: list[Any]) -> None:
        name = str(result[0])[:40] if any(result[:1]) else NO_RESULT
        if name == NO_RESULT:
            return
        if is_win(name):
            self._wins(result[1:])
        elif reason := reason_of(name):
            self._drawn(name, reason, result[1:])
        else:
            raise ValueError(f"result: unknown name {name[:40]!r}")

    # --- wins ---

    def _wins(self, rows: list[Any]) -> None:
        if len(rows) not in (2, 4, 6):
            raise ValueError("result: a win needs its score changes and its details")
        ura = self._ura_tiles()
        for at in range(0, len(rows), 2):
            self._place.add(self._win(rows[at], rows[at + 1], ura))

    def _win(self, paid: Any, details: Any, ura: tuple[int, ...]) -> Win:
        if not isinstance(details, list) or not 2 <= len(details) <= 40:
            raise ValueError("result: the details of a win are missing")
        player, source = map(_player, details[:2])
        liable = player if details[2:3] in ([], [None]) else _player(details[2])
        texts = [unicodedata.normalize("NFKC", text) if isinstance(text, str) else "" for text in details[3:]]
        value = parse_value(texts[0] if texts else "")
        state = self._moment
        named = [parse_yaku(text) for text in texts[1:] if text]
        if not value.points or any(han < 0 for _, han in named):
            named = []  # what is not stated, as the han of a yaku, is computed with the rest
        yaku = [(_with_wind(state, player, name), han) for name, han in named if isinstance(name, int)]
        other = tuple((name, han) for name, han in named if isinstance(name, str))
        tsumo = player == source
        if int(state["phase"]) == PHASE_CLAIM and tsumo:
            raise ValueError(f"result: player {player} wins by tsumo on a discard")
        tile = int(state["drawn"] if tsumo else state["last_tile"])
        if tile < 0:
            raise ValueError("result: there is no winning tile")
        in_riichi = state["riichi"][player] == 2
        shown = ura if in_riichi else ()
        is_yakuman = bool(yaku) and all(han == 0 for _, han in named)
        if not is_yakuman and any(number in _RIICHI_YAKU for number, _ in yaku):
            # Tenhou counts the ura of every riichi; the format names them only if there are any.
            yaku += [(YAKU_URA_DORA, 0)] * (YAKU_URA_DORA not in [number for number, _ in yaku])
        fu = _fu(state, player, source, tile, shown) if value.fu < 0 <= value.limit else max(value.fu, 0)
        before, is_first = self._place.state, self._place.state["phase"] != PHASE_ENDED
        stated = _four(paid) if is_said(paid) and any(paid) else None
        deltas = stated or payments_until(before, self._after, player, source)
        left = int(before["riichi_sticks"]) if is_first else 0
        sticks = left if deltas is None else max(sum(deltas), 0) // RIICHI_STICK
        win = Win(
            player=player,
            from_player=source,
            tile=tile,
            hand=tuple(sorted({*hand_tiles(state, player), tile})),
            fu=fu,
            points=value.points,
            limit=max(value.limit, 0),
            yaku=() if is_yakuman else tuple(yaku),
            yakuman=tuple(number for number, _ in yaku) if is_yakuman else (),
            other_yaku=other,
            ura_indicators=shown,
            liable=liable if liable != player else -1,
            deltas=deltas or (0, 0, 0, 0),
            # Only the first of several is paid the honba.
            honba=int(state["honba"]) if stated or is_first else 0,
            riichi_sticks=sticks,
            value=self._value,
            payments_known=deltas is not None,
        )
        return completed(state, win)

    def _ura_tiles(self) -> tuple[int, ...]:
        tiles: tuple[int, ...] = ()
        for number in self._ura:
            tile = free_copy(self._moment, self._faces.copies.get(number, ()), AT_UNSEEN, tiles)
            if tile is None:
                raise ValueError(f"ura indicators: no {tile_name(number)} is left")
            tiles += (tile,)
        return tiles

    # --- rounds without one ---

    def _drawn(self, name: str, reason: DrawReason, rows: list[Any]) -> None:
        state = self._place.state
        if rows and is_said(rows[0]):
            deltas: Four | None = _four(rows[0])
        elif rows or (reason == "exhaustive" and name not in (ALL_READY, NONE_READY)):
            deltas = payments_until(state, self._after)
        else:
            deltas = (0, 0, 0, 0)
        discarder = int(state["last_player"])
        if state["phase"] == PHASE_CLAIM and state["riichi"][discarder] == 1 and reason != "triple_ron":
            self._place.add(RiichiAccepted(discarder))
        if name in (ALL_READY, NONE_READY):
            self._place.add(
                drawn_round(state, reason, range(4 if name == ALL_READY else 0), deltas or (0,) * 4)
            )
        else:
            self._place.add(shown_at_draw(state, reason, deltas))


def _with_wind(state: np.void, player: int, yaku: int) -> int:
    """A yaku's id; the triplet of a wind without a name is the player's or the round's."""
    if yaku == SEAT_WIND:
        return YAKU_SEAT_WIND + int(player - state["dealer"]) % 4
    return YAKU_ROUND_WIND + int(state["round_index"]) // 4 if yaku == ROUND_WIND else yaku


def _fu(state: np.void, player: int, source: int, tile: int, ura: tuple[int, ...]) -> int:
    """The minipoints of a limit hand, which the format omits; 0 if our rules find no win."""
    value = evaluate(context_of(state, player, tile, source, ura))
    return value.fu if value is not None else 0


def _player(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 3:
        raise ValueError(f"result: not a player: {str(value)[:20]!r}")
    return value


def _four(values: Any) -> Four:
    if not isinstance(values, list) or len(values) != 4 or not all(type(value) is int for value in values):
        raise ValueError("result: score changes must be four numbers")
    return four(values)
