"""Generates the corpus again: games in the local lobby as a client receives them.

python -m tests.fuzz.seeds
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.bot.relay import CUT, Plan, Side, unchanged
from tests.bot.whole_game import ACCOUNT, play_through
from tests.fuzz.script import connections, write_script

CORPUS: Final = Path(__file__).parent / "corpus"


def cut_every(frames: int) -> Plan:
    def plan(number: int, _: Side, text: str) -> Sequence[object]:
        return (text, CUT) if number % frames == 0 else (text,)

    return plan


async def main() -> None:
    plans = {"whole": unchanged, "cut": cut_every(37)}
    for (name, plan), seed in itertools.product(plans.items(), (7, 12)):
        played = await play_through(plan, seed=seed, name=ACCOUNT)
        write_script(CORPUS / f"tonpuu-{name}-{seed}.txt", connections(played.frames))


if __name__ == "__main__":
    asyncio.run(main())
