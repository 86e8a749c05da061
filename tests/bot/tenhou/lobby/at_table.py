"""A tabletop driven by the test: the frames each seat received, and moves in short form."""

from __future__ import annotations

import json
from collections.abc import Iterable

from bot.tenhou.game_types import GameType
from bot.tenhou.lobby.table_seat import ClockSettings
from bot.tenhou.lobby.tabletop import Envelope, SeatInfo, Tabletop
from bot.tenhou.messages import AcceptMatch, ClientMessage, Ready, render_json
from bot.tenhou.session.turn import reply
from game.actions import PASS, ActionKind
from game.events import Four
from tests.stacked import Play

GAME_ID = "2026010203gm-0009-0000-0123abcd"
QUIET = ("147m258p369s1234z", "258m369p147s1234z", "369m147p258s1234z", "147m369p258s1567z")
"""Hands that nothing is done with."""
READY = "123456789m1155p"
"""Waits on 1p and 5p."""
Frame = dict[str, str]


class AtTable(Play):
    """One tabletop with clients in some of its seats; the other seats' questions wait in `questions`."""

    def __init__(
        self,
        wall: list[int] | None = None,
        *,
        clients: Iterable[int] = range(4),
        game_type: int = 9,
        clock: ClockSettings | None = None,
        scores: Four = (25000, 25000, 25000, 25000),
        ready: bool = True,
    ) -> None:
        kind = GameType(game_type)
        names = ("p0", "p1", "p2", "p3")
        super().__init__(wall, length=kind.length, names=names, scores=scores)
        self.clients = set(clients)
        seats = [
            SeatInfo(name, is_client=player in self.clients, resume_code=f"CODE{player}")
            for player, name in enumerate(names)
        ]
        self.top = Tabletop(self.table, kind, seats, clock or ClockSettings(), game_id=GAME_ID)
        self.told: dict[int, list[Frame]] = {player: [] for player in range(4)}
        self.now = 100.0
        self.take(self.top.open(self.now))
        if ready:
            self.ready()

    def take(self, envelopes: list[Envelope]) -> None:
        for player, message in envelopes:
            self.told[player].append(json.loads(render_json(message)))

    def heard(self, player: int) -> list[Frame]:
        """The frames a player has received since the last call."""
        frames, self.told[player] = self.told[player], []
        return frames

    def tags(self, player: int) -> list[str]:
        """The tags a player has received since the last call, with the offer, the step or the player."""
        return [_short(frame) for frame in self.heard(player)]

    def forget(self) -> None:
        """Clear the frames received so far."""
        for frames in self.told.values():
            frames.clear()

    def say(self, player: int, message: ClientMessage) -> None:
        self.take(self.top.receive(player, message, self.now))

    def ready(self) -> None:
        """Report every player ready for the next round."""
        for player in sorted(self.clients):
            self.say(player, AcceptMatch())
            self.say(player, Ready())

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.take(self.top.tick(self.now))

    def leave(self, player: int) -> None:
        self.take(self.top.leave(player, self.now))

    def log_in(self, player: int) -> None:
        self.take(self.top.log_in(player, self.now))

    def act(self, player: int, kind: ActionKind, text: str = "") -> None:
        """A player acts, through the frame its client would send."""
        self.say(player, reply(self.find(player, kind, text)))

    def pass_all(self) -> None:
        for player in self.top.table.waiting():
            if PASS in self.top.table.legal(player):
                self.act(player, ActionKind.PASS)


def _short(frame: Frame) -> str:
    notes = [frame[key] for key in ("t", "step", "show", "type", "who") if key in frame]
    return " ".join([frame["tag"].rstrip("0123456789"), *notes])
