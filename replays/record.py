"""The record of a finished game: its players, its events, and our decisions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Annotated, Any, Final, TypeAlias

import msgspec

from game.events import EndGame, Four, GameEvent, StartRound, four
from game.scoring.settlement import LAST_ROUND, START_SCORE, final_results
from game.tiles import UNSEEN
from kit.errors import ReplayFormatError
from policies.flow.decisions import Decision

Names: TypeAlias = tuple[str, str, str, str]

JAPAN: Final = timezone(timedelta(hours=9), "JST")
"""Game ids carry Japan's date and hour, wherever the game was played."""

MAX_POINTS: Final = 999_900
"""Of scores and payments: Tenhou's records have four digits for the hundreds."""
MAX_TYPE: Final = 0xFFFF
KNOWN_BITS: Final = 0xFFF
"""Bits of a game type that change the game; newer clients set further ones."""
TONPUU: Final = 1
HANCHAN: Final = 9
"""Tenhou's types of games against people in the lowest room."""
_GAME_ID: Final = re.compile(r"[0-9]{10}gm-[0-9a-f]{4}-[0-9]{4,5}-(?:[0-9a-f]{8}|x[0-9a-f]{12})")


_NOT_READ: Final = ((16 | 2048, "three-player"), (512 | 1024, "chip"))
"""Bits of game types that change the contents of records."""
THREE_PLAYERS: Final = "three-player games are not supported"
SEXES: Final = ("M", "F", "C")
_EVENT: Final = re.compile(r"\b([A-Z][A-Za-z]+)(?:\((?:player=([0-3]))?.*\)(?= (?:does|is))|(?=: a field))")


class DecisionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One decision of a seat, with its time and its position in the game.

    Attributes:
        time: Unix time of the answer, seconds.
        round_index: 0 East 1 … 4 South 1 … 8 West 1.
        honba: repeats of the round.
        turn: discards of all players before it in this round.
        player: absolute, 0 dealt first.
        decision: the choice, every option, latency and budget.
        fallback: whether the policy's own answer was not used.
        late: whether it exceeded its budget.
    """

    time: float
    round_index: int
    honba: int
    turn: int
    player: Annotated[int, msgspec.Meta(ge=0, le=3)]
    decision: Decision
    fallback: bool = False
    late: bool = False


class GameRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One game, complete.

    Attributes:
        game_id: in Tenhou's form, see `game_id`.
        game_type: Tenhou's type bits.
        lobby: number of the lobby, 10000 and up for tournaments.
        names: public names by player.
        ranks: rank index by player.
        rates: rating by player.
        sexes: ``M``, ``F``, or ``C`` for a computer.
        events: all events, from `StartGame` to `EndGame`.
        dice: both dice of each round minus one; they have no effect and may be missing.
        shuffle: text of the seed of all walls, where Tenhou published it.
        round_shuffles: texts of the seeds of single rounds, which records of early 2009 carry instead.
        decisions: those of our seat, in order; for several seats, one seat after another.
        rules_said: whether the record states its rules; otherwise ``game_type`` is the usual one that fits
            its rounds.
    """

    game_id: str
    game_type: int
    names: Names
    events: tuple[GameEvent, ...]
    lobby: int = 0
    ranks: Four = (0, 0, 0, 0)
    rates: tuple[float, float, float, float] = (1500.0, 1500.0, 1500.0, 1500.0)
    sexes: Names = ("M", "M", "M", "M")
    dice: tuple[tuple[int, int], ...] = ()
    shuffle: str = ""
    round_shuffles: tuple[str, ...] = ()
    decisions: tuple[DecisionRecord, ...] = ()
    rules_said: bool = True

    @property
    def own_player(self) -> int | None:
        """Whose record it is: the player of the decisions, else the only person; None if that is nobody."""
        players = {made.player for made in self.decisions} or {
            player for player, sex in enumerate(self.sexes) if sex != "C"
        }
        return players.pop() if len(players) == 1 else None

    @property
    def ending(self) -> EndGame | None:
        """Final scores and results, None if the game was cut short."""
        return next((e for e in reversed(self.events) if isinstance(e, EndGame)), None)

    @property
    def is_complete(self) -> bool:
        """Whether all hands are known, not only those of one seat."""
        return all(UNSEEN not in hand for e in self.events if isinstance(e, StartRound) for hand in e.hands)

    @property
    def rounds(self) -> int:
        """Number of rounds dealt."""
        return sum(isinstance(e, StartRound) for e in self.events)


def check_type(game_type: int) -> int:
    """Return the bits of a game type that are known.

    Raises:
        ReplayFormatError: such games are not read.
    """
    for bits, name in _NOT_READ:
        if game_type & bits:
            raise ReplayFormatError(f"{name} games are not supported")
    return game_type & KNOWN_BITS


def check_dealer(round_index: int, dealer: int) -> int:
    """Return the dealer of a round.

    Raises:
        ReplayFormatError: player 0 did not deal first.
    """
    if dealer != round_index % 4:
        place = f"{'ESWN'[round_index // 4]}{round_index % 4 + 1}"
        raise ReplayFormatError(f"player {dealer} deals {place}; player 0 must be the first dealer")
    return dealer


def sexes_of(texts: Sequence[str | None]) -> Names:
    """The sexes of four players; what is none of those known is the usual one."""
    known = [text if text in SEXES else "M" for text in texts]
    return four(known) if len(known) == 4 else ("M",) * 4


def fault_in(error: Exception) -> str:
    """What a JSON decoder found, in a user's words.

    >>> fault_in(ValueError("Expected `array`, got `int` - at `$.log[0]`"))
    'log[0] is of the wrong kind or out of range'
    """
    if isinstance(error, RecursionError):
        return "nested too deep"
    text = str(error)
    missing, found = re.search("required field `(.*)`", text), re.search(r"at `[$.]+(.*)`$", text)
    byte = re.search(r"byte ([0-9]+)\)", text)
    place = re.sub(r"^\[([0-9]+)\].*", lambda part: f"part {int(part[1]) + 1}", found[1]) if found else "it"
    if missing:
        return f"{missing[1]} is missing"
    if re.search("of (?:at (?:least|most) )?length", text):
        return f"{place} has the wrong number of parts"
    if found or text.startswith("Expected"):
        return f"{place} is of the wrong kind or out of range"
    if "truncated" in text:
        return "cut short; save the record again"
    return f"not JSON from byte {byte[1]} on" if byte else text


def in_words(error: Exception) -> str:
    """An error of the fold without the program's own names.

    >>> in_words(ValueError("Kakan(player=1, tile=3) does not fit: no such tile"))
    'kakan of player 1 does not fit: no such tile'
    """

    def words(found: re.Match[str]) -> str:
        name = re.sub("(?<!^)(?=[A-Z])", " ", found[1]).lower()
        return f"{name} of player {found[2]}" if found[2] else name

    return _EVENT.sub(words, re.sub(r" \(Python .*\)", "", str(error)))


def lobby_of(text: str | int) -> int:
    """The number of a lobby; those of people's own rooms are written with a C.

    >>> lobby_of("C12345678"), lobby_of(17)
    (12345678, 17)

    Raises:
        ReplayFormatError: there is no such lobby.
    """
    found = re.fullmatch("C?([0-9]{1,8})", str(text).strip() or "0")
    if found is None:
        raise ReplayFormatError(f"there is no lobby {str(text)[:20]}")
    return int(found[1])


def is_said(values: Any) -> bool:
    """Whether a record states a list: it is not absent, empty, or with null among its values."""
    return bool(values) and not (isinstance(values, list) and None in values)


def end_of_game(scores: Four, results: Four | None) -> EndGame:
    """The end of a game; results that are not stated, or all zero, follow from scores of 100,000 points."""
    usual = final_results(scores) if sum(scores) == 4 * START_SCORE else None
    return EndGame(scores, results if results and any(results) else usual)


def usual_type(events: Sequence[GameEvent]) -> int:
    """The type of a game whose record does not state it: against people, with the usual rules.

    Its length follows from its rounds: East only if it ended before any South round.
    """
    ended = any(isinstance(event, EndGame) for event in events)
    last = max((event.round_index for event in events if isinstance(event, StartRound)), default=0)
    return TONPUU if ended and last <= LAST_ROUND["tonpuu"] else HANCHAN


def game_id(now: datetime, game_type: int, lobby: int, token: int) -> str:
    """An id in Tenhou's form.

    Args:
        now: an aware time; Japan's date and hour are taken.
        game_type: type bits.
        lobby: number of the lobby.
        token: 32 bits that distinguish the games of one hour.

    >>> game_id(datetime(2026, 12, 31, 18, 30, tzinfo=timezone.utc), 169, 12345, 0x1F)
    '2027010103gm-00a9-12345-0000001f'
    """
    hour = now.astimezone(JAPAN).strftime("%Y%m%d%H")
    return f"{hour}gm-{game_type:04x}-{lobby:04d}-{token & 0xFFFFFFFF:08x}"


def started(game_id: str) -> str:
    """Start of a game from its id: date and hour in Japan, marked JST; "" if the id contains none.

    >>> started("2026010203gm-0009-0000-0000001f")
    '2026-01-02 03:00 JST'
    """
    try:
        return shown_time(datetime.strptime(game_id[:10], "%Y%m%d%H").replace(tzinfo=JAPAN))
    except ValueError:
        return ""


def shown_time(moment: datetime) -> str:
    """An aware time as text, in Japan's time zone and marked so."""
    return moment.astimezone(JAPAN).strftime("%Y-%m-%d %H:%M %Z")


def known_id(text: str) -> str:
    """The text if it is a game id, else ""."""
    return text if _GAME_ID.fullmatch(text) else ""


def check_game_id(text: str) -> str:
    """Return the text unchanged if it is a game id.

    Raises:
        ReplayFormatError: it is not; such a text never becomes a file name.
    """
    if not known_id(text):
        raise ReplayFormatError(
            f"not a game id: {text[:80]!r}; an id looks like 2026010203gm-0009-0000-0123abcd"
        )
    return text
