"""The rounds of a game as a review shows them: how each ended, and what it changed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from game.events import DrawnRound, EndGame, Four, RiichiAccepted, StartRound, Win, four
from game.ranking import Rewards
from game.scoring.settlement import LAST_ROUND, RIICHI_STICK, GameLength, placements
from game.tiles import UNSEEN, mjai_text
from policies.heuristic.stakes import place_chances
from policies.reward.encoding import final_rewards, round_starts, together
from policies.reward.predictor import Predictor, predict
from replays.names import YAKU_NAMES
from replays.review.moments import RoundEvents
from replays.review.schema import Expected, ReviewResult, ReviewRound, ShownHands, Winner, Yaku


def rounds_of(
    dealt: Sequence[RoundEvents],
    ending: EndGame | None,
    length: GameLength,
    predictor: Predictor | None,
    decisions: Sequence[int],
) -> tuple[ReviewRound, ...]:
    """Rounds with their results and the expected rewards and places before and after each.

    Args:
        dealt: the rounds.
        ending: end of the game, None if it was cut short.
        length: length of the game.
        predictor: the reward predictor, if there is one.
        decisions: the round of each decision, ascending.
    """
    rewards = None
    if predictor is not None:
        rewards = predict(predictor, together([(round_starts(each.start for each in dealt), length)]))[0]
    expected = [
        Expected(
            reward=None if rewards is None else _four(rewards[number]),
            placement=places_expected(each.start.scores, each.start.round_index, length),
        )
        for number, each in enumerate(dealt)
    ]
    last = None
    if ending is not None:
        scores = np.array(ending.scores)
        last = Expected(
            reward=_four(final_rewards(scores, predictor.uma)) if predictor else None,
            placement=_four(np.array(placements(ending.scores))),
        )
    of_round = np.searchsorted(decisions, range(len(dealt) + 1)).tolist()
    return tuple(
        ReviewRound(
            index=number,
            round_index=each.start.round_index,
            honba=each.start.honba,
            sticks=each.start.riichi_sticks,
            dealer=each.start.dealer,
            scores=each.start.scores,
            events=tuple(each.messages),
            result=_result(each),
            expected=expected[number],
            after=expected[number + 1] if number + 1 < len(dealt) else last,
            decisions=(of_round[number], of_round[number + 1]),
        )
        for number, each in enumerate(dealt)
    )


def places_expected(scores: Four, round_index: int, length: GameLength) -> Rewards:
    """The mean place of each player, by the same rule as in `policies.heuristic.stakes`."""
    left = max(0, LAST_ROUND[length] - round_index) + 1.0
    points = np.array(scores, np.float64)
    chances = np.array([place_chances(points, player, left) for player in range(4)])
    return _four(chances @ np.arange(1.0, 5.0))


def _result(dealt: RoundEvents) -> ReviewResult:
    wins = [event for event in dealt.events if isinstance(event, Win)]
    drawn = next((event for event in dealt.events if isinstance(event, DrawnRound)), None)
    sticks = [0, 0, 0, 0]
    for event in dealt.events:
        if isinstance(event, RiichiAccepted):
            sticks[event.player] += RIICHI_STICK
    ends: list[Win | DrawnRound] = [*wins, *([drawn] if drawn else [])]
    known = all(end.payments_known for end in ends)
    deltas = [sum(end.deltas[player] for end in ends) for player in range(4)]
    scores = [had + gets - paid for had, gets, paid in zip(dealt.start.scores, deltas, sticks, strict=True)]
    return ReviewResult(
        kind="win" if wins else "draw" if drawn else "cut",
        wins=tuple(map(_winner, wins)),
        reason=drawn.reason if drawn else None,
        tenpai=_ready(drawn, dealt.start) if drawn else None,
        hands=_shown(drawn) if drawn else None,
        deltas=four(deltas) if known else None,
        scores=four(scores) if known else None,
    )


def _shown(drawn: DrawnRound) -> ShownHands:
    return four(None if hand is None else tuple(map(mjai_text, hand)) for hand in drawn.hands)


def _ready(drawn: DrawnRound, start: StartRound) -> tuple[bool, bool, bool, bool] | None:
    """Who was tenpai when the wall ran out; None if the record does not tell."""
    if drawn.reason not in ("exhaustive", "nagashi_mangan") or not drawn.payments_known:
        return None
    if any(drawn.deltas) and drawn.reason == "exhaustive":  # the payments tell, even where no hand is known
        return four(delta > 0 for delta in drawn.deltas)
    shown = {
        hand is not None for hand, dealt in zip(drawn.hands, start.hands, strict=True) if UNSEEN not in dealt
    }
    if drawn.reason == "exhaustive":  # nobody pays: all or none are tenpai
        return four([True in shown] * 4) if len(shown) < 2 else None
    return four(hand is not None for hand in drawn.hands)


def _winner(win: Win) -> Winner:
    # Tenhou names ura dora with 0 han in every win with riichi that has none
    known = win.value != "unknown"
    yaku = [*((number, han) for number, han in win.yaku if han), *((number, 0) for number in win.yakuman)]
    return Winner(
        player=win.player,
        from_player=win.from_player,
        tile=mjai_text(win.tile),
        hand=tuple(mjai_text(tile) for tile in win.hand),
        ura=tuple(mjai_text(tile) for tile in win.ura_indicators if tile != UNSEEN),
        han=sum(han for _, han in (*win.yaku, *win.other_yaku)) if known else None,
        fu=win.fu if known else None,
        limit=win.limit if known else None,
        points=win.points,
        yaku=tuple(
            Yaku(id=number, name=YAKU_NAMES[number] if 0 <= number < len(YAKU_NAMES) else "", han=han)
            for number, han in yaku
        )
        + tuple(Yaku(id=-1, name=name, han=han) for name, han in win.other_yaku),
        value=win.value,
    )


def _four(values: NDArray[np.generic]) -> Rewards:
    return four(round(float(value), 3) for value in values.tolist())
