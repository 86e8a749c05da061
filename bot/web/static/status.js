/**
 * The state of the connection to the program, as a word and a coloured dot.
 * @module
 */

import { make } from "/web/dom.js";
import { words } from "/web/words.js";

const english = {
  opening: "Connecting to Suzaku …",
  open: "Connected",
  lost: (/** @type {number} */ seconds) => `Suzaku is not responding. Next try in ${seconds} s.`,
  full: "Too many browsers are watching.",
  over: "Suzaku has stopped. This is its last state.",
};

/** @type {typeof english} */
const japanese = {
  opening: "Suzaku に接続中…",
  open: "接続済み",
  lost: (seconds) => `Suzaku が応答しません。${seconds} 秒後に再接続します。`,
  full: "閲覧者が多すぎます。",
  over: "Suzaku は終了しました。これが最後の状態です。",
};

/**
 * @param {HTMLElement} place the element to show it in
 * @param {import("/web/line.js").Wire} wire
 * @param {string} word replaces "connected" while the connection is up; "" for "connected"
 * @param {string[]} facts shown next to it while the connection is up; empty ones are left out
 */
export function showWire(place, wire, word, facts) {
  const text = words().code === "ja" ? japanese : english;
  const good = wire.state === "open";
  const said = wire.state === "lost" ? text.lost(wire.seconds) : text[wire.state];
  place.dataset.wire = wire.state;
  place.replaceChildren(
    make("strong", {}, make("span", { class: "live-dot", "aria-hidden": "true" }), (good && word) || said),
    ...(good ? facts.filter(Boolean).map((fact) => make("span", { class: "quiet" }, fact)) : []),
  );
}
