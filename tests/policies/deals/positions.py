"""Positions in which a player decides, with the deal that was real: from self-play, and from real games."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from game.events import EndRound, GameEvent, StartRound
from game.layout import AT_UNSEEN
from game.observation import Observation
from game.rules import legal_actions
from game.shanten import waits
from game.state import apply, hand_tiles, new_round
from game.table.restore import concealed_hands, seen_by
from game.table.table import Table
from game.tiles import RED_FIVES
from policies.deals.deal import ANY_HAND, Deals, RoundView, Unseen
from policies.deals.uniform import UniformDeals, is_possible
from policies.flow.draws import drawn_share
from policies.flow.slots import Policy
from policies.hands.views import SampledHands
from policies.play.inference import load_policy
from policies.play.rollout import Choice, PolicyChooser, Request, Rollout, Seating, Times
from replays.formats import read_game
from tests.game.test_fold_against_engine import anyhow, boldly, clumped_wall
from tests.shared import shard_texts


class Position:
    """A decision of one player.

    Attributes:
        observation: what is asked.
        view: what the player sees.
        record: the same with all hands.
        events: of the round, all tiles known.
    """

    def __init__(self, record: np.void, player: int, events: list[GameEvent]) -> None:
        self.record = record.copy()
        self.events = events
        self.observation = Observation(self.record, player, tuple(legal_actions(record, player)), "hanchan")
        self.view = RoundView.of(self.observation)

    def true_hands(self) -> list[list[int]]:
        """The real hands of the opponents, a tile just drawn last."""
        hands = concealed_hands(self.record)
        return [hands[opponent] for opponent in self.view.opponents]


def simulated(seeds: range, share: float) -> Iterator[Position]:
    """Rounds of players who call and declare riichi whenever they may, over walls with many sets."""
    for seed in seeds:
        rng = random.Random(seed)
        seats = [rng.choice((anyhow, boldly, boldly)) for _ in range(4)]
        table = Table(seed, wall=clumped_wall(rng))
        while not table.results:
            for player in table.waiting():
                if rng.random() < share:
                    yield Position(table.state, player, list(table.events[1:]))
            table.step({p: seats[p](rng, table, p, table.legal(p)) for p in table.waiting()})


class _Watching:
    """A chooser that keeps positions of the players it plays for."""

    def __init__(self, policy: Policy, share: float) -> None:
        self._chooser = PolicyChooser(policy)
        self._share = share
        self.found: list[Position] = []

    def choose(self, requests: Sequence[Request], times: Times) -> list[Choice]:
        for request in requests:
            if drawn_share(*request.moment) < self._share:
                begun = max(n for n, e in enumerate(request.table.events) if isinstance(e, StartRound))
                self.found.append(Position(request.record, request.player, request.table.events[begun:]))
        return self._chooser.choose(requests, times)

    def close(self, times: Times) -> None:
        pass


def self_play(games: int, share: float, policy: Policy | None = None) -> list[Position]:
    """Decisions of games that the included models play against themselves."""
    watching = _Watching(policy or load_policy(), share)
    for _ in Rollout([watching]).play(Seating(n, 100 + n, (0, 0, 0, 0)) for n in range(games)):
        pass
    return watching.found


def real(shard: str, games: int, share: float, seed: int = 0) -> Iterator[Position]:
    """Decisions of real games."""
    rng = random.Random(seed)
    for _, text in shard_texts(shard, games):
        record, so_far = new_round(), list[GameEvent]()
        for event in read_game(text).events:
            if isinstance(event, StartRound):
                so_far = []
            apply(record, event)
            so_far.append(event)
            if isinstance(event, EndRound) or rng.random() >= share:
                continue
            asked = [player for player in range(4) if len(legal_actions(record, player)) > 1]
            if asked:
                yield Position(record, rng.choice(asked), list(so_far))


def assert_fits(deals: Deals) -> None:
    """Check each deal against what the player has seen, with nothing of the sampler's."""
    record, player = deals.view.record, deals.view.player
    open_tiles = set(np.flatnonzero(record["where"] == AT_UNSEEN).tolist())
    for number in range(len(deals)):
        hands, hidden = deals.hands(number), deals.hidden(number)
        assert sorted(hands[player]) == hand_tiles(record, player)
        others = [hands[other] for other in deals.view.opponents]
        assert sorted(tile for part in (*others, hidden) for tile in part) == sorted(open_tiles)
        assert len(hidden) == record["wall_left"] + 14 - record["indicator_count"]
        for other, hand in zip(deals.view.opponents, others, strict=True):
            assert len(hand) == record["hand_size"][other]
            if record["riichi"][other] == 2:
                thirteen = hand[:-1] if len(hand) % 3 == 2 else hand
                counts = np.bincount(np.array(thirteen) >> 2, minlength=34).astype(np.int8)
                assert waits(counts, int(record["meld_count"][other])), hand


def truth_is_possible(position: Position) -> bool:
    """Whether what is known of each opponent's hand is true of the real one."""
    unseen = Unseen.of(position.view)
    for hand, need, melds in zip(position.true_hands(), unseen.needs, unseen.melds, strict=True):
        counts = np.bincount(np.array(hand) >> 2, minlength=34).astype(np.int8)
        drawn = hand[-1] >> 2 if len(hand) % 3 == 2 else -1
        if need != ANY_HAND and not is_possible(counts, int(need), int(melds), drawn):
            return False
    return True


def sampled_hands(deals: Deals) -> SampledHands:
    """The opponents' hands of deals as counts, ``N`` being 1."""
    counts = np.zeros((1, len(deals), 3, 34), np.int8)
    reds = np.zeros((1, len(deals), 3, 3), np.bool_)
    for number in range(len(deals)):
        hands = deals.hands(number)
        for place, opponent in enumerate(deals.view.opponents):
            np.add.at(counts[0, number, place], np.array(hands[opponent]) >> 2, 1)
            reds[0, number, place] = np.isin(RED_FIVES, hands[opponent])
    return SampledHands(counts, reds)


class UniformHands:
    """The hands of uniform deals, as a `policies.hands.views.HandSampler`."""

    def sample(
        self, records: NDArray[np.void], players: NDArray[np.intp], count: int, seed: int
    ) -> SampledHands:
        found = [
            sampled_hands(UniformDeals().deals(RoundView(seen_by(record, player), player), count, seed))
            for record, player in zip(records, players.tolist(), strict=True)
        ]
        return SampledHands(
            np.concatenate([each.counts for each in found]), np.concatenate([each.reds for each in found])
        )
