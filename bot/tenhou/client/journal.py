"""The journal of a run: the log line of each session event, and the record of each game."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

import msgspec
import structlog

from bot.tenhou.session.events import (
    Disagreement,
    GameEnded,
    GameMissed,
    GameStarted,
    LoggedIn,
    PromptOpened,
    Queued,
    Resumed,
    RoundEnded,
    ServerClosing,
    ServerText,
    SessionEvent,
    StateLost,
    TableEvent,
    UnknownTag,
)
from game.events import Four, GameEvent, StartRound
from replays.record import JAPAN, DecisionRecord, GameRecord, game_id

log = structlog.get_logger(__name__)

Keep: TypeAlias = Callable[[GameRecord], Path | None]


class GameResult(msgspec.Struct, frozen=True):
    """The result of a finished game.

    Attributes:
        game_id: id of its record.
        game_type: number of the type.
        player: our absolute number.
        placement: our place, 1–4.
        scores: final points by player.
        results: in tenths, uma and oka included, by player.
        placements: places 1–4 by player.
        rounds: number of rounds dealt while we were connected.
        record: path of its record, None if it was not written.
    """

    game_id: str
    game_type: int
    player: int
    placement: int
    scores: Four
    results: Four
    placements: Four
    rounds: int
    record: Path | None


class MissedGame(msgspec.Struct, frozen=True):
    """A game whose end we did not see.

    Attributes:
        game_id: id of its record, empty if it had not begun.
        why: what shows that it is over.
        record: path of its record up to there, None if it was not written.
    """

    game_id: str
    why: str
    record: str | None = None


class Journal:
    """Logs a session's events and collects results.

    Args:
        keep: saves the record of each game and returns its path.
    """

    def __init__(self, keep: Keep | None = None) -> None:
        self.results: list[GameResult] = []
        self.missed_games: list[MissedGame] = []
        """Games whose end we did not see."""
        self._keep = keep
        self._game: GameStarted | None = None
        self.log = log

    @property
    def games(self) -> int:
        """Number of games that are over, including those whose end we missed."""
        return len(self.results) + len(self.missed_games)

    def write(self, event: SessionEvent) -> None:
        """Log an event."""
        match event:
            case LoggedIn(name):
                self.log.info("login.accepted", name=name)
            case Queued(ticket, again):
                self.log.debug("lobby.queued", ticket=ticket, again=again)
            case GameStarted():
                self._begin(event)
            case TableEvent(StartRound() as start):
                self._start_round(start)
            case RoundEnded(_, _, scores):
                self.log.info("round.ended", scores=scores)
            case Resumed(round_index, honba, exact):
                self.log.info("state.resynced", round=round_index, honba=honba, exact=exact)
            case StateLost(reason):
                self.log.error(
                    "state.mismatch", reason=reason, until="the next deal; the bot discards what it draws"
                )
            case Disagreement(subject, detail):
                self.log.warning("state.mismatch", subject=subject, detail=detail)
            case PromptOpened(_, _, offered, str(mismatch)):
                self.log.warning("state.mismatch", subject="offer", detail=mismatch, offered=offered)
            case UnknownTag(tag, attribute):
                self.log.warning("proto.unknown_tag", tag=tag[:40], attribute=attribute[:40])
            case ServerText(name, text):
                self.log.info("server.text", name=name, text=text)
            case ServerClosing():
                self.log.warning("server.closing")

    def end_game(
        self, event: GameEnded, events: Sequence[GameEvent], decisions: Sequence[DecisionRecord]
    ) -> None:
        """Record a finished game.

        Args:
            event: its end.
            events: all its events, as we saw them.
            decisions: our decisions.
        """
        game = self._game
        assert game is not None, "a game ended that never began"
        record = _record(game, events, decisions)
        result = GameResult(
            game_id=game.game_id,
            game_type=game.game_type,
            player=game.player,
            placement=event.placements[game.player],
            scores=event.scores,
            results=event.results,
            placements=event.placements,
            rounds=record.rounds,
            record=self._keep_record(record),
        )
        self.results.append(result)
        self.log.info(
            "game.ended",
            placement=result.placement,
            scores=result.scores,
            results=result.results,
            rounds=result.rounds,
            record=None if result.record is None else str(result.record),
        )
        self.log = log
        self._game = None

    def miss_game(self, event: GameMissed, decisions: Sequence[DecisionRecord]) -> None:
        """Record a game whose end we did not see, as far as we saw it; its record has no end.

        Args:
            event: what we know of it.
            decisions: our decisions.
        """
        kept = None
        if self._game is not None and any(isinstance(e, StartRound) for e in event.events):
            kept = self._keep_record(_record(self._game, event.events, decisions))
        record = None if kept is None else str(kept)
        self.missed_games.append(MissedGame(self.game_id, event.why, record))
        self.log.error("game.ended", missed=True, why=event.why, record=record)
        self.log = log
        self._game = None

    def _keep_record(self, record: GameRecord) -> Path | None:
        if self._keep is None:
            return None
        try:
            return self._keep(record)
        except OSError as exc:
            self.log.exception("record.unsaved", reason=exc.strerror or str(exc))
            return None

    def _begin(self, event: GameStarted) -> None:
        if not event.game_id:  # practice against the server's own players has no id
            lobby = int(event.lobby) if event.lobby.isdecimal() else 0
            # random, not a counter: games of other runs in the same hour need different record names
            made = game_id(datetime.now(JAPAN), event.game_type, lobby, secrets.randbits(32))
            event = msgspec.structs.replace(event, game_id=made)
        self._game = event
        self.log = log.bind(game_id=event.game_id, seat=event.player)
        self.log.info("game.started", names=event.names, length=event.length, type=event.game_type)

    def _start_round(self, start: StartRound) -> None:
        self.log = self.log.bind(round=start.round_index, honba=start.honba)
        self.log.info("round.started", scores=start.scores, dealer=start.dealer)

    @property
    def game_id(self) -> str:
        """Id of the running game, empty between games."""
        return self._game.game_id if self._game else ""


def _record(
    game: GameStarted, events: Sequence[GameEvent], decisions: Sequence[DecisionRecord]
) -> GameRecord:
    return GameRecord(
        game_id=game.game_id,
        game_type=game.game_type,
        names=game.names,
        ranks=game.ranks,
        rates=game.rates,
        sexes=game.sexes,
        events=tuple(events),
        lobby=int(game.lobby) if game.lobby.isdecimal() else 0,
        decisions=tuple(decisions),
    )
