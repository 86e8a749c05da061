from itertools import islice

import pytest

from game.events import DoraRevealed, Draw, StartRound, Win
from kit.errors import ReplayFormatError
from replays.mjlog.reader import read_record
from replays.wall import Wall, game_walls, round_wall, walls
from tests.shared import shard_texts, shared


def check_record(text: str) -> int:
    """Compare a record with the walls of its seed; return the number of rounds."""
    record = read_record(text)
    rounds = game_walls(record)
    checked = live = kans = shown = 0
    wall = Wall((), (0, 0))
    for event in record.events:
        match event:
            case StartRound():
                wall = next(rounds)
                assert event.hands == wall.hands(event.dealer)
                assert event.dora_indicator == wall.indicators[0]
                assert record.dice[checked] == wall.dice
                checked, live, kans, shown = checked + 1, 0, 0, 1
            case Draw(tile=tile) if tile == wall.draws[live]:
                live += 1
            case Draw(tile=tile):
                assert tile == wall.replacements[kans]
                kans += 1
            case DoraRevealed(indicator=indicator):
                assert indicator == wall.indicators[shown]
                shown += 1
            case Win(ura_indicators=ura) if ura:
                assert ura == wall.ura_indicators[:shown]
            case _:
                pass
    return checked


def test_a_current_record_was_dealt_from_its_seed() -> None:
    text = shared("tenhou-traffic", "mjlog-4p-joukyuu-20260420.xml").read_text(encoding="utf-8")
    assert check_record(text) >= 4


@pytest.mark.parametrize(
    ("shard", "form", "games"),
    [
        ("houou-01", 'SHUFFLE seed="mt19937ar-sha512-n288-base64,', 20),
        ("other-00", 'SHUFFLE seed="mt19937ar-sha512-n288,', 5),
        ("houou-00", ' shuffle="mt19937ar,', 5),
    ],
)
def test_real_games_were_dealt_from_their_seeds(shard: str, form: str, games: int) -> None:
    seeded = list(islice((text for _, text in shard_texts(shard, 2000) if form in text), games))
    assert len(seeded) == games
    assert all(check_record(text) for text in seeded)


@pytest.mark.parametrize(
    "seed",
    [
        "",
        "mt19937,01234567",
        "mt19937ar-sha512-n288-base64,%%%",
        "mt19937ar-sha512-n288-base64,AAA=",
        "mt19937ar-sha512-n288-base64,",
        "mt19937ar-sha512-n288,xyz",
        "mt19937ar-sha512-n288,1FFFFFFFF",
    ],
)
def test_a_seed_of_another_form_is_refused(seed: str) -> None:
    with pytest.raises(ReplayFormatError, match="seed"):
        next(walls(seed))
    with pytest.raises(ReplayFormatError, match="seed"):
        round_wall(seed)
