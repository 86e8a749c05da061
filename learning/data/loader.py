"""Decisions of real games as batches of planes and labels, for learning: one of the five slots at a time.

Games are folded by a kernel that keeps the state at each decision (`learning.data.positions`). The
decisions of a pool of many games are shuffled. Worker threads then encode each batch and permute its tiles;
the kernels release the GIL, so nothing is copied between processes. The order depends on the seed and the
epoch alone.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from game.layout import ROUND_STATE
from game.scoring.settlement import LAST_ROUND
from game.tiles import TILES
from kit.jit import warms_up
from learning.data.choice import SelectedDecisions, identity_table
from learning.data.corpus import Corpus, Numbers
from learning.data.hidden import HiddenHands, hidden_hands, no_hands
from learning.data.position_kernels import AT_DRAWS, Sampled
from learning.data.positions import Positions, by_decision, positions_of
from policies.features.draw import kinds_of
from policies.features.encode import Planes, called, encode
from policies.features.melds import CALL_WIDTH
from policies.features.permute import (
    PERMUTATIONS,
    mirrored_places,
    permute_columns,
    permute_kinds,
    permute_planes,
)
from policies.features.table import CRITIC, KINDS, LITE, LITE_CALL, SETS
from policies.flow.slots import Slot

FEATURES: Final[dict[Sampled, str]] = {
    Slot.DISCARD: LITE,
    Slot.RIICHI: LITE,
    Slot.CHI: LITE_CALL,
    Slot.PON: LITE_CALL,
    Slot.KAN: LITE_CALL,
    AT_DRAWS: CRITIC,
}
"""Default feature set of each slot."""

_LAST_ROUNDS: Final = np.array((LAST_ROUND["tonpuu"], LAST_ROUND["hanchan"]), np.int8)
_POOL_GAMES: Final[dict[Sampled, int]] = {
    Slot.DISCARD: 256,
    Slot.RIICHI: 2048,
    Slot.CHI: 1024,
    Slot.PON: 1024,
    Slot.KAN: 2048,
    AT_DRAWS: 256,
}
_CHUNK: Final = 64
"""Rows encoded before they are permuted, while their planes are still in the core's own cache."""
_AHEAD: Final = 2
"""Batches per worker that may be in progress or waiting to be taken."""


class Moments(NamedTuple):
    """The moments of a batch in their games, one element for each row.

    Attributes:
        game: ``[B]`` int64, the game's place in the index.
        player: ``[B]`` int8, absolute.
        round_index: ``[B]`` int8, 0 East 1 … 8 West 1.
        honba: ``[B]`` int16, repeat counters; with ``round_index`` they identify the round.
        wall_left: ``[B]`` int16, tiles that can still be drawn.
        scores: ``[B, 4]`` int32, points now, by player.
    """

    game: Numbers
    player: NDArray[np.int8]
    round_index: NDArray[np.int8]
    honba: NDArray[np.int16]
    wall_left: NDArray[np.int16]
    scores: NDArray[np.int32]


class Batch(NamedTuple):
    """Samples, as tensors.

    Attributes:
        planes: ``[B, C, 34]`` uint8 with 255 for 1.
        labels: ``[B]`` int64, the kind discarded; for the other slots 1 for yes and 0 for no. In the Hosei
            set a call has one row, and a chi the labels of `by_decision`.
        legal: ``[B, 34]`` bool, the kinds that may be discarded; None for the other slots.
        decision: ``[B]`` int64, a number for each decision, unique within the epoch. The rows of a decision
            are adjacent; the end of a batch may separate them.
        hands: all hands as arrays if requested, else None; their tiles are permuted as those of the planes.
        moments: the place of each row in its game, as arrays, if requested, else None.
        who: ``[B]`` int64, the player as an index into the loader's identities, -1 for others; None if the
            loader has none.
    """

    planes: torch.Tensor
    labels: torch.Tensor
    legal: torch.Tensor | None
    decision: torch.Tensor
    hands: HiddenHands | None = None
    moments: Moments | None = None
    who: torch.Tensor | None = None


class _Piece(NamedTuple):
    """Rows of a pool, and the number of its first decision."""

    found: Positions
    rows: Numbers
    first: int


class Loader:
    """Batches of decisions of one slot, shuffled, as torch tensors.

    Args:
        corpus: the corpus.
        choice: the players and games to learn from.
        slot: the slot, or draws.
        features: the feature set of the planes, one for this slot; the small one of the slot by default.
        deep: whether LA1 and LA2 are computed by search, in a set that has them.
        batch_size: samples in a batch; an epoch's last batch may be smaller.
        seed: seed of the order and of the permutations.
        augment: permute the suits and mirror the ranks (1 to 9) of each sample at random.
        hands: whether batches have the hands of all players.
        moments: whether batches have the place of each row in its game.
        identities: players to tell apart, as `learning.data.choice.identity_table` names them.
        one_in: take every n-th decision of each game, different ones in each epoch.
        workers: threads.
        pool_games: games whose decisions are shuffled together; the default depends on the slot. Discards
            take about 0.7 MB per game, with up to three pools in memory. The games themselves are shuffled
            over the whole epoch.
    """

    def __init__(
        self,
        corpus: Corpus,
        choice: SelectedDecisions,
        slot: Sampled = Slot.DISCARD,
        *,
        features: str | None = None,
        deep: bool = True,
        batch_size: int = 1024,
        seed: int = 0,
        augment: bool = True,
        hands: bool = False,
        moments: bool = False,
        identities: Sequence[str] = (),
        one_in: int = 1,
        workers: int = 2,
        pool_games: int | None = None,
    ) -> None:
        self.corpus = corpus
        self.choice = choice
        self.slot = slot
        self.features = features or FEATURES[slot]
        self._has_calls = SETS[self.features].of_calls
        self._by_decision = SETS[FEATURES[slot]].of_calls and not self._has_calls
        self.deep = deep
        self.batch_size = batch_size
        self.seed = seed
        self.augment = augment
        self.hands = hands
        self.moments = moments
        self._who = identity_table(corpus, identities) if identities else None
        self.one_in = one_in
        self.workers = workers
        self.pool_games = pool_games or _POOL_GAMES[slot]
        self._planes = SETS[self.features].planes

    def epoch(self, number: int = 0, start: int = 0) -> Generator[Batch]:
        """One pass over all decisions; the same seed and number give the same batches.

        Args:
            number: number of the epoch.
            start: batches to skip at the beginning; the batches after them are unchanged.

        Raises:
            StateMismatchError: a game's events do not fit.
        """
        pool = ThreadPoolExecutor(self.workers, thread_name_prefix="samples")
        waiting: deque[Future[Batch]] = deque()
        try:
            for batch, pieces in enumerate(self._batches(pool, number)):
                if batch < start:
                    continue
                waiting.append(pool.submit(self._encode, pieces, (self.seed, number, 1, batch)))
                if len(waiting) > _AHEAD * self.workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)

    def _batches(self, workers: ThreadPoolExecutor, epoch: int) -> Iterator[list[_Piece]]:
        """The rows of each batch; a batch may begin in one pool and end in the next."""
        pieces: list[_Piece] = []
        missing = self.batch_size
        first = 0
        for number, found in enumerate(self._pools(workers, epoch)):
            order = _shuffled(found, np.random.default_rng((self.seed, epoch, 2, number)), self.one_in)
            at = 0
            while at < len(order):
                rows = order[at : at + missing]
                pieces.append(_Piece(found, rows, first))
                at += len(rows)
                missing -= len(rows)
                if missing == 0:
                    yield pieces
                    pieces, missing = [], self.batch_size
            first += len(found.players)
        if pieces:
            yield pieces

    def _pools(self, workers: ThreadPoolExecutor, epoch: int) -> Iterator[Positions]:
        """The decisions of ``pool_games`` games at a time; the next are folded while these are encoded."""
        order = np.random.default_rng((self.seed, epoch, 0)).permutation(len(self.choice.games))
        parts = [order[at : at + self.pool_games] for at in range(0, len(order), self.pool_games)]
        # where decisions are rare, folding is most of the work
        ahead = 1 if self.slot is Slot.DISCARD else self.workers
        coming = deque(workers.submit(self._fold, part) for part in parts[:ahead])
        for following in (*parts[ahead:], *(None,) * ahead):
            if not coming:
                return
            pool = coming.popleft().result()
            if following is not None:
                coming.append(workers.submit(self._fold, following))
            yield pool

    def _fold(self, places: Numbers) -> Positions:
        chosen = SelectedDecisions(self.choice.games[places], self.choice.players[places])
        found = positions_of(self.corpus, chosen, self.slot)
        return by_decision(found, Slot(self.slot)) if self._by_decision else found

    def _encode(self, pieces: list[_Piece], seed: tuple[int, ...]) -> Batch:
        size = sum(len(piece.rows) for piece in pieces)
        numbers = np.random.default_rng(seed).integers(0, PERMUTATIONS if self.augment else 1, size)
        out = self._empty(size)
        scratch = np.empty((_CHUNK, self._planes, KINDS), np.uint8)
        at = 0
        for piece in pieces:
            for first in range(0, len(piece.rows), _CHUNK):
                chunk = piece._replace(rows=piece.rows[first : first + _CHUNK])
                part = slice(at, at + len(chunk.rows))
                self._encode_chunk(chunk, numbers[part], scratch[: len(chunk.rows)], out, part)
                at = part.stop
        return out

    def _empty(self, size: int) -> Batch:
        return Batch(
            planes=torch.empty((size, self._planes, KINDS), dtype=torch.uint8),
            labels=torch.empty(size, dtype=torch.int64),
            legal=torch.empty((size, KINDS), dtype=torch.bool) if self.slot is Slot.DISCARD else None,
            decision=torch.empty(size, dtype=torch.int64),
            hands=no_hands(size) if self.hands else None,
            moments=Moments(
                np.empty(size, np.int64),
                np.empty(size, np.int8),
                np.empty(size, np.int8),
                np.empty(size, np.int16),
                np.empty(size, np.int16),
                np.empty((size, 4), np.int32),
            )
            if self.moments
            else None,
            who=torch.empty(size, dtype=torch.int64) if self._who is not None else None,
        )

    def _encode_chunk(
        self, piece: _Piece, numbers: Numbers, scratch: Planes, out: Batch, part: slice
    ) -> None:
        found = piece.found
        owners = found.owners[piece.rows]
        states, players, games = found.states[owners], found.players[owners], found.games[owners]
        planes, labels = out.planes.numpy()[part], out.labels.numpy()[part]
        labels[:] = found.labels[piece.rows]
        out.decision.numpy()[part] = piece.first + owners
        if out.who is not None and self._who is not None:
            out.who.numpy()[part] = self._who[games, players]
        if out.hands is not None:
            found_hands = hidden_hands(states, players, numbers)
            for each, rows in zip(out.hands, found_hands, strict=True):
                each[part] = rows
        if out.moments is not None:
            of_states = (states[name] for name in ("round_index", "honba", "wall_left", "scores"))
            columns: Any = (games, players, *of_states)
            places: Any = out.moments
            for column, values in zip(places, columns, strict=True):
                column[part] = values
        encode(
            states,
            players,
            self.features,
            scratch if self.augment else planes,
            calls=found.calls[piece.rows] if self._has_calls else None,
            deep=self.deep,
            last_round=_LAST_ROUNDS[self.corpus.index["hanchan"][games]],
        )
        if self.augment:
            permute_planes(scratch, self.features, numbers, planes)
        if out.legal is not None:
            labels[:] = permute_kinds(labels, numbers)
            out.legal.numpy()[part] = permute_columns(kinds_of(found.legal[owners]), numbers)
        if self._by_decision and self.slot is Slot.CHI:
            labels[:] = mirrored_places(labels, numbers)


def _shuffled(found: Positions, rng: np.random.Generator, one_in: int) -> Numbers:
    """Rows of every n-th decision, in random order; those of a decision stay together."""
    order = rng.permutation(len(found.players))
    counts = np.bincount(found.owners, minlength=len(order))
    first = np.cumsum(counts) - counts
    order = order[: -(-len(order) // one_in)]
    counts, first = counts[order], first[order]
    before = np.cumsum(counts) - counts
    return np.repeat(first - before, counts) + np.arange(counts.sum())


@warms_up
def _warm_up() -> None:
    """Compile all feature sets, of which playing needs a part."""
    states, calls = np.zeros(1, ROUND_STATE), np.zeros((1, CALL_WIDTH), np.int16)
    called(states[:0], np.zeros(0, np.int8), calls[:0])
    for name in SETS:
        with contextlib.suppress(ValueError):  # as in `policies.features.encode`
            encode(states, 0, name, calls=calls, walls=np.zeros((1, TILES), np.int16))
