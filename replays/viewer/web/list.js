/**
 * The table of all decisions of the reviewed player, which can be sorted and filtered.
 * @module
 */

import { categoryBadge, optionElement } from "./decision.js";
import { harmless, make } from "./dom.js";
import { GRADES, isError } from "./review.js";
import { order, sortHead } from "./sorting.js";
import { number, percent, words } from "./words.js";

/** @typedef {import("./review.js").Review} Review */
/** @typedef {import("./review.js").Decision} Decision */
/** @typedef {"step" | "grade" | "round"} Filter */

/** @type {Record<string, (one: Decision, index: number) => number | string>} what a column is sorted by */
const KEYS = {
  place: (_, index) => index,
  step: (one) => stepName(one.step),
  ratio: (one) => one.ratio ?? 2,
  price: (one) => one.price?.points ?? -Infinity,
  category: (one) => GRADES.indexOf(/** @type {"fine"} */ (one.category)),
};
const ALL = "all";

/** Marks what leads to a decision. @param {HTMLElement} place @param {number} index the decision, -1 for none */
export function markCurrent(place, index) {
  for (const button of place.querySelectorAll("[data-jump]")) {
    if (button.getAttribute("data-jump") === String(index)) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
}

export class DecisionList {
  /** @param {Review} review @param {(decision: Decision) => void} jump shows a decision */
  constructor(review, jump) {
    this.review = review;
    this.jump = jump;
    this.sorted = "place";
    this.falling = false;
    /** @type {Record<Filter, string>} */
    this.chosen = { step: ALL, grade: ALL, round: ALL };
    this.current = -1;
    this.priced = review.decisions.some((one) => one.price);
    this.place = make("div", { class: "list-place" });
    this.count = make("p", { class: "quiet list-count", role: "status" });
  }

  /** @returns {HTMLElement} the filters and the table, in the current language */
  build() {
    const { list: text } = words();
    const filters = make("div", { class: "filters", role: "group", "aria-label": text.filters }, ...this.filters());
    this.table();
    return make("article", { class: "list" }, filters, this.count, this.place);
  }

  /** @param {number} index the decision shown on the table, -1 for none */
  mark(index) {
    this.current = index;
    markCurrent(this.place, index);
  }

  filters() {
    const { list: text, controls } = words();
    const { decisions, rounds } = this.review;
    const made = [...new Set(decisions.map((one) => one.step))];
    const played = [...new Set(decisions.map((one) => one.round))];
    return [
      this.filter("step", text.step, [[ALL, text.allSteps], ...made.map((step) => [step, stepName(step)])]),
      this.filter("grade", text.grade, [[ALL, text.allGrades], ...GRADES.map((grade) => [grade, controls.stops[/** @type {"fine"} */ (grade)]])]),
      this.filter("round", text.round, [[ALL, text.allRounds], ...played.map((round) => [String(round), words().roundShort(rounds[round].round_index, rounds[round].honba)])]),
    ];
  }

  /** @param {Filter} filter @param {string} name @param {string[][]} options values and texts */
  filter(filter, name, options) {
    const choose = (/** @type {Event} */ event) => {
      this.chosen[filter] = /** @type {HTMLSelectElement} */ (event.target).value;
      this.table();
    };
    return make(
      "label", { class: "filter" }, make("span", { class: "quiet" }, name),
      make("select", { "data-filter": filter, onchange: choose }, ...options.map(([value, text]) => make("option", { value, selected: this.chosen[filter] === value }, text))),
    );
  }

  /** @param {Decision} one @returns {boolean} whether the filters let it through */
  passes(one) {
    const { step, grade, round } = this.chosen;
    return (step === ALL || one.step === step) && (grade === ALL || isError(one, grade)) && (round === ALL || one.round === Number(round));
  }

  /** @param {string} column */
  sortBy(column) {
    this.falling = this.sorted === column ? !this.falling : ["price", "category"].includes(column);
    this.sorted = column;
    this.table();
    /** @type {HTMLElement | null} */ (this.place.querySelector(`[data-sort="${column}"]`))?.focus();
  }

  /** Redraws the table after sorting or filtering. */
  table() {
    const { list: text } = words();
    const key = (/** @type {{one: Decision, index: number}} */ { one, index }) => KEYS[this.sorted](one, index);
    const all = this.review.decisions.map((one, index) => ({ one, index }));
    const shown = all.filter(({ one }) => this.passes(one));
    shown.sort((a, b) => order(key(a), key(b)) * (this.falling ? -1 : 1) || a.index - b.index);
    const heads = Object.keys(KEYS).filter((column) => this.priced || column !== "price").map((column) => this.head(column));
    heads.splice(2, 0, make("th", { scope: "col" }, text.choice));
    const body = make("tbody", { onkeydown: (/** @type {KeyboardEvent} */ event) => step(event) }, ...shown.map(({ one, index }) => this.row(one, index)));
    const none = shown.length ? "" : make("p", { class: "quiet nothing" }, text.none);
    this.place.replaceChildren(make("table", { class: "figures decisions", "aria-label": text.title }, make("thead", {}, make("tr", {}, ...heads)), body), none);
    this.count.replaceChildren(text.count(shown.length, all.length));
    this.mark(this.current);
  }

  /** @param {string} column */
  head(column) {
    const name = words().list.columns[/** @type {"place"} */ (column)];
    const head = { column, name, title: words().index.sort(name), numeric: ["ratio", "price"].includes(column) };
    return sortHead(head, this, () => this.sortBy(column));
  }

  /** @param {Decision} one @param {number} index @returns {HTMLElement} a row, all of which can be clicked */
  row(one, index) {
    const { list: text, game } = words();
    const round = this.review.rounds[one.round];
    const where = `${words().roundShort(round.round_index, round.honba)} · ${game.turn(one.turn)}`;
    const choice = one.agrees || !one.done
      ? [optionElement(one, one.done ?? one.preferred)]
      : [optionElement(one, one.done), make("span", { class: "arrow", "aria-hidden": "true" }, "→"), make("span", { class: "hidden" }, text.rather), optionElement(one, one.preferred)];
    return make(
      "tr", { onclick: () => this.jump(one) },
      make("th", { scope: "row" }, make("button", { type: "button", class: "link", "data-jump": index }, where)),
      make("td", { class: "list-step" }, stepName(one.step)),
      make("td", { class: "list-choice" }, make("span", {}, ...choice)),
      make("td", { class: "num", "data-value": "ratio", "data-label": text.columns.ratio }, percent(one.ratio, 0)),
      this.priced ? make("td", { class: "num", "data-value": "price", "data-label": text.columns.price }, one.price ? number(one.price.points) : "") : null,
      make("td", { class: "list-grade" }, categoryBadge(one.category)),
    );
  }
}

/** @param {string} step @returns {string} */
function stepName(step) {
  return words().steps[/** @type {"win"} */ (step)] ?? harmless(step);
}

/** Moves the focus up and down the rows. @param {KeyboardEvent} event */
function step(event) {
  const direction = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const row = /** @type {HTMLElement} */ (event.target).closest("tr");
  if (!direction || !row || event.shiftKey) return;
  event.preventDefault();
  const next = direction > 0 ? row.nextElementSibling : row.previousElementSibling;
  /** @type {HTMLElement | null | undefined} */ (next?.querySelector("[data-jump]"))?.focus();
}
