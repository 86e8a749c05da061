"""Reviews one game from one seat: its decisions, the figures of them, and caveats about the record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from game.events import Four, GameEvent, StartRound, Win, four
from game.forbidden import broken_rule
from game.ranking import Uma
from game.scoring.settlement import START_SCORE, GameLength, final_results, placements
from game.scoring.value import context_of, evaluate
from game.state import apply, clone, new_round
from game.tiles import UNSEEN
from kit.errors import ReplayError, ReplayFormatError, StateMismatchError
from policies.play.named import Named
from policies.reward.predictor import Predictor
from replays.formats import SourceFormat
from replays.record import DecisionRecord, GameRecord, started
from replays.review import grading, schema
from replays.review.candidate_hands import FindCandidates, hand_readings
from replays.review.decisions import decision_of
from replays.review.judging import Adviser, Opinion, opinions, ranked
from replays.review.live import LiveDecisions
from replays.review.moments import Moment, follow
from replays.review.notes import Notes
from replays.review.prices import included_prices
from replays.review.rounds import rounds_of
from replays.tally import tally

if TYPE_CHECKING:
    from policies.hands.direct import DirectModel

_HANCHAN: Final = 8
_LONGEST_NAME: Final = 60
_REFUSED: Final = ((16, "with three players"), (2, "without the three red fives"), (4, "without open tanyao"))
"""By Tenhou's bits of game types."""
_ROUNDED_TENTHS: Final = 20
"""Largest deviation of a usual result where points are whole: first place takes the rounding remainder."""


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
        prices = included_prices()
        self._prices = prices if self.policy.name.partition(":")[0] == prices.policy else None

    def review(
        self,
        record: GameRecord,
        player: int,
        *,
        source: SourceFormat = "mjlog",
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
        known = known_hands(record)
        others = [seat for seat in range(4) if all_seats and seat != player and known[seat]]
        rounds, own = self._of_seat(record, player, beside, anonymous=anonymous)
        return schema.Review(
            program=self.program,
            game=_game(record, source, anonymous=anonymous),
            player=player,
            policy=self.policy,
            other=_policy_name(self._other) if self._other else None,
            uma=self._predictor.uma if self._predictor else Uma(),
            thresholds=grading.THRESHOLDS,
            rounds=rounds,
            decisions=own.decisions,
            summary=own.summary,
            seats=tuple(self._of_seat(record, seat)[1] for seat in others),
        )

    def _of_seat(
        self, record: GameRecord, player: int, beside: int | None = None, *, anonymous: bool = False
    ) -> tuple[tuple[schema.ReviewRound, ...], schema.SeatReview]:
        """The rounds, with the places of the player's decisions, and the review of the seat."""
        length = length_of(record.game_type)
        found = follow(record.events, player, length)
        decisions = self.decisions(found.moments, record.events, record.decisions)
        places = [moment.round for moment in found.moments]
        rounds = rounds_of(found.rounds, record.ending, length, self._predictor, places)
        tallies, count = tally(record.events)
        comparison = None
        if self._other is not None:
            comparison = _with_policy(_shown(self._other.name), decisions)
        elif beside is not None:
            moments = follow(record.events, beside, length).moments
            theirs = grading.figures(self.decisions(moments, record.events))
            comparison = schema.Comparison(
                name="" if anonymous else _shown(record.names[beside]),
                player=beside,
                agreement=theirs.agreement,
                figures=theirs,
                rates=grading.rates_of(tallies[beside], count),
            )
        summary = schema.ReviewSummary(
            **grading.fields(grading.figures(decisions)),
            rating_definition=grading.RATING,
            worst=grading.worst(decisions),
            steps=grading.by_step(decisions),
            rounds=tuple(_round_figures(each, decisions, player) for each in rounds),
            rates=grading.rates_of(tallies[player], count),
            hidden=found.hidden,
            comparison=comparison,
        )
        return rounds, schema.SeatReview(player=player, decisions=decisions, summary=summary)

    def decisions(
        self, moments: Sequence[Moment], events: Sequence[GameEvent] = (), live: Sequence[DecisionRecord] = ()
    ) -> tuple[schema.ReviewDecision, ...]:
        """Judge the decisions of one player in one game.

        Args:
            moments: the decisions, in order.
            events: of the whole game, for an adviser.
            live: what happened in play.

        Raises:
            ModelError: the policy gives no usable answer.
        """
        if not moments:
            return ()
        player = moments[0].player
        thought = _asked(self._policy, moments, events)
        others: Sequence[Opinion | None] = [None] * len(moments)
        if self._other is not None:
            others = _asked(self._other, moments, events)
        readings = hand_readings(moments, self._hands)
        notes, played = Notes(), LiveDecisions(live, player)
        candidates: Sequence[tuple[schema.CandidateHands, ...]] = [()] * len(moments)
        if self._candidates is not None:
            candidates = self._candidates(np.array([moment.record for moment in moments]), player)
        parts = zip(moments, thought, others, readings, candidates, strict=True)
        return tuple(
            decision_of(
                moment,
                opinion,
                other,
                reading,
                notes.of(moment, opinion),
                played.of(moment, ranked(opinion)),
                hands,
                self._prices,
            )
            for moment, opinion, other, reading, hands in parts
        )

    def own_decision(self, moment: Moment) -> schema.ReviewDecision:
        """What the policy would do: the decision with its choice as what was done.

        Raises:
            ModelError: the policy gives no usable answer.
        """
        (opinion,) = _asked(self._policy, [moment], ())
        return self.decisions([msgspec.structs.replace(moment, done=opinion.preferred)])[0]


def _with_policy(name: str, decisions: Sequence[schema.ReviewDecision]) -> schema.Comparison:
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


def _asked(asked: Named | Adviser, moments: Sequence[Moment], events: Sequence[GameEvent]) -> list[Opinion]:
    if isinstance(asked, Named):
        return opinions(moments, asked.policy)
    return asked.opinions(moments, events, moments[0].player, moments[0].length)


def length_of(game_type: int) -> GameLength:
    """Length of the game, from Tenhou's type bits."""
    return "hanchan" if game_type & _HANCHAN else "tonpuu"


def known_hands(record: GameRecord) -> tuple[bool, bool, bool, bool]:
    """For each player, whether the record shows the hand."""
    deals = [event.hands for event in record.events if isinstance(event, StartRound)]
    return four(all(UNSEEN not in deal[player] for deal in deals) for player in range(4))


def check_player(record: GameRecord, player: int) -> None:
    """Reject games that the policies do not play, and players whose hand the record does not show.

    Raises:
        ReplayFormatError: the record has no rounds.
        ReplayError: the game has other rules, or the record does not show the player's hand.
    """
    if not record.rounds:
        raise ReplayFormatError("the record has no rounds")
    others = [name for bit, name in _REFUSED if record.game_type & bit]
    if others:
        raise ReplayError(
            f"a game {' and '.join(others)}; reviews cover four-player games with red fives and open tanyao"
        )

    known = known_hands(record)
    if not known[player]:
        shown = [str(other) for other in range(4) if known[other]]
        raise ReplayError(
            f"the record does not show the hand of player {player}; it shows {', '.join(shown) or 'none'}"
        )


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
        delta=None if each.result.scores is None else each.result.scores[player] - each.scores[player],
        reward=reward,
        placement=placement,
    )


def _game(record: GameRecord, source: SourceFormat, *, anonymous: bool) -> schema.ReviewGame:
    ending = record.ending
    ranks: Four | None = record.ranks if any(record.ranks) and not anonymous else None
    return schema.ReviewGame(
        id="" if anonymous else record.game_id,
        date=None if anonymous else started(record.game_id) or None,
        type=record.game_type,
        length=length_of(record.game_type),
        names=four("" if anonymous else _shown(name) for name in record.names),
        ranks=ranks,
        rates=record.rates if ranks else None,
        scores=ending.scores if ending else None,
        results=four(tenths / 10 for tenths in ending.results) if ending and ending.results else None,
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


# --- caveats ------------------------------------------------------------------------------------------------


def caveats_of(record: GameRecord, *, anonymous: bool) -> tuple[schema.Caveat, ...]:
    """All caveats, those about missing parts first; an anonymous one does not name the lobby."""
    return tuple(_caveats(record, anonymous=anonymous))


def _caveats(record: GameRecord, *, anonymous: bool) -> Iterator[schema.Caveat]:
    first = next(event for event in record.events if isinstance(event, StartRound))
    ending = record.ending
    if first.round_index or first.honba:
        yield schema.Caveat(
            key="part", params=schema.CaveatParams(round_index=first.round_index, honba=first.honba)
        )
    if ending is None:
        yield schema.Caveat(key="cut")
    if not record.rules_said:
        yield schema.Caveat(key="rules_unsaid")
    if record.lobby:
        yield schema.Caveat(key="lobby", params=schema.CaveatParams(lobby=0 if anonymous else record.lobby))
    if not first.round_index and not first.honba and set(first.scores) != {START_SCORE}:
        yield schema.Caveat(key="start_scores", params=schema.CaveatParams(scores=first.scores))
    with suppress(StateMismatchError):  # the review itself names the event that does not fit
        other_values, forbidden = _oddities(record.events)
        if other_values:
            yield schema.Caveat(key="values")
        if forbidden is not None:
            yield schema.Caveat(key="forbidden", params=forbidden)
    if ending is not None and ending.results and not _usual(ending.scores, ending.results):
        yield schema.Caveat(key="results")


def _oddities(events: Sequence[GameEvent]) -> tuple[bool, schema.CaveatParams | None]:
    """Whether a win was paid by other rules than Tenhou's, and the first event that a rule forbids.

    Other rules are, for example, rounded mangans or double yakuman.
    """
    state, before = new_round(), None
    other_values, forbidden = False, None
    for event in events:
        rule = broken_rule(state, event) if forbidden is None else ""
        if rule:
            forbidden = schema.CaveatParams(
                round_index=int(state["round_index"]), honba=int(state["honba"]), rule=rule
            )
        if isinstance(event, Win) and state["hand_known"][event.player]:
            before = clone(state) if before is None else before
            moment = context_of(before, event.player, event.tile, event.from_player, event.ura_indicators)
            value = evaluate(moment)
            differs = value is not None and event.value != "unknown" and value.points != event.points
            if event.other_yaku or differs:
                other_values = True
        elif isinstance(event, StartRound):
            before = None
        apply(state, event)
    return other_values, forbidden


def _usual(scores: tuple[int, ...], results: tuple[int, ...]) -> bool:
    """Whether results follow from Tenhou's uma and oka; East-only games of 2009 had another uma.

    Source: observed, 650 games: rounding moves a result by less than 1.5 points, the old uma by 9 to 11.
    """
    usual = final_results(scores)
    return all(abs(one - other) < _ROUNDED_TENTHS for one, other in zip(usual, results, strict=True))
