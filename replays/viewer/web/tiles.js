/**
 * Tiles: their order, their names, their elements.
 * @module
 */

import { make } from "./dom.js";
import { words } from "./words.js";

const HONOURS = "ESWNPFC";
const SUITS = "mps";

/**
 * The sort order of a tile in a hand; a red five comes before other fives, unseen tiles come last.
 * @param {string} tile
 * @returns {number}
 */
export function rank(tile) {
  if (tile === "?") return 1000;
  if (tile.length === 1) return 300 + HONOURS.indexOf(tile);
  return 100 * SUITS.indexOf(tile[1]) + 10 * Number(tile[0]) + (tile.endsWith("r") ? 0 : 1);
}

/** @param {string[]} tiles @returns {string[]} a sorted copy */
export function inOrder(tiles) {
  return [...tiles].sort((one, other) => rank(one) - rank(other));
}

/** @param {string} tile @returns {boolean} whether the tile exists */
export function isTile(tile) {
  return /^(?:[1-9][mps]|5[mps]r|[ESWNPFC])$/.test(tile);
}

/**
 * The name of a tile, for screen readers.
 * @param {string} tile
 * @returns {string}
 */
export function tileName(tile) {
  const { tiles } = words();
  if (!isTile(tile)) return tiles.unseen;
  if (tile.length === 1) return tiles.honours[HONOURS.indexOf(tile)];
  const name = tiles.suited(Number(tile[0]), SUITS.indexOf(tile[1]));
  return tile.endsWith("r") ? tiles.red(name) : name;
}

/**
 * A tile as players write it: 0m for a red five, 1z to 7z for winds and dragons.
 * @param {string} tile
 * @returns {string}
 */
export function tileText(tile) {
  if (!isTile(tile)) return "?";
  if (tile.length === 1) return `${HONOURS.indexOf(tile) + 1}z`;
  return tile.endsWith("r") ? `0${tile[1]}` : tile;
}

/**
 * The inverse of `tileText`.
 * @param {string} text
 * @returns {string}
 */
export function tileOf(text) {
  if (text.startsWith("0")) return `5${text[1]}r`;
  return text.endsWith("z") ? HONOURS[Number(text[0]) - 1] ?? "?" : text;
}

/** @param {string} text with tiles in braces @returns {(string | HTMLElement)[]} the text with their pictures */
export function withTiles(text) {
  return text.split(/\{(.*?)\}/).map((part, place) => (place % 2 ? tileElement(part) : part));
}

/**
 * The element of a tile.
 * @param {string} tile
 * @param {{turned?: boolean, shaded?: boolean, gone?: boolean, fresh?: boolean, back?: boolean,
 *   marks?: string[]}} [look] `marks` are further words of its name
 * @returns {HTMLElement}
 */
export function tileElement(tile, look = {}) {
  const back = look.back || !isTile(tile);
  const name = back ? words().tiles.unseen : tileName(tile);
  const classes = ["tile", back ? "tile-back" : `t-${tile}`];
  for (const key of ["turned", "shaded", "gone", "fresh"]) {
    if (look[/** @type {keyof typeof look} */ (key)]) classes.push(`tile-${key}`);
  }
  return make("span", {
    class: classes.join(" "),
    role: "img",
    "aria-label": [name, ...(look.marks ?? [])].join(words().comma),
    title: back ? name : `${tileText(tile)} · ${name}`,
    "data-tile": back ? "?" : tile,
  });
}
