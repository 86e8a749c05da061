import pytest
from hypothesis import given
from hypothesis import strategies as st

from game.tiles import UNSEEN, face_of, mjai_text, parse_hand, tile_text


@given(st.sets(st.integers(0, 135), max_size=14))
def test_a_hand_survives_its_text(tiles: set[int]) -> None:
    again = parse_hand("".join(map(tile_text, tiles)))
    assert sorted(map(tile_text, again)) == sorted(map(tile_text, tiles))


@pytest.mark.parametrize(
    ("tile", "text", "mjai", "face"),
    [
        (0, "1m", "1m", 0),
        (16, "0m", "5mr", 34),
        (17, "5m", "5m", 4),
        (88, "0s", "5sr", 36),
        (108, "1z", "E", 27),
        (124, "5z", "P", 31),
        (135, "7z", "C", 33),
    ],
)
def test_texts_of_tiles(tile: int, text: str, mjai: str, face: int) -> None:
    assert (tile_text(tile), mjai_text(tile), face_of(tile)) == (text, mjai, face)


def test_an_unseen_tile_is_a_question_mark() -> None:
    assert tile_text(UNSEEN) == mjai_text(UNSEEN) == "?"


@pytest.mark.parametrize("text", ["12", "m", "1x", "8z", "11111m", "00p", "1m2"])
def test_no_hand_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"hand|tile|suit"):
        parse_hand(text)
