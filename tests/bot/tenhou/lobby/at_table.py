"""A tabletop driven by the test: the frames each seat received, and moves in short form."""

from __future__ import annotations

import json
from collections.abc import Iterable

from bot.tenhou.game_types import GameType
from bot.tenhou.lobby.table_seat import ClockSettings
from bot.tenhou.lobby.tabletop import Envelope, SeatInfo, Tabletop
from bot.tenhou.messages import AcceptMatch, ClientMessage, Ready, render_json
from bot.tenhou.session.turn import reply
from game.actions import PASS, Action, ActionKind
from game.events import Four
from game.table.table import Table
from game.tiles import tile_text

GAME_ID = "2026010203gm-0009-0000-0123abcd"
Frame = dict[str, str]


class AtTable:
    """One tabletop with clients in some of its seats; the other seats' questions wait in `questions`."""

    def __init__(
        self,
        wall: list[int] | None = None,
        *,
        clients: Iterable[int] = range(4),
        game_type: int = 9,
        clock: ClockSettings | None = None,
        scores: Four = (25000, 25000, 25000, 25000),
        round_index: int = 0,
        ready: bool = True,
    ) -> None:
        kind = GameType(game_type)
        names = tuple(f"p{player}" for player in range(4))
        table = Table(
            1,
            wall=wall,
            length=kind.length,
            names=(names[0], names[1], names[2], names[3]),
            round_index=round_index,
            scores=scores,
        )
        self.clients = set(clients)
        seats = [
            SeatInfo(name, is_client=player in self.clients, resume_code=f"CODE{player}")
            for player, name in enumerate(names)
        ]
        self.top = Tabletop(table, kind, seats, clock or ClockSettings(), game_id=GAME_ID)
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

    def find(self, player: int, kind: ActionKind, text: str = "") -> Action:
        for action in self.top.table.legal(player):
            if action.kind is kind and text in ("", *map(tile_text, (action.tile, *action.consumed))):
                return action
        raise AssertionError(f"player {player} may not {kind.name} {text}")

    def act(self, player: int, kind: ActionKind, text: str = "") -> None:
        """A player acts, through the frame its client would send."""
        self.say(player, reply(self.find(player, kind, text)))

    def throw(self, *texts: str) -> None:
        """The players in turn discard these tiles; every player who may claim one passes."""
        for text in texts:
            (player,) = self.top.table.waiting()
            self.act(player, ActionKind.DISCARD, text)
            self.pass_all()

    def pass_all(self) -> None:
        for player in self.top.table.waiting():
            if PASS in self.top.table.legal(player):
                self.act(player, ActionKind.PASS)

    def tsumogiri(self, times: int) -> None:
        for _ in range(times):
            self.throw(tile_text(int(self.top.table.state["drawn"])))


def _short(frame: Frame) -> str:
    notes = [frame[key] for key in ("t", "step", "show", "type", "who") if key in frame]
    return " ".join([frame["tag"].rstrip("0123456789"), *notes])
