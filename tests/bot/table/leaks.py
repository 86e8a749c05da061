"""Reads everything a page was sent, and compares it with the full record of the game."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from game.events import EndGame, StartGame
from game.tiles import TILES, mjai_text
from replays.mjai.seat import seen_by
from replays.record import GameRecord

FACES = frozenset(mjai_text(tile) for tile in range(TILES))

NAMES = """
    advisable back clock clock.bank clock.base clock_name furiten length level level_failed levels loading
    player practice prompt prompt.actions prompt.actions.consumed prompt.actions.kind prompt.actions.tile
    prompt.actions.tsumogiri prompt.number prompt.riichi ready result review review.game_id review.reason
    review.state seats seats.here seats.level seats.name seats.own seats.person seats.ready stage switches
    switches.advice switches.auto_discard switches.auto_win switches.no_calls type
    waits waits.left waits.tile waits.yaku
"""
STATE = frozenset(NAMES.split())
"""Everything in the state of a seat; a new entry must show nothing that the seat does not see."""
KINDS = frozenset({"reset", "game", "round", "events", "patch", "decision", "over", "session"})


class Leak(AssertionError):
    """A page was sent something that its seat does not see."""


def messages_in(texts: Sequence[str]) -> list[dict[str, Any]]:
    """All messages in the texts sent over a connection, without its greeting."""
    decoded = [json.loads(text) for text in texts]
    return [message for each in decoded if isinstance(each, list) for message in each]


def check_sent(texts: Sequence[str], record: GameRecord, player: int) -> int:
    """Check that a page got what its seat saw, all of it and nothing else; return the number of messages.

    Args:
        texts: everything that was sent, from the beginning of the game.
        record: the game, all tiles known.
        player: the seat, absolute.
    """
    messages = messages_in(texts)
    told = [event for message in messages for event in events_in(message)]
    seen = [
        message
        for event in record.events
        if not isinstance(event, StartGame | EndGame) and (message := seen_by(event, player)) is not None
    ]
    if told != seen:
        raise Leak(next(pair for pair in zip(told, seen, strict=False) if pair[0] != pair[1]))
    check_only_seen(texts, player)
    return len(messages)


def check_only_seen(texts: Sequence[str], player: int) -> None:
    """Check that no message holds a tile that lay face down for a seat when it was sent."""
    visible: set[str] = set()
    for message in messages_in(texts):
        if message["type"] not in KINDS:
            raise Leak(message)
        if message["type"] == "round":
            visible = set()
        for event in events_in(message):
            _check_event(event, player)
            visible |= set(_faces(event))
        if message["type"] == "session":
            unknown = set(_paths(message)) - STATE
            if unknown:
                raise Leak(unknown)
        if message["type"] in ("session", "over", "game"):
            _check_faces(_faces(message), visible, message)
        if message["type"] == "decision":
            for option in message["decision"]["options"]:
                _check_faces(_faces(option["action"]), visible, message)
        if message["type"] == "patch":
            _check_patch(message, player)


def _check_event(event: dict[str, Any], player: int) -> None:
    if event["type"] == "tsumo" and event["actor"] != player and event["pai"] != "?":
        raise Leak(event)
    for owner, hand in enumerate(event.get("tehais", ())):
        if owner != player and set(hand) != {"?"}:
            raise Leak(event)


def _check_patch(message: dict[str, Any], player: int) -> None:
    """A result shows the hands of winners, and those that are ready after a draw."""
    fields = message["fields"]
    if set(fields) - {"result", "after"}:
        raise Leak(message)
    result = fields.get("result")
    for owner, hand in enumerate((result or {}).get("hands") or ()):
        ready = result["reason"] == "exhaustive" and result["tenpai"][owner]
        declared = result["reason"] in ("nine_terminals", "four_riichi", "triple_ron")
        if hand is not None and owner != player and not (ready or declared):
            raise Leak(message)


def _check_faces(found: Iterator[str], visible: set[str], message: dict[str, Any]) -> None:
    hidden = set(found) - visible
    if hidden:
        raise Leak((hidden, message))


def events_in(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The events in a message."""
    if message["type"] == "round":
        return list(message["round"]["events"])
    return list(message["events"]) if message["type"] == "events" else []


def _faces(value: object) -> Iterator[str]:
    """All tiles named anywhere in a JSON value."""
    if isinstance(value, dict):
        for key, each in value.items():
            # the round's wind, names of players, and the waits of the own hand
            if key not in ("bakaze", "name", "names", "waits"):
                yield from _faces(each)
    elif isinstance(value, list):
        for each in value:
            yield from _faces(each)
    elif isinstance(value, str) and value in FACES:
        yield value


def _paths(value: object, at: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            path = f"{at}.{key}" if at else key
            yield path
            yield from _paths(each, path)
    elif isinstance(value, list):
        for each in value:
            yield from _paths(each, at)
