/**
 * The page of many games: overall figures, and a table of the games that can be sorted and searched.
 * @module
 */

import { switches } from "./controls.js";
import { harmless, isolated, make } from "./dom.js";
import { categoryStrip, caveatText, figureTable, figures, ratesSection } from "./game.js";
import { restore, start } from "./settings.js";
import { order, sortHead } from "./sorting.js";
import { number, percent, words } from "./words.js";

/** @typedef {import("./review.js").Figures} Figures */
/** @typedef {Figures & {seat: number}} Seat */
/** @typedef {Seat & {page: string, data: string, game: import("./review.js").Game, seats?: Seat[]}} Entry `seats` are further ones */
/**
 * @typedef {{program: string, policy: {name: string, identity: string}, rating_definition: string,
 *   games: Entry[], skipped: {file: string, reason: string}[],
 *   ranks?: (Figures & {rank: number, games: number})[],
 *   total: Figures & {games: number, players?: number, rates: Record<string, number | null>, places: number[],
 *   average_place: number | null}}} Index
 */

/** @type {Record<string, (entry: Entry) => string | number>} what a column is sorted by */
const KEYS = {
  file: (entry) => entry.game.id || entry.page,
  date: (entry) => entry.game.date ?? "",
  seat: (entry) => harmless(entry.game.names[entry.seat]),
  place: (entry) => entry.game.places?.[entry.seat] ?? 9,
  score: (entry) => entry.game.scores?.[entry.seat] ?? 0,
  agreement: (entry) => entry.agreement ?? -1,
  rating: (entry) => entry.rating ?? -1,
  badMoves: (entry) => entry.bad_move_rate ?? -1,
};
const NUMBERS = ["place", "score", "agreement", "rating", "badMoves"];

class Overview {
  /** @param {HTMLElement} root @param {Index} index */
  constructor(root, index) {
    this.root = root;
    this.index = index;
    this.chosen = restore();
    this.sorted = "date";
    this.falling = false;
    this.asked = "";
    this.build();
  }

  build() {
    const { index: text } = words();
    const { total, rating_definition: definition } = this.index;
    document.title = words().indexTitle;
    this.place = make("div", { class: "scroll" });
    const search = make("input", { type: "search", class: "search", value: this.asked, placeholder: text.filter, "aria-label": text.filter, oninput: (/** @type {Event} */ event) => {
      this.asked = /** @type {HTMLInputElement} */ (event.target).value;
      this.table();
    } });
    this.root.replaceChildren(
      make(
        "header", { class: "top" },
        make("div", { class: "top-title" }, make("h1", {}, words().indexTitle), make("p", { class: "quiet" }, `${words().game.policy} `, isolated(this.index.policy.name))),
        switches(this.chosen, this.root, () => this.build()),
      ),
      make(
        "main", { class: "many" },
        make("section", { class: "box totals" }, different(total), standing(total), figures(total, definition), categoryStrip(total), ratesSection(total.rates)),
        byRank(this.index.ranks ?? []),
        make("section", { class: "box" }, search, this.place),
        skipped(this.index.skipped),
      ),
    );
    this.table();
  }

  /** @param {string} column */
  sortBy(column) {
    this.falling = this.sorted === column ? !this.falling : NUMBERS.includes(column) && column !== "place";
    this.sorted = column;
    this.table();
    /** @type {HTMLElement | null} */ (this.root.querySelector(`[data-sort="${column}"]`))?.focus();
  }

  /** Redraws the table after sorting or searching. */
  table() {
    const { index: text } = words();
    const key = KEYS[this.sorted];
    const asked = this.asked.trim().toLowerCase();
    const shown = this.index.games.filter((entry) => [entry.game.id, entry.page, ...entry.game.names].some((one) => harmless(one).toLowerCase().includes(asked)));
    shown.sort((one, other) => order(key(one), key(other)) * (this.falling ? -1 : 1));
    const head = make("tr", {}, ...Object.keys(KEYS).map((column) => this.head(column)));
    const body = make("tbody", {}, ...shown.map(row));
    const none = shown.length ? null : make("p", { class: "quiet nothing" }, text.none);
    this.place?.replaceChildren(make("table", { class: "figures games", "aria-label": words().indexTitle }, make("thead", {}, head), body), none ?? "");
  }

  /** @param {string} column */
  head(column) {
    const name = columnName(column);
    const head = { column, name, title: words().index.sort(name), numeric: NUMBERS.includes(column) };
    return sortHead(head, this, () => this.sortBy(column));
  }
}

/** @param {string} column @returns {string} */
function columnName(column) {
  const { index, game } = words();
  return index[/** @type {"file"} */ (column)] ?? game[/** @type {"rating"} */ (column)];
}

/** @param {Entry} entry @returns {HTMLElement} */
function row(entry) {
  const { game, seat } = entry;
  const cell = (/** @type {string} */ text, /** @type {string} */ name, column = name) => make("td", { class: "num", "data-value": name, "data-label": columnName(column) }, text);
  const others = entry.seats?.length
    ? entry.seats.map((one) => make("span", {}, link(entry, game.names[one.seat] || words().seatNumber(one.seat), one.seat), ` ${number(one.rating, 1)}`))
    : game.names.filter((name, player) => player !== seat && harmless(name)).map((name) => isolated(name));
  return make(
    "tr", {},
    make("th", { scope: "row" }, link(entry, game.id || entry.page), ...(game.caveats ?? []).map(caveatText).filter(Boolean).map((text) => make("small", { class: "caveat" }, text))),
    make("td", { class: "when" }, game.date ? isolated(game.date) : "–"),
    make("td", { class: "who" }, isolated(game.names[seat] || words().seatNumber(seat), "strong"), make("small", { class: "others" }, ...others.flatMap((one, index) => [index ? words().comma : "", one]))),
    cell(game.places ? words().place(game.places[seat]) : "–", "place"),
    cell(game.scores ? number(game.scores[seat]) : "–", "score"),
    cell(percent(entry.agreement), "agreement"), cell(number(entry.rating, 1), "rating"), cell(percent(entry.bad_move_rate), "bad_move_rate", "badMoves"),
  );
}

/** @param {Entry} entry @param {string} text @param {number} [seat] @returns {HTMLElement} a link to a file in the same folder only */
function link(entry, text, seat) {
  const name = isolated(text);
  if (!/^[\w.-]+\.html$/.test(entry.page)) return name;
  return make("a", { href: `./${entry.page}${seat === undefined ? "" : `#0.0.${seat}`}` }, name);
}

/** @param {Index["total"]} total @returns {HTMLElement | null} a note if the games are of several players */
function different({ players = 1 }) {
  return players > 1 ? make("p", { class: "caveats", role: "note" }, words().index.different(players)) : null;
}

/** @param {Index["total"]} total */
function standing(total) {
  const { index: text } = words();
  const places = total.places.map((count, place) => make("li", {}, make("span", { class: "quiet" }, words().place(place + 1)), make("strong", {}, number(count))));
  return make(
    "div", { class: "standing" },
    make("p", {}, make("span", { class: "quiet" }, text.games), make("strong", { "data-figure": "games" }, number(total.games))),
    total.average_place === null ? null : make("p", {}, make("span", { class: "quiet" }, text.average), make("strong", { "data-figure": "average_place" }, number(total.average_place, 2))),
    total.average_place === null ? null : make("ul", { "aria-label": text.places }, ...places),
  );
}

/** Figures by the rank of the reviewed player at the time. @param {NonNullable<Index["ranks"]>} ranks */
function byRank(ranks) {
  if (!ranks.length) return null;
  const { game: text, index } = words();
  const cell = (/** @type {string} */ value, /** @type {string} */ name) => make("td", { class: "num", "data-value": name }, value);
  const rows = ranks.map((one) =>
    make(
      "tr", { "data-rank": one.rank }, make("th", { scope: "row" }, words().rank(one.rank)),
      cell(number(one.games), "games"), cell(number(one.decisions), "decisions"), cell(percent(one.agreement), "agreement"),
      cell(number(one.rating, 1), "rating"), cell(percent(one.bad_move_rate), "bad_move_rate"),
    ),
  );
  const heads = [index.rank, index.games, text.decisions, text.agreement, text.rating, text.badMoves];
  return make("section", { class: "box ranks" }, make("h2", {}, index.ranks), figureTable(index.ranks, heads, rows, 1));
}

/** @param {{file: string, reason: string}[]} files */
function skipped(files) {
  if (!files.length) return null;
  const items = files.map((one) => make("li", {}, isolated(one.file, "strong"), " ", ...one.reason.split(" ").flatMap((word) => [harmless(word), " "])));
  return make("section", { class: "box" }, make("h2", {}, words().index.skipped), make("ul", { class: "skipped" }, ...items));
}

start("index", (root, index) => new Overview(root, index));
