"""Reviews one game from one seat, by combining the results of the other modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import msgspec
import numpy as np

from game.actions import Action, ActionKind
from game.events import Four, GameEvent, StartRound
from game.layout import PHASE_ROB
from game.position import WrittenPosition
from game.position.writing import written
from game.scoring.settlement import GameLength, placements
from game.shanten import shanten
from game.state import is_furiten, unseen34
from game.tiles import KINDS, UNSEEN
from kit.errors import ReplayError
from policies.heuristic.danger import Danger, danger_of
from policies.play.named import Named
from policies.reward import Predictor
from replays.record import DecisionRecord, GameRecord, started
from replays.review import grading, schema
from replays.review.candidate_hands import (
    FindCandidates,
    HandReading,
    hand_readings,
    learned_danger,
    shanten_chances,
)
from replays.review.caveats import caveats_of, check_rules
from replays.review.judging import STEPS, Adviser, After, Opinion, Shape, opinions, ranked
from replays.review.live import LiveDecisions
from replays.review.moments import FollowedGame, Moment, action_text, follow
from replays.review.notes import Notes, kinds_of
from replays.review.reasons import reasons
from replays.review.rounds import rounds_of
from replays.tally import tally

if TYPE_CHECKING:
    from policies.hands.direct import DirectModel

Source: TypeAlias = Literal["mjlog", "tenhou6", "link", "mjai", "kobalab"]

_HANCHAN: Final = 8
_LONGEST_NAME: Final = 60


class Reviewer:
    """Reviews games with one policy.

    Args:
        program: its name and version.
        policy: the policy or adviser to ask.
        predictor: predicts the rewards of the rounds; without it they are unknown.
        other: another one to compare with.
        hands: describes the opponents' hands; without it danger is by rule alone.
    """

    def __init__(
        self,
        program: str,
        policy: Named | Adviser,
        predictor: Predictor | None,
        other: Named | Adviser | None = None,
        hands: DirectModel | None = None,
        candidates: FindCandidates | None = None,
    ) -> None:
        self.policy = _policy_name(policy)
        self.program = program
        self._policy = policy
        self._predictor = predictor
        self._other = other
        self._hands = hands
        self._candidates = candidates

    def review(
        self,
        record: GameRecord,
        player: int,
        *,
        source: Source = "mjlog",
        beside: int | None = None,
        anonymous: bool = False,
        all_seats: bool = False,
    ) -> schema.Review:
        """Review a game.

        Args:
            record: the game; if it has decisions of this player, they describe what happened in play.
            player: whose decisions to review, absolute.
            source: the format the record was in.
            beside: another player whose figures are shown for comparison.
            anonymous: leave out names, id and date.
            all_seats: review the other players as well, as far as the record shows their hands.

        Raises:
            ReplayFormatError: the events do not form a game.
            ReplayError: the game has other rules, or does not show the player's hand.
            ModelError: the policy gives no usable answer.
        """
        check_player(record, player)
        if beside is not None:
            check_player(record, beside)
        length = length_of(record.game_type)
        known = known_hands(record)
        others = [seat for seat in range(4) if all_seats and seat != player and known[seat]]
        rounds, decisions, summary = self._of_seat(record, player, beside, anonymous=anonymous)
        other = self._other
        return schema.Review(
            program=self.program,
            game=_game(record, length, source, anonymous=anonymous),
            player=player,
            policy=self.policy,
            other=_policy_name(other) if other else None,
            thresholds=grading.THRESHOLDS,
            rounds=rounds,
            decisions=decisions,
            summary=summary,
            seats=tuple(self._seat_review(record, seat, anonymous=anonymous) for seat in others),
        )

    def _seat_review(self, record: GameRecord, player: int, *, anonymous: bool) -> schema.SeatReview:
        _, decisions, summary = self._of_seat(record, player, None, anonymous=anonymous)
        return schema.SeatReview(player=player, decisions=decisions, summary=summary)

    def _of_seat(
        self, record: GameRecord, player: int, beside: int | None, *, anonymous: bool
    ) -> tuple[tuple[schema.ReviewRound, ...], tuple[schema.ReviewDecision, ...], schema.ReviewSummary]:
        """The rounds, with the places of the player's decisions, these decisions, and their figures."""
        length = length_of(record.game_type)
        found = follow(record.events, player, length)
        decisions = self.decisions(found.moments, player, length, events=record.events, live=record.decisions)
        rounds = rounds_of(
            found.rounds, record.ending, length, self._predictor, [moment.round for moment in found.moments]
        )
        summary = self._summary(record, player, found, decisions, rounds, beside, anonymous=anonymous)
        return rounds, decisions, summary

    def preferred(self, moment: Moment) -> Action:
        """The policy's choice.

        Raises:
            ModelError: the policy gives no usable answer.
        """
        return _asked(self._policy, [moment], (), moment.player, moment.length)[0].preferred

    def decisions(
        self,
        moments: Sequence[Moment],
        player: int,
        length: GameLength,
        *,
        events: Sequence[GameEvent] = (),
        live: Sequence[DecisionRecord] = (),
    ) -> tuple[schema.ReviewDecision, ...]:
        """Judge decisions.

        Args:
            moments: the decisions of one player in one game, in order.
            player: the player, absolute.
            length: length of the game.
            events: of the whole game, for an adviser.
            live: what happened in play.

        Raises:
            ModelError: the policy gives no usable answer.
        """
        thought = _asked(self._policy, moments, events, player, length)
        others: Sequence[Opinion | None] = [None] * len(moments)
        if self._other is not None:
            others = _asked(self._other, moments, events, player, length)
        dangers = [danger_of(moment.record, player, reads_melds=True) for moment in moments]
        readings = hand_readings(moments, player, self._hands)
        notes = Notes(player, length)
        played = LiveDecisions(live, player)
        made = tuple(
            decision_of(player, moment, opinion, danger, other, notes, played, reading)
            for moment, opinion, danger, other, reading in zip(
                moments, thought, dangers, others, readings, strict=True
            )
        )
        if self._candidates is None or not moments:
            return made
        hands = self._candidates(np.array([moment.record for moment in moments]), player)
        return tuple(
            msgspec.structs.replace(one, candidates=each) for one, each in zip(made, hands, strict=True)
        )

    def _summary(
        self,
        record: GameRecord,
        player: int,
        found: FollowedGame,
        decisions: Sequence[schema.ReviewDecision],
        rounds: Sequence[schema.ReviewRound],
        beside: int | None,
        *,
        anonymous: bool,
    ) -> schema.ReviewSummary:
        tallies, count = tally(record.events)
        comparison = None
        if self._other is not None:
            comparison = self._with_policy(_shown(self._other.name), decisions)
        elif beside is not None:
            length = length_of(record.game_type)
            moments = follow(record.events, beside, length).moments
            others = self.decisions(moments, beside, length, events=record.events)
            theirs = grading.figures(others)
            comparison = schema.Comparison(
                name="" if anonymous else _shown(record.names[beside]),
                player=beside,
                agreement=theirs.agreement,
                figures=theirs,
                rates=grading.rates_of(tallies[beside], count),
            )
        return schema.ReviewSummary(
            **grading.fields(grading.figures(decisions)),
            rating_definition=grading.RATING,
            worst=grading.worst(decisions),
            steps=grading.by_step(decisions),
            rounds=tuple(_round_figures(each, decisions, player) for each in rounds),
            rates=grading.rates_of(tallies[player], count),
            hidden=found.hidden,
            comparison=comparison,
        )

    def _with_policy(self, name: str, decisions: Sequence[schema.ReviewDecision]) -> schema.Comparison:
        count = len(decisions)
        alike = sum(bool(each.other_agrees) for each in decisions)
        both = sum(_alike(each.preferred, each.other) for each in decisions)
        ratios = [each.other_ratio or 0.0 for each in decisions]
        return schema.Comparison(
            name=name,
            player=None,
            agreement=round(alike / count, 4) if count else None,
            of_policies=round(both / count, 4) if count else None,
            rating=round(100 * sum(ratios) / count, 2) if count else None,
        )


def _asked(
    asked: Named | Adviser,
    moments: Sequence[Moment],
    events: Sequence[GameEvent],
    player: int,
    length: GameLength,
) -> list[Opinion]:
    if isinstance(asked, Named):
        return opinions(moments, asked.policy)
    return asked.opinions(moments, events, player, length)


def length_of(game_type: int) -> GameLength:
    """Length of the game, from Tenhou's type bits."""
    return "hanchan" if game_type & _HANCHAN else "tonpuu"


def known_hands(record: GameRecord) -> tuple[bool, bool, bool, bool]:
    """For each player, whether the record shows the hand."""
    deals = [event.hands for event in record.events if isinstance(event, StartRound)]
    first, second, third, fourth = (all(UNSEEN not in deal[player] for deal in deals) for player in range(4))
    return first, second, third, fourth


# --- parts ------------------------------------------------------------------------------------------------


def check_player(record: GameRecord, player: int) -> None:
    """Reject what cannot be reviewed.

    Raises:
        ReplayFormatError: the record has no rounds.
        ReplayError: the game has other rules, or the record does not show the player's hand.
    """
    check_rules(record)
    known = known_hands(record)
    if not known[player]:
        shown = [str(other) for other in range(4) if known[other]]
        raise ReplayError(
            f"the record does not show the hand of player {player}; it shows {', '.join(shown) or 'none'}"
        )


def decision_of(
    player: int,
    moment: Moment,
    opinion: Opinion,
    danger: Danger,
    other: Opinion | None,
    notes: Notes,
    live: LiveDecisions,
    reading: HandReading | None = None,
) -> schema.ReviewDecision:
    """Combine the findings about one decision."""
    done = moment.done
    after = After(moment.record, player, moment.legal)
    options = _options(moment, opinion, danger, other, reading, after)
    agrees = opinion.agrees(done)
    judged, ratio = opinion.parted(done)
    text = action_text(done, moment.record)
    category: schema.Category = "fine" if agrees else grading.category_of(ratio, judged)
    why = () if category == "fine" else reasons(moment, opinion.preferred, ratio, danger, after)
    return schema.ReviewDecision(
        round=moment.round,
        event=moment.event,
        turn=int(moment.record["river_size"][player]) + 1,
        step=opinion.step,
        judged=judged,
        source="rule" if opinion.source == "rule" else "model",
        hand=hand_of(moment, player, options),
        opponents=_opponents(player, danger, reading),
        done=text,
        preferred=action_text(opinion.preferred, moment.record),
        options=options,
        agrees=agrees,
        ratio=round(ratio, 6),
        category=category,
        notes=(*why, *notes.of(moment, opinion)),
        other=action_text(other.preferred, moment.record) if other else None,
        other_agrees=other.agrees(done) if other else None,
        other_ratio=round(other.parted(done)[1], 6) if other else None,
        live=live.of(moment, options),
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
        is_discard = action.kind in (ActionKind.DISCARD, ActionKind.RIICHI) and action.tile >= 0
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
                learned=learned_danger(reading, kind, danger.points) if is_discard else None,
                other=round(beside[action], 6) if other else None,
            )
        )
    return tuple(rows)


def ukeire_of(shape: Shape) -> schema.Ukeire:
    """The tiles that a hand accepts."""
    return schema.Ukeire(kinds=shape.mask.bit_count(), tiles=shape.copies, which=tuple(kinds_of(shape.mask)))


def hand_of(moment: Moment, player: int, options: Sequence[schema.ReviewOption]) -> schema.ReviewHand:
    """The hand at a moment: as it is, or after the best of the discards."""
    record = moment.record
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
            shanten=shanten_chances(reading, step - 1),
        )
        for step in (1, 2, 3)
    )
    return first, second, third


def _alike(one: schema.ReviewAction, other: schema.ReviewAction | None) -> bool:
    if other is not None and one.kind == other.kind and one.kind in ("discard", "riichi"):
        return one.tile[:2] == other.tile[:2]
    return one == other


def _round_figures(
    each: schema.ReviewRound, decisions: Sequence[schema.ReviewDecision], player: int
) -> schema.RoundFigures:
    before, after = each.expected, each.after
    reward = placement = None
    if after is not None:
        if before.reward is not None and after.reward is not None:
            reward = round(after.reward[player] - before.reward[player], 3)
        if before.placement is not None and after.placement is not None:
            placement = round(after.placement[player] - before.placement[player], 3)
    first, end = each.decisions
    return schema.RoundFigures(
        **grading.fields(grading.figures(decisions[first:end])),
        round=each.index,
        delta=each.result.scores[player] - each.scores[player],
        reward=reward,
        placement=placement,
    )


def _game(record: GameRecord, length: GameLength, source: Source, *, anonymous: bool) -> schema.ReviewGame:
    ending = record.ending
    first, second, third, fourth = ("" if anonymous else _shown(name) for name in record.names)
    ranks: Four | None = record.ranks if any(record.ranks) and not anonymous else None
    tenths = [result / 10 for result in ending.results] if ending else []
    return schema.ReviewGame(
        id="" if anonymous else record.game_id,
        date=None if anonymous else started(record.game_id) or None,
        type=record.game_type,
        length=length,
        names=(first, second, third, fourth),
        ranks=ranks,
        rates=record.rates if ranks else None,
        scores=ending.scores if ending else None,
        results=(tenths[0], tenths[1], tenths[2], tenths[3]) if tenths else None,
        places=placements(ending.scores) if ending else None,
        source=source,
        known=known_hands(record),
        caveats=caveats_of(record, anonymous=anonymous),
    )


def _policy_name(policy: Named | Adviser) -> schema.PolicyName:
    return schema.PolicyName(name=_shown(policy.name), identity=policy.identity)


def _shown(name: str) -> str:
    """A name that JSON can hold; on Tenhou names have at most eight characters."""
    return name[:_LONGEST_NAME].encode("utf-8", "replace").decode()


def as_json(document: schema.Review | schema.ReviewIndex) -> bytes:
    """The document as written to a file."""
    return msgspec.json.encode(document) + b"\n"
