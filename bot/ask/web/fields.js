/**
 * The fields of a position as text: from and to the JSON that the program reads, which the page's address holds too.
 * @module
 */

import { tileOf } from "/web/tiles.js";

/** @typedef {Record<string, string>} Values the text of every field by its name */

export const SEATS = [0, 1, 2, 3];
export const RIVERS = SEATS.map((seat) => `rivers.${seat}`);
export const MELDS = SEATS.map((seat) => `melds.${seat}`);
const NUMBERS = ["round_index", "seat_wind", "offered_by", "honba", "sticks", "turn"];
/** What a field holds where nothing is said. */
const USUAL = /** @type {Values} */ ({ round_index: "0", seat_wind: "0", offered_by: "3", length: "hanchan" });
const NAMES = ["hand", ...RIVERS, ...MELDS, "dora", ...NUMBERS, "scores", "offered", "after_call", "length"];
const LONGEST = 400;
const MARKS = "_!~+";

/** @param {string} text @returns {unknown} a number, or the text if it is none, which the program then refuses */
function numeric(text) {
  return /^-?\d{1,9}$/.test(text.trim()) ? Number(text) : text.trim();
}

/** @param {Values} values @returns {Record<string, any>} the position, without what is as usual */
export function positionOf(values) {
  const position = /** @type {Record<string, any>} */ ({ hand: values.hand });
  for (const name of ["rivers", "melds"]) {
    const four = SEATS.map((seat) => values[`${name}.${seat}`]);
    if (four.some(Boolean)) position[name] = four;
  }
  for (const name of ["dora", "offered", "length"]) if (values[name] !== (USUAL[name] ?? "")) position[name] = values[name];
  for (const name of NUMBERS) if (values[name].trim() !== (USUAL[name] ?? "")) position[name] = numeric(values[name]);
  if (values.scores.trim()) position.scores = values.scores.split(",").map(numeric);
  if (values.after_call) position.after_call = true;
  return position;
}

/** @param {any} position anything @returns {Values} its fields, as far as it has them */
function valuesOf(position) {
  return Object.fromEntries(NAMES.map((name) => {
    const [key, seat] = name.split(".");
    const value = seat === undefined ? position?.[key] : position?.[key]?.[seat];
    const text = Array.isArray(value) ? value.join(",") : ["string", "number"].includes(typeof value) || value === true ? String(value) : "";
    return [name, text.slice(0, LONGEST) || (USUAL[name] ?? "")];
  }));
}

/** @param {string} hash the part of the address after # @returns {Values} */
export function valuesAt(hash) {
  try {
    return valuesOf(JSON.parse(decodeURIComponent(hash.slice(1))));
  } catch {
    return valuesOf(null); // no position, or part of one
  }
}

/** @param {Values} values @returns {string} the address of the page with them */
export function addressOf(values) {
  const position = positionOf(values);
  const empty = Object.keys(position).length === 1 && !position.hand;
  return location.pathname + location.search + (empty ? "" : `#${encodeURIComponent(JSON.stringify(position))}`);
}

/**
 * @param {string} text tiles in the program's notation
 * @returns {{tile: string, marks: string}[]} as far as it can be read; a space becomes a tile ""
 */
export function tilesOf(text) {
  const tiles = /** @type {{tile: string, marks: string}[]} */ ([]);
  let open = /** @type {{tile: string, marks: string}[]} */ ([]);
  for (const char of text) {
    const last = open.at(-1) ?? tiles.at(-1);
    if (/\d/.test(char)) open.push({ tile: char, marks: "" });
    else if ("mpsz".includes(char)) {
      tiles.push(...open.map((one) => ({ tile: tileOf(one.tile + char), marks: one.marks })));
      open = [];
    } else if (MARKS.includes(char) && last) last.marks += char;
    else if (char === " " && tiles.length) tiles.push({ tile: "", marks: "" });
  }
  return tiles;
}

/** @param {string} text @param {string} added a tile, or a mark @returns {string} with it at its end */
export function appended(text, added) {
  return added.length === 2 && text.endsWith(added[1]) ? text.slice(0, -1) + added : text + added;
}

/** @param {string} text @returns {string} without its last tile or space */
export function shortened(text) {
  const found = /^(.*?)\d[_!~+]*([mpsz])[_!~+]*$/.exec(text);
  if (!found) return text.slice(0, -1);
  return /\d[_!~+]*$/.test(found[1]) ? found[1] + found[2] : found[1];
}
