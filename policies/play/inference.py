"""The networks as a policy: probabilities for questions, one at a time in play, thousands at once elsewhere.

A question becomes rows: one for a discard or riichi, one for each candidate meld of a call. Rows are encoded
and evaluated under a number of permutations of the suits, and their logits averaged, which gives the
geometric mean of the probabilities.

On a CPU an answer depends only on its question, to the last bit, and not on the rest of the batch. Games are
therefore the same however they are distributed over tables and processes.

A GPU that runs out of memory or is lost costs one try: the networks move to the CPU and stay there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import structlog
from numpy.typing import NDArray

from game.actions import Action
from game.layout import ROUND_STATE
from game.rules import action_row
from game.scoring.settlement import LAST_ROUND, GameLength
from game.tiles import KINDS, RED_FIVES
from kit.errors import ModelError
from policies.checkpoint.card import Card
from policies.checkpoint.files import Reader, read_file
from policies.checkpoint.store import load
from policies.features.encode import Planes, encode
from policies.features.permute import (
    KIND_MAPS,
    SUIT_PERMUTATIONS,
    mirrored_places,
    permute_planes,
    places_in_run,
)
from policies.features.table import GUIDED, SETS, looks_deep
from policies.flow.decisions import Source
from policies.flow.slots import Question, Slot
from policies.nets.architectures import (
    DISCARDS,
    HOSEI_CHI,
    YES,
    Arrays,
    Floats,
    SuitsArchitecture,
    Weights,
)
from policies.nets.compute import IN_PLAY, Compute
from policies.nets.fused import can_fuse
from policies.nets.guidance import HiddenPart, drop_hidden, hidden_part
from policies.nets.quantized import fused
from policies.play.included import SHIPPED

log = structlog.get_logger(__name__)

Averaging: TypeAlias = Literal[1, 6, 12]
"""Number of permutations a position is evaluated under: none; the suits rotated, each also mirrored; all."""

_PERMUTATIONS: Final[dict[Averaging, NDArray[np.int64]]] = {
    1: np.array([0]),
    # 75.13 % of 10,240 Phoenix discards, the six orders of the suits 74.80, all twelve 75.14
    6: np.array([0, 3, 4, 6, 9, 10]),
    12: np.arange(12),
}
"""Their numbers in `policies.features.permute`; each set is closed under composition."""
_MIRRORS: Final = np.array([0, SUIT_PERMUTATIONS])
"""All that differ for a network that treats suits alike."""
_ROWS_ENCODED: Final = 256
"""Number of decisions whose planes are in memory at once."""


class Model:
    """One of the five models, ready to answer.

    Args:
        weights: of the network, as trained.
        features: its feature set.
        without: groups of the set that are left blank.
        compute: how it computes.
        gamma: share of the hidden planes that a guided network sees (`policies.nets.guidance`).

    Attributes:
        weights: the same; not to be changed.
        blank: the planes of those groups.
        of_calls: whether a row is a candidate meld.
    """

    def __init__(
        self,
        weights: Weights,
        features: str,
        without: Sequence[str] = (),
        compute: Compute = IN_PLAY,
        gamma: float = 0.0,
    ) -> None:
        self.features = features
        self.of_calls = SETS[features].of_calls
        self.gamma = gamma
        self.compute = compute
        self.weights, self._without = weights, without
        self._deep = looks_deep(features, without)
        shape = weights.architecture
        self._outputs = shape.outputs
        self.blank = SETS[features].planes_of(without)
        self._alike = isinstance(shape, SuitsArchitecture)
        self._network: Callable[[Planes], Floats]
        if compute.device == "cpu" and compute.precision != "bf16" and can_fuse(shape):
            self._network = fused(weights, self.blank, compute.precision)
        else:
            from policies.nets.device import DeviceNetwork  # noqa: PLC0415 - torch is for those who need it

            self._network = DeviceNetwork(weights, self.blank, compute)

    def with_arrays(self, arrays: Arrays, compute: Compute | None = None) -> Model:
        """The same model with other weights.

        Args:
            arrays: of a network of the same architecture.
            compute: how it computes; by default as this one does.
        """
        weights = self.weights._replace(arrays=arrays)
        return Model(weights, self.features, self._without, compute or self.compute, self.gamma)

    def on_cpu(self) -> Model:
        """The same model on the CPU; nothing is read from the device it is on."""
        return self.with_arrays(self.weights.arrays, IN_PLAY)

    @property
    def guided(self) -> bool:
        """Whether it sees hidden planes."""
        return self.features == GUIDED

    def logits(
        self,
        states: NDArray[Any],
        players: NDArray[np.int8],
        calls: NDArray[np.int16] | None,
        length: GameLength,
        averaging: Averaging = 1,
        hidden: HiddenPart | None = None,
    ) -> Floats:
        """Score the answers for states, each as one player sees it.

        Args:
            states: ``[N]`` of `ROUND_STATE`.
            players: ``[N]``, absolute.
            calls: ``[N, 6]`` as `game.rules.legal_rows` writes them, if rows are candidate melds.
            length: length of the games.
            averaging: number of suit permutations; a guided network has one.
            hidden: what is hidden, for a guided network.

        Returns:
            ``[N, 34]``, ``[N, 4]`` or ``[N, 2]`` logits, as many as its architecture has outputs.
        """
        logits = np.empty((len(states), self._outputs), np.float32)
        for rows in _pieces(len(states), _ROWS_ENCODED):
            asked = calls[rows] if calls is not None else None
            unseen = HiddenPart(hidden.walls[rows], hidden.seeds[rows]) if hidden is not None else None
            planes = self.planes(states[rows], players[rows], asked, length, unseen)
            logits[rows] = self.scores(planes, averaging)
        return logits

    def planes(
        self,
        states: NDArray[Any],
        players: NDArray[np.int8],
        calls: NDArray[np.int16] | None,
        length: GameLength,
        hidden: HiddenPart | None = None,
    ) -> Planes:
        """``[N, C, 34]``: the model's input for states; arguments as for `logits`."""
        planes = encode(
            states,
            players,
            self.features,
            calls=calls if self.of_calls else None,
            walls=hidden.walls if hidden is not None else None,
            deep=self._deep,
            last_round=LAST_ROUND[length],
        )
        if hidden is not None:
            drop_hidden(planes, hidden.seeds, self.gamma)
        return planes

    def scores(self, planes: Planes, averaging: Averaging = 1) -> Floats:
        """Score the answers for planes of the model's feature set.

        Args:
            planes: ``[N, C, 34]`` from the encoder.
            averaging: number of suit permutations.

        Returns:
            ``[N, 34]`` or ``[N, 2]`` logits.
        """
        logits = np.empty((len(planes), self._outputs), np.float32)
        for rows in _pieces(len(planes), _ROWS_ENCODED):
            logits[rows] = self._averaged(planes[rows], averaging)
        return logits

    def _averaged(self, planes: Planes, averaging: Averaging) -> Floats:
        if averaging == 1:
            return self._computed(planes)
        permutations = _MIRRORS if self._alike else _PERMUTATIONS[averaging]
        numbers = np.tile(permutations, len(planes))
        permuted = permute_planes(np.repeat(planes, len(permutations), axis=0), self.features, numbers)
        logits = self._computed(permuted)
        if self._outputs == DISCARDS:
            logits = np.take_along_axis(logits, _COLUMNS[numbers], axis=1)
        elif self._outputs == HOSEI_CHI:
            columns = mirrored_places(np.arange(HOSEI_CHI), numbers[:, None])
            logits = np.take_along_axis(logits, columns, axis=1)
        mean: Floats = logits.reshape(len(planes), len(permutations), self._outputs).mean(axis=1)
        return mean

    def _computed(self, planes: Planes) -> Floats:
        parts = _pieces(len(planes), self.compute.rows)
        scores: Floats = np.concatenate([self._network(planes[rows]) for rows in parts])
        return scores


class NetworkPolicy:
    """Fills the five slots with networks.

    Args:
        models: one for each slot.
        averaging: number of suit permutations every position is evaluated under.
        cards: cards of the checkpoints from which the models were loaded, if any.
    """

    source: Source = "model"

    def __init__(
        self,
        models: Mapping[Slot, Model],
        averaging: Averaging = 1,
        cards: Mapping[Slot, Card] | None = None,
    ) -> None:
        self.averaging = averaging
        self.cards = dict(cards or {})
        self._models = dict(models)

    def answer(self, slot: Slot, questions: Sequence[Question]) -> list[list[float]]:
        """Give each option of each question its probability; see `policies.flow.slots.Policy`.

        If the device runs out of memory or is lost, the questions are asked again on the CPU, one by one.

        Raises:
            ModelError: the network returned a number that is not finite.
        """
        try:
            return self._answer_all(slot, questions)
        except Exception as exc:
            if self._models[slot].compute.device == "cpu" or not _is_device_fault(exc):
                raise
            log.warning("decision.moved_to_cpu", reason=f"{type(exc).__name__}: {exc}"[:200])
        self._models = {each: model.on_cpu() for each, model in self._models.items()}
        return [self._answer_all(slot, (question,))[0] for question in questions]

    def model(self, slot: Slot) -> Model:
        """The model of a slot."""
        return self._models[slot]

    def replaced(self, models: Mapping[Slot, Model]) -> NetworkPolicy:
        """The same policy with other models in some slots; their cards are no longer known."""
        cards = {slot: card for slot, card in self.cards.items() if slot not in models}
        return NetworkPolicy({**self._models, **models}, self.averaging, cards)

    def _answer_all(self, slot: Slot, questions: Sequence[Question]) -> list[list[float]]:
        answers: dict[int, list[float]] = {}
        for length in {question.length for question in questions}:
            places = [i for i, question in enumerate(questions) if question.length == length]
            alike = self._answer(slot, [questions[i] for i in places], length)
            answers.update(zip(places, alike, strict=True))
        return [answers[i] for i in range(len(questions))]

    def _answer(self, slot: Slot, questions: Sequence[Question], length: GameLength) -> list[list[float]]:
        model = self._models[slot]
        rows = [
            (question, option)
            for question in questions
            for option in (question.options if model.of_calls else question.options[:1])
        ]
        # one copy of bytes is faster than one for each field
        records = b"".join([question.record.tobytes() for question, _ in rows])
        states = np.frombuffer(bytearray(records), ROUND_STATE)
        players = np.array([question.player for question, _ in rows], np.int8)
        calls = np.array([action_row(option) for _, option in rows], np.int16) if model.of_calls else None
        hidden = hidden_part([question.hidden() for question, _ in rows]) if model.guided else None
        logits = model.logits(states, players, calls, length, self.averaging, hidden)
        if not np.isfinite(logits).all():
            raise ModelError(f"the {slot} model returned a number that is not finite")
        if slot is Slot.DISCARD:
            return _of_discards(questions, logits)
        if logits.shape[1] == HOSEI_CHI:
            return _of_runs(questions, logits)
        yes = iter(_of_yes(logits).tolist())
        if model.of_calls:
            return [[next(yes) for _ in question.options] for question in questions]
        return [[next(yes)] * len(question.options) for question in questions]


def load_policy(
    folder: Path = SHIPPED,
    *,
    averaging: Averaging = 1,
    compute: Compute = IN_PLAY,
    read: Reader = read_file,
) -> NetworkPolicy:
    """The policy of the five checkpoints in a folder.

    Args:
        folder: folder of the checkpoints; by default the included ones.
        averaging: number of suit permutations every position is evaluated under.
        compute: how the networks compute.
        read: reads a file of the folder.

    Raises:
        CheckpointError: one is missing, incomplete, or does not fit.
    """
    models, cards = {}, {}
    for slot in Slot:
        checkpoint = load(folder, slot, read=read)
        card = cards[slot] = checkpoint.card
        models[slot] = Model(checkpoint.weights, card.features, card.without, compute)
    return NetworkPolicy(models, averaging, cards)


def _is_device_fault(exc: Exception) -> bool:
    from policies.nets.device import is_device_fault  # noqa: PLC0415 - torch computed there

    return is_device_fault(exc)


def _pieces(count: int, size: int) -> Iterator[slice]:
    return (slice(start, start + size) for start in range(0, count, size))


_COLUMNS: Final = KIND_MAPS.astype(np.intp)
"""``[12, 34]``: the column of each kind's logit under each permutation."""


# --- probabilities of the options, from scores -------------------------------------------------------------


def chances(logits: Floats, legal: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Softmax over the legal kinds.

    Args:
        logits: ``[N, 34]``.
        legal: ``[N, 34]`` bool, at least one true in every row.

    Returns:
        ``[N, 34]`` float64; 0 where ``legal`` is false.
    """
    scores = np.where(legal, logits.astype(np.float64), -np.inf)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: NDArray[np.float64] = weights / weights.sum(axis=1, keepdims=True)
    return shares


def share_out(chance34: Sequence[float], options: Sequence[Action]) -> list[float]:
    """Give each discard its probability, from the network's probability for each kind.

    A kind stands for one tile: its first option that is not a red five, else its first. A red five is
    therefore discarded only if no other tile of its kind is an option. Whether it is the drawn copy or
    another is up to the options, which name the drawn one if it is of that kind.

    Args:
        chance34: ``[34]``, adding up to 1 over the kinds of the options.
        options: discards.
    """
    tiles = [option.tile for option in options]
    place_of: dict[int, int] = {}
    for place, tile in enumerate(tiles):
        first = place_of.setdefault(tile >> 2, place)
        if tiles[first] in RED_FIVES and tile not in RED_FIVES:
            place_of[tile >> 2] = place
    row = [0.0] * len(tiles)
    for kind, place in place_of.items():
        row[place] = chance34[kind]
    return row


def _of_discards(questions: Sequence[Question], logits: Floats) -> list[list[float]]:
    """Probabilities of the options of discards, from ``[N, 34]`` scores of kinds."""
    sizes = [len(question.options) for question in questions]
    tiles = [option.tile for question in questions for option in question.options]
    rows, kinds = np.repeat(np.arange(len(questions)), sizes), np.array(tiles, np.intp) >> 2
    legal = np.zeros((len(questions), KINDS), np.bool_)
    legal[rows, kinds] = True
    chance34 = chances(logits, legal)
    each, ends = chance34[rows, kinds].tolist(), np.cumsum(sizes).tolist()
    shares = [each[end - size : end] for size, end in zip(sizes, ends, strict=True)]
    for row in np.flatnonzero(legal.sum(axis=1) < sizes).tolist():  # two tiles of a kind
        shares[row] = share_out(chance34[row].tolist(), questions[row].options)
    return shares


def _of_runs(questions: Sequence[Question], logits: Floats) -> list[list[float]]:
    """Probabilities of candidates of chi, each against none, from ``[N, 4]`` scores of none and places."""
    rows = np.repeat(np.arange(len(questions)), [len(question.options) for question in questions])
    calls = [action_row(option) for question in questions for option in question.options]
    places = places_in_run(np.array(calls, np.int16))
    yes = iter(_of_yes(np.stack([logits[rows, 0], logits[rows, places]], axis=1)).tolist())
    return [[next(yes) for _ in question.options] for question in questions]


def _of_yes(logits: Floats) -> NDArray[np.float64]:
    """Softmax over no and yes, ``[N]``: the probability of yes."""
    ahead = logits[:, YES].astype(np.float64) - logits[:, 1 - YES]
    return 0.5 + 0.5 * np.tanh(0.5 * ahead)
