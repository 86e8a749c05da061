"""Discard decisions of real games as batches of planes and labels, for learning.

Games are folded by a kernel that keeps the state at each free choice of a discard; a pool of many games is
shuffled, and each batch of it encoded and its tiles renamed by a worker thread (the kernels release the GIL,
so threads need no copies between processes). The order depends on the seed and the epoch alone.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.actions import ActionKind
from game.errors import StateMismatchError
from game.fold import REASONS, fold_one
from game.fold.reasons import BAD_CODE, CUT_SHORT, FITS
from game.jit import kernel, warms_up
from game.layout import PHASE_CALLED, ROUND_STATE
from game.packing import DISCARD, LENGTHS, Packed
from game.rules import legal_rows
from learning.corpus.reader import Corpus, Numbers
from policies.features.encode import Planes, encode
from policies.features.permute import PERMUTATIONS, permute_kinds, permute_planes
from policies.features.table import KINDS, LITE, SETS

if TYPE_CHECKING:
    import torch

FEATURES: Final = LITE
"""The feature set of the planes; a larger one needs the length of each game besides."""
ALL_SEATS: Final = 0b1111

_PLANES: Final = SETS[FEATURES].planes
_CHUNK: Final = 64
"""Rows encoded before they are renamed: their planes still lie in the core's own cache."""
_AHEAD: Final = 2
"""Batches for each worker that may be under way or waiting to be taken."""
_ACCEPTED: Final = 2
_LENGTHS: Final = np.array(LENGTHS, dtype=np.int64)
_THROW: Final = int(ActionKind.DISCARD)
_ROWS: Final = (48, 6)
"""What `game.rules.legal_rows` fills."""


class Choice(NamedTuple):
    """Whose decisions: ``games [G]`` by their place in the index, ``seats [G]`` a bit for each player."""

    games: Numbers
    seats: NDArray[np.uint8]


class Decisions(NamedTuple):
    """Free choices of a discard: ``states [N]``, absolute ``seats [N]`` int8, ``labels [N]`` int8 kinds."""

    states: NDArray[np.void]
    seats: NDArray[np.int8]
    labels: NDArray[np.int8]


class Batch(NamedTuple):
    """``planes [B, 239, 34]`` uint8 with 255 for 1, and ``labels [B]`` int64: the kind thrown."""

    planes: torch.Tensor
    labels: torch.Tensor


class Costs(msgspec.Struct):
    """Seconds that threads spent on a core, by what they did.

    Attributes:
        fold: decoding games, folding them, keeping the states.
        gather: copying the states of a batch out of the pool.
        encode: states to planes.
        permute: renaming tiles.
        deliver: making tensors and handing them over.
    """

    fold: float = 0.0
    gather: float = 0.0
    encode: float = 0.0
    permute: float = 0.0
    deliver: float = 0.0

    def add(self, other: Costs) -> None:
        """Add another's."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class _Arrays(NamedTuple):
    planes: Planes
    labels: NDArray[np.int64]
    costs: Costs


class _Pool(NamedTuple):
    decisions: Decisions
    costs: Costs


_Piece = tuple[Decisions, Numbers]
"""Rows of a pool."""


def choose(
    corpus: Corpus,
    games: Numbers,
    *,
    least_rank: int | None = None,
    player: str | None = None,
    ai: bool | None = None,
) -> Choice:
    """Pick players of games, by the index; games without any are left out.

    Args:
        corpus: The corpus.
        games: As `Corpus.select` gives them.
        least_rank: Dan index the player has at least.
        player: His name.
        ai: Whether he is an official AI account; either if None.
    """
    rows = corpus.index[games]
    fits = np.ones((len(games), 4), np.bool_)
    if least_rank is not None:
        fits &= rows["ranks"] >= least_rank
    if player is not None:
        fits &= rows["players"] == (corpus.players.index(player) if player in corpus.players else -1)
    if ai is not None:
        fits &= ((rows["ai"][:, None] >> np.arange(4)) & 1 == 1) == ai
    seats = np.packbits(fits, axis=1, bitorder="little").reshape(len(games))
    return Choice(games[seats != 0], seats[seats != 0])


def decisions_of(corpus: Corpus, choice: Choice) -> Decisions:
    """All free discards of some games, in order.

    Left out are discards in an accepted riichi, those where only one kind may be thrown, and those made while
    the player was away.

    Raises:
        StateMismatchError: a game's events do not fit.
    """
    room = int(corpus.index["discards"][choice.games].sum(dtype=np.int64))
    found = Decisions(np.empty(room, ROUND_STATE), np.empty(room, np.int8), np.empty(room, np.int8))
    scratch, rows = np.zeros(1, ROUND_STATE), np.empty(_ROWS, np.int16)
    size = 0
    for number, seats in zip(choice.games.tolist(), choice.seats.tolist(), strict=True):
        absences = corpus.absences_of(number)
        away = np.empty((len(absences), 3), np.int64)
        for column, name in enumerate(("player", "first", "end")):
            away[:, column] = absences[name]
        size, event, reason = _collect(corpus.events(number), away, seats, scratch, rows, *found, size)
        if reason != FITS:
            raise StateMismatchError(f"{corpus.game_id(number)}: event {event}: {REASONS[reason]}")
    return Decisions(found.states[:size], found.seats[:size], found.labels[:size])


class Loader:
    """Batches of decisions, shuffled, as torch tensors.

    Args:
        corpus: Where the games are.
        choice: Whose decisions.
        batch_size: Samples in a batch; an epoch's last batch may be smaller.
        seed: Of the order and of the renamings.
        augment: Rename the tiles of each sample: suits exchanged, 1 and 9 mirrored, or neither.
        workers: Threads.
        pool_games: Games whose decisions are shuffled together; about 0.7 MB each, with up to three pools
            in memory. The games themselves are shuffled over the whole epoch.

    Attributes:
        costs: what delivered batches have cost so far.
    """

    def __init__(
        self,
        corpus: Corpus,
        choice: Choice,
        *,
        batch_size: int = 1024,
        seed: int = 0,
        augment: bool = True,
        workers: int = 2,
        pool_games: int = 256,
    ) -> None:
        self.corpus = corpus
        self.choice = choice
        self.batch_size = batch_size
        self.seed = seed
        self.augment = augment
        self.workers = workers
        self.pool_games = pool_games
        self.costs = Costs()

    def epoch(self, number: int = 0) -> Generator[Batch]:
        """One pass over all decisions; the same seed and number give the same batches.

        Raises:
            StateMismatchError: a game's events do not fit.
        """
        import torch  # noqa: PLC0415 - of the optional `learn` extra

        pool = ThreadPoolExecutor(self.workers, thread_name_prefix="samples")
        waiting: deque[Future[_Arrays]] = deque()
        try:
            for batch, pieces in enumerate(self._batches(pool, number)):
                waiting.append(pool.submit(self._encode, pieces, (self.seed, number, 1, batch)))
                if len(waiting) > _AHEAD * self.workers:
                    yield self._deliver(torch, waiting.popleft().result())
            while waiting:
                yield self._deliver(torch, waiting.popleft().result())
        finally:
            pool.shutdown(cancel_futures=True)

    def _deliver(self, torch: Any, arrays: _Arrays) -> Batch:
        start = time.thread_time()
        batch = Batch(torch.from_numpy(arrays.planes), torch.from_numpy(arrays.labels))
        self.costs.add(arrays.costs)
        self.costs.deliver += time.thread_time() - start
        return batch

    def _batches(self, workers: ThreadPoolExecutor, epoch: int) -> Iterator[list[_Piece]]:
        """The rows of each batch; one may begin in a pool and end in the next."""
        pieces: list[_Piece] = []
        missing = self.batch_size
        for number, pool in enumerate(self._pools(workers, epoch)):
            order = np.random.default_rng((self.seed, epoch, 2, number)).permutation(len(pool.labels))
            at = 0
            while at < len(order):
                rows = order[at : at + missing]
                pieces.append((pool, rows))
                at += len(rows)
                missing -= len(rows)
                if missing == 0:
                    yield pieces
                    pieces, missing = [], self.batch_size
        if pieces:
            yield pieces

    def _pools(self, workers: ThreadPoolExecutor, epoch: int) -> Iterator[Decisions]:
        """The decisions of so many games at a time; the next are folded while these are encoded."""
        order = np.random.default_rng((self.seed, epoch, 0)).permutation(len(self.choice.games))
        parts = [order[at : at + self.pool_games] for at in range(0, len(order), self.pool_games)]
        coming: Future[_Pool] | None = workers.submit(self._fold, parts[0]) if parts else None
        for following in (*parts[1:], None):
            if coming is None:
                return
            pool = coming.result()
            coming = None if following is None else workers.submit(self._fold, following)
            self.costs.add(pool.costs)
            yield pool.decisions

    def _fold(self, places: Numbers) -> _Pool:
        start = time.thread_time()
        chosen = Choice(self.choice.games[places], self.choice.seats[places])
        decisions = decisions_of(self.corpus, chosen)
        return _Pool(decisions, Costs(fold=time.thread_time() - start))

    def _encode(self, pieces: list[_Piece], seed: tuple[int, ...]) -> _Arrays:
        costs = Costs()
        count = sum(len(rows) for _, rows in pieces)
        numbers = np.random.default_rng(seed).integers(0, PERMUTATIONS if self.augment else 1, count)
        planes = np.empty((count, _PLANES, KINDS), np.uint8)
        labels = np.empty(count, np.int64)
        scratch = np.empty((_CHUNK, _PLANES, KINDS), np.uint8)
        at = 0
        for pool, rows in pieces:
            labels[at : at + len(rows)] = permute_kinds(pool.labels[rows], numbers[at : at + len(rows)])
            for first in range(0, len(rows), _CHUNK):
                chunk = rows[first : first + _CHUNK]
                end = at + len(chunk)
                self._encode_chunk(pool, chunk, numbers[at:end], scratch[: len(chunk)], planes[at:end], costs)
                at = end
        return _Arrays(planes, labels, costs)

    def _encode_chunk(
        self, pool: Decisions, rows: Numbers, numbers: Numbers, scratch: Planes, out: Planes, costs: Costs
    ) -> None:
        begun = time.thread_time()
        states, seats = pool.states[rows], pool.seats[rows]
        gathered = time.thread_time()
        encode(states, seats, FEATURES, scratch if self.augment else out)
        encoded = time.thread_time()
        if self.augment:
            permute_planes(scratch, FEATURES, numbers, out)
        costs.gather += gathered - begun
        costs.encode += encoded - gathered
        costs.permute += time.thread_time() - encoded


# --- kernels ----------------------------------------------------------------------------------------------


@kernel
def _collect(
    codes: Any,
    away: Any,
    wanted: int,
    scratch: Any,
    rows: Any,
    states: Any,
    seats: Any,
    labels: Any,
    size: int,
) -> Any:
    """Fold a game and keep the state before each free discard.

    Returns:
        ``(decisions so far, event, reason)``: the event that does not fit and why, reason 0 if all do.
    """
    rec = scratch[0]
    at = 0
    event = 0
    while at < codes.size:
        if codes[at] < 1 or codes[at] >= _LENGTHS.size:
            return size, event, BAD_CODE
        if at + _LENGTHS[codes[at]] > codes.size:
            return size, event, CUT_SHORT
        code = codes[at : at + _LENGTHS[codes[at]]]
        if code[0] == DISCARD:
            player = code[1]
            asked = 0 <= player < 4 and (wanted >> player) & 1 == 1 and not _is_away(away, player, event)
            if asked and _is_free(rec, player, rows):
                states[size] = rec
                seats[size] = player
                labels[size] = code[2] >> 2
                size += 1
        reason = fold_one(rec, code)
        if reason != FITS:
            return size, event, reason
        event += 1
        at += code.size
    return size, event, FITS


@kernel
def _is_away(away: Any, player: int, event: int) -> bool:
    found = False
    for i in range(len(away)):
        found |= away[i, 0] == player and away[i, 1] <= event < away[i, 2]
    return found


@kernel
def _is_free(rec: Any, player: int, rows: Any) -> bool:
    """Whether a player who throws a tile now could have thrown one of another kind."""
    if rec.riichi[player] == _ACCEPTED:
        return False
    if rec.phase != PHASE_CALLED:
        kinds = 0
        for kind in range(KINDS):
            kinds += rec.hand34[player, kind] > 0
        return kinds > 1
    only = -1
    for i in range(legal_rows(rec, player, rows)):
        if rows[i, 0] == _THROW:
            kind = rows[i, 1] >> 2
            if only not in (-1, kind):
                return True
            only = kind
    return False


@warms_up
def _warm_up() -> None:
    none: Packed = np.empty(0, np.int16)
    _collect(
        none,
        np.empty((0, 3), np.int64),
        ALL_SEATS,
        np.zeros(1, ROUND_STATE),
        np.empty(_ROWS, np.int16),
        np.empty(0, ROUND_STATE),
        np.empty(0, np.int8),
        np.empty(0, np.int8),
        0,
    )
