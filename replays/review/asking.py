"""Single decisions with the figures of a review: for a written position, or one of our own as it was made."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from game.actions import PASS, RIICHI, Action, ActionKind
from game.position import PlacedPosition, WrittenPosition
from game.tiles import mjai_text
from policies.heuristic.danger import Danger, danger_of
from replays.record import DecisionRecord
from replays.review import schema
from replays.review.judging import After, Opinion
from replays.review.live import LiveDecisions, steps_reached
from replays.review.moments import Moment
from replays.review.notes import Notes
from replays.review.reasons import reasons
from replays.review.report import Reviewer, decision_of, hand_of, ukeire_of
from replays.review.schema import PolicyName, ReviewDecision, ReviewHand, Ukeire


class PositionAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=False):
    """A position and what the policy would do; tiles in mjai's notation, probabilities as in a review.

    Attributes:
        schema: name and version of this form.
        program: the program that answered.
        policy: the policy asked.
        position: as it was stated.
        turn: the player's discards so far, plus one.
        tiles_left: tiles left to draw.
        indicators: the dora indicators, with one that was not stated.
        scores: points by seat, starting with the player.
        sticks: riichi sticks on the table.
        hand: shanten, waits and furiten.
        ukeire: what the hand accepts while the player waits; None on the player's turn.
        decision: the options, with ``done`` the policy's choice; None if there is nothing to decide.
    """

    schema: Literal["suzaku-ask/2"] = "suzaku-ask/2"
    program: str
    policy: PolicyName
    position: WrittenPosition
    turn: Annotated[int, msgspec.Meta(ge=1)]
    tiles_left: int
    indicators: tuple[str, ...]
    scores: tuple[int, int, int, int]
    sticks: int
    hand: ReviewHand
    ukeire: Ukeire | None
    decision: ReviewDecision | None


def answer(reviewer: Reviewer, position: WrittenPosition, placed: PlacedPosition) -> PositionAnswer:
    """Ask a policy about a position.

    Args:
        reviewer: asks its policy.
        position: as stated.
        placed: the position on the table.

    Raises:
        ModelError: the policy gives no usable answer.
    """
    observation = placed.observation
    record, player = observation.record, observation.player
    moment = Moment(record, player, observation.legal, observation.length, round=0, event=0, done=PASS)
    decision = _decision(reviewer, moment, placed) if observation.legal else None
    shape = After(record, player, (PASS,)).of(PASS) if record["hand_size"][player] % 3 == 1 else None
    first, second, third, fourth = (int(record["scores"][(player + seat) % 4]) for seat in range(4))
    return PositionAnswer(
        program=reviewer.program,
        policy=reviewer.policy,
        position=position,
        turn=placed.turn,
        tiles_left=int(record["wall_left"]),
        indicators=tuple(mjai_text(int(tile)) for tile in record["indicators"] if tile >= 0),
        scores=(first, second, third, fourth),
        sticks=int(record["riichi_sticks"]),
        hand=decision.hand if decision else hand_of(moment, player, ()),
        ukeire=ukeire_of(shape) if shape else None,
        decision=decision,
    )


def _decision(reviewer: Reviewer, moment: Moment, placed: PlacedPosition) -> ReviewDecision:
    chosen = msgspec.structs.replace(moment, done=reviewer.preferred(moment))
    (decision,) = reviewer.decisions([chosen], moment.player, moment.length)
    return msgspec.structs.replace(decision, turn=placed.turn, position=None)


def played_decision(moment: Moment, made: DecisionRecord, notes: Notes) -> schema.ReviewDecision:
    """The policy's probabilities when it decided, with the same figures that a review shows.

    Args:
        moment: the decision; its ``done`` is what was decided.
        made: the logged decision; its options are those of the moment.
        notes: the notes of this game, requested in order.

    Returns:
        A decision that agrees with itself; its reasons compare it with the likeliest other option. Options of
        steps that the flow did not reach are left out, because the policy was not asked about them.
    """
    opinion, player = _opinion(made), moment.player
    danger = danger_of(moment.record, player, reads_melds=True)
    shown = decision_of(player, moment, opinion, danger, None, notes, LiveDecisions([made], player))
    live = shown.live and msgspec.structs.replace(shown.live, played=None, probabilities=None)
    kept = [note for note in shown.notes if note.key != "riichi_choice" or "discard" in opinion.reached]
    options = tuple(option for option in shown.options if option.step in opinion.reached)
    why = _reasons(moment, opinion, danger)
    return msgspec.structs.replace(shown, options=options, notes=(*why, *kept), live=live, position=None)


def _reasons(moment: Moment, opinion: Opinion, danger: Danger) -> tuple[schema.Note, ...]:
    """What speaks for the choice, against the likeliest of the other options."""
    chances = opinion.options
    others = [action for action in chances if not opinion.agrees(action)]
    if not others:
        return ()
    second = max(others, key=chances.__getitem__)
    _, ratio = opinion.parted(second)
    after = After(moment.record, moment.player, moment.legal)
    better, worse = _riichi_placed(moment, after, opinion.preferred, second)
    return reasons(msgspec.structs.replace(moment, done=worse), better, ratio, danger, after)


def _riichi_placed(moment: Moment, after: After, better: Action, worse: Action) -> tuple[Action, Action]:
    """The two options, a riichi with a tile: that of the other option if possible, else of the widest wait.

    When a riichi is decided on, its discard has not been.
    """
    declared = moment.declared
    if declared is None or RIICHI not in (better, worse):
        return better, worse
    other = worse if better == RIICHI else better
    tile = next((each.tile for each in declared.legal if each == other), -1)
    if tile < 0:
        tile = max(declared.legal, key=lambda each: _tiles_accepted(after, each)).tile
    riichi, silent = Action(ActionKind.RIICHI, tile), Action(ActionKind.DISCARD, tile)
    return (riichi, silent) if better == RIICHI else (better, riichi)


def _tiles_accepted(after: After, discard: Action) -> int:
    shape = after.of(discard)
    return shape.copies if shape else 0


def _opinion(made: DecisionRecord) -> Opinion:
    decision = made.decision
    return Opinion(
        preferred=decision.action,
        step=decision.step,
        source=decision.source,
        probabilities={option.action: option.probability for option in decision.options},
        reached=frozenset(steps_reached(decision)),
    )
