"""Shows one of our own decisions as it was made, in the form of a review, but without a verdict."""

from __future__ import annotations

import msgspec

from game.settlement import GameLength
from policies.heuristic.outlook import danger_of, look
from replays.record import DecisionRecord
from replays.review import schema
from replays.review.judging import Opinion
from replays.review.live import LiveDecisions, steps_reached
from replays.review.moments import Moment
from replays.review.notes import Notes
from replays.review.report import decision_of


def played_decision(
    moment: Moment, player: int, length: GameLength, made: DecisionRecord, notes: Notes
) -> schema.ReviewDecision:
    """The policy's probabilities when it decided, with the same figures that a review shows.

    Args:
        moment: the decision; its ``done`` is what was decided.
        player: who decides, absolute.
        length: length of the game.
        made: the logged decision; its options are those of the moment.
        notes: the notes of this game, requested in order.

    Returns:
        A decision that agrees with itself, without losses. Options of steps that the flow did not reach are
        left out, because the policy was not asked about them.
    """
    opinion = _opinion(made)
    danger = danger_of(moment.record, player, look(moment.record, player, length, reads_melds=True))
    shown = decision_of(player, moment, opinion, danger, {}, None, notes, LiveDecisions([made], player))
    live = shown.live and msgspec.structs.replace(shown.live, played=None, probabilities=None)
    kept = tuple(note for note in shown.notes if note.key != "riichi_choice" or "discard" in opinion.reached)
    options = tuple(option for option in shown.options if option.reached)
    return msgspec.structs.replace(shown, options=options, notes=kept, live=live)


def _opinion(made: DecisionRecord) -> Opinion:
    decision = made.decision
    return Opinion(
        preferred=decision.action,
        step=decision.step,
        source=decision.source,
        probabilities={option.action: option.probability for option in decision.options},
        reached=frozenset(steps_reached(decision)),
    )
