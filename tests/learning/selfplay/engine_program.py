"""An mjai engine that discards what it draws: ``engine_program.py FOLDER [WAY [LINES]]``.

It misbehaves in the given way after the given number of lines. Its process id is the name of a file in the
folder, which counts the games whose end it was sent.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

FOREVER_S = 600.0


def answer(messages: list[dict[str, Any]], seat: int) -> dict[str, Any]:
    last = messages[-1]
    if last["type"] == "tsumo" and last["actor"] == seat:
        return {"type": "dahai", "actor": seat, "pai": last["pai"], "tsumogiri": True}
    return {"type": "none"}


def misbehave(way: str, good: str) -> str:
    """The line sent instead of a good answer, unless it is silent."""
    if way == "hang":
        time.sleep(FOREVER_S)
    elif way == "garble":
        return "thinking {…"
    elif way == "die":
        sys.exit("no tiles left")
    elif way == "betray":
        sys.exit("my id is ID0A1B2C3D-Marker01")
    elif way == "cheat":
        return '{"type":"hora","actor":0,"target":1,"pai":"P"}'
    elif way == "babble":
        return "x" * 10_000_000
    elif way == "repeat":
        return f"{good}\n{good}"
    elif way == "close":
        os.close(1)
        time.sleep(FOREVER_S)
    elif way == "flood":
        sys.stderr.write("what now?\n" * 100_000)
    elif way == "rave":
        while True:
            sys.stderr.write("what now?\n" * 1000)
    return good


def main() -> None:
    folder, way, lines = [*sys.argv[1:], *("", "0")[len(sys.argv) - 2 :]]
    mark = Path(folder) / str(os.getpid())
    mark.write_text("")
    if way == "launch":  # the real engine is a child process that does not check its parent
        subprocess.run([sys.executable, "-I", "-S", __file__, folder, "hang"], check=False)
    if way == "hide":  # the same in a session of its own, and the launcher leaves it behind
        subprocess.Popen([sys.executable, "-I", "-S", __file__, folder, "hang"], start_new_session=True)
    seat = 0
    for number, line in enumerate(sys.stdin):
        messages = json.loads(line)
        messages = messages if isinstance(messages, list) else [messages]
        if messages[0]["type"] == "start_game":
            seat = messages[0]["id"]
        if messages[-1]["type"] == "end_game":
            mark.write_text(mark.read_text() + "*")
            if way == "leave":
                return
        good = json.dumps(answer(messages, seat))
        print(misbehave(way, good) if number >= int(lines) else good, flush=True)


if __name__ == "__main__":
    main()
