/**
 * The state of the session: games, places, latencies.
 * @module
 */

import { isolated, make, pair } from "/web/dom.js";
import { card, figureTable, gainCell } from "/web/game.js";
import { texts } from "/web/texts.js";
import { number, percent, signed, words } from "/web/words.js";

/** @typedef {{games: number, dan: number, low: number, high: number, shares: number[]}} Ladder */
/**
 * @typedef {{places: number[], average_place: number | null, result: number, stable_rank: number | null,
 *   ladder: Ladder | null}} Standing
 * @typedef {{id: string, player: number, placement: number, scores: number[], result: number}} Played
 * @typedef {{playouts: number, of: number, worth: "points" | "global" | "uma", gain: number, gain_error: number, used: boolean}} Adaptation
 * @typedef {Standing & {policy: string, budget_ms: number, wanted: number, line: string, games: Played[],
 *   played: number, missed: number, rank: {rank: number, rate: number} | null, decisions: {count: number, p50_ms: number, p99_ms: number, fallbacks: number,
 *   late: number}, seconds: number, games_per_hour: number | null, adaptation: Adaptation | null}} Session
 */

/** @param {Session} session @returns {HTMLElement} */
export function sessionPanel(session) {
  const text = texts();
  return make(
    "article", { class: "game session" },
    session.adaptation ? adaptation(session.adaptation) : null,
    ...standing(session, card(text.games, number(session.played), session.wanted ? text.of(session.wanted) : "", "played")),
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

/** @param {Standing} all @param {HTMLElement} games the card of their number @returns {(HTMLElement | null)[]} what they led to */
export function standing(all, games) {
  const text = texts();
  const played = all.places.reduce((sum, count) => sum + count, 0);
  const rank = all.stable_rank !== null && all.stable_rank < 0 ? signed(all.stable_rank, 1) : number(all.stable_rank, 1);
  return [
    make(
      "dl", { class: "cards" }, games,
      card(text.average, number(all.average_place, 2), "", "average_place"),
      card(text.result, signed(played ? all.result : null, 1), text.resultHint, "result"),
      card(text.stable, rank, text.stableHint, "stable_rank"),
    ),
    played ? placesStrip(all.places, played) : null,
    ladderFigure(all.ladder),
  ];
}

/** The counts of the places, as one strip. @param {number[]} places @param {number} all */
function placesStrip(places, all) {
  const parts = places.map((count, index) => make("span", { class: `strip-part place-${index + 1}`, vars: { grow: count } }));
  const labels = places.map((count, index) =>
    make("li", { class: `strip-label place-label-${index + 1}` }, `${words().place(index + 1)} `, make("strong", {}, number(count)), make("small", {}, ` ${percent(count / all, 0)}`)),
  );
  return make("div", { class: "strip places", role: "group", "aria-label": texts().places }, make("div", { class: "strip-bar", "aria-hidden": "true" }, ...parts), make("ul", {}, ...labels));
}

/** The expected position on Tenhou's rank ladder. @param {Ladder | null} ladder @returns {HTMLElement | null} a column for each dan, with its probability as height */
function ladderFigure(ladder) {
  if (!ladder) return null;
  const { ladder: text } = texts();
  const most = Math.max(...ladder.shares);
  const columns = ladder.shares.map((share, index) => {
    const name = text.dan(index + 1);
    const inside = index + 1 >= ladder.low && index + 1 <= ladder.high;
    return make(
      "span", { class: inside ? "ladder-dan ladder-half" : "ladder-dan", title: `${name}: ${percent(share, 1)}`, "data-share": share, vars: { share: share / most } },
      make("span", { class: "ladder-bar" }), make("span", {}, text.short(index + 1)),
    );
  });
  const summary = ladder.shares.map((share, index) => `${text.dan(index + 1)} ${percent(share, 1)}`).join(words().comma);
  return make(
    "figure", { class: "ladder" },
    make("figcaption", {}, make("h3", {}, text.title), make("p", {}, text.expected, " ", make("strong", { "data-figure": "dan" }, number(ladder.dan, 1)), make("small", {}, ` ${text.half(text.short(ladder.low), text.short(ladder.high))}`))),
    make("div", { class: "ladder-dans", role: "img", "aria-label": `${text.title}: ${summary}` }, ...columns),
    make("p", { class: "quiet" }, text.hint(number(ladder.games))),
  );
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
      gainCell(game.result, 1),
    ),
  );
  const heads = [text.game, text.place, text.score, text.result];
  return make("section", {}, make("h2", {}, text.games), figureTable(text.games, heads, rows, 1));
}

/** @param {string} id @param {string} [date] @returns {HTMLElement} a game's date or short name, which links to the game */
export function gameLink(id, date) {
  const name = isolated(date || id.slice(-8));
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
  const digits = at.worth === "points" ? 0 : 1;
  const worth = `${signed(at.gain, digits)} ± ${number(at.gain_error, digits)} ${text.unit[at.worth]}`;
  if (at.used) return text.used(worth);
  return at.gain_error ? text.givenUp(worth) : text.nothing;
}
