"""Recorded traffic for tests: a shared folder if present, and a few frames kept here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tests.shared import shared


def capture(name: str) -> Path:
    """A recorded capture; without the shared folder the test is skipped."""
    return shared("tenhou-traffic", name)


def captures() -> list[Path]:
    """All captures in the formats we read."""
    return sorted(path for path in capture("").iterdir() if path.suffix in (".log", ".xml", ".tsv", ".txt"))


_TIMED = re.compile(r"\s*[0-9.]+\t([CS])\t(.*)")
_QUOTED = re.compile(r"([CS])\s+([{<].*)")
_REMARK = re.compile(r"\s{2,}\([^()]*\)$")
_PROLOGUE = re.compile(r"<\?[^<>]*\?>|</[A-Za-z]\w*\s*>")
_ELEMENT = re.compile(r'<(?:[^<>"\0]|"[^"<\0]*")*>')


class CapturedFrame(msgspec.Struct, frozen=True):
    """One frame of a capture.

    Attributes:
        line: line number in the file, from 1.
        sender: ``C`` for the client, ``S`` for the server.
        text: as sent over the wire.
        quoted: the frame is quoted alone or with few others, without the rest of its connection.
    """

    line: int
    sender: str
    text: str
    quoted: bool = False


def read_capture(path: Path) -> Iterator[CapturedFrame | None]:
    """Frames of a capture, in order; None where another connection begins.

    Line forms: ``Send:``/``Get:`` and XML elements; seconds TAB ``C``/``S`` TAB one frame; ``C``/``S`` and
    one quoted frame; and bare XML elements from the server (a received stream, or a record file). What
    remains of a line besides elements is a frame too, which cannot be read.
    """
    # Only a line feed ends a line: names in a record may contain other line separators.
    for number, raw in enumerate(path.read_bytes().decode().split("\n"), 1):
        line = raw.strip("\r\0 ")
        if line.startswith("#"):
            if line.startswith("##"):
                yield None
        elif timed := _TIMED.fullmatch(line):
            yield CapturedFrame(number, timed[1], timed[2])
        elif quoted := _QUOTED.fullmatch(line):
            yield CapturedFrame(number, quoted[1], _REMARK.sub("", quoted[2]), quoted=True)
        else:
            sender = "C" if line.startswith("Send:") else "S"
            text = _PROLOGUE.sub("", line.removeprefix("Send:").removeprefix("Get:"))
            rest = _ELEMENT.sub("", text).strip("\0 \t")
            for part in [*_ELEMENT.findall(text), *([rest] if rest else [])]:
                yield CapturedFrame(number, sender, part)


SERVER_FRAMES = (
    '{"tag":"HELO","uname":"%4E%6F%4E%61%6D%65","PF4":"13,305,1777.85,607.0,92,107,98,83,31,1,2,3,4,5",'
    '"expire":"20260816","expiredays":"9","ratingscale":"PF3=1.000000&PF4=1.000000","rr":"PF4=1,0","opt":"3"}',
    '{"tag":"LN","n":"2839,2663,323,345","j":"3,,,,,,,2","g":"348,,,,536"}',
    '{"tag":"REJOIN","t":"0,9,r"}',
    '{"tag":"GO","type":"9","lobby":"0","gpid":"2FF64D8A-A9692044"}',
    '{"tag":"GO","type":"169","lobby":"0","kansen":"1"}',
    '{"tag":"UN","n0":"%4E%6F","n1":"%41","n2":"%E7%A9%BA","n3":"%42","dan":"9,10,0,10",'
    '"rate":"1656.39,1403.41,1338.04,1484.37","sx":"M,M,F,C"}',
    '{"tag":"UN","n1":"%41"}',
    '{"tag":"BYE","who":"3"}',
    '{"tag":"TAIKYOKU","oya":"1","log":"2018012012gm-0009-0000-66fafd38"}',
    '{"tag":"SAIKAI","ba":"0,0","oya":"2","sc":"250,0,198,0,302,0,250,0"}',
    '{"tag":"INIT","seed":"0,0,0,0,5,32","ten":"250,250,250,250","oya":"1",'
    '"hai":"107,126,24,31,65,66,67,68,90,91,92,93,94"}',
    '{"tag":"REINIT","seed":"7,0,0,4,3,54","ten":"264,123,376,237","oya":"2",'
    '"hai":"13,14,15,16,20,48,52,62,65,82,85,92,98","m1":"22599","kawa0":"111,112,68",'
    '"kawa1":"90,29,10,255,132","kawa2":"117,106","kawa3":"37,0,122"}',
    '{"tag":"T77","t":"48"}',
    '{"tag":"U"}',
    '{"tag":"g105","t":"5"}',
    '{"tag":"D68"}',
    '{"tag":"N","who":"0","m":"20839"}',
    '{"tag":"N","who":"2","m":"35953","t":"8"}',
    '{"tag":"REACH","who":"2","step":"1"}',
    '{"tag":"REACH","who":"2","ten":"250,250,240,250","step":"2"}',
    '{"tag":"DORA","hai":"89"}',
    '{"tag":"FURITEN","show":"1"}',
    '{"tag":"AGARI","ba":"1,1","hai":"5,8,12,92,93","m":"47626,50218,51817","machi":"5","ten":"40,48000,5",'
    '"yakuman":"39","doraHai":"15","who":"3","fromWho":"3","paoWho":"1","sc":"215,0,195,-483,345,0,235,493",'
    '"owari":"215,-18.0,-288,-79.0,345,15.0,728,82.0"}',
    '{"tag":"AGARI","ba":"0,1","hai":"14,16,21,53,54,57,63,65,77,80,84,116,117,119","machi":"54",'
    '"ten":"40,8000,1","yaku":"1,1,0,1,12,1,52,1,54,1,53,0","doraHai":"62","doraHaiUra":"85","who":"1",'
    '"fromWho":"1","sc":"140,-20,188,90,309,-20,353,-40","owari":"120,-38.0,278,-12.2,289,8.9,313,41.3"}',
    '{"tag":"RYUUKYOKU","type":"yao9","ba":"0,0","sc":"255,0,255,0,250,0,240,0",'
    '"hai0":"1,9,30,35,38,74,102,107,111,116,123,125,133,134"}',
    '{"tag":"RYUUKYOKU","ba":"0,2","sc":"201,10,199,10,250,-30,330,10",'
    '"hai0":"9,11,42,44,49,53,54,55,81,90,120,122,123","hai3":"20,27,28,79,80,83,86,87,96,97"}',
    '{"tag":"PROF","lobby":"0","type":"137","add":"-17.0,0,0,1,0,0,9,2,1,6,1"}',
    '{"tag":"CHAT","uname":"%41","text":"%2F%6C%6F%62%62%79%20%37%39%39%34"}',
    '{"tag":"ERR","code":"1004"}',
    "<U/>",
    '<G105 t="5"/>',
    '<N who="0" m="20839" />',
    '<GO type="9" lobby="0" gpid="2FF64D8A-A9692044"/>',
)
"""One of each kind, as recorded (names shortened)."""

CLIENT_FRAMES = (
    '{"tag":"HELO","name":"ID12345678-abCD1234","sx":"M","gpid":"2FF64D8A-A9692044"}',
    '{"tag":"JOIN","t":"0,9"}',
    '{"tag":"GOK"}',
    '{"tag":"NEXTREADY"}',
    '{"tag":"D","p":115}',
    '{"tag":"REACH"}',
    '{"tag":"N","type":3,"hai0":24,"hai1":31}',
    '{"tag":"N","type":4,"hai":60}',
    '{"tag":"N"}',
    '{"tag":"LOBBY","id":"7994"}',
    '{"tag":"CS","lobby":"C12345678"}',
    '{"tag":"WG","id":"7F8E3EB0","tw":0}',
    "<Z/>",
    '<PXR V="9"/>',
    '<PXR v="-1"/>',
    "<BYE/>",
    '<REACH hai="56" />',
    '<HELO name="NoName" tid="f0" sx="M" />',
    '<CHAT text="/lobby%207994" />',
    "<policy-file-request/>",
)
