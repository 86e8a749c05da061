import pytest

from game.melds import Meld, MeldKind, decode_meld, encode_meld


def _valid_codes() -> dict[int, Meld]:
    melds = {}
    for code in range(1 << 16):
        try:
            melds[code] = decode_meld(code)
        except ValueError:
            continue
    return melds


def test_every_code_survives_the_round_trip() -> None:
    melds = _valid_codes()
    # 21 sequences x 64 copies x 3 called; 34 kinds x 4 spares x 3 called x 3 players, for pon and for kakan;
    # 136 called tiles x 3 players; 136 names of the 34 closed kans
    assert len(melds) == 21 * 64 * 3 + 2 * 34 * 4 * 3 * 3 + 136 * 3 + 136
    for code, meld in melds.items():
        assert encode_meld(meld) == code


@pytest.mark.parametrize(
    ("code", "meld"),
    [
        (27031, Meld(MeldKind.CHI, (42, 44, 51), 51, 3)),
        (34314, Meld(MeldKind.PON, (89, 90, 91), 90, 2)),
        (18547, Meld(MeldKind.KAKAN, (48, 49, 50, 51), 48, 3, 51)),
        (15872, Meld(MeldKind.ANKAN, (62, 60, 61, 63))),
        (13825, Meld(MeldKind.DAIMINKAN, (52, 53, 54, 55), 54, 1)),
        (6249, Meld(MeldKind.PON, (16, 17, 18), 16, 1)),
        (6762, Meld(MeldKind.PON, (16, 17, 18), 17, 2)),
        (6162, Meld(MeldKind.KAKAN, (16, 17, 18, 19), 17, 2, 16)),
        (35953, Meld(MeldKind.KAKAN, (92, 93, 94, 95), 93, 1, 95)),
        (8704, Meld(MeldKind.ANKAN, (34, 32, 33, 35))),
    ],
)
def test_codes_seen_on_the_wire(code: int, meld: Meld) -> None:
    assert decode_meld(code) == meld
    assert encode_meld(meld) == code


@pytest.mark.parametrize("code", [-1, 1 << 16, 30752, 0x4, 0xFFFF, 137 << 8])
def test_a_code_that_names_no_meld_is_refused(code: int) -> None:
    with pytest.raises(ValueError, match="meld code"):
        decode_meld(code)


def test_consumed_tiles_are_the_callers_own() -> None:
    assert decode_meld(27031).consumed == (42, 44)
    assert decode_meld(6162).consumed == (18, 19)
