"""Names of yaku, limits, results and rooms, in Japanese, romaji and English, by one table in both directions.

Tenhou writes Japanese; converters of other servers' records write all three. Names are compared without
spaces, punctuation and case.

Source: Tenhou's client and its JSON records; records that converters from Mahjong Soul wrote for Tenhou's
viewer, and the names in Mahjong Soul's client.
"""

from __future__ import annotations

import re
from typing import Final

from game.events import DrawReason

SEAT_WIND: Final = -1
ROUND_WIND: Final = -2
"""In place of an id: the triplet of a wind that the name does not tell."""

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
"""Tenhou's own names; the position is its id."""

_OTHER_NAMES: Final[dict[int, str]] = {
    0: "門前清模和, 門前ツモ, ツモ, Menzen Tsumo, Menzenchin Tsumohou, Tsumo, Fully Concealed Hand",
    1: "リーチ, Riichi, Reach",
    2: "Ippatsu",
    3: "Chankan, Robbing a Kan, Robbing a Quad",
    4: "Rinshan Kaihou, Rinshan, After a Kan, After a Quad",
    5: "Haitei Raoyue, Haitei Raoyui, Haitei, Under the Sea",
    6: "Houtei Raoyui, Houtei Raoyue, Houtei, Under the River",
    7: "Pinfu",
    8: "断么九, タンヤオ, Tanyao, Tanyaochuu, All Simples",
    9: "Iipeikou, Iipeiko, Pure Double Sequence",
    10: "Seat Wind East, Jikaze East, Jikaze Ton",
    11: "Seat Wind South, Jikaze South, Jikaze Nan",
    12: "Seat Wind West, Jikaze West, Jikaze Shaa",
    13: "Seat Wind North, Jikaze North, Jikaze Pei",
    14: "Prevalent Wind East, Round Wind East, Bakaze East, Bakaze Ton",
    15: "Prevalent Wind South, Round Wind South, Bakaze South, Bakaze Nan",
    16: "Prevalent Wind West, Round Wind West, Bakaze West, Bakaze Shaa",
    17: "Prevalent Wind North, Round Wind North, Bakaze North, Bakaze Pei",
    SEAT_WIND: "自風, 門風, Seat Wind, Seat Wind Tile, Jikaze",
    ROUND_WIND: "場風, 圏風, Prevalent Wind, Prevalent Wind Tile, Round Wind, Bakaze",
    18: "Haku, White Dragon",
    19: "Hatsu, Green Dragon",
    20: "Chun, Red Dragon",
    21: "双立直, ダブル立直, ダブルリーチ, Double Riichi, Daburu Riichi",
    22: "Chiitoitsu, Chiitoi, Seven Pairs",
    23: "混全帯么九, チャンタ, Chanta, Chantaiyao, Honchantaiyaochuu, Half Outside Hand",
    24: "Ittsuu, Ittsu, Ikkitsuukan, Pure Straight",
    25: "Sanshoku Doujun, Sanshoku, Mixed Triple Sequence",
    26: "Sanshoku Doukou, Triple Triplets",
    27: "Sankantsu, Three Quads",
    28: "対対和, トイトイ, Toitoi, Toitoihou, All Triplets",
    29: "Sanankou, San Ankou, Three Concealed Triplets",
    30: "Shousangen, Little Three Dragons",
    31: "Honroutou, All Terminals and Honors, All Terminals and Honours",
    32: "Ryanpeikou, Twice Pure Double Sequence, Twice Pure Double Sequences",
    33: "純全帯么九, 純チャン, Junchan, Junchan Taiyao, Junchantaiyaochuu, Fully Outside Hand",
    34: "ホンイツ, Honitsu, Honiisou, Half Flush",
    35: "チンイツ, Chinitsu, Chiniisou, Full Flush",
    36: "Renhou, Hand of Man, Blessing of Man",
    37: "Tenhou, Blessing of Heaven",
    38: "Chiihou, Blessing of Earth",
    39: "Daisangen, Big Three Dragons",
    40: "Suuankou, Suu Ankou, Four Concealed Triplets",
    41: "Suuankou Tanki, Single-wait Four Concealed Triplets",
    42: "Tsuuiisou, All Honors, All Honours",
    43: "Ryuuiisou, All Green",
    44: "Chinroutou, All Terminals",
    45: "九蓮宝灯, 九連宝燈, Chuuren Poutou, Chuuren, Nine Gates",
    46: "純正九蓮宝灯, Junsei Chuuren Poutou, True Nine Gates, Pure Nine Gates",
    47: "Kokushi Musou, Kokushi, Thirteen Orphans",
    48: "国士無双13面, 国士無双十三面, 国士無双十三面待ち, "
    "Kokushi Musou Juusanmen, Kokushi Musou Juusanmenmachi, "
    "Kokushi Juusanmen, Thirteen-wait Thirteen Orphans",
    49: "Daisuushii, Four Big Winds, Big Four Winds",
    50: "Shousuushii, Four Little Winds, Little Four Winds",
    51: "Suukantsu, Four Quads",
    52: "宝牌, Dora, Kan Dora",
    53: "裏宝牌, Ura Dora, Uradora",
    54: "赤宝牌, 紅宝牌, Aka Dora, Akadora, Red Five, Red Fives, Red Dora",
}  # fmt: skip

WIN: Final = "和了"
EXHAUSTIVE: Final = "流局"
ALL_READY: Final = "全員聴牌"
NONE_READY: Final = "全員不聴"
NO_RESULT: Final = "不明"
"""In place of a result, in the viewer's own records of unfinished rounds."""
_WINS: Final = (WIN, "Agari", "和牌", "栄和", "自摸", "ロン", "Ron", "ツモ", "Tsumo", "Win")
DRAW_NAMES: Final[dict[DrawReason, tuple[str, ...]]] = {
    "exhaustive": (
        EXHAUSTIVE,
        ALL_READY,
        NONE_READY,
        "荒牌平局",
        "荒牌流局",
        "Ryuukyoku",
        "Ryukyoku",
        "Exhaustive Draw",
    ),
    "nagashi_mangan": ("流し満貫", "流局満貫", "Nagashi Mangan", "Mangan at Draw"),
    "nine_terminals": ("九種九牌", "Kyuushu Kyuuhai", "Nine Terminal Abortion"),
    "four_winds": ("四風連打", "四風子連打", "Suufon Renda", "Four Wind Abortion"),
    "four_riichi": ("四家立直", "四人立直", "Suucha Riichi", "Four Riichi Abortion"),
    "four_kans": ("四槓散了", "四開槓", "四槓流れ", "Suukaikan", "Suukansanra", "Four Kan Abortion"),
    "triple_ron": ("三家和了", "三家和", "Sanchahou", "Three Ron Abortion"),
    "unknown": ("途中流局", "Abortive Draw"),
}
"""Every known name of a round without a win; the first is Tenhou's own."""

LIMITS: Final = ("", "満貫", "跳満", "倍満", "三倍満", "役満")
COUNTED: Final = "数え役満"
_LIMITS: Final[dict[str, int]] = {
    # Longer names first, because some of them end in a shorter one.
    "役満": 5, "yakuman": 5, "三倍満": 4, "sanbaiman": 4, "倍満": 3, "baiman": 3,
    "跳満": 2, "haneman": 2, "満貫": 1, "mangan": 1,
}  # fmt: skip
_IGNORED: Final = re.compile(r"[\s:：'’_\-・]+")
_PREFIX: Final = re.compile("^(?:役牌|翻牌|yakuhai)(?=.)|(?<=.)牌$")
_VARIANTS: Final = str.maketrans(
    dict(
        zip(
            "场门枪抢搶杠岭开捞鱼发発风斷帶带氣气贯顺兩两對对头纯綠绿國雙无种莲灯單单骑杯么满滿寶红里裡连聽听圈员荣榮",
            "場門槍槍槍槓嶺開撈魚發發風断帯帯気気貫順両両対対頭純緑緑国双無種蓮燈単単騎盃幺満満宝紅裏裏連聴聴圏員栄栄",
            strict=True,
        )
    )
)
"""Characters as in Chinese and older Japanese, and as in Tenhou's names."""


def _key(name: str) -> str:
    return _PREFIX.sub("", _IGNORED.sub("", name).casefold().translate(_VARIANTS))


_YAKU_IDS: Final = {_key(name): number for number, name in enumerate(YAKU_NAMES)} | {
    _key(name): number for number, names in _OTHER_NAMES.items() for name in names.split(", ")
}
_REASONS: Final = {_key(name): reason for reason, names in DRAW_NAMES.items() for name in names}
_WIN_KEYS: Final = frozenset(map(_key, _WINS))
REASON_NAMES: Final = {reason: names[0] for reason, names in DRAW_NAMES.items()}
"""Tenhou's name of each reason."""


def yaku_id(name: str) -> int | None:
    """Tenhou's id of a yaku, `SEAT_WIND` or `ROUND_WIND`; None if no language has the name.

    >>> yaku_id("役牌 白"), yaku_id("White Dragon"), yaku_id("Seat Wind"), yaku_id("Parenchan")
    (18, 18, -1, None)
    """
    return _YAKU_IDS.get(_key(name))


def is_win(name: str) -> bool:
    """Whether a result of this name is a win."""
    return _key(name) in _WIN_KEYS


def reason_of(name: str) -> DrawReason | None:
    """The reason of a round without a win, None if no language has the name.

    >>> reason_of("Suucha Riichi"), reason_of("流局")
    ('four_riichi', 'exhaustive')
    """
    return _REASONS.get(_key(name))


def limit_of(name: str) -> int | None:
    """The limit in a name: 0 for no name, 1 mangan to 5 yakuman; None if no language has it.

    >>> limit_of(""), limit_of("Kiriage Mangan "), limit_of("数え役満"), limit_of("Grand Slam")
    (0, 1, 5, None)
    """
    key = _key(name)
    if not key:
        return 0
    return next((limit for ending, limit in _LIMITS.items() if key.endswith(ending)), None)


def length_in(rules: str) -> str | None:
    """The length that words about the rules of a game name, None if they name none.

    >>> length_in("Gold Room South Red"), length_in("玉の間東"), length_in("Mortal self-play")
    ('hanchan', 'tonpuu', None)
    """
    words = rules.casefold()
    if "南" in words or "south" in words or "hanchan" in words:
        return "hanchan"
    return "tonpuu" if "東" in words or "east" in words or "tonpuu" in words else None


_NORTH: Final = ("抜き", "拔北", "北ドラ", "northdora", "nukidora", "kita")


def is_north(yaku: str) -> bool:
    """Whether a yaku is a north set aside, as in three-player games."""
    return any(word in _key(yaku) for word in _NORTH)


def is_for_three(rules: str) -> bool:
    """Whether words about the rules of a game name three players."""
    words = _key(rules)
    return any(word in words for word in ("三", "3player", "threeplayer", "sanma"))
