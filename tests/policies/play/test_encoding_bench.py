"""The benchmark measures what it claims to."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from policies.features.encode import encode
from policies.features.table import LITE, LITE_CALL, SUPHX
from policies.play.encoding_bench import FeatureBench, bench_features, played_decisions


@pytest.mark.slow
def test_one_game_gives_every_figure() -> None:
    bench = bench_features(games=1, repeats=1)
    assert [speed.name for speed in bench.speeds if speed.minimum <= 0] == []
    assert [each.name for each in bench.latencies] == [LITE, SUPHX]
    assert msgspec.json.decode(msgspec.json.encode(bench), type=FeatureBench) == bench


def test_the_engine_sees_the_same_decisions() -> None:
    met = played_decisions(1, seed=3)
    own = encode(met.states, met.players, LITE)[:, :4]
    theirs = np.array([np.frombuffer(view.encode(), np.float32).reshape(74, 34)[:4] for view in met.views])
    assert np.array_equal(own == 255, theirs == 1)  # the concealed hand by count
    assert len(encode(met.call_states, met.call_players, LITE_CALL, calls=met.calls)) == len(met.calls) > 10
