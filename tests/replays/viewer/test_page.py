"""One self-contained file, in which no data from a record can become markup."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode, b64encode
from hashlib import sha256

import pytest

from replays.viewer.page import STYLES, TILES, WEB, PageError, embed, index_page, page, script, styles

SMALL = {
    "format": "suzaku-review/3",
    "game": {"names": ["</script><script>alert(1)</script>", "<!--", "&lt;", "\u2028\u2029"]},
}


def data_of(html: str) -> bytes:
    found = re.search(r'<script type="application/gzip" id="\w+">(.*?)</script>', html)
    assert found
    return gzip.decompress(b64decode(found[1]))


def test_data_survives_being_embedded() -> None:
    assert json.loads(data_of(page(SMALL))) == SMALL
    assert page(json.dumps(SMALL).encode()) == page(SMALL)


def test_no_character_of_the_data_can_be_markup_or_end_a_line() -> None:
    assert not set(embed(SMALL)) & set("<>&\u2028\u2029")


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"3", b"\xff", b'{"a":NaN}', {"a": object()}])
def test_what_is_no_json_object_is_refused(data: bytes) -> None:
    with pytest.raises(PageError):
        page(data)


@pytest.mark.parametrize("html", [page(SMALL), index_page(SMALL)], ids=["game", "index"])
def test_policy_names_exactly_the_style_and_the_script_there_are(html: str) -> None:
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    module = re.search(r'<script type="module">(.*?)</script>', html, re.DOTALL)
    assert style
    assert module
    for name, text in (("style-src", style[1]), ("script-src", module[1])):
        assert f"{name} 'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" in policy[1]
    assert policy[1].startswith("default-src 'none';")
    assert "unsafe" not in policy[1]


def test_page_names_no_other_place() -> None:
    html = page(SMALL)
    assert set(re.findall(r"(?:https?:)?//[a-z][\w.-]*\.[a-z]{2,}[^\s\"'%]*", html)) <= {
        "http://www.w3.org/2000/svg"
    }
    assert not re.findall(
        r"<(?:img|link|iframe|object|embed)\b|@import|\b(?:fetch|XMLHttpRequest|eval|Function)\(", html
    )
    assert not re.findall(r'\son[a-z]+="', html)


def test_modules_never_turn_text_into_markup() -> None:
    for module in (script("main.js"), script("many.js")):
        assert not re.findall(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|new Function|setTimeout\(\"", module
        )


def test_every_file_of_the_page_is_used() -> None:
    used = {
        *STYLES,
        "page.html",
        *re.findall(r'modules\["([a-z]+\.js)"\] =', script("main.js") + script("many.js")),
    }
    assert {entry.name for entry in WEB.iterdir() if entry.is_file()} == used


def test_every_tile_has_a_drawing_and_the_drawings_their_licence() -> None:
    names = {entry.name for entry in (WEB / "tiles").iterdir()}
    assert names == {f"{tile}.svg" for tile in TILES} | {"LICENSE.txt"}
    assert styles().count("data:image/svg+xml,") == len(TILES)
    assert "CC0 1.0 Universal" in (WEB / "tiles" / "LICENSE.txt").read_text(encoding="utf-8")


def test_both_languages_have_the_same_words() -> None:
    english, japanese = (
        _keys((WEB / name).read_text(encoding="utf-8")) for name in ("english.js", "japanese.js")
    )
    assert english == japanese
    assert len(english) > 150


def _keys(text: str) -> list[str]:
    body = text[text.index("export const") :]
    lines = [re.match(r" +(\w+):", line) for line in body.splitlines()]
    return [line[1] for line in lines if line]
