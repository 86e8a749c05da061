from __future__ import annotations

import numpy as np
import pytest

from game.errors import ReplayFormatError
from game.packing import LENGTHS, pack_all
from learning.corpus.encoding import decode, encode
from tests.learning.corpus.games import MODERN, OLD, records


def test_a_real_game_takes_a_kilobyte_and_a_half_and_comes_back() -> None:
    games = [pack_all(record.events) for shard in (MODERN, OLD) for record in records(shard, 30)]
    for codes in games:
        assert np.array_equal(decode(encode(codes)), codes)
    modern = games[:30]
    assert sum(len(encode(codes)) for codes in modern) < 0.2 * sum(codes.nbytes for codes in modern)


def test_any_stream_comes_back_as_it_was() -> None:
    rng = np.random.default_rng(1)
    real = pack_all(records(MODERN, 1)[0].events)
    lengths = np.array(LENGTHS)
    for _ in range(500):
        changed = real.copy()
        changed[rng.integers(len(changed), size=rng.integers(1, 30))] = rng.integers(-300, 300)
        try:
            data = encode(changed)
        except ReplayFormatError:
            continue  # it is the code of an event
        assert np.array_equal(decode(data), changed)
    for _ in range(500):
        most = int(rng.choice((4, 140, 32_767)))
        kinds = rng.integers(1, len(LENGTHS), size=rng.integers(0, 40))
        rows = [np.concatenate(([kind], rng.integers(-1, most, lengths[kind] - 1))) for kind in kinds]
        stream = np.concatenate([np.empty(0), *rows]).astype(np.int16)
        assert np.array_equal(decode(encode(stream)), stream)


def test_an_invalid_stream_is_refused() -> None:
    for codes in ([0], [14, 1], [2, 0], [-5]):
        with pytest.raises(ReplayFormatError, match="no packed event"):
            encode(np.array(codes, dtype=np.int16))


def test_invalid_bytes_give_events_or_an_error() -> None:
    rng = np.random.default_rng(2)
    real = encode(pack_all(records(MODERN, 1)[0].events))
    for _ in range(500):
        data = rng.integers(0, 256, rng.integers(0, 300)).astype(np.uint8)
        for tried in (data, real[: rng.integers(len(real))]):
            try:
                decode(tried)
            except ReplayFormatError as exc:
                assert "no event at byte" in str(exc)
