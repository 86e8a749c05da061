"""Our own seat's decisions in play: matched to those of a review, or shown alone."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from game.actions import CALLS, RIICHI, Action, ActionKind
from game.tiles import face_of
from policies.flow.decisions import Decision, Improvement, Step
from policies.heuristic.danger import danger_of
from policies.play.sampling import joint
from replays.record import DecisionRecord
from replays.review import schema
from replays.review.decisions import decision_of
from replays.review.judging import ORDER, STEPS, After, Opinion, ranked, with_tile
from replays.review.moments import Moment, action_text
from replays.review.notes import Notes
from replays.review.reasons import reasons

_BEFORE_DISCARD: Final = ("win", "nine_terminals", "kan", "riichi")
_CLAIMS: Final = (*CALLS, ActionKind.RON, ActionKind.PASS)


class LiveDecisions:
    """Returns each logged decision once.

    Args:
        decisions: from the log beside the record, in order.
        player: the reviewed player; decisions of other seats are ignored.
    """

    def __init__(self, decisions: Sequence[DecisionRecord], player: int) -> None:
        self._waiting: dict[tuple[int, int, int, bool], deque[DecisionRecord]] = defaultdict(deque)
        for each in decisions:
            if each.player == player and each.decision.step != "forced":
                self._waiting[each.round_index, each.honba, each.turn, _is_claim(each)].append(each)

    def of(self, moment: Moment, options: Iterable[Action]) -> schema.Live | None:
        """The logged decision at a moment, by its options as they are shown; None if the log has none.

        Within a turn the log may have decisions without effect, such as calls that another player took; the
        one whose options match those of the moment is used.
        """
        record = moment.record
        place = int(record["round_index"]), int(record["honba"]), int(record["discard_count"])
        claim = any(action.kind in _CLAIMS for action in moment.legal)
        queue = self._waiting[*place, claim]
        while queue:
            found = queue.popleft()
            if _covers(found, moment.legal):
                declared = moment.declared if found.decision.action == RIICHI else None
                after = queue.popleft() if declared and queue and _covers(queue[0], declared.legal) else None
                return _live(_Made(found, after, declared.legal if declared else ()), moment, options)
        return None


def steps_reached(decision: Decision) -> Sequence[Step]:
    """The steps that a decision in play reached; it has no information on the options of other steps."""
    if decision.step in _BEFORE_DISCARD:
        return ORDER[: ORDER.index(decision.step) + 1]
    return ORDER


class _Made(NamedTuple):
    """A decision in play: riichi and the discard after it count as one.

    Attributes:
        first: the logged decision.
        after: the logged discard after a riichi; None without one, and where only one discard was possible.
        declared: the legal discards after the riichi.
    """

    first: DecisionRecord
    after: DecisionRecord | None
    declared: Sequence[Action]

    @property
    def action(self) -> Action:
        """The action decided on; a riichi without its tile if the log does not tell it."""
        return self.with_tile(self.first.decision.action)

    def with_tile(self, action: Action) -> Action:
        """A riichi with the tile discarded after it."""
        if action != RIICHI:
            return action
        if self.after is not None:
            return Action(ActionKind.RIICHI, self.after.decision.action.tile)
        return Action(ActionKind.RIICHI, self.declared[0].tile) if len(self.declared) == 1 else action

    def chances(self) -> dict[Action, float]:
        """One distribution over the options of the steps that were reached."""
        decision = self.first.decision
        reached = steps_reached(decision)
        said = {
            each.action: each.probability for each in decision.options if STEPS[each.action.kind] in reached
        }
        found = joint(said)
        if self.after is not None:
            declared = found.pop(RIICHI)
            found |= {
                Action(ActionKind.RIICHI, each.action.tile): declared * each.probability
                for each in self.after.decision.options
            }
        elif RIICHI in found:
            found[self.with_tile(RIICHI)] = found.pop(RIICHI)
        return found


def _covers(logged: DecisionRecord, legal: Iterable[Action]) -> bool:
    return {_face(action) for action in legal} <= {_face(each.action) for each in logged.decision.options}


def _is_claim(each: DecisionRecord) -> bool:
    return any(option.action.kind in _CLAIMS for option in each.decision.options)


def _face(action: Action) -> tuple[int, int, tuple[int, ...]]:
    """An action without the copies of its tiles."""
    tile = face_of(action.tile) if action.tile >= 0 else -1
    return int(action.kind), tile, tuple(sorted(map(face_of, action.consumed)))


def _live(made: _Made, moment: Moment, options: Iterable[Action]) -> schema.Live:
    found, decision, improvement = made.first, made.first.decision, made.first.decision.improvement
    then = {action_text(action, moment.record): chance for action, chance in made.chances().items()}
    texts = [action_text(action, moment.record) for action in options]
    played = action_text(made.action, moment.record)
    live = schema.Live(
        time_ms=round(decision.latency_ms, 1),
        budget_ms=decision.budget_ms,
        source=decision.source,
        fallback=decision.fallback_reason,
        late=found.late,
        played=played if played in texts else None,
        probabilities=tuple(then.get(text) for text in texts),
    )
    if improvement is None:
        return live
    base = {each.action: each.probability for each in improvement.base_options}
    if base:
        before = _beside(base, made.chances(), moment)
        live = msgspec.structs.replace(
            live,
            base=tuple(before.get(text) for text in texts),
            adapted=tuple(then.get(text) if text in before else None for text in texts),
        )
    return msgspec.structs.replace(live, thought=_thought(improvement, moment, texts))


def _beside(
    base: Mapping[Action, float], then: Mapping[Action, float], moment: Moment
) -> dict[schema.ReviewAction, float]:
    """Probabilities of discards as shares of all options: together they have what the discards then had."""
    share = sum(then.get(action, 0.0) for action in base)
    return {action_text(action, moment.record): share * chance for action, chance in base.items()}


def _thought(
    improvement: Improvement, moment: Moment, texts: Sequence[schema.ReviewAction]
) -> schema.Thought:
    base = action_text(improvement.base, moment.record)
    values = {action_text(each.action, moment.record): each for each in improvement.values}
    searched = [
        schema.SearchedOption(ahead=round(value.expected, 3), doubt=round(value.doubt, 3), deals=value.deals)
        if (value := values.get(text)) is not None
        else None
        for text in texts
    ]
    return schema.Thought(
        way=improvement.way,
        base=base if base in texts else None,
        playouts=improvement.playouts,
        worth=improvement.worth,
        searched=tuple(searched) if values else None,
    )


# --- a decision in play, shown alone ----------------------------------------------------------------------


def played_decision(moment: Moment, made: DecisionRecord, notes: Notes) -> schema.ReviewDecision:
    """The policy's probabilities when it decided, with the same figures that a review shows.

    Args:
        moment: the decision.
        made: the logged decision; its options are those of the moment.
        notes: the notes of this game, requested in order.

    Returns:
        A decision that agrees with itself; its reasons compare it with the likeliest other option. Options of
        steps that the policy was not asked about are left out.
    """
    opinion = _opinion(made)
    moment = msgspec.structs.replace(moment, done=opinion.preferred)
    live = LiveDecisions([made], moment.player).of(moment, ranked(opinion))
    live = live and msgspec.structs.replace(live, played=None, probabilities=None)
    shown = decision_of(moment, opinion, notes=notes.of(moment, opinion), live=live)
    kept = [note for note in shown.notes if note.key != "riichi_choice" or "discard" in opinion.reached]
    options = tuple(option for option in shown.options if option.step in opinion.reached)
    return msgspec.structs.replace(
        shown, options=options, notes=(*_reasons(moment, opinion), *kept), position=None
    )


def _reasons(moment: Moment, opinion: Opinion) -> tuple[schema.Note, ...]:
    """What speaks for the choice, against the likeliest other option; by itself where a rule decided."""
    chances = opinion.options
    others = [action for action, chance in chances.items() if chance and not opinion.agrees(action)]
    second = max(others, key=chances.__getitem__, default=opinion.preferred)
    alone = second == opinion.preferred and opinion.step not in ("win", "nine_terminals")
    if alone or RIICHI in (opinion.preferred, second):
        return ()  # the policy was not asked: an older record
    _, ratio = opinion.parted(second)
    danger, after = danger_of(moment.record, moment.player, reads_melds=True), After(moment)
    return reasons(msgspec.structs.replace(moment, done=second), opinion.preferred, ratio, danger, after)


def _opinion(made: DecisionRecord) -> Opinion:
    decision = made.decision
    later = {each.action: each.probability for each in decision.later}
    riichi = {a: p for a, p in later.items() if a.kind is ActionKind.RIICHI and a != RIICHI}
    return Opinion(
        preferred=with_tile(decision.action, riichi),
        step=decision.step,
        source=decision.source,
        probabilities={each.action: later.get(each.action, each.probability) for each in decision.options},
        reached=frozenset(ORDER if later else steps_reached(decision)),
        riichi=riichi,
    )
