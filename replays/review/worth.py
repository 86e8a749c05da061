"""The value of an option in final reward: probabilities by rule, with outcomes valued by the predictor.

The rule-based player values a hand by how likely it is to win and with how many han, and by how likely its
tiles are to deal in and for how many points. Here the same search runs with other prices: an outcome is worth
the expected reward at the start of the next round, or the final reward if the game would end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.actions import PASS, RIICHI, Action, ActionKind
from game.events import Four
from game.scoring.settlement import HONBA_POINTS, RIICHI_STICK, deltas, draw_deltas, liable_player
from game.scoring.value import context_of, evaluate
from game.shanten import shanten
from policies.heuristic.attack import tenpai_value
from policies.heuristic.hand_value import MELDS
from policies.heuristic.outlook import LATER_POINTS, Danger, Outlook, Prices, priced
from policies.heuristic.player import worth_of_discards, worth_of_pass
from policies.heuristic.stakes import HAN_MAX, POINTS_PER_VALUE, RON_POINTS
from replays.review.moments import Moment
from replays.review.prospects import Prospects, RoundSituation

TSUMO_SHARE: Final = 0.4
"""Share of wins by self-draw; the others come equally from each opponent."""
DRAWN_SHARE: Final = 0.3
"""Share of draws among rounds in which the player neither wins nor deals in; the others share the rest."""
USUAL_POINTS: Final = 5200.0
"""Points of another player's win in those rounds; a dealer wins half as much again."""


class Worth(NamedTuple):
    """The value of an option in final reward, by component.

    Attributes:
        certain: the certain part: a win that is taken.
        risk: the expected loss from dealing in with the discard now.
        onward: the value of the hand if the round goes on.
        shanten: after a discard; None for other actions.
    """

    certain: float = 0.0
    risk: float = 0.0
    onward: float = 0.0
    shanten: int | None = None

    @property
    def total(self) -> float:
        """The sum of the components."""
        return self.certain - self.risk + self.onward


class WeightedOutcomes(msgspec.Struct, frozen=True):
    """Outcomes, as rows of `Prospects`, with their probabilities."""

    rows: tuple[int, ...]
    chances: tuple[float, ...]

    def reward(self, prospects: Prospects, player: int) -> float:
        """The player's expected reward."""
        return float(prospects.reward(self.rows, player) @ np.array(self.chances))


class DecisionOutcomes(msgspec.Struct, frozen=True):
    """All outcomes that determine the prices of one decision.

    Attributes:
        player: the deciding player.
        wins: wins by han, from 1.
        deal_in: deal-ins to each opponent, by seat, starting from the right.
        later: the same, to hands that are not a threat yet.
        neither: the player neither wins nor deals in.
        with_stick: the same with the player's riichi stick on the table.
        tenpai: the wall runs out with the player tenpai.
        noten: the wall runs out with the player noten.
        offered: the player takes the offered win.
    """

    player: int
    wins: tuple[WeightedOutcomes, ...]
    deal_in: tuple[int, ...]
    later: tuple[int, ...]
    neither: WeightedOutcomes
    with_stick: WeightedOutcomes
    tenpai: WeightedOutcomes
    noten: WeightedOutcomes
    offered: int | None


class Pricer:
    """Requests the relevant outcomes; those shared by the decisions of a round are requested once."""

    def __init__(self, prospects: Prospects) -> None:
        self._prospects = prospects
        self._known: dict[tuple[RoundSituation, int], DecisionOutcomes] = {}

    def ask(self, moment: Moment, player: int, danger: Danger) -> DecisionOutcomes:
        """The outcomes of one decision; call `Prospects.answer` before `prices_of`."""
        standing = standing_of(moment)
        shared = self._known.get((standing, player))
        if shared is None:
            shared = self._known[standing, player] = self._shared(standing, player)
        others = [(player + step) % 4 for step in (1, 2, 3)]
        rows = [
            self._deal_in(standing, player, other, points)
            for other, points in zip(others, danger.points.tolist(), strict=True)
        ]
        return msgspec.structs.replace(shared, deal_in=tuple(rows), offered=self._offered(moment, player))

    def _shared(self, standing: RoundSituation, player: int) -> DecisionOutcomes:
        points = [RON_POINTS[han] * (1.5 if player == standing.dealer else 1.0) for han in range(1, HAN_MAX)]
        others = [(player + step) % 4 for step in (1, 2, 3)]
        return DecisionOutcomes(
            player=player,
            wins=tuple(self._win(standing, player, each) for each in points),
            deal_in=(),
            later=tuple(self._deal_in(standing, player, other, LATER_POINTS) for other in others),
            neither=self._neither(standing, player),
            with_stick=self._neither(_declared(standing, player), player),
            tenpai=self._drawn(standing, [(player, other) for other in others]),
            noten=self._drawn(standing, [(other,) for other in others]),
            offered=None,
        )

    def _win(self, standing: RoundSituation, player: int, points: float) -> WeightedOutcomes:
        others = [other for other in range(4) if other != player]
        rows = [self._prospects.after(standing, _won(standing, player, player, points), player)]
        rows += [self._prospects.after(standing, _won(standing, player, x, points), player) for x in others]
        return WeightedOutcomes(tuple(rows), (TSUMO_SHARE, *((1.0 - TSUMO_SHARE) / 3.0,) * 3))

    def _deal_in(self, standing: RoundSituation, player: int, other: int, points: float) -> int:
        """The outcome of a deal-in; ``points`` already include honba."""
        changes = [0.0] * 4
        changes[player] -= points
        changes[other] += points + RIICHI_STICK * standing.sticks
        return self._prospects.after(standing, changes, other)

    def _neither(self, standing: RoundSituation, player: int) -> WeightedOutcomes:
        rows, chances = [], []
        for repeats in (True, False):
            rows.append(self._prospects.after(standing, (0, 0, 0, 0), repeats=repeats))
            chances.append(DRAWN_SHARE / 2.0)
        for other in (x for x in range(4) if x != player):
            points = USUAL_POINTS * (1.5 if other == standing.dealer else 1.0)
            payers = [other, *(x for x in range(4) if x not in (player, other))]
            for payer, share in zip(payers, (0.5, 0.25, 0.25), strict=True):
                changes = _won(standing, other, payer, points)
                rows.append(self._prospects.after(standing, changes, other))
                chances.append((1.0 - DRAWN_SHARE) / 3.0 * share)
        return WeightedOutcomes(tuple(rows), tuple(chances))

    def _drawn(self, standing: RoundSituation, ready: Sequence[tuple[int, ...]]) -> WeightedOutcomes:
        rows = [
            self._prospects.after(
                standing, draw_deltas([p in players for p in range(4)]), repeats=standing.dealer in players
            )
            for players in ready
        ]
        return WeightedOutcomes(tuple(rows), (1.0 / len(rows),) * len(rows))

    def _offered(self, moment: Moment, player: int) -> int | None:
        action = moment.legal[0]
        if action.kind not in (ActionKind.TSUMO, ActionKind.RON):
            return None
        record = moment.record
        payer = player if action.kind is ActionKind.TSUMO else int(record["last_player"])
        value = evaluate(context_of(record, player, action.tile, payer))
        if value is None:
            return None
        standing = standing_of(moment)
        changes = deltas(
            value,
            player,
            payer,
            standing.dealer,
            honba=standing.honba,
            riichi_sticks=standing.sticks,
            liable=liable_player(record, player, value),
        )
        return self._prospects.after(standing, changes, player)


def standing_of(moment: Moment) -> RoundSituation:
    """The standing at a decision."""
    record = moment.record
    first, second, third, fourth = (int(score) for score in record["scores"])
    return RoundSituation(
        moment.round,
        int(record["round_index"]),
        int(record["honba"]),
        int(record["riichi_sticks"]),
        (first, second, third, fourth),
    )


def prices_of(asked: DecisionOutcomes, prospects: Prospects) -> Prices:
    """The prices of one decision, in the unit of `policies.heuristic.stakes`."""
    player = asked.player
    neither = asked.neither.reward(prospects, player)
    gains = np.zeros(HAN_MAX)
    gains[1:] = [each.reward(prospects, player) - neither for each in asked.wins]
    deal_in = neither - prospects.reward(asked.deal_in, player)
    later = neither - prospects.reward(asked.later, player)
    return Prices(
        gains=POINTS_PER_VALUE * gains,
        deal_in=POINTS_PER_VALUE * np.maximum(0.0, deal_in),
        later=POINTS_PER_VALUE * max(0.0, float(later.mean())),
        stick=POINTS_PER_VALUE * (neither - asked.with_stick.reward(prospects, player)),
        tenpai=POINTS_PER_VALUE
        * (asked.tenpai.reward(prospects, player) - asked.noten.reward(prospects, player)),
    )


def worths(
    moment: Moment, view: Outlook, danger: Danger, asked: DecisionOutcomes, prospects: Prospects
) -> Mapping[Action, Worth]:
    """Reward that each option adds to the player's expectation of neither winning nor dealing in.

    Kans and calls are left out: the rules' values of calls do not predict what they cost (`docs/review.md`).
    An offered win has a value, and so has declining it.
    """
    seen = priced(view, danger, prices_of(asked, prospects))
    found: dict[Action, Worth] = {}
    discards = [action for action in moment.legal if action.kind is ActionKind.DISCARD]
    if discards:
        found |= _of_discards(moment, seen, discards)
    if asked.offered is not None:
        if PASS in moment.legal:
            found[PASS] = Worth(onward=worth_of_pass(seen) / POINTS_PER_VALUE)
        (won,) = prospects.reward([asked.offered], asked.player).tolist()
        found[moment.legal[0]] = Worth(certain=won - asked.neither.reward(prospects, asked.player))
    return found


def _of_discards(moment: Moment, view: Outlook, discards: Sequence[Action]) -> dict[Action, Worth]:
    """The discards; if riichi is possible, those that allow it with riichi and without."""
    allowed = np.zeros(34, np.bool_)
    allowed[[action.tile >> 2 for action in discards]] = True
    # `worth_of_discards` subtracts this for dealing in now
    risk = view.cost / POINTS_PER_VALUE
    onward = worth_of_discards(view, allowed) / POINTS_PER_VALUE + risk
    found = {
        action: Worth(risk=float(risk[kind]), onward=float(onward[kind]), shanten=_shanten_after(view, kind))
        for action, kind in ((action, action.tile >> 2) for action in discards)
    }
    if RIICHI not in moment.legal:
        return found
    for action, silent in list(found.items()):
        if silent.shanten == 0:
            more = _more_by_riichi(view, action.tile >> 2)
            declared = Action(ActionKind.RIICHI, action.tile)
            found[declared] = silent._replace(onward=silent.onward + min(0.0, more))
            found[action] = silent._replace(onward=silent.onward - max(0.0, more))
    return found


def _hand_after(view: Outlook, kind: int) -> NDArray[np.int8]:
    hand34: NDArray[np.int8] = view.hand34.copy()
    hand34[kind] -= 1
    return hand34


def _shanten_after(view: Outlook, kind: int) -> int:
    return int(shanten(_hand_after(view, kind), int(view.side[MELDS])))


def _more_by_riichi(view: Outlook, kind: int) -> float:
    """How much more reward the hand after a discard is worth with riichi than without."""
    hand34 = _hand_after(view, kind)
    out = np.empty(2)
    discarded = view.discarded34 | np.uint64(1 << kind)
    tenpai_value(hand34, view.setting._replace(discarded34=discarded), out)
    return (1.0 - float(view.rate[kind])) * float(out[0] - out[1]) / POINTS_PER_VALUE


def _won(standing: RoundSituation, winner: int, payer: int, points: float) -> list[float]:
    """Changes of the scores after a win; ``points`` as paid for a ron."""
    changes = [0.0] * 4
    honba = HONBA_POINTS * standing.honba
    if winner == payer:
        for other in range(4):
            if other != winner:
                dealers = other == standing.dealer
                share = 1 / 3 if winner == standing.dealer else (0.5 if dealers else 0.25)
                changes[other] -= points * share + honba / 3
    else:
        changes[payer] -= points + honba
    changes[winner] = -sum(changes) + RIICHI_STICK * standing.sticks
    return changes


def _declared(standing: RoundSituation, player: int) -> RoundSituation:
    """The same standing with the player's riichi stick on the table."""
    first, second, third, fourth = (
        score - RIICHI_STICK * (p == player) for p, score in enumerate(standing.scores)
    )
    scores: Four = first, second, third, fourth
    return standing._replace(sticks=standing.sticks + 1, scores=scores)
