"""The bot as an mjai engine: takes the messages sent to its seat, returns its actions.

Decisions use our own table state, rules and decision flow, as in live play; an arena's lists of possible
actions are ignored. `bot.mjai.pipe` connects the engine to stdin and stdout.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Final

import msgspec
import numpy as np
import structlog

from game.actions import Action, ActionKind
from game.events import Riichi
from game.observation import Observation
from game.rules import legal_actions
from game.scoring.settlement import START_SCORE, GameLength
from game.state import declared
from game.tiles import TILES, mjai_text
from kit.errors import ReplayFormatError
from policies.flow.slots import Policy
from policies.heuristic.player import HeuristicPolicy
from policies.play.decide import decide
from replays.mjai.lines import Message
from replays.mjai.meta import write_meta
from replays.mjai.reader import SILENT, MjaiReader
from replays.mjai.seat import NONE, write_action
from replays.record import is_said
from replays.review.moments import ASIDES

_NO_PLAYER: Final = -1
_JOIN: Final = {"type": "join", "name": "Suzaku", "room": "default"}
_START_SCORES: Final = (START_SCORE,) * 4
"""Used until a message states the scores; the original mjai sends them on every change, not in the deal."""
_FACES: Final = frozenset(mjai_text(tile) for tile in range(TILES))
_REASON: Final = 200
"""Characters of an error that are logged; input can be arbitrarily long."""

log = structlog.get_logger(__name__)


class EngineSettings(msgspec.Struct, frozen=True):
    """How an engine plays.

    Attributes:
        length: length of the games; no message states it.
        player: our number, 0 to 3, if ``start_game`` has no ``id``; None if it always has one.
        failures: number of failed decisions after which the rules play the rest of the game.
        riichi_at_once: send riichi and its discard in one answer.
        meta: add probabilities, shanten and the legal actions to each answer (`replays.mjai.meta`).
    """

    length: GameLength = "hanchan"
    player: int | None = None
    failures: int = 3
    riichi_at_once: bool = False
    meta: bool = False


class _RoundState(Enum):
    """State of the round."""

    NONE = "none"
    FOLLOWED = "followed"
    LOST = "lost"  # a message did not fit, so the legal actions are no longer known


class MjaiEngine:
    """One seat, in one game after another.

    Args:
        policy: makes the decisions.
        settings: settings of the engine.
    """

    def __init__(self, policy: Policy, settings: EngineSettings | None = None) -> None:
        self._settings = settings or EngineSettings()
        self._policy = policy
        self._faults = 0
        self._reader = MjaiReader()
        self._player = _NO_PLAYER if self._settings.player is None else self._settings.player
        self._round = _RoundState.NONE
        self._asked = False
        self._scores: object = _START_SCORES
        self.greeted = False
        """Whether a server said hello: that of the first mjai, which waits for an answer to every line."""

    def receive(self, messages: Sequence[object]) -> list[Message]:
        """Process messages, and decide if our seat has a choice. Never raises.

        Messages that cannot be understood are logged. After an event that does not fit the round, the state
        of the round is lost: until the next deal the engine only discards the tile it draws.

        Args:
            messages: JSON values as received.

        Returns:
            The answer: one action; ``none`` for a pass or after an invalid message; riichi with its discard
            if ``riichi_at_once``; ``join`` to a server's ``hello``; empty if there was no choice.
        """
        if messages and isinstance(messages[0], Mapping) and messages[0].get("type") == "hello":
            self.greeted = True
            return [dict(_JOIN)]
        self._asked = False
        understood = True
        for message in messages:
            understood = self._understands(message) and understood
        answer = self._answer() if self._asked else []
        if not answer and not understood:
            return [dict(NONE)]
        if not answer and self._round is _RoundState.LOST and messages:
            return self._reject(messages[-1])
        return answer

    def _understands(self, message: object) -> bool:
        if not isinstance(message, Mapping):  # if this was an event, the next one will not fit
            log.error(
                "engine.misunderstood", reason=f"expected a JSON object, found {type(message).__name__}"
            )
            return False
        try:
            self._hear(message)
        except Exception as error:  # decision fallback: on any input, go on with the next round
            trace = None if isinstance(error, ReplayFormatError) else error
            log.exception("engine.misunderstood", reason=str(error)[:_REASON], exc_info=trace)
            self._lose()
            return False
        return True

    def _lose(self) -> None:
        self._asked = False
        if self._round is _RoundState.FOLLOWED:
            self._round = _RoundState.LOST

    def _hear(self, message: Mapping[str, Any]) -> None:
        if not MjaiReader.knows(message):
            log.warning("engine.ignored", type=str(message.get("type"))[:40])
            return
        kind = message["type"]
        if is_said(message.get("scores")):
            self._scores = message["scores"]
        if kind in _HEARD:
            _HEARD[kind](self, message)
        elif self._round is _RoundState.FOLLOWED:
            self._follow(message)
        elif self._round is _RoundState.NONE and kind not in SILENT:
            raise ReplayFormatError(f"{kind} outside a round")

    # --- incoming messages ---

    def _start_game(self, message: Mapping[str, Any]) -> None:
        self._round = _RoundState.NONE
        self._faults = 0
        self._scores = message.get("scores") or _START_SCORES
        player: Any = message.get("id")
        player = self._settings.player if player is None else player
        if player not in range(4) or isinstance(player, bool):
            self._player = _NO_PLAYER
            raise ReplayFormatError("start_game without an id from 0 to 3; use --seat to set the seat")
        self._player = int(player)

    def _start_round(self, message: Mapping[str, Any]) -> None:
        self._round = _RoundState.LOST
        self._asked = False
        self._reader = MjaiReader()  # the deal states scores and sticks, so the last round is not needed
        self._reader.read({**message, "scores": self._scores})
        if self._player == _NO_PLAYER:
            raise ReplayFormatError("start_kyoku before a start_game with the id of our seat")
        if not self._reader.state["hand_known"][self._player]:
            raise ReplayFormatError(f"start_kyoku does not show the hand of player {self._player}, our seat")
        self._round = _RoundState.FOLLOWED

    def _end_round(self, _: Mapping[str, Any]) -> None:
        self._round = _RoundState.NONE
        self._asked = False

    def _follow(self, message: Mapping[str, Any]) -> None:
        for event in self._reader.read(message):
            if isinstance(event, Riichi) and event.player == self._player and self._settings.riichi_at_once:
                self._asked = False  # the discard was sent with the riichi
            elif not isinstance(event, ASIDES):
                self._asked = True

    # --- answers ---

    def _answer(self) -> list[Message]:
        state = self._reader.state
        try:
            decided = self._decide(state)
            if decided is None:
                return []
            action, message = decided
            said = [message]
            if action.kind is ActionKind.RIICHI and self._settings.riichi_at_once:
                said.append(self._riichi_discard(state))
        except Exception as error:  # decision fallback: the arena waits for an answer
            log.exception("engine.failed", reason=str(error))
            self._lose()
            return [dict(NONE)]
        return said

    def _decide(self, state: np.void) -> tuple[Action, Message] | None:
        """The decision and its message; None if there is no choice."""
        legal = legal_actions(state, self._player)
        if not legal:
            return None
        observation = Observation(state, self._player, tuple(legal), self._settings.length)
        failed = self._faults >= self._settings.failures
        decision = decide(observation, HeuristicPolicy() if failed else self._policy)
        self._faults += decision.source == "fallback"
        log.info(
            "decision.made",
            round=int(state["round_index"]),
            turn=int(state["discard_count"]),
            seat=self._player,
            action=str(decision.action),
            source=decision.source,
            probability=round(decision.probability, 4),
            latency_ms=round(decision.latency_ms, 2),
        )
        message = write_action(decision.action, state, self._player)
        if self._settings.meta:
            message["meta"] = write_meta(decision, observation)
        return decision.action, message

    def _riichi_discard(self, state: np.void) -> Message:
        decided = self._decide(declared(state, self._player))
        assert decided is not None, "riichi leaves a discard"
        return decided[1]

    def _reject(self, message: object) -> list[Message]:
        """In a lost round, discard the drawn tile: always legal, and better than no answer."""
        if not isinstance(message, Mapping) or message.get("type") != "tsumo":
            return []
        pai = message.get("pai")
        if message.get("actor") != self._player or not isinstance(pai, str) or pai not in _FACES:
            return []
        return [{"type": "dahai", "actor": self._player, "pai": pai, "tsumogiri": True}]


_HEARD: Final[dict[str, Callable[[MjaiEngine, Mapping[str, Any]], None]]] = {
    "start_game": MjaiEngine._start_game,
    "start_kyoku": MjaiEngine._start_round,
    "hora": MjaiEngine._end_round,
    "ryukyoku": MjaiEngine._end_round,
    "end_kyoku": MjaiEngine._end_round,
    "end_game": MjaiEngine._end_round,
}
"""Messages at the start and end of rounds and games; end messages vary by arena and skip the reader."""
