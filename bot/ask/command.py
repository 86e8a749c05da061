"""Asks a policy about one position, and prints the answer."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec

from bot.ask.text import answer_text
from bot.review.command import make_reviewer
from game.position import WrittenPosition, place
from policies.nets.compute import Compute
from replays.review.asking import answer

if TYPE_CHECKING:
    from policies.play.inference import Averaging


def ask(
    position: WrittenPosition, *, policy: str, averaging: Averaging, compute: Compute, as_json: bool
) -> int:
    """Print what a policy would do.

    Args:
        position: the position.
        policy: a built-in policy, a folder of checkpoints, or ``python:FILE.py``.
        averaging: tile permutations that networks average over, unless the name specifies a number.
        compute: how networks compute.
        as_json: print JSON.

    Returns:
        The exit code.

    Raises:
        PositionError: the position is impossible.
        ConfigError: the policy does not exist.
        ModelError: it gives no usable answer.
    """
    placed = place(position)
    told = answer(make_reviewer(policy, "", averaging, compute), position, placed)
    sys.stdout.write(msgspec.json.encode(told).decode() + "\n" if as_json else answer_text(told))
    return 0
