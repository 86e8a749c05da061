"""What Tenhou's operator asks of those who let a bot play, said before the first time.

Source: the operator's posts of 2015-07-03 and 2023-06-30.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

NOTICE: Final = """\
Before you play on Tenhou with a bot: what its operator asks.

- Anyone who wants to run a bot on Tenhou should write to support@c-egg.com first.
- Bots may play people only with the operator's permission, and under a name marked as a bot's.
  Ids of bots without permission are suspended, and clients other than the official ones risk it.
- Complaints about ill-mannered bots reach the operator daily. Suzaku keeps a human pace, logs out
  cleanly and never leaves a game on purpose; please leave it so, and never run several at once.

Until you have permission, Suzaku sits only at practice tables against the server's own players.
This is said once.
"""


def say_once(folder: Path, say: Callable[[str], None]) -> bool:
    """Say it unless a mark in ``folder`` shows that it was said; whether it was said now.

    A folder that cannot be written means that it is said again the next time.
    """
    mark = folder / "tenhou-notice-said"
    if mark.exists():
        return False
    say(NOTICE)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        mark.touch()
    except OSError:
        return True
    return True
