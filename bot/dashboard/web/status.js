/**
 * The state of the connection to the program, as a word and a coloured dot.
 * @module
 */

import { make } from "/web/dom.js";
import { texts } from "/web/texts.js";

/**
 * @param {HTMLElement} place the element to show it in
 * @param {import("/web/line.js").Wire} wire
 * @param {string} word replaces "connected" while the connection is up; "" for "connected"
 * @param {string[]} facts shown next to it while the connection is up; empty ones are left out
 */
export function showWire(place, wire, word, facts) {
  const { wire: text } = texts();
  const good = wire.state === "open";
  const said = wire.state === "lost" ? text.lost(wire.seconds) : text[wire.state];
  place.dataset.wire = wire.state;
  place.replaceChildren(
    make("strong", {}, make("span", { class: "live-dot", "aria-hidden": "true" }), (good && word) || said),
    ...(good ? facts.filter(Boolean).map((fact) => make("span", { class: "quiet" }, fact)) : []),
  );
}
