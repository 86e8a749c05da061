/**
 * The list of past games: results by day, and every game.
 * @module
 */

import { switches } from "/web/controls.js";
import { isolated, make } from "/web/dom.js";
import { card } from "/web/game.js";
import { ladderFigure } from "/web/ladder.js";
import { gameLink, placesStrip, rank } from "/web/session.js";
import { choose, restore } from "/web/settings.js";
import { texts } from "/web/texts.js";
import { number, signed, words } from "/web/words.js";

/**
 * @typedef {{places: number[], average_place: number | null, result: number, stable_rank: number | null}} Standing
 * @typedef {{id: string, date: string, type: number, names: string[], player: number, rounds: number,
 *   place: number | null, score: number | null, result: number | null}} Entry
 * @typedef {{program: string, games: Entry[], days: (Standing & {day: string})[], total: Standing,
 *   ladder: import("/web/ladder.js").Ladder | null, unreadable: number, live: boolean}} Past
 */

const chosen = restore();
const root = /** @type {HTMLElement} */ (document.getElementById("app"));
const past = /** @type {Past} */ (JSON.parse(document.getElementById("past")?.textContent ?? "{}"));

/** @param {"theme" | "language"} name @param {string} value */
function change(name, value) {
  chosen[name] = value === "system" ? "" : value;
  choose(name, chosen[name]);
  if (name === "language") build();
  /** @type {HTMLElement | null} */ (root.querySelector(`[data-switch="${name}"]`))?.focus();
}

function build() {
  const text = texts();
  document.title = `${words().title} – ${text.pastTitle}`;
  root.replaceChildren(
    make(
      "header", { class: "top" },
      make("div", { class: "top-title" }, make("h1", {}, text.pastTitle), make("p", { class: "quiet" }, isolated(past.program))),
      switches(chosen, change, null),
    ),
    past.live ? make("div", { class: "live-bar" }, make("nav", { class: "live-links" }, make("a", { href: "/" }, text.now))) : "",
    make("main", { class: "many" }, ...(past.games.length ? [totals(), table()] : [make("p", { class: "box nothing" }, text.pastNone)])),
  );
}

function totals() {
  const text = texts();
  const { total } = past;
  const played = total.places.reduce((sum, count) => sum + count, 0);
  const days = [...past.days].reverse().map((day) =>
    make(
      "tr", {}, make("th", { scope: "row" }, isolated(day.day)),
      ...day.places.map((count) => make("td", { class: "num" }, number(count))),
      make("td", { class: "num" }, number(day.average_place, 2)),
      make("td", { class: day.result > 0 ? "num gain" : day.result < 0 ? "num pain" : "num" }, signed(day.result, 1)),
    ),
  );
  const figures = [...[1, 2, 3, 4].map((place) => words().place(place)), text.average, text.result];
  const heads = /** @type {[string, boolean][]} */ ([[text.day, false], ...figures.map((head) => [head, true])]);
  return make(
    "section", { class: "box game session" },
    make(
      "dl", { class: "cards" }, card(text.games, number(past.games.length), "", "games"),
      card(text.average, number(total.average_place, 2), "", "average_place"),
      card(text.result, signed(played ? total.result : null, 1), text.resultHint, "result"),
      card(text.stable, rank(total.stable_rank), text.stableHint, "stable_rank"),
    ),
    played ? placesStrip(total.places) : null,
    ladderFigure(past.ladder),
    days.length ? make("section", {}, make("h2", {}, text.days), grid(heads, days)) : null,
    past.unreadable ? make("p", { class: "quiet" }, text.unreadable(past.unreadable)) : null,
  );
}

function table() {
  const text = texts();
  const rows = [...past.games].reverse().map((game) =>
    make(
      "tr", {}, make("th", { scope: "row" }, gameLink(game.id)),
      make("td", {}, game.date || "–"),
      make("td", { class: "num" }, game.place ? words().place(game.place) : "–"),
      make("td", { class: "num" }, number(game.score)),
      make("td", { class: (game.result ?? 0) > 0 ? "num gain" : (game.result ?? 0) < 0 ? "num pain" : "num" }, signed(game.result, 1)),
      make("td", { class: "num" }, number(game.rounds)),
      make("td", {}, make("small", { class: "others" }, ...others(game))),
    ),
  );
  const figures = [text.place, text.score, text.result, text.rounds];
  const heads = /** @type {[string, boolean][]} */ ([[text.game, false], [text.date, false], ...figures.map((head) => [head, true]), [text.opponents, false]]);
  return make("section", { class: "box" }, make("h2", {}, text.games), grid(heads, rows));
}

/** @param {Entry} game */
function others(game) {
  const names = game.names.filter((_, player) => player !== game.player);
  return names.flatMap((name, index) => [index ? words().comma : "", isolated(name)]);
}

/** @param {[string, boolean][]} heads each with whether its column has numbers @param {HTMLElement[]} rows */
function grid(heads, rows) {
  const cells = heads.map(([head, counts]) => make("th", { scope: "col", class: counts ? "num" : "" }, head));
  return make("div", { class: "scroll" }, make("table", { class: "figures" }, make("thead", {}, make("tr", {}, ...cells)), make("tbody", {}, ...rows)));
}

build();
