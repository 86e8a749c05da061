"""One game on the server: a table, four seats, their clocks, and the frames for each seat.

Sans-I/O: frames in, frames out, and the time passed with every call. `bot.tenhou.lobby` drives it.

A player who reconnects gets the round as it was before the last draw (REINIT), followed by the frames since
then, so that a pending offer or turn arrives in its usual form.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Literal, TypeAlias

import msgspec
import numpy as np
import structlog

from bot.tenhou.game_types import GameType
from bot.tenhou.lobby.seatview import (
    action_of,
    deal_for,
    default_action,
    frame_of,
    offers_of,
    rotated,
    scores_for,
    snapshot_for,
    standing_of,
)
from bot.tenhou.lobby.table_seat import ClockSettings, SeatInfo, TablePrompt, TableSeat, TimeLeft
from bot.tenhou.messages import (
    AcceptMatch,
    ClientMessage,
    FuritenShown,
    GameBegins,
    MatchFound,
    PlayerBack,
    PlayerGone,
    PlayerNames,
    Ready,
    ServerMessage,
)
from game.actions import Action, ActionKind
from game.events import (
    Discard,
    DoraRevealed,
    Draw,
    DrawnRound,
    EndGame,
    EndRound,
    GameEvent,
    PlayerLeft,
    PlayerReturned,
    StartGame,
    StartRound,
    Win,
    four,
)
from game.rules import twins_of_drawn
from game.state import apply, clone, is_furiten, new_round
from game.table.table import Table, masked
from kit.errors import RemoteProtocolError, StateMismatchError
from replays.record import GameRecord

Phase: TypeAlias = Literal["seating", "playing", "popup", "over"]
Envelope: TypeAlias = tuple[int, ServerMessage]
"""A frame and the player it goes to."""

__all__ = ["Envelope", "SeatInfo", "TablePrompt", "Tabletop"]

_PLAYERS: Final = range(4)
_log = structlog.get_logger(__name__, side="lobby")


class Move(msgspec.Struct, frozen=True, omit_defaults=True, tag="move"):
    """One step of a game: all players' answers, a player leaving or returning, or else the next deal.

    With the game's seeds, its moves are enough to play it again exactly.

    Attributes:
        answers: of the players who were asked.
        presence: who left or returned.
        banks: seconds left in each player's time bank afterwards.
        events: what happened, all tiles known.
    """

    answers: tuple[tuple[int, Action], ...] = ()
    presence: PlayerLeft | PlayerReturned | None = None
    banks: tuple[float, ...] = ()
    events: tuple[GameEvent, ...] = ()


def new_tabletop(
    rng: np.random.Generator,
    game_type: GameType,
    seats: Sequence[SeatInfo],
    clock: ClockSettings,
    game_id: str,
    lobby: int = 0,
) -> Tabletop:
    """A new game, with the walls and dice that a generator draws."""
    seed, dice_seed = (int(number) for number in rng.integers(1 << 62, size=2))
    table = Table(seed=seed, length=game_type.length, names=four(seat.name for seat in seats))
    return Tabletop(table, game_type, seats, clock, game_id=game_id, lobby=lobby, dice_seed=dice_seed)


class Tabletop:
    """One game.

    Attributes:
        phase: what the table waits for.
        events: all events so far, including players leaving and returning, with all tiles known.
        dice: both dice of each round, each minus one.
        moves: number of moves so far.
    """

    def __init__(
        self,
        table: Table,
        game_type: GameType,
        seats: Sequence[SeatInfo],
        clock: ClockSettings,
        *,
        game_id: str,
        lobby: int = 0,
        dice_seed: int = 0,
    ) -> None:
        """Seat four players.

        Args:
            table: a new table.
            game_type: number of the game type; its length must be the table's.
            seats: by player, the first dealer first.
            clock: time limits.
            game_id: id of the record.
            lobby: number of the lobby.
            dice_seed: seed of the dice, which affect nothing.
        """
        self.phase: Phase = "seating"
        self.events: list[GameEvent] = []
        self.dice: list[tuple[int, int]] = []
        self.moves = 0
        self.game_id = game_id
        self.game_type = game_type
        self.table = table
        self._lobby = lobby
        self._clock = clock
        self._seats = [TableSeat(info, clock) for info in seats]
        self._queue: deque[GameEvent] = deque(table.events)
        self._state = new_round()
        self._before_draw = new_round()
        self._since_draw: list[GameEvent] = []
        self._popup_until = 0.0
        self._prompts = 0
        self._fresh: list[TablePrompt] = []
        self._fresh_moves: list[Move] = []
        self._in_moves = 0  # events that the moves so far contain
        self._dice = random.Random(dice_seed)  # noqa: S311 - they affect nothing
        self._out: list[Envelope] = []

    # --- interface for the lobby ---------------------------------------------------------------------

    @property
    def done(self) -> bool:
        """Whether the game is over and all clients have been told."""
        return self.phase == "over"

    @property
    def deadline(self) -> float | None:
        """When `tick` must be called if nothing else happens before."""
        if self.phase in ("seating", "popup"):
            return self._popup_until
        return min((seat.deadline for seat in self._seats if seat.deadline is not None), default=None)

    def time_left(self, player: int, now: float) -> TimeLeft | None:
        """The time a client has left for its open prompt, or to be ready; None if it is asked nothing."""
        seat = self._seats[player]
        if self.phase in ("seating", "popup") and not seat.ready:
            return TimeLeft(max(0.0, self._popup_until - now), 0.0)
        if seat.prompt is None or seat.answer is not None:
            return None
        return seat.clock.left(seat.prompt.asked_at, now)

    def open(self, now: float) -> list[Envelope]:
        """Tell all clients the seating."""
        self._popup_until = now + self._clock.start_s
        for player in _PLAYERS:
            if self._seats[player].listens:
                self._out += [(player, message) for message in self._seating(player)]
        return self._flush(now)

    def receive(self, player: int, message: ClientMessage, now: float) -> list[Envelope]:
        """Handle a client's frame.

        Raises:
            RemoteProtocolError: the frame is not legal now; the table is unchanged.
        """
        seat = self._seats[player]
        match message:
            case AcceptMatch():
                if seat.presence == "resuming":
                    self._resume(player)
            case Ready():
                seat.ready = True
            case _:
                if seat.presence != "here" or seat.prompt is None or seat.answer is not None:
                    raise RemoteProtocolError(
                        f"{type(message).__name__}: this seat has nothing to decide now"
                    )
                legal = seat.prompt.legal
                action = action_of(message, legal, twins_of_drawn(self._state, player, legal))
                seat.clock.spend(now - seat.prompt.asked_at)
                seat.answer = action
        return self._flush(now)

    def answer(self, prompt: TablePrompt, action: Action, now: float) -> list[Envelope]:
        """Handle the answer of a built-in player; a late one is dropped."""
        seat = self._seats[prompt.player]
        if seat.prompt is not None and seat.prompt.number == prompt.number and seat.answer is None:
            seat.answer = action if action in prompt.legal else self._default(prompt)
        return self._flush(now)

    def tick(self, now: float) -> list[Envelope]:
        """Handle expired time: go on without players who are not ready, and answer for those who did not."""
        if self.phase in ("seating", "popup") and now >= self._popup_until:
            for seat in self._seats:
                seat.ready = True
        for player, seat in enumerate(self._seats):
            if seat.prompt is not None and seat.deadline is not None and seat.deadline <= now:
                seat.answer = self._default(seat.prompt)
                seat.clock.bank_s = 0.0
                seat.gave_up = seat.presence == "away"
                _log.info("clock.expired", player=player, presence=seat.presence, action=str(seat.answer))
        return self._flush(now)

    def leave(self, player: int, now: float, *, for_good: bool = False) -> list[Envelope]:
        """A client has disconnected; with ``for_good`` it logged out, and the table does not wait for it."""
        seat = self._seats[player]
        was_here = seat.presence == "here"
        seat.presence = "away"
        seat.gave_up = seat.gave_up or for_good
        if was_here and not self.done:
            self._note_leaving(player)
        return self._flush(now)

    def log_in(self, player: int, now: float) -> list[Envelope]:
        """A disconnected client has reconnected; after its GOK it gets the current state."""
        seat = self._seats[player]
        if self.phase == "seating":
            self._come_back(player)
            self._out += [(player, message) for message in self._seating(player)]
        else:
            seat.presence = "resuming"
            messages = (*self._introduction(player), scores_for(self._state, player))
            self._out += [(player, message) for message in messages]
        return self._flush(now)

    def is_away(self, player: int) -> bool:
        """Whether a client is disconnected."""
        return self._seats[player].presence == "away"

    def replay(self, moves: Iterable[Move], now: float) -> Iterator[list[Envelope]]:
        """Play the moves of an interrupted game again, after `open`; `go_on_from` continues it.

        Clients who were disconnected are told everything, too, and are disconnected again at the end.

        Args:
            moves: as from `take_moves`.
            now: the time.

        Yields:
            The frames of each move.

        Raises:
            IllegalActionError: a move is not legal.
            StateMismatchError: a move has other results than it had.
        """
        away: set[int] = set()
        for move in moves:
            before = len(self.events)
            match move.presence:
                case PlayerLeft(player):
                    away.add(player)
                    self._note_leaving(player)
                case PlayerReturned(player):
                    away.discard(player)
                    self._note_return(player)
                case None if self.done:
                    raise StateMismatchError("the game goes on after its end")
                case None:
                    self._fresh = []
                    for player, action in move.answers:
                        self._seats[player].answer = action
                    self._advance(now)
            if tuple(self.events[before:]) != move.events:
                raise StateMismatchError(f"move {self.moves} of the game has other results than it had")
            for seat, bank_s in zip(self._seats, move.banks, strict=True):
                seat.clock.bank_s = bank_s
            self._fresh_moves = []
            yield self._take_out()
        for player in away:
            self._seats[player].presence = "away"

    def go_on_from(self, now: float) -> None:
        """Continue a copy that was made earlier: every open prompt is asked now."""
        self._popup_until = now + (self._clock.start_s if self.phase == "seating" else self._clock.popup_s)
        for seat in self._seats:
            if seat.prompt is not None:
                seat.prompt = msgspec.structs.replace(seat.prompt, asked_at=now)

    def take_questions(self) -> list[tuple[TablePrompt, np.void]]:
        """New prompts for the built-in players, each with that player's view."""
        fresh, self._fresh = self._fresh, []
        return [(prompt, clone(self._seats[prompt.player].view)) for prompt in fresh]

    def take_moves(self) -> list[Move]:
        """The moves since the last call."""
        fresh, self._fresh_moves = self._fresh_moves, []
        return fresh

    def record(self) -> GameRecord:
        """The record of the game."""
        infos = [seat.info for seat in self._seats]
        return GameRecord(
            game_id=self.game_id,
            game_type=self.game_type.number,
            lobby=self._lobby,
            names=rotated([info.name for info in infos], 0),
            sexes=rotated([info.sex for info in infos], 0),
            events=tuple(self.events),
            dice=tuple(self.dice),
        )

    # --- joining and reconnecting --------------------------------------------------------------------

    def _introduction(self, player: int) -> tuple[ServerMessage, ServerMessage]:
        infos = [seat.info for seat in self._seats]
        return (
            MatchFound(self.game_type.number, str(self._lobby), infos[player].resume_code),
            PlayerNames(
                names=rotated([info.name for info in infos], player),
                sexes=rotated([info.sex for info in infos], player),
            ),
        )

    def _seating(self, player: int) -> tuple[ServerMessage, ...]:
        log_id = "" if self.game_type.is_practice else self.game_id
        return (*self._introduction(player), GameBegins((0 - player) % 4, log_id))

    def _resume(self, player: int) -> None:
        if self.phase == "over":
            self._seats[player].presence = "here"
        else:
            self._come_back(player)
        self._seats[player].ready = True
        if self.phase in ("playing", "over"):
            self._out += [(player, message) for message in self._catch_up(player)]

    def _catch_up(self, player: int) -> Iterable[ServerMessage]:
        """The round as it was before the last draw, and the frames since then, including the game's end."""
        record = clone(self._before_draw)
        yield snapshot_for(record, player, self.dice[-1])
        told = [event for event in self._since_draw if not isinstance(event, EndRound | EndGame)]
        end = self._since_draw[-1]
        final = end if isinstance(end, EndGame) else None
        legal = offers_of(self.table.legal(player)) if final is None else 0
        for event in told:
            is_last = event is told[-1]
            if is_last and final is not None and not self.game_type.is_practice:
                yield standing_of(player, self.events, final, str(self._lobby), self.game_type.number)
            message = frame_of(
                event, record, player, offers=legal if is_last else 0, final=final if is_last else None
            )
            if message is not None:
                yield message
            apply(record, event)

    def _come_back(self, player: int) -> None:
        seat = self._seats[player]
        seat.presence, seat.gave_up = "here", False
        self._note_return(player)

    def _note_leaving(self, player: int) -> None:
        self._note_presence(PlayerLeft(player))
        self._tell_others(player, lambda viewer: PlayerGone((player - viewer) % 4))

    def _note_return(self, player: int) -> None:
        self._note_presence(PlayerReturned(player))
        name = self._seats[player].info.name
        self._tell_others(player, lambda viewer: PlayerBack((player - viewer) % 4, name))

    def _note_presence(self, event: PlayerLeft | PlayerReturned) -> None:
        self.events.append(event)
        self._note_move(presence=event)

    # --- progress of the game ------------------------------------------------------------------------

    def _flush(self, now: float) -> list[Envelope]:
        """Advance the table as far as possible, then return the frames to send."""
        while self._can_move():
            self._advance(now)
        return self._take_out()

    def _take_out(self) -> list[Envelope]:
        out, self._out = self._out, []
        return out

    def _advance(self, now: float) -> None:
        """Take the answers, or deal."""
        answers: dict[int, Action] = {}
        if self.phase == "playing":
            answers = self._step()
        else:
            self.phase = "playing"
        self._drain(now)
        self._note_move(answers=tuple(answers.items()))

    def _note_move(
        self,
        *,
        answers: tuple[tuple[int, Action], ...] = (),
        presence: PlayerLeft | PlayerReturned | None = None,
    ) -> None:
        self.moves += 1
        events = tuple(self.events[self._in_moves :])
        self._in_moves = len(self.events)
        banks = tuple(seat.clock.bank_s for seat in self._seats)
        self._fresh_moves.append(Move(answers, presence, banks, events))

    def _can_move(self) -> bool:
        if self.phase == "over":
            return False
        if self.phase == "playing":
            return all(seat.prompt is None or seat.answer is not None for seat in self._seats)
        # Between rounds the table does not wait for absent players; before the first round it does.
        return all(seat.ready or (self.phase == "popup" and not seat.listens) for seat in self._seats)

    def _step(self) -> dict[int, Action]:
        answers = {player: seat.answer for player, seat in enumerate(self._seats) if seat.answer is not None}
        for seat in self._seats:
            seat.prompt = seat.answer = None
        self._queue.extend(self.table.step(answers))
        return answers

    def _drain(self, now: float) -> None:
        """Send the queued events, up to the end of a round or the next prompt."""
        while self._queue:
            event = self._queue.popleft()
            self._happen(event)
            if isinstance(event, EndGame):
                self.phase = "over"
            elif isinstance(event, EndRound) and not isinstance(self._queue[0], EndGame):
                self.phase = "popup"
                self._popup_until = now + self._clock.popup_s
                for seat in self._seats:
                    seat.ready = not seat.info.is_client
                return
        if self.phase == "playing":
            self._ask(now)

    def _ask(self, now: float) -> None:
        for player in self.table.waiting():
            self._prompts += 1
            seat = self._seats[player]
            seat.prompt = TablePrompt(self._prompts, player, tuple(self.table.legal(player)), now)
            if not seat.info.is_client:
                self._fresh.append(seat.prompt)

    def _default(self, prompt: TablePrompt) -> Action:
        return default_action(prompt.legal, int(self._state["drawn"]))

    # --- frames for the clients ----------------------------------------------------------------------

    def _happen(self, event: GameEvent) -> None:
        """Record one event, and send it to all connected clients."""
        before = clone(self._state)
        if isinstance(event, Draw):
            self._before_draw, self._since_draw = before, []
        if not isinstance(event, StartGame | EndRound | EndGame):
            apply(self._state, event)
        self._since_draw.append(event)
        self.events.append(event)
        if isinstance(event, StartRound):
            self.dice.append((self._dice.randrange(6), self._dice.randrange(6)))
            for seat in self._seats:
                seat.furiten = False
                seat.clock.refill()
        asked = self.table.waiting() if not self._queue else []
        for player, seat in enumerate(self._seats):
            legal = self.table.legal(player) if player in asked else []
            if not seat.info.is_client:
                apply(seat.view, masked(event, player))
            else:
                self._out += [(player, m) for m in self._told(event, before, player, legal) if seat.listens]

    def _told(
        self, event: GameEvent, before: np.void, player: int, legal: Sequence[Action]
    ) -> Iterable[ServerMessage]:
        """The frames of one event for one client."""
        if isinstance(event, StartRound):
            yield deal_for(event, player, self.dice[-1])
            return
        if self._furiten_changes(event, player, legal):
            seat = self._seats[player]
            seat.furiten = not seat.furiten
            yield FuritenShown(seat.furiten)
        final = self._final_with(event)
        if final is not None and not self.game_type.is_practice:
            yield standing_of(player, self.events, final, str(self._lobby), self.game_type.number)
        message = frame_of(event, before, player, offers=offers_of(legal), final=final)
        if message is not None:
            yield message

    def _furiten_changes(self, event: GameEvent, player: int, legal: Sequence[Action]) -> bool:
        """Whether the seat must be told now that it is furiten, or no longer."""
        if isinstance(event, Win | DrawnRound | EndRound | EndGame | StartGame):
            return False
        own = not isinstance(event, DoraRevealed | StartRound) and event.player == player
        was, now = self._seats[player].furiten, is_furiten(self._state, player)
        if isinstance(event, Discard):
            if own:
                return was != now
            # A winning tile that cannot be claimed makes the player furiten as soon as it is discarded.
            waits = int(self._state["waits"][player]) >> (event.tile >> 2) & 1
            now = now or bool(waits and not any(action.kind is ActionKind.RON for action in legal))
        # A change caused by the player's own call is sent with the discard that follows.
        return now and not was and (not own or isinstance(event, Draw))

    def _final_with(self, event: GameEvent) -> EndGame | None:
        """The end of the game, if this result is the last."""
        if not isinstance(event, Win | DrawnRound) or len(self._queue) < 2:
            return None
        after, end = self._queue[0], self._queue[1]
        return end if isinstance(after, EndRound) and isinstance(end, EndGame) else None

    def _tell_others(self, player: int, make: Callable[[int], ServerMessage]) -> None:
        for viewer, seat in enumerate(self._seats):
            if viewer != player and seat.listens:
                self._out.append((viewer, make(viewer)))
