from __future__ import annotations

import pytest

from bot.tenhou.game_types import describe, game_type, parse_game_type, refusal

FOUR_PLAYER_TYPES = [0, 64, 1, 9, 65, 73, 129, 137, 193, 201, 33, 41, 97, 105, 161, 169, 225, 233]


@pytest.mark.parametrize("number", FOUR_PLAYER_TYPES)
def test_every_type_with_red_fives_and_open_tanyao_is_played_and_its_words_lead_back(number: int) -> None:
    kind = parse_game_type(number)
    assert parse_game_type(str(kind)) == kind
    assert parse_game_type(str(number)) == kind


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Tonpuu", 1),
        ("practice-fast", 64),
        ("ippan", 9),
        ("joukyuu", 137),
        ("tokujou_tonpuu", 33),
        ("houou tonpuu fast", 225),
    ],
)
def test_words_name_types(text: str, number: int) -> None:
    assert parse_game_type(text).number == number


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        (17, "three-player tables"),
        (185, "three-player tables"),
        (2049, "three-player tables"),
        ("sanma", "three-player tables"),
        ("three-player hanchan", "three-player tables"),
        (3, "tables without red fives"),
        ("no-red-fives", "tables without red fives"),
        (7, "tables without red fives and tables without open tanyao"),
        (13, "tables without open tanyao"),
        ("no open tanyao", "tables without open tanyao"),
        ("no-tanyao", "tables without open tanyao"),
        (1536, "chip tables"),
        (257, "hidden option"),
        (4096, "there is no game type 4096"),
        (-1, "there is no game type -1"),
        ("", "unknown game type"),
        ("hanchann", "words from: hanchan, tonpuu"),
        ("hanchan tonpuu", "names two lengths"),
        ("ippan houou", "names two rooms"),
        ("practice ippan", "names two rooms"),
        ("٣x", "unknown game type"),
    ],
)
def test_unsupported_games_are_refused_by_name(asked: str | int, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        parse_game_type(asked)


def test_all_numbers_are_described_or_refused() -> None:
    for number in range(4096):
        assert describe(number)
        reason = refusal(number)
        if reason is None:
            assert game_type(number).number == number
        else:
            assert "not supported" in reason
