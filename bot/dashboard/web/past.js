/**
 * The list of past games: results by day, and every game.
 * @module
 */

import { switches } from "/web/controls.js";
import { isolated, make } from "/web/dom.js";
import { card, figureTable, gainCell } from "/web/game.js";
import { gameLink, standing } from "/web/session.js";
import { restore } from "/web/settings.js";
import { texts } from "/web/texts.js";
import { number, words } from "/web/words.js";

/**
 * @typedef {import("/web/session.js").Standing} Standing
 * @typedef {{id: string, date: string, type: number, names: string[], player: number, is_person: boolean, rounds: number,
 *   place: number | null, score: number | null, result: number | null}} Entry
 * @typedef {{program: string, games: Entry[], days: (Standing & {day: string})[], total: Standing, yours: number,
 *   ladder: Standing["ladder"], unreadable: number, live: boolean}} Past
 */

const chosen = restore();
const root = /** @type {HTMLElement} */ (document.getElementById("app"));
const past = /** @type {Past} */ (JSON.parse(document.getElementById("past")?.textContent ?? "{}"));

function build() {
  const text = texts();
  document.title = `${words().title} – ${text.pastTitle}`;
  root.replaceChildren(
    make(
      "header", { class: "top" },
      make("div", { class: "top-title" }, make("h1", {}, text.pastTitle), make("p", { class: "quiet" }, isolated(past.program))),
      switches(chosen, root, build),
    ),
    past.live ? make("div", { class: "live-bar" }, make("nav", { class: "live-links" }, make("a", { href: "/" }, text.now))) : "",
    make("main", { class: "many" }, ...(past.games.length ? [totals(), table()] : [make("p", { class: "box nothing" }, text.pastNone)])),
  );
}

function totals() {
  const text = texts();
  const days = [...past.days].reverse().map((day) =>
    make(
      "tr", {}, make("th", { scope: "row" }, isolated(day.day)),
      ...day.places.map((count) => make("td", { class: "num" }, number(count))),
      make("td", { class: "num" }, number(day.average_place, 2)),
      gainCell(day.result, 1),
    ),
  );
  const heads = [text.day, ...[1, 2, 3, 4].map((place) => words().place(place)), text.average, text.result];
  return make(
    "section", { class: "box game session" },
    ...standing({ ...past.total, ladder: past.ladder }, card(text.games, number(past.games.length), past.yours ? text.yours(number(past.yours)) : "", "games")),
    days.length ? make("section", {}, make("h2", {}, text.days), figureTable(text.days, heads, days, 1)) : null,
    past.unreadable ? make("p", { class: "quiet" }, text.unreadable(past.unreadable)) : null,
  );
}

function table() {
  const text = texts();
  const rows = [...past.games].reverse().map((game) =>
    make(
      "tr", {}, make("th", { scope: "row" }, gameLink(game.id, game.date.replace(" JST", ""))),
      make("td", { class: "num" }, game.place ? words().place(game.place) : "–", game.is_person ? make("span", { class: "quiet" }, ` ${text.you}`) : null),
      make("td", { class: "num" }, number(game.score)),
      make("td", { class: "num" }, reviewLink(game)),
      gainCell(game.result, 1),
      make("td", { class: "num" }, number(game.rounds)),
      make("td", {}, make("small", { class: "others" }, ...others(game))),
    ),
  );
  const heads = [text.date, text.place, text.score, "", text.result, text.rounds, text.opponents];
  return make("section", { class: "box" }, make("h2", {}, text.games), figureTable(text.games, heads, rows, 1, heads.length - 1));
}

/** @param {Entry} game @returns {HTMLElement} a link that makes the review, which takes a while */
function reviewLink(game) {
  const text = texts();
  const wait = (/** @type {Event} */ event) => /** @type {HTMLElement} */ (event.currentTarget).replaceChildren(text.reviewing);
  return make("a", { class: "plain", href: `/games/${encodeURIComponent(game.id)}/review`, onclick: wait }, text.review);
}

/** @param {Entry} game */
function others(game) {
  const names = game.names.filter((_, player) => player !== game.player);
  return names.flatMap((name, index) => [index ? words().comma : "", isolated(name)]);
}

build();
// a page that is returned to is as it was left, with a review in the making
addEventListener("pageshow", (event) => event.persisted && build());
