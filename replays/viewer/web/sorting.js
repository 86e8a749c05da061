/**
 * Tables that can be sorted by their columns.
 * @module
 */

import { make } from "./dom.js";

/**
 * The head of a column: a button that sorts by it.
 * @param {{column: string, name: string, title: string, numeric: boolean}} head
 * @param {{sorted: string, falling: boolean}} now what the table is sorted by
 * @param {() => void} sort
 * @returns {HTMLElement}
 */
export function sortHead({ column, name, title, numeric }, { sorted, falling }, sort) {
  const direction = sorted !== column ? "none" : falling ? "descending" : "ascending";
  const sign = { none: "", descending: " ▼", ascending: " ▲" }[direction];
  return make(
    "th", { scope: "col", class: numeric ? "num" : "", "aria-sort": direction },
    make("button", { type: "button", class: "sorter", "data-sort": column, title, onclick: sort }, name, make("span", { "aria-hidden": "true" }, sign)),
  );
}

/** @param {string | number} one @param {string | number} other @returns {number} below 0 if `one` comes first */
export function order(one, other) {
  if (typeof one === "number" && typeof other === "number") return one === other ? 0 : one - other;
  return String(one).localeCompare(String(other));
}
