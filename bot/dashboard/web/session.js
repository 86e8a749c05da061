/**
 * The state of the session: games, places, latencies.
 * @module
 */

import { isolated, make } from "/web/dom.js";
import { card } from "/web/game.js";
import { ladderFigure } from "/web/ladder.js";
import { texts } from "/web/texts.js";
import { number, percent, signed, words } from "/web/words.js";

/**
 * @typedef {{id: string, player: number, placement: number, scores: number[], result: number}} Played
 * @typedef {{playouts: number, of: number, worth: "points" | "global", gain: number, gain_error: number, used: boolean}} Adaptation
 * @typedef {{policy: string, budget_ms: number, wanted: number, line: string, games: Played[],
 *   played: number, missed: number, places: number[], average_place: number | null, result: number,
 *   stable_rank: number | null, rank: {rank: number, rate: number} | null,
 *   ladder: import("/web/ladder.js").Ladder | null, decisions: {count: number, p50_ms: number, p99_ms: number, fallbacks: number,
 *   late: number}, seconds: number, games_per_hour: number | null, adaptation: Adaptation | null}} Session
 */

/** @param {Session} session @returns {HTMLElement} */
export function sessionPanel(session) {
  const text = texts();
  return make(
    "article", { class: "game session" },
    session.adaptation ? adaptation(session.adaptation) : null,
    make(
      "dl", { class: "cards" },
      card(text.games, number(session.played), session.wanted ? text.of(session.wanted) : "", "played"),
      card(text.average, number(session.average_place, 2), "", "average_place"),
      card(text.result, signed(session.played ? session.result : null, 1), text.resultHint, "result"),
      card(text.stable, rank(session.stable_rank), text.stableHint, "stable_rank"),
    ),
    session.played ? placesStrip(session.places) : null,
    ladderFigure(session.ladder),
    make(
      "dl", { class: "pairs" },
      ...(session.rank ? pair(text.rank, `${words().rank(session.rank.rank)} R${session.rank.rate.toFixed(0)}`, "rank") : []),
      ...pair(text.decisions, number(session.decisions.count), "count"),
      ...(session.decisions.count ? pair(text.p50, text.ms(number(session.decisions.p50_ms, 1)), "p50_ms") : []),
      ...(session.decisions.count ? pair(text.p99, text.ms(number(session.decisions.p99_ms, 1)), "p99_ms") : []),
      ...pair(text.budget, text.ms(number(session.budget_ms)), "budget_ms"),
      ...pair(text.fallbacks, number(session.decisions.fallbacks), "fallbacks"),
      ...pair(text.late, number(session.decisions.late), "late"),
      ...(session.games_per_hour === null ? [] : pair(text.speed, number(session.games_per_hour, 1), "games_per_hour")),
      ...(session.missed ? pair(text.missed, number(session.missed), "missed") : []),
    ),
    games(session),
  );
}

/** @param {number | null} value @returns {string} a rank, which may be below 0 */
export function rank(value) {
  return value !== null && value < 0 ? signed(value, 1) : number(value, 1);
}

/** @param {string} name @param {string} value @param {string} key */
export function pair(name, value, key) {
  return [make("dt", {}, name), make("dd", { "data-figure": key }, value)];
}

/** The counts of the places, as one strip. @param {number[]} places */
export function placesStrip(places) {
  const all = places.reduce((sum, count) => sum + count, 0);
  const parts = places.map((count, index) => make("span", { class: `strip-part place-${index + 1}`, vars: { grow: count } }));
  const labels = places.map((count, index) =>
    make("li", { class: `strip-label place-label-${index + 1}` }, `${words().place(index + 1)} `, make("strong", {}, number(count)), make("small", {}, ` ${percent(all ? count / all : null, 0)}`)),
  );
  return make("div", { class: "strip places", role: "group", "aria-label": texts().places }, make("div", { class: "strip-bar", "aria-hidden": "true" }, ...parts), make("ul", {}, ...labels));
}

/** @param {Session} session */
function games(session) {
  const text = texts();
  if (!session.games.length) return make("p", { class: "quiet" }, text.none);
  const rows = [...session.games].reverse().map((game) =>
    make(
      "tr", {},
      make("th", { scope: "row" }, gameLink(game.id)),
      make("td", { class: "num" }, words().place(game.placement)),
      make("td", { class: "num" }, number(game.scores[game.player])),
      make("td", { class: game.result > 0 ? "num gain" : game.result < 0 ? "num pain" : "num" }, signed(game.result, 1)),
    ),
  );
  const heads = [text.game, text.place, text.score, text.result].map((head, index) => make("th", { scope: "col", class: index ? "num" : "" }, head));
  return make("section", {}, make("h2", {}, text.games), make("div", { class: "scroll" }, make("table", { class: "figures" }, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows))));
}

/** @param {string} id @returns {HTMLElement} a game's short name, which links to the game */
export function gameLink(id) {
  const name = isolated(id.slice(-8));
  if (!/^[0-9a-z-]+$/.test(id)) return name;
  return make("a", { href: `/games/${id}`, title: id }, name);
}

/** @param {Adaptation} at */
function adaptation(at) {
  const text = texts().adaptation;
  return make(
    "section", { class: "adaptation" }, make("h2", {}, text.title),
    make("progress", { "aria-label": text.title, max: at.of, value: `${at.playouts}` }),
    make("p", { class: "quiet" }, text.playouts(number(at.playouts), number(at.of))),
    at.playouts ? make("p", {}, found(at)) : null,
  );
}

/** @param {Adaptation} at @returns {string} what the play-outs have led to */
function found(at) {
  const text = texts().adaptation;
  const digits = at.worth === "global" ? 1 : 0;
  const worth = `${signed(at.gain, digits)} ± ${number(at.gain_error, digits)} ${text.unit[at.worth]}`;
  if (at.used) return text.used(worth);
  return at.gain_error ? text.givenUp(worth) : text.nothing;
}
