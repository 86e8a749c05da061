/**
 * The page of many games: overall figures, and a table of the games that can be sorted and searched.
 * @module
 */

import { switches } from "./controls.js";
import { curve } from "./curve.js";
import { harmless, isolated, make } from "./dom.js";
import { categoryStrip, caveatText, figureTable, figures, ratesSection } from "./game.js";
import { Practice } from "./practice.js";
import { SIGNS, toHash } from "./review.js";
import { restore, start } from "./settings.js";
import { order, sortHead } from "./sorting.js";
import { number, percent, words } from "./words.js";

/** @typedef {import("./review.js").Figures} Figures */
/**
 * @typedef {Figures & {seat: number}} Seat
 * @typedef {{round: number, event: number, turn: number, round_index: number, honba: number, category: string,
 *   kind: string, price: number | null}} Mistake
 * @typedef {Seat & {page: string, data: string, game: import("./review.js").Game, seats?: Seat[],
 *   errors?: Mistake[]}} Entry `seats` are further ones
 */
/**
 * @typedef {{program: string, policy: {name: string, identity: string}, rating_definition: string,
 *   games: Entry[], skipped: {file: string, reason: string}[],
 *   ranks?: (Figures & {rank: number, games: number})[],
 *   total: Figures & {games: number, players?: number, rates: Record<string, number | null>, places: number[],
 *   average_place: number | null}, thresholds: Record<string, number>,
 *   exercises?: import("./practice.js").Exercise[]}} Index
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
  price: (entry) => entry.price ?? -1,
};
const NUMBERS = ["place", "score", "agreement", "rating", "badMoves", "price"];
/** Games of which the course shows the mean. */
const LATEST = 10;
/** Links to errors of a kind that are shown at once. */
const LINKS = 5;

class Overview {
  /** @param {HTMLElement} root @param {Index} index */
  constructor(root, index) {
    this.root = root;
    this.index = index;
    this.chosen = restore();
    this.sorted = "date";
    this.falling = false;
    this.asked = "";
    this.monthly = false;
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
        make("section", { class: "box totals" }, different(total), standing(total), figures(total, definition, total.price ?? null), categoryStrip(total), ratesSection(total.rates)),
        ...(total.players === 1 ? [this.course(), this.losses()] : [byRank(this.index.ranks ?? [])]),
        make("section", { class: "box" }, search, this.place),
        skipped(this.index.skipped),
      ),
    );
    this.table();
  }

  /** One player's rating, price and place, by game or by month. @returns {HTMLElement | null} */
  course() {
    const { index: text, game } = words();
    const { games } = this.index;
    const months = [...new Set(games.map(monthOf).filter(Boolean))];
    if (games.length < 2) return null;
    const parts = this.monthly ? months.map((month) => games.filter((entry) => monthOf(entry) === month)) : games.map((_, end) => games.slice(Math.max(0, end + 1 - LATEST), end + 1));
    const plan = {
      labels: this.monthly ? months : games.map((_, place) => String(place + 1)), seat: 0, dotted: true,
      names: this.monthly ? [] : [text.mean(LATEST), text.each].map((name) => document.createTextNode(name)),
    };
    const plot = (/** @type {string} */ title, /** @type {number} */ digits, /** @type {(entry: Entry) => number | null | undefined} */ value, /** @type {(known: number[]) => number[]} */ ticksOf) => {
      const values = games.map((entry) => value(entry) ?? null);
      const known = values.filter((one) => one !== null);
      const ticks = ticksOf(known);
      const series = [parts.map((part) => mean(part.map(value))), values].slice(0, this.monthly ? 1 : 2);
      return known.length ? curve({ ...plan, title, series, low: ticks[0], high: ticks[ticks.length - 1], ticks, digits }) : null;
    };
    const by = (/** @type {boolean} */ monthly) => make("button", { type: "button", "data-monthly": String(monthly), "aria-pressed": String(this.monthly === monthly), onclick: () => { this.monthly = monthly; this.build(); } }, monthly ? text.monthly : text.each);
    return make(
      "section", { class: "box" }, make("h2", {}, text.course), months.length > 1 ? make("div", { class: "candidates-choice" }, make("div", { role: "group", "aria-label": text.course }, by(false), by(true))) : null,
      make(
        "div", { class: "course" }, plot(game.rating, 1, (entry) => entry.rating, (known) => [10 * Math.ceil(Math.min(...known) / 10) - 10, 10 * Math.ceil(Math.max(...known) / 10)]),
        plot(game.price, 0, (entry) => entry.price, (known) => [...new Set([500 * Math.ceil(Math.max(1, ...known) / 500), 0, 500 * Math.floor(Math.min(0, ...known) / 500)])]),
        plot(text.place, 2, (entry) => entry.game.places?.[entry.seat], () => [4, 3, 2, 1]),
      ),
    );
  }

  /** Where most is lost, by kind of error, and the way to practise. @returns {HTMLElement | null} */
  losses() {
    const { index: text, game, list, practice } = words();
    const { games, exercises = [], thresholds } = this.index;
    const all = games.flatMap((entry) => (entry.errors ?? []).map((one) => ({ ...one, entry })));
    if (!all.length) return null;
    const priced = all.some((one) => one.price !== null);
    const cost = (/** @type {typeof all} */ errors) => errors.reduce((sum, one) => sum + (priced ? one.price ?? 0 : 1), 0);
    const kinds = Object.entries(text.kinds).map(([kind, name]) => ({ kind, name, errors: all.filter((one) => one.kind === kind) })).filter(({ errors }) => errors.length);
    const rows = kinds.sort((one, other) => cost(other.errors) - cost(one.errors)).flatMap(({ kind, name, errors }) => {
      const links = errors.sort((one, other) => (other.price ?? 0) - (one.price ?? 0)).flatMap((one) => [mistake(one), " "]);
      const rest = links.slice(2 * LINKS);
      const share = make("span", { class: "meter", vars: { share: Math.max(0, cost(errors)) / Math.max(1, cost(all)) } });
      return [
        make("tr", { "data-kind": kind }, make("th", { scope: "row" }, name), make("td", { class: "num" }, number(errors.length)), make("td", { class: "wide" }, share, make("span", { class: "meter-label" }, priced ? number(cost(errors)) : ""))),
        make("tr", {}, make("td", { colspan: 3 }, ...links.slice(0, 2 * LINKS), rest.length ? make("details", {}, make("summary", {}, game.worstMore(rest.length / 2)), ...rest) : null)),
      ];
    });
    const begin = () => new Practice(this.root, exercises, thresholds.inaccuracy, () => this.build());
    return make(
      "section", { class: "box losses" }, make("h2", {}, text.losses), figureTable(text.losses, [list.step, text.errors, priced ? game.price : ""], rows, 1, 2),
      make("button", { type: "button", class: "more", "data-command": "practise", onclick: begin }, `${practice.title} (${exercises.length})`),
    );
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

/** @param {Entry} entry @returns {string} "" if the date is unknown */
function monthOf(entry) {
  return entry.game.date?.slice(0, 7) ?? "";
}

/** @param {(number | null | undefined)[]} values @returns {number | null} the mean of those that are known */
function mean(values) {
  const known = values.filter((one) => typeof one === "number");
  return known.length ? known.reduce((sum, one) => sum + one, 0) / known.length : null;
}

/** @param {Mistake & {entry: Entry}} one @returns {HTMLElement} a link to a decision */
function mistake({ entry, round, event, turn, round_index, honba, category, price }) {
  const title = [entry.game.date ?? entry.game.id, price === null ? "" : words().points(number(price))].filter(Boolean).map(harmless).join(" · ");
  const name = `${SIGNS[/** @type {"fine"} */ (category)]} ${words().roundShort(round_index, honba)} ${words().game.turn(turn)}`;
  return link(entry.page, name, { title, class: "num" }, toHash({ round, event, seat: entry.seat }));
}

/** @param {Entry} entry @returns {HTMLElement} */
function row(entry) {
  const { game, seat } = entry;
  const cell = (/** @type {string} */ text, /** @type {string} */ name, column = name) => make("td", { class: "num", "data-value": name, "data-label": columnName(column) }, text);
  const others = entry.seats?.length
    ? entry.seats.map((one) => make("span", {}, link(entry.page, isolated(game.names[one.seat] || words().seatNumber(one.seat)), {}, `#seat.${one.seat}`), ` ${number(one.rating, 1)}`))
    : game.names.filter((name, player) => player !== seat && harmless(name)).map((name) => isolated(name));
  return make(
    "tr", {},
    make("th", { scope: "row" }, link(entry.page, isolated(game.id || entry.page)), ...(game.caveats ?? []).map(caveatText).filter(Boolean).map((text) => make("small", { class: "caveat" }, text))),
    make("td", { class: "when" }, game.date ? isolated(game.date) : "–"),
    make("td", { class: "who" }, isolated(game.names[seat] || words().seatNumber(seat), "strong"), make("small", { class: "others" }, ...others.flatMap((one, index) => [index ? words().comma : "", one]))),
    cell(game.places ? words().place(game.places[seat]) : "–", "place"),
    cell(game.scores ? number(game.scores[seat]) : "–", "score"),
    cell(percent(entry.agreement), "agreement"), cell(number(entry.rating, 1), "rating"), cell(percent(entry.bad_move_rate), "bad_move_rate", "badMoves"), cell(number(entry.price), "price"),
  );
}

/** @param {string} page @param {Node | string} name @returns {HTMLElement} a link to a file in the same folder only */
function link(page, name, look = {}, hash = "") {
  const here = /^[\w.-]+\.html$/.test(page);
  return make(here ? "a" : "span", { ...look, href: here && `./${page}${hash}` }, name);
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
