"""One client as a process of its own: ``python -m tests.bot.faults.client_process URL ID [FOLDER | CODE]``.

The folder holds an account's lock, or a guest's resume code; a code takes the seat it belongs to.

Prints ``playing`` at its first decision and the final scores at the end.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import sys
from pathlib import Path

from bot.logs.setup import set_up_logs
from bot.play.lock import id_lock
from bot.play.resume_store import ResumeStore, resume_store
from bot.player.clock import MonotonicClock
from bot.player.seat_player import PlayerSettings, SeatPlayer
from bot.tenhou.client import ClientSettings, Hooks, TenhouClient
from bot.tenhou.client.journal import Journal
from bot.tenhou.session import Session, SessionSettings
from game.errors import BotError, ConfigError
from policies.heuristic.player import HeuristicPolicy


async def play(url: str, name: str, store: ResumeStore | None, code: str) -> None:
    clock, rng = MonotonicClock(), random.Random(1)
    told = False

    def tell(_: object) -> None:
        nonlocal told
        if not told:
            print("playing", os.getpid(), flush=True)
            told = True

    player = SeatPlayer(HeuristicPolicy, PlayerSettings(), clock, rng, on_decision=tell)
    journal = Journal()
    code = store.load() if store else code
    session = Session(SessionSettings(name=name, game_type=1, gpid=code))
    hooks = Hooks(on_resume_code=store.save if store else None)
    client = TenhouClient(ClientSettings(urls=(url,)), session, player, journal, clock, rng, hooks=hooks)
    await client.run()
    print("ended", [result.scores for result in journal.results], flush=True)


def main() -> int:
    set_up_logs("warning")
    url, name, *rest = sys.argv[1:]
    folder = [Path(text) for text in rest if "/" in text]
    code = "".join(text for text in rest if "/" not in text)
    try:
        with contextlib.ExitStack() as stack:
            store = None
            if folder and name == "NoName":
                store = stack.enter_context(resume_store(folder[0], url))
            elif folder:
                stack.enter_context(id_lock(folder[0], name))
            asyncio.run(play(url, name, store, code))
    except ConfigError as exc:
        print(exc, flush=True)
        return 2
    except BotError as exc:
        print(type(exc).__name__, exc, flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
