"""External engines as advisers of reviews: their choices at a player's decisions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from game.actions import PASS, RIICHI, Action, ActionKind
from game.events import GameEvent, StartGame, StartRound
from game.rules import legal_actions
from game.scoring.settlement import GameLength
from game.state import apply, clone, new_round
from game.tiles import face_of
from kit.errors import ConfigError, ModelError
from learning.selfplay.engines import (
    Dialect,
    EngineAnswer,
    EngineChooser,
    ReplayedTable,
    ReplayRequest,
    check_engine,
    engine_of,
)
from policies.play.rollout import Times
from replays.mjai.lines import render
from replays.mjai.meta import read_chances
from replays.review.judging import ORDER, STEPS, Opinion
from replays.review.moments import ASIDES, Moment


class EngineAdviser:
    """Asks an engine about the decisions of recorded games; see `replays.review.judging.Adviser`.

    The game is sent to the engine as it was played, and it answers wherever the player had a choice.

    Args:
        text: the engine, as `learning.selfplay.engines.engine_of` parses it.

    Raises:
        ConfigError: the engine cannot be started here, or its protocol does not tell answers apart.
    """

    def __init__(self, text: str) -> None:
        engine = engine_of(text)
        assert engine is not None, "an engine's text"
        if engine.dialect is Dialect.ASKED:
            raise ConfigError(
                f"{text!r}: a review needs an engine that answers every line; use {Dialect.ARRAYS}: or "
                f"{Dialect.LINES}:"
            )
        check_engine(engine)
        self.name = engine.name
        self.identity = hashlib.sha256(text.encode()).hexdigest()
        self._engine = engine

    def opinions(
        self, moments: Sequence[Moment], events: Sequence[GameEvent], player: int, length: GameLength
    ) -> list[Opinion]:
        """The engine's view of the decisions.

        Raises:
            ModelError: a decision is not part of the game.
            EngineUnusable: the engine never answers.
        """
        answers = self._answers(events, player, length)
        try:
            return [_opinion(moment, answers) for moment in moments]
        except KeyError:
            raise ModelError("an engine can be asked only about decisions of a whole game") from None

    def _answers(
        self, events: Sequence[GameEvent], player: int, length: GameLength
    ) -> dict[tuple[int, int], EngineAnswer]:
        """The answers by round and last message before the decision, as in `Moment`."""
        chooser, times = EngineChooser(self._engine), Times(float)
        table, state = ReplayedTable(), new_round()
        found: dict[tuple[int, int], EngineAnswer] = {}
        number = last = -1
        try:
            if not events or not isinstance(events[0], StartGame):
                table.events.append(StartGame())
            for event in events:
                table.events.append(event)
                apply(state, event)
                number, last = (number + 1, -1) if isinstance(event, StartRound) else (number, last)
                last += render(event) is not None
                legal = tuple(legal_actions(state, player))
                if len(legal) > 1 and not isinstance(event, ASIDES):
                    request = ReplayRequest(clone(state), player, legal, length, number=0, table=table)
                    (found[number, last],) = chooser.ask([request], times)
            table.done = True
        finally:
            chooser.close(times)
        return found


def _opinion(moment: Moment, answers: Mapping[tuple[int, int], EngineAnswer]) -> Opinion:
    answer = answers[moment.round, moment.event]
    legal, choice = moment.legal, answer.choice
    chosen = _listed(choice.action, legal)
    chances = read_chances(None if choice.fault else answer.message, legal, chosen)
    after = answers.get((moment.round, moment.event + 1)) if moment.done.kind is ActionKind.RIICHI else None
    riichi = _after_riichi(moment, chances, after)
    return Opinion(
        preferred=max(riichi, key=riichi.__getitem__) if chosen == RIICHI else chosen,
        step=STEPS[chosen.kind],
        source="rule" if choice.fault else "model",
        probabilities=chances,
        reached=frozenset(ORDER),
        riichi=riichi,
    )


def _after_riichi(
    moment: Moment, chances: Mapping[Action, float], answer: EngineAnswer | None
) -> dict[Action, float]:
    """The discard after a riichi: as answered if the player declared it, else as likely as without it."""
    if moment.declared is None:
        return {}
    legal = moment.declared.legal
    if answer is not None:
        chosen = _listed(answer.choice.action, legal)
        shares = read_chances(None if answer.choice.fault else answer.message, legal, chosen)
    else:
        shares = {action: chances[action] for action in legal}
    total = sum(shares.values())
    return {
        Action(ActionKind.RIICHI, action.tile): chance / total if total > 0.0 else 1.0 / len(legal)
        for action, chance in shares.items()
    }


def _listed(action: Action, legal: Sequence[Action]) -> Action:
    """The matching legal action: an equal tile for a discard, a pass for a call that is not legal now."""
    if action in legal:
        return action
    if action.kind is ActionKind.DISCARD:
        alike = (
            each for each in legal if each.kind is action.kind and face_of(each.tile) == face_of(action.tile)
        )
        return next(alike, legal[0])
    return PASS if PASS in legal else legal[0]
