"""Short games from the server's side, frame by frame."""

from __future__ import annotations

from tests.bot.fake_server import Echo, Hear, Say, Step

SECRET_CODE = "AAAA1111-BBBB2222"
HELO = '{"tag":"HELO","uname":"%4E%6F%4E%61%6D%65"}'
LN = '{"tag":"LN","n":"1,1,0,0","j":"","g":""}'
GO = f'{{"tag":"GO","type":"9","lobby":"0","gpid":"{SECRET_CODE}"}}'
UN = (
    '{"tag":"UN","n0":"%4E%6F%4E%61%6D%65","n1":"%41","n2":"%42","n3":"%43","dan":"0,0,0,0",'
    '"rate":"1500.00,1500.00,1500.00,1500.00","sx":"M,M,M,M"}'
)
TAIKYOKU = '{"tag":"TAIKYOKU","oya":"0","log":"2026112100gm-0009-0000-0123abcd"}'

# 123m 456p 789s 112z 5z: any discard is possible; no wait
HAND = (0, 4, 8, 48, 53, 56, 96, 100, 104, 108, 109, 112, 124)
DRAWN = 128
INIT = (
    '{"tag":"INIT","seed":"0,0,0,1,2,33","ten":"250,250,250,250","oya":"0",'
    f'"hai":"{",".join(map(str, HAND))}"}}'
)
DRAW = f'{{"tag":"T{DRAWN}"}}'
ORPHANS = (1, 2, 32, 33, 36, 37, 68, 69, 72, 73, 110, 113, 116, 120)
ABORT = (
    '{"tag":"RYUUKYOKU","type":"yao9","ba":"0,0","sc":"250,0,250,0,250,0,250,0",'
    f'"hai1":"{",".join(map(str, (34, *ORPHANS[:2], *ORPHANS[3:])))}"%s}}'
)
OWARI = ',"owari":"250,0.0,250,0.0,250,0.0,250,0.0"'
SAIKAI = '{"tag":"SAIKAI","ba":"0,0","oya":"0","sc":"250,0,250,0,250,0,250,0"}'

LOGIN: list[Step] = [Hear("HELO"), Say(HELO), Say(LN), Hear("JOIN")]
SEAT: list[Step] = [Say(GO), Say(UN), Say(TAIKYOKU), Hear("GOK"), Hear("NEXTREADY")]
DEAL: list[Step] = [Say(INIT), Say(DRAW)]
TURN: list[Step] = [Hear("D"), Echo()]
END: list[Step] = [Say('{"tag":"U"}'), Say(ABORT % OWARI), Hear("BYE")]
GAME: list[Step] = [*LOGIN, *SEAT, *DEAL, *TURN, *END]
BACK: list[Step] = [Hear("HELO"), Say(GO), Say(UN), Say(SAIKAI), Hear("GOK")]


def reinit(hand: tuple[int, ...] = HAND, river: tuple[int, ...] = ()) -> Say:
    """A snapshot of the current round, with our hand and river."""
    kawa = f',"kawa0":"{",".join(map(str, river))}"' if river else ""
    return Say(
        '{"tag":"REINIT","seed":"0,0,0,1,2,33","ten":"250,250,250,250","oya":"0",'
        f'"hai":"{",".join(map(str, hand))}"{kawa}}}'
    )
