"""Mutates scripts: frames lost, repeated, reordered, changed or inserted; connections that break."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any, Final

from bot.tenhou import messages as m
from game.layout import PHASE_ENDED, PHASE_IDLE
from kit.errors import BotError
from tests.bot.tenhou.session.recorded import snapshot
from tests.fuzz.oracle import Player
from tests.fuzz.script import NEW_LINE, Script

MOST_STEPS: Final = 400
"""Maximum length of a script; longer ones are cut."""
_ROUNDS: Final = 2
_NUMBERS: Final = (-1, 0, 1, 3, 4, 13, 33, 34, 127, 128, 135, 136, 255, 256, 4095, 65535, 2**31, 10**9)
_ATTRIBUTES: Final = (
    *("t", "who", "fromWho", "hai", "m", "oya", "ten"),
    *("sc", "seed", "step", "owari", "kawa0", "m1", "ba"),
)
_INSERTED: Final = (
    '{"tag":"BYE","who":"%d"}',
    '{"tag":"UN","n%d":"%%41"}',
    '{"tag":"FURITEN","show":"%d"}',
    '{"tag":"DORA","hai":"%d"}',
    '{"tag":"REACH","who":"%d","step":"1"}',
    '{"tag":"RYUUKYOKU","type":"yao9","ba":"%d,0","sc":"250,0,250,0,250,0,250,0"}',
    '{"tag":"ERR","code":"100%d"}',
    '{"tag":"REHELO%d"}',
    '{"tag":"HELO","uname":"%%4%d"}',
    '{"tag":"GO","type":"%d","lobby":"0","gpid":"2FF64D8A-A9692044"}',
    '{"tag":"SAIKAI","ba":"0,0","oya":"%d","sc":"250,0,250,0,250,0,250,0"}',
    '{"tag":"TAIKYOKU","oya":"%d"}',
)

Mutation = Callable[["Mutator", Script, int], Script]


class Mutator:
    """Makes inputs out of those it holds.

    Args:
        scripts: to begin with.
        rng: what is made follows from it.
    """

    def __init__(self, scripts: Sequence[Script], rng: random.Random) -> None:
        self._rng = rng
        self._wholes = list(scripts)
        self._found: list[Script] = []

    def keep(self, script: Script) -> None:
        """Add a script to mutate."""
        self._found.append(script)

    def make(self) -> Script:
        """The next script."""
        rng = self._rng
        old = self._found and rng.random() < 0.5
        script = list(rng.choice(self._found)) if old else self._some_rounds(rng.choice(self._wholes))
        while True:
            script = rng.choice(_MUTATIONS)(self, script, rng.randrange(len(script)))[:MOST_STEPS] or [
                NEW_LINE
            ]
            if rng.random() < 0.4:
                return script

    def _some_rounds(self, script: Script) -> Script:
        """The beginning of a game, and some of its rounds."""
        deals = [
            at for at, frame in enumerate(script) if frame is not NEW_LINE and '"INIT"' in _as_json(frame)
        ]
        if not deals:
            return list(script)
        number = self._rng.randrange(len(deals))
        end = (*deals, *[len(script)] * _ROUNDS)[number + self._rng.randint(1, _ROUNDS)]
        return [*script[: deals[0]], *script[deals[number] : end]]

    # --- of frames -----------------------------------------------------------------------------------

    def drop(self, script: Script, at: int) -> Script:
        return script[:at] + script[at + self._rng.choice((1, 1, 2, 5)) :]

    def repeat(self, script: Script, at: int) -> Script:
        count = self._rng.choice((1, 1, 1, 3, 20))
        return [*script[:at], *[script[at]] * count, *script[at:]]

    def swap(self, script: Script, at: int) -> Script:
        return [*script[:at], *script[at : at + 2][::-1], *script[at + 2 :]]

    def move(self, script: Script, at: int) -> Script:
        rest = script[:at] + script[at + 1 :]
        to = self._rng.randrange(len(rest) + 1)
        return [*rest[:to], script[at], *rest[to:]]

    def put_in(self, script: Script, at: int) -> Script:
        frame = self._rng.choice(_INSERTED) % self._rng.randrange(10)
        return [*script[:at], frame, *script[at:]]

    def borrow(self, script: Script, at: int) -> Script:
        other = self._rng.choice(self._wholes)
        place = self._rng.randrange(len(other))
        return [*script[:at], *other[place : place + self._rng.choice((1, 1, 2, 8))], *script[at:]]

    def cut(self, script: Script, at: int) -> Script:
        """The line breaks; the server brings us back, to the table as it is or to one like it."""
        back = self._snapshot(script[:at]) or self._some_snapshot()
        names = next((frame for frame in script if frame and '"UN"' in frame), None)
        again = ['{"tag":"GO","type":"1","lobby":"0","gpid":"9360E0DC-E483DECD"}', names, back]
        rest = script[max(0, at - self._rng.choice((0, 0, 0, 1, 2, 3))) :]
        return [*script[:at], NEW_LINE, *[frame for frame in again if frame], *rest]

    def _snapshot(self, script: Script) -> str | None:
        player = Player()
        for frame in script:
            try:
                player.take(frame)
            except Exception:  # whatever it is, the input that begins like this shows it
                return None
        session = player.session
        if session.seat is None or session.player < 0 or session.state["phase"] in (PHASE_IDLE, PHASE_ENDED):
            return None
        return m.render_json(snapshot(session.state, session.player))

    def _some_snapshot(self) -> str | None:
        found = [frame for script in self._wholes for frame in script if frame and '"REINIT"' in frame]
        return self._rng.choice(found) if found else None

    def lose_line(self, script: Script, at: int) -> Script:
        return [*script[:at], NEW_LINE, *script[at:]]

    def end(self, script: Script, at: int) -> Script:
        return script[: at + 1]

    # --- in a frame ----------------------------------------------------------------------------------

    def edit(self, script: Script, at: int) -> Script:
        """An attribute changed, removed or added; half the time in a frame with many attributes."""
        if self._rng.random() < 0.5:
            rich = [i for i, frame in enumerate(script) if frame and frame.count(",") > 3]
            at = self._rng.choice(rich) if rich else at
        members = _members(script[at])
        if members is None:
            return self.spoil(script, at)
        name = self._rng.choice([*members, *_ATTRIBUTES])
        if name != "tag" and self._rng.random() < 0.15:
            members.pop(name, None)
        else:
            members[name] = self._other(str(members.get(name, "0")))
        return [*script[:at], json.dumps(members, separators=(",", ":")), *script[at + 1 :]]

    def _other(self, value: str) -> str:
        """A value with one number changed, or with the list longer or shorter."""
        rng = self._rng
        letter = value[:1] if value[:1].isalpha() else ""
        parts = value[len(letter) :].split(",")
        at = rng.randrange(len(parts))
        number = int(parts[at]) if parts[at].lstrip("-").isascii() and parts[at].lstrip("-").isdigit() else 0
        near = number + rng.choice((-4, -1, 1, 4, 10)), number ^ 1 << rng.randrange(16)
        changes: tuple[list[str], ...] = (
            [str(rng.choice((*near, rng.randrange(136), rng.choice(_NUMBERS))))],
            [str(rng.choice((*near, rng.randrange(136))))],
            [],
            [parts[at], parts[at]],
        )
        parts[at : at + 1] = rng.choice(changes)
        return letter + ",".join(parts)

    def spoil(self, script: Script, at: int) -> Script:
        """Characters lost, repeated or changed."""
        rng, frame = self._rng, script[at]
        if frame is NEW_LINE:
            return script
        place, length = rng.randrange(len(frame) + 1), rng.choice((0, 1, 1, 4))
        new = rng.choice(("", chr(rng.randrange(128)), "9" * 20, '"', "\0", "é", "\ud800", frame[:place]))
        return [*script[:at], frame[:place] + new + frame[place + length :], *script[at + 1 :]]

    def as_xml(self, script: Script, at: int) -> Script:
        try:
            text = m.render_xml(m.parse_server(script[at] or ""))
        except BotError:
            return script
        return [*script[:at], text, *script[at + 1 :]]


def _as_json(frame: str) -> str:
    """A frame in the form that has its tag as a JSON member."""
    return frame if frame.startswith("{") else f'"{frame[1:].partition(" ")[0]}"'


def _members(frame: str | None) -> dict[str, Any] | None:
    try:
        members = json.loads(frame or "")
    except ValueError:
        return None
    return members if isinstance(members, dict) and members else None


_MUTATIONS: Final[tuple[Mutation, ...]] = (
    Mutator.drop,
    Mutator.repeat,
    Mutator.swap,
    Mutator.move,
    Mutator.put_in,
    Mutator.put_in,
    Mutator.borrow,
    Mutator.cut,
    Mutator.lose_line,
    Mutator.end,
    *[Mutator.edit] * 6,
    Mutator.spoil,
    Mutator.as_xml,
)
