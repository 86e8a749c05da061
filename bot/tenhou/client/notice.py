"""A notice of what Tenhou's operator asks of people who run bots, shown before the first game.

Source: the operator's posts of 2015-07-03 and 2023-06-30.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

NOTICE: Final = """\
Before you play on Tenhou with a bot, please read what its operator asks:

- Write to support@c-egg.com before you run a bot on Tenhou.
- Bots may play against people only with the operator's permission, and under a name marked as a bot's.
  The ids of bots without permission are suspended, and those of unofficial clients may be too.
- The operator receives complaints about ill-mannered bots every day. Suzaku plays at a human pace, logs
  out cleanly and never leaves a game on purpose; please keep it that way, and never run several at once.

Until you have permission, Suzaku plays only at practice tables, against the server's own players.
This notice is shown once.
"""


def say_once(folder: Path, say: Callable[[str], None]) -> bool:
    """Show the notice unless a file in ``folder`` marks it as shown; return whether it was shown.

    If the folder is not writable, the notice is shown again the next time.
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
