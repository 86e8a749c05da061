"""Samplers of deals by the text that names them in commands; models of hands are completed to deals."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from game.tiles import RED_FIVES, face_of
from kit.errors import ConfigError, StateMismatchError
from policies.checkpoint.card import Model
from policies.checkpoint.store import files_of
from policies.deals.deal import ANY_HAND, Deals, DealSampler, RoundView, Unseen
from policies.deals.uniform import UniformDeals, is_possible
from policies.flow.draws import drawn_bits
from policies.hands.direct import HAND_MODELS_FOLDER
from policies.hands.views import HandSampler, SampledHands

_FACES: Final = np.array([face_of(tile) for tile in range(136)])


class DealsOfHands:
    """Completes the hands of a sampler to deals.

    Args:
        sampler: samples the opponents' hands.
    """

    def __init__(self, sampler: HandSampler) -> None:
        self._sampler = sampler

    def deals(self, view: RoundView, count: int, seed: int) -> Deals:
        """Sample deals; see `policies.deals.deal.DealSampler`."""
        unseen = Unseen.of(view)
        hands = self._sampler.sample(np.asarray(view.record).reshape(1), np.array([view.player]), count, seed)
        tiles = tiles_of_faces(unseen, faces_of(hands), seed)
        return Deals(view, unseen, tiles)


def faces_of(hands: SampledHands) -> NDArray[np.int8]:
    """``[n, 3, 37]`` int8: copies of each face in the hands of the first player asked about."""
    counts, reds = hands.counts[0], hands.reds[0].astype(np.int8)
    faces = np.concatenate([counts, reds], axis=-1)
    faces[..., [red >> 2 for red in RED_FIVES]] -= reds
    return faces


def tiles_of_faces(unseen: Unseen, faces: NDArray[np.int8], seed: int) -> NDArray[np.int16]:
    """``[n, M]``: deals in the order of `Deals.tiles` with these hands.

    Copies of a face are exchanged at random, and so is the rest of the tiles.

    Args:
        unseen: what is open.
        faces: ``[n, 3, 37]``, copies of each face in each hand.
        seed: determines what is random.

    Raises:
        StateMismatchError: hands do not fit what is open.
    """
    deals = np.empty((len(faces), len(unseen.tiles)), np.int16)
    for number, hands in enumerate(faces):
        rng = np.random.default_rng(drawn_bits(seed, number))
        wanted = hands.astype(np.int64)
        found: list[list[int]] = [[], [], [], []]
        for tile in rng.permutation(unseen.tiles).tolist():
            face = _FACES[tile]
            hand = next((hand for hand in range(3) if wanted[hand, face] > 0), 3)
            if hand < 3:
                wanted[hand, face] -= 1
            found[hand].append(tile)
        if wanted.any() or any(len(found[hand]) != unseen.sizes[hand] for hand in range(3)):
            raise StateMismatchError(f"sampled hands {number} do not fit what the player has seen")
        for hand in range(3):
            _put_drawn_last(found[hand], int(unseen.needs[hand]), int(unseen.melds[hand]))
        deals[number] = [tile for part in found for tile in part]
    return deals


def _put_drawn_last(hand: list[int], need: int, melds: int) -> None:
    """Choose which tile of a hand in riichi was drawn last.

    Raises:
        StateMismatchError: the hand cannot be that of a player in riichi.
    """
    if need == ANY_HAND:
        return
    counts = np.bincount(np.array(hand) >> 2, minlength=34).astype(np.int8)
    if len(hand) % 3 == 1 and is_possible(counts, need, melds, -1):
        return
    for place in range(len(hand)) if len(hand) % 3 == 2 else ():
        if is_possible(counts, need, melds, hand[place] >> 2):
            hand.append(hand.pop(place))
            return
    raise StateMismatchError("a sampled hand of a player in riichi is not tenpai")


SamplerName: TypeAlias = Literal["uniform", "autoregressive", "diffusion"]

SAMPLERS: Final[tuple[SamplerName, ...]] = get_args(SamplerName)


class SamplerSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of a sampler.

    Attributes:
        hands: uniform hands, or the model of `policies.hands` that samples them.
        steps: of diffusion; 0 for as many as the model was trained for.
    """

    hands: SamplerName = "uniform"
    steps: int = 0


def load_sampler(text: str) -> DealSampler:
    """Load the sampler that a text names.

    Args:
        text: ``uniform``, ``autoregressive``, ``diffusion`` or, for instance, ``diffusion:steps=4``.

    Raises:
        ConfigError: the text names no sampler.
        CheckpointError: the model of hands cannot be used.
    """
    settings = settings_of(text)
    if settings.hands == "uniform":
        return UniformDeals()
    if settings.hands == "autoregressive":
        from policies.hands.autoregressive import load_autoregressive  # noqa: PLC0415 - torch is for those who need it

        return DealsOfHands(load_autoregressive())
    from policies.hands.diffusion import DiffusionSettings, load_diffusion  # noqa: PLC0415

    return DealsOfHands(load_diffusion(settings=DiffusionSettings(steps=settings.steps)))


def models_of(settings: Sequence[SamplerSettings]) -> str:
    """Hash the included models of hands that these samplers use; "" if they use none.

    Raises:
        CheckpointError: one cannot be used.
    """
    names: set[Model] = {each.hands for each in settings if each.hands != "uniform"}
    if not names:
        return ""
    digest = hashlib.sha256()
    for name, content in sorted(files_of(HAND_MODELS_FOLDER, ["direct", *sorted(names)]).items()):
        digest.update(name.encode() + b"\0" + content)
    return digest.hexdigest()


def settings_of(text: str) -> SamplerSettings:
    """Parse the text that names a sampler.

    Raises:
        ConfigError: the text names no sampler.

    >>> settings_of("diffusion:steps=4").steps
    4
    """
    name, _, rest = text.partition(":")
    pairs = {key: value for key, _, value in (pair.partition("=") for pair in rest.split(",") if pair)}
    try:
        if name not in SAMPLERS or set(pairs) - ({"steps"} if name == "diffusion" else set()):
            raise ConfigError("there is no such sampler")
        found = msgspec.convert({"hands": name, **pairs}, SamplerSettings, strict=False)
        if found.steps < 0:
            raise ConfigError("a value is not possible")
    except (ConfigError, msgspec.ValidationError) as exc:
        raise ConfigError(
            f"--sampler {text}: {exc}; give uniform, autoregressive, diffusion or diffusion:steps=NUMBER"
        ) from None
    return found
