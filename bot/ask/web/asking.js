/**
 * Texts of the page on which positions are written, in addition to those of the viewer.
 * @module
 */

import { inBoth } from "/web/words.js";

const english = {
  title: "Suzaku: a position",
  heading: "A position",
  form: "The position",
  palette: "Tiles",
  remove: "delete",
  removeLast: "Delete the last tile",
  marks: { _: "tsumogiri", "!": "riichi", "~": "called", "+": "added", " ": "next meld" },
  seats: ["You", "Right", "Opposite", "Left"],
  river: "River",
  melds: "Melds",
  fields: {
    hand: "Hand",
    dora: "Dora indicators",
    offered: "Discard on offer",
    offered_by: "from",
    after_call: "My last meld was called just now",
    round_index: "Round",
    seat_wind: "My wind",
    turn: "Turn",
    scores: "Points",
    sticks: "Sticks",
    honba: "Honba",
    length: "Game",
  },
  hints: {
    hand: "14 tiles on your turn, the drawn one last; 13 with a discard on offer. Each meld counts as 3.",
    rivers: "All four, or none: then give the turn.",
    melds: "1~23m chi · 5~55z, 55~5z, 555~z pon from left, opposite, right · 5555z closed kan · 5~55+5z added kan",
    scores: "25000,25000,25000,25000",
  },
  lengths: { hanchan: "Hanchan", tonpuu: "Tonpuusen" },
  ask: "Ask",
  clear: "Clear",
  asking: "Asking …",
  answer: "The answer",
  none: "Write a position, and ask.",
  changed: "The position has changed since.",
  waiting: "Nothing to decide: add the drawn tile, or a discard on offer.",
  unknown: "Rivers unknown: made-up discards, which nobody has seen, take their places.",
  lost: "Suzaku is not responding. Your position is kept; ask again.",
};

/** @type {typeof english} */
const japanese = {
  title: "Suzaku：何を切る",
  heading: "何を切る",
  form: "局面",
  palette: "牌",
  remove: "削除",
  removeLast: "最後の牌を削除",
  marks: { _: "ツモ切り", "!": "リーチ", "~": "鳴いた牌", "+": "加槓", " ": "次の面子" },
  seats: ["自分", "下家", "対面", "上家"],
  river: "河",
  melds: "副露",
  fields: {
    hand: "手牌",
    dora: "ドラ表示牌",
    offered: "鳴ける捨て牌",
    offered_by: "誰から",
    after_call: "最後の副露は今鳴いたもの",
    round_index: "局",
    seat_wind: "自風",
    turn: "巡目",
    scores: "持ち点",
    sticks: "供託",
    honba: "本場",
    length: "対局",
  },
  hints: {
    hand: "自分の番は14枚（ツモ牌を最後に）、捨て牌に対しては13枚。副露は1つ3枚と数えます。",
    rivers: "4人分すべて、またはすべて空欄（巡目を指定）。",
    melds: "1~23m チー・5~55z 55~5z 555~z 上家／対面／下家からポン・5555z 暗槓・5~55+5z 加槓",
    scores: "25000,25000,25000,25000",
  },
  lengths: { hanchan: "東南戦", tonpuu: "東風戦" },
  ask: "AIに聞く",
  clear: "消去",
  asking: "考慮中…",
  answer: "回答",
  none: "局面を入力して、AIに聞いてください。",
  changed: "その後、局面が変更されています。",
  waiting: "選択はありません。ツモ牌または鳴ける捨て牌を加えてください。",
  unknown: "河が不明なため、誰も見ていない仮の捨て牌が置かれています。",
  lost: "Suzaku が応答しません。局面は残っています。もう一度お試しください。",
};

export const asking = inBoth(english, japanese);
