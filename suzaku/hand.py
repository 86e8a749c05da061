"""Hands written as text: distance, value and danger, and what the opponents may hold.

Every function takes an `Observation`, or a hand as `position` reads it, in the middle of a round of which
nothing else is known.
"""

from __future__ import annotations

import functools
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from game import shanten as kernels
from game.actions import PASS, Action, ActionKind
from game.observation import Observation
from game.position import FieldError, WrittenPosition, place
from game.position.writing import grouped
from game.scoring.value import WinValue, context_of, evaluate
from game.state import unseen34
from game.tiles import KINDS, kind_text
from policies.deals.deal import RoundView
from policies.deals.named import load_sampler
from policies.hands.direct import DirectModel
from replays.review.judging import After

_MIDDLE: Final = 8
"""The turn of a hand that is only text: a win on the first would be a yakuman."""
_model, _sampler = functools.cache(DirectModel.load), functools.cache(load_sampler)


class Ukeire(NamedTuple):
    """A hand that waits for a draw.

    Attributes:
        shanten: 0 is tenpai.
        tiles: the kinds that bring it closer, each with the number of copies that the player has not seen.
    """

    shanten: int
    tiles: dict[str, int]


def position(hand: str, **fields: Any) -> Observation:
    """A position written by hand.

    >>> position("34067m345p3468s55z", dora="4z").player
    0

    Args:
        hand: the concealed tiles, ``1m`` to ``9m``, ``p``, ``s``, ``1z`` to ``7z`` for East South West North,
            white green red, ``0`` a red five; the tile drawn last. With 13 tiles, less three for each meld,
            the player waits, and has no legal actions.
        fields: the rest of `game.position.WrittenPosition`, as in docs/ask.md: ``dora``, ``turn``, ``melds``,
            ``rivers``, ``scores``, ``round_index``, ``seat_wind``, ``offered``, …

    Raises:
        FieldError: the position is impossible; the message says what to change.
    """
    try:
        written = msgspec.convert({"hand": hand, **fields}, WrittenPosition)
    except msgspec.ValidationError as exc:
        raise FieldError(str(exc)) from None
    return place(written).observation


def shanten(seen: Observation | str) -> int:
    """The distance to tenpai, over all forms of hands: 0 is tenpai, -1 a complete hand."""
    at = _observation(seen)
    return int(kernels.shanten(at.record["hand34"][at.player], int(at.record["meld_count"][at.player])))


def ukeire(seen: Observation | str) -> dict[Action, Ukeire]:
    """The hand after each legal action that leaves one waiting for a draw, the best first.

    While others play there is one, after a pass.
    """
    at = _observation(seen)
    waiting = int(at.record["hand_size"][at.player]) % 3 == 1
    legal = at.legal or ((PASS,) if waiting else ())
    after, unseen = After(at), unseen34(at.record, at.player)
    found = {}
    for action in legal:
        shape = after.of(action)
        if shape is not None:
            kinds = [kind for kind in range(KINDS) if shape.mask >> kind & 1]
            found[action] = Ukeire(shape.shanten, {kind_text(kind): int(unseen[kind]) for kind in kinds})
    return dict(sorted(found.items(), key=lambda each: (each[1].shanten, -sum(each[1].tiles.values()))))


def value(seen: Observation | str) -> WinValue | None:
    """The value of a win now, without honba and sticks; None if the player cannot win.

    Returns:
        ``han``, ``fu``, ``points``, and ``yaku`` or ``yakuman`` by Tenhou's ids, which are places in
        `YAKU_NAMES`. Ura dora are unknown.
    """
    at = _observation(seen)
    win = next((each for each in at.legal if each.kind in (ActionKind.TSUMO, ActionKind.RON)), None)
    if win is None:
        return None
    loser = at.player if win.kind is ActionKind.TSUMO else int(at.record["last_player"])
    return evaluate(context_of(at.record, at.player, win.tile, loser))


def danger(seen: Observation | str) -> dict[str, list[float]]:
    """The chance that each kind, discarded now, is won on, by the included model of hands.

    Returns:
        For each of the 34 kinds, that of shimocha, toimen and kamicha. Without rivers they are unreliable:
        the model then takes the opponents to be far from tenpai.
    """
    at = _observation(seen)
    (deal_ins,) = _model().read(np.array([at.record]), at.player).deal_ins
    return dict(zip(map(kind_text, range(KINDS)), deal_ins.T.tolist(), strict=True))


def hands(
    seen: Observation | str, count: int = 10, *, seed: int = 0, sampler: str = "diffusion"
) -> list[tuple[str, str, str]]:
    """Concealed hands that the opponents may hold together.

    They fit what the player has seen: sizes, copies of tiles, a ready hand in riichi.

    Args:
        seen: the observation.
        count: samples.
        seed: determines them.
        sampler: ``diffusion`` or ``autoregressive``, which learned from games and use torch, in one thread;
            or ``uniform``.

    Returns:
        Hands of shimocha, toimen and kamicha as text.

    Raises:
        ConfigError: there is no such sampler.
        ValueError: ``count`` is less than 1.
    """
    if count < 1:
        raise ValueError(f"count {count}: give 1 or more")
    view = RoundView.of(_observation(seen))
    deals = _sampler(sampler).deals(view, count, seed)
    held = [deals.hands(number) for number in range(count)]
    right, across, left = view.opponents
    return [(_text(each[right]), _text(each[across]), _text(each[left])) for each in held]


def _observation(seen: Observation | str) -> Observation:
    return position(seen, turn=_MIDDLE) if isinstance(seen, str) else seen


def _text(tiles: list[int]) -> str:
    return grouped(sorted(tiles))
