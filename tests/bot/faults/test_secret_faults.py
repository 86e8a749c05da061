"""Fault 23: no id and no resume code appears in a log, a traceback, a capture or a record."""

from __future__ import annotations

import io
import logging
import random
import re
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from bot.logs.setup import set_up_logs
from bot.play.capture import Capture
from bot.player.clock import MonotonicClock
from bot.player.seat_player import PlayerSettings, SeatPlayer
from bot.tenhou.client import ClientSettings, Hooks, TenhouClient
from bot.tenhou.client.journal import Journal
from bot.tenhou.client.retry import Waits
from bot.tenhou.session import Session, SessionSettings
from kit.errors import BotError
from policies.heuristic.player import HeuristicPolicy
from tests.bot.fake_server import Drop, Hang, Hear, Say, Script, Step, fake_server
from tests.bot.scripts import BACK, DEAL, DRAW, END, LOGIN, SEAT, SECRET_CODE, TURN, reinit

MARKER = "ID4D41524B-mArKeR99"
SECRET = re.compile("4D41524B|mArKeR99|AAAA1111|BBBB2222", re.IGNORECASE)
QUICK = Waits(first_s=0.002, growth=2.0, longest_s=0.01, tries=2)


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """Receives the log at debug level."""
    text = io.StringIO()
    before = structlog.get_config()
    handlers, level = logging.getLogger().handlers[:], logging.getLogger().level
    set_up_logs("debug", "json", text)
    yield text
    structlog.configure(**before)
    logging.getLogger().handlers[:] = handlers
    logging.getLogger().setLevel(level)


ECHOED = f'{{"tag":"ERR","code":"1004","id":"{MARKER}"}}'
SCRIPTS: dict[str, tuple[Script, ...]] = {
    "a game with a cut": (
        [*LOGIN, *SEAT, *DEAL, Drop()],
        [*BACK, reinit(), Say(DRAW), *TURN, *END],
    ),
    "broken frames that hold secrets": (
        [
            *LOGIN,
            *SEAT,
            Say(f'{{"tag":"GO","type":"9","gpid":"{SECRET_CODE}"'),
            Say(f'{{"tag":"HELO","uname":"{MARKER}"'),
            Say(f'{{"tag":"ODD","name":"{MARKER}","gpid":"{SECRET_CODE}"}}'),
            *DEAL,
            *TURN,
            *END,
        ],
    ),
    "refused": ([Hear("HELO"), Say(ECHOED), Hang()], [Hear("HELO"), Say(ECHOED), Hang()]),
    "echoed in talk": (
        [
            *LOGIN,
            Say(f'{{"tag":"CHAT","uname":"{MARKER}","text":"{MARKER} {SECRET_CODE}"}}'),
            *SEAT,
            *DEAL,
            *TURN,
            *END,
        ],
    ),
    "seated at a table we refuse": (
        [*LOGIN, Say(f'{{"tag":"GO","type":"17","lobby":"0","gpid":"{SECRET_CODE}"}}'), Hang()],
    ),
}


@pytest.mark.parametrize("case", SCRIPTS)
async def test_fault_23_no_secret_in_any_output(case: str, stream: io.StringIO, tmp_path: Path) -> None:
    clock, rng = MonotonicClock(), random.Random(1)
    player = SeatPlayer(HeuristicPolicy, PlayerSettings(), clock, rng)
    capture_file = tmp_path / "capture.tsv"
    steps: list[Step] = [step for script in SCRIPTS[case] for step in script]
    assert any(SECRET.search(str(step)) for step in steps) or case == "refused"
    with Capture(capture_file) as capture:
        async with fake_server(*SCRIPTS[case]) as server:
            settings = ClientSettings(urls=(server.url,), in_game=QUICK, at_login=QUICK, id_busy=QUICK)
            session = Session(SessionSettings(name=MARKER))
            journal = Journal()
            client = TenhouClient(
                settings, session, player, journal, clock, rng, hooks=Hooks(on_frame=capture.frame)
            )
            told = ""
            try:
                await client.run()
            except BotError as exc:
                told = "".join(traceback.format_exception(exc))
            assert any(MARKER in frame for received in server.received for frame in received)
    outputs = {
        "log": stream.getvalue(),
        "capture": capture_file.read_text(),
        "traceback": told,
        "session": repr(session.settings) + repr(settings),
        "results": repr(journal.results) + repr(player.decisions),
    }
    assert "HELO" in outputs["capture"]
    for name, text in outputs.items():
        assert not SECRET.search(text), f"{name}: {SECRET.search(text)}"
