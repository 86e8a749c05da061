"""`suzaku eval danger`: the counts match the hands of real games."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from game.events import Win
from learning.corpus.build import build
from learning.corpus.reader import Corpus
from learning.danger.counts import DISCARDED, HELD, count, no_counts
from learning.samples.choice import choose
from learning.samples.positions import positions_of
from replays.formats import read_game
from tests.cli import run_cli
from tests.learning.corpus.games import MODERN, texts, write_shard

pytestmark = [pytest.mark.usefixtures("restore_logs"), pytest.mark.slow]
GAMES = 6


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_shard(tmp_path_factory.mktemp("danger") / "a.jsonl.zst", texts(MODERN, GAMES))


def test_discards_deal_in_where_a_player_won_on_them(shard: Path) -> None:
    build([shard], shard.parent / "corpus", workers=1)
    corpus = Corpus(shard.parent / "corpus")
    counts = no_counts()
    count(positions_of(corpus, choose(corpus, np.arange(len(corpus)))), counts)
    won = 0
    for _, text in texts(MODERN, GAMES):
        events = read_game(text).events
        won += sum(isinstance(event, Win) and event.player != event.from_player for event in events)
    dealt_in = counts.tiles[DISCARDED, :, :, 3].sum()
    # not counted: players in riichi, and players without a choice
    assert 0.7 * won <= dealt_in <= won
    held, discarded = counts.tiles[HELD, :, :, 0].sum(), counts.tiles[DISCARDED, :, :, 0].sum()
    assert 5 * discarded < held < 14 * discarded
    assert counts.tiles[DISCARDED, :, :, 0].sum() == counts.hands[:, :, 0].sum()


def test_the_report_shows_the_effect_of_melds(shard: Path) -> None:
    result = run_cli("eval", "danger", "--data", str(shard), "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["games"] == GAMES
    held = report["foretold"][0]
    assert (held["tiles"], held["against"]) == ("held", "all opponents")
    assert all(0.8 < area < 1.0 for area in held["auc"])
    plain, melds = held["log_loss"]
    assert held["gain"][0] == pytest.approx(plain - melds)
    simples = next(each for each in report["readings"] if each["reading"] == "simples")
    terminals = next(each for each in simples["classes"] if each["tile_class"] == "1 9")
    assert terminals["held_rate"] < terminals["held_foretold"][0] / 2
    shown = run_cli("eval", "danger", "--data", str(shard))
    assert "held    all opponents" in shown.stdout
    assert "simples, classes" in shown.stdout


def test_an_unknown_part_or_room_is_named(shard: Path) -> None:
    result = run_cli("eval", "danger", "--data", str(shard), "--split", "tset", "--room", "hoou")
    assert result.exit_code == 2
    assert 'Invalid value "tset" for --split' in result.stderr
