/**
 * The expected position on Tenhou's rank ladder.
 * @module
 */

import { make } from "/web/dom.js";
import { texts } from "/web/texts.js";
import { number, percent, words } from "/web/words.js";

/** @typedef {{games: number, dan: number, low: number, high: number, shares: number[]}} Ladder */

/** @param {Ladder | null} ladder @returns {HTMLElement | null} a column for each dan, with its probability as height */
export function ladderFigure(ladder) {
  if (!ladder) return null;
  const { ladder: text } = texts();
  const most = Math.max(...ladder.shares);
  const columns = ladder.shares.map((share, index) => {
    const name = text.dan(index + 1);
    const inside = index + 1 >= ladder.low && index + 1 <= ladder.high;
    return make(
      "span", { class: inside ? "ladder-dan ladder-half" : "ladder-dan", title: `${name}: ${percent(share, 1)}`, "data-share": share, vars: { share: share / most } },
      make("span", { class: "ladder-bar" }), make("span", {}, text.short(index + 1)),
    );
  });
  const summary = ladder.shares.map((share, index) => `${text.dan(index + 1)} ${percent(share, 1)}`).join(words().comma);
  return make(
    "figure", { class: "ladder" },
    make("figcaption", {}, make("h3", {}, text.title), make("p", {}, text.expected, " ", make("strong", { "data-figure": "dan" }, number(ladder.dan, 1)), make("small", {}, ` ${text.half(text.short(ladder.low), text.short(ladder.high))}`))),
    make("div", { class: "ladder-dans", role: "img", "aria-label": `${text.title}: ${summary}` }, ...columns),
    make("p", { class: "quiet" }, text.hint(number(ladder.games))),
  );
}
