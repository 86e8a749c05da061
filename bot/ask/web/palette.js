/**
 * The tiles to choose from, and the marks.
 * @module
 */

import { asking } from "/web/asking.js";
import { make } from "/web/dom.js";
import { tileElement, tileName, tileOf } from "/web/tiles.js";

const COLUMNS = 10;
const SUITED = [..."mps"].flatMap((suit) => [..."1234567890"].map((digit) => digit + suit));
const HONOURS = [..."1234567"].map((digit) => `${digit}z`);
const MARKS = /** @type {const} */ (["_", "!", "~", "+", " "]);
/** @type {Record<string, number>} */
const STEPS = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -COLUMNS, ArrowDown: COLUMNS };

/**
 * One stop for the Tab key; the arrow keys move within it.
 * @param {(added: string) => void} add a tile or a mark was chosen
 * @param {() => void} remove the last tile is to go
 * @returns {HTMLElement}
 */
export function palette(add, remove) {
  const text = asking();
  const key = (/** @type {string} */ value, /** @type {string} */ label, /** @type {Node[]} */ shown, run = () => add(value)) =>
    make("button", { type: "button", class: shown.length > 1 ? "pal-key pal-mark" : "pal-key", tabindex: -1, "data-add": value, title: label, "aria-label": label, onclick: run }, ...shown);
  const sign = (/** @type {string} */ shown, /** @type {string} */ label) => [make("b", {}, shown), make("small", {}, label)];
  const keys = [
    ...[...SUITED, ...HONOURS].map((tile) => key(tile, tileName(tileOf(tile)), [tileElement(tileOf(tile))])),
    key("back", text.removeLast, sign("⌫", text.remove), remove),
    ...MARKS.map((mark) => key(mark, text.marks[mark], sign(mark === " " ? "␣" : mark, text.marks[mark]))),
  ];
  keys[0].tabIndex = 0;
  const move = (/** @type {KeyboardEvent} */ event) => {
    const from = keys.indexOf(/** @type {HTMLElement} */ (event.target));
    const to = keys[Math.min(keys.length - 1, Math.max(0, from + (STEPS[event.key] ?? 0)))];
    if (!(event.key in STEPS) || from < 0) return;
    event.preventDefault();
    keys[from].tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  };
  // a click leaves the focus in the field
  const stay = (/** @type {Event} */ event) => event.preventDefault();
  return make("div", { class: "palette", role: "toolbar", "aria-label": text.palette, onmousedown: stay, onkeydown: move }, ...keys);
}
