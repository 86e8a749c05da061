"""One decision of a review: what it shows, from a policy's opinion and the position alone."""

from __future__ import annotations

from collections.abc import Sequence

from game.actions import DISCARDS
from game.layout import PHASE_ROB
from game.observation import Observation
from game.position import WrittenPosition
from game.position.writing import written
from game.shanten import shanten
from game.state import is_furiten, unseen34
from game.tiles import KINDS
from policies.heuristic.danger import Danger, danger_of
from replays.review import schema
from replays.review.candidate_hands import HandReading
from replays.review.grading import category_of
from replays.review.judging import STEPS, After, Opinion, Shape, ranked
from replays.review.moments import Moment, action_text
from replays.review.notes import kinds_of
from replays.review.prices import Prices, unlikeness_of
from replays.review.reasons import reasons


def decision_of(
    moment: Moment,
    opinion: Opinion,
    other: Opinion | None = None,
    reading: HandReading | None = None,
    notes: Sequence[schema.Note] = (),
    live: schema.Live | None = None,
    candidates: tuple[schema.CandidateHands, ...] = (),
    prices: Prices | None = None,
) -> schema.ReviewDecision:
    """A decision with its options, and the reasons if it is an error.

    Args:
        moment: the decision.
        opinion: the policy's view of it.
        other: the other policy's, if there is one.
        reading: of the opponents' hands, if there is a model.
        notes: its notes besides the reasons.
        live: what happened in play.
        candidates: hands that the opponents may hold, if they were asked for.
        prices: of errors by the policy, if they are known.
    """
    record, done = moment.record, moment.done
    danger, after = danger_of(record, moment.player, reads_melds=True), After(moment)
    options = _options(moment, opinion, danger, other, reading, after)
    agrees = opinion.agrees(done)
    judged, ratio = opinion.parted(done)
    category: schema.Category = "fine" if agrees else category_of(ratio, judged)
    why = () if category == "fine" else reasons(moment, opinion.preferred, ratio, danger, after)
    unlikeness = None if category == "fine" else unlikeness_of(moment, opinion)
    return schema.ReviewDecision(
        round=moment.round,
        event=moment.event,
        turn=int(record["river_size"][moment.player]) + 1,
        step=opinion.step,
        judged=judged,
        source="rule" if opinion.source == "rule" else "model",
        hand=hand_of(moment, options),
        opponents=_opponents(moment.player, danger, reading),
        done=action_text(done, record),
        preferred=action_text(opinion.preferred, record),
        options=options,
        agrees=agrees,
        ratio=round(ratio, 6),
        category=category,
        price=prices.price(unlikeness) if prices and unlikeness else None,
        notes=(*why, *notes),
        other=action_text(other.preferred, record) if other else None,
        other_agrees=other.agrees(done) if other else None,
        other_ratio=round(other.parted(done)[1], 6) if other else None,
        live=live,
        candidates=candidates,
        position=_position(moment),
    )


def _position(moment: Moment) -> WrittenPosition | None:
    """The position as `suzaku ask` takes it; None directly after a kan, which cannot be written."""
    record = moment.record
    if record["phase"] == PHASE_ROB or record["rinshan"]:
        return None
    return written(record, moment.player, moment.length)


def _options(
    moment: Moment,
    opinion: Opinion,
    danger: Danger,
    other: Opinion | None,
    reading: HandReading | None,
    after: After,
) -> tuple[schema.ReviewOption, ...]:
    record = moment.record
    deal_in = danger.deal_in
    beside = other.options if other else {}
    rows = []
    for action, probability in ranked(opinion).items():
        step = STEPS[action.kind]
        kind = action.tile >> 2
        is_discard = action.kind in DISCARDS and action.tile >= 0
        shape = after.of(action)
        first, second, third = (round(float(chance), 5) for chance in deal_in[:, kind])
        rows.append(
            schema.ReviewOption(
                action=action_text(action, record),
                probability=round(probability, 6),
                step=step,
                shanten=shape.shanten if shape else None,
                ukeire=ukeire_of(shape) if shape else None,
                discard=shape.discard or None if shape else None,
                danger=(first, second, third) if is_discard else None,
                learned=reading.danger_of(kind, danger.points) if reading and is_discard else None,
                other=round(beside[action], 6) if other else None,
            )
        )
    return tuple(rows)


def ukeire_of(shape: Shape) -> schema.Ukeire:
    """The tiles that a hand accepts."""
    return schema.Ukeire(kinds=shape.mask.bit_count(), tiles=shape.copies, which=tuple(kinds_of(shape.mask)))


def hand_of(moment: Observation, options: Sequence[schema.ReviewOption]) -> schema.ReviewHand:
    """The hand at a moment: as it is, or after the best of the discards."""
    record, player = moment.record, moment.player
    discards = [option.shanten for option in options if option.action.kind == "discard"]
    distances = [distance for distance in discards if distance is not None]
    own = int(shanten(record["hand34"][player], int(record["meld_count"][player])))
    waits = int(record["waits"][player])
    unseen = unseen34(record, player)
    live = sum(1 << kind for kind in range(KINDS) if waits >> kind & 1 and unseen[kind] > 0)
    return schema.ReviewHand(
        shanten=own if own < 0 or not distances else min(distances),
        waits=tuple(kinds_of(live)),
        waits_gone=tuple(kinds_of(waits & ~live)),
        furiten=is_furiten(record, player),
        riichi=bool(record["riichi"][player]),
        is_open=bool(record["is_open"][player]),
    )


def _opponents(
    player: int, danger: Danger, reading: HandReading | None
) -> tuple[schema.Opponent, schema.Opponent, schema.Opponent]:
    first, second, third = (
        schema.Opponent(
            player=(player + step) % 4,
            tenpai=round(float(danger.tenpai[step - 1]), 4),
            points=round(float(danger.points[step - 1])),
            shanten=reading.shanten_of(step - 1) if reading else None,
        )
        for step in (1, 2, 3)
    )
    return first, second, third
