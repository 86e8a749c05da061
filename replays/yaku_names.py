"""The Japanese names of yaku as written by Tenhou, by its ids, in both directions.

Source: Tenhou's client and its JSON records; the aliases are spellings of other programs that write this
format.
"""

from __future__ import annotations

from typing import Final

YAKU_NAMES: Final[tuple[str, ...]] = (
    "門前清自摸和", "立直", "一発", "槍槓", "嶺上開花",
    "海底摸月", "河底撈魚", "平和", "断幺九", "一盃口",
    "自風 東", "自風 南", "自風 西", "自風 北",
    "場風 東", "場風 南", "場風 西", "場風 北",
    "役牌 白", "役牌 發", "役牌 中",
    "両立直", "七対子", "混全帯幺九", "一気通貫", "三色同順",
    "三色同刻", "三槓子", "対々和", "三暗刻", "小三元",
    "混老頭", "二盃口", "純全帯幺九", "混一色", "清一色",
    "人和", "天和", "地和", "大三元", "四暗刻",
    "四暗刻単騎", "字一色", "緑一色", "清老頭", "九蓮宝燈",
    "純正九蓮宝燈", "国士無双", "国士無双１３面", "大四喜", "小四喜",
    "四槓子", "ドラ", "裏ドラ", "赤ドラ",
)  # fmt: skip
"""Position: Tenhou's id."""

_ALIASES: Final = {
    "門前清模和": 0,
    "断么九": 8,
    "役牌白": 18,
    "役牌:白": 18,
    "役牌發": 19,
    "役牌:發": 19,
    "役牌発": 19,
    "役牌 発": 19,
    "役牌中": 20,
    "役牌:中": 20,
    "ダブル立直": 21,
    "混全帯么九": 23,
    "対対和": 28,
    "純全帯么九": 33,
    "九蓮宝灯": 45,
    "純正九蓮宝灯": 46,
    "国士無双13面": 48,
    "国士無双十三面待ち": 48,
}
YAKU_IDS: Final[dict[str, int]] = {name: number for number, name in enumerate(YAKU_NAMES)} | _ALIASES
"""Tenhou's id by name, including aliases."""
