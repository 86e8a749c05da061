/**
 * A run of self-play learning: its progress, its curves, and its evaluations against the start.
 * @module
 */

import { chart } from "/web/chart.js";
import { make } from "/web/dom.js";
import { card } from "/web/game.js";
import { duration } from "/web/session.js";
import { texts } from "/web/texts.js";
import { number, percent, signed } from "/web/words.js";

/**
 * @typedef {{at: number, points: number, placement: number | null, games: number | null, best: boolean}} Evaluation
 * @typedef {{length: "hanchan" | "tonpuu", games: number, of: number, blocks: number, of_blocks: number,
 *   phase: "learning" | "evaluating", seconds: number, games_per_s: number | null, games_per_s_overall: number | null,
 *   left_s: number | null, waited_s: number | null, staleness: number | null, blocks_per_point: number, at: number[],
 *   curves: Record<string, (number | null)[]>, evaluations: Evaluation[]}} Learning
 * @typedef {{id: keyof ReturnType<typeof texts>["learning"]["charts"], curves: string[], digits: number, percent?: boolean, base?: number, optional?: boolean}} Drawn
 */

/** @type {Drawn[]} the charts of the blocks; the first curve of each is emphasized, `optional` ones are left out while 0 */
const CHARTS = [
  { id: "gain", curves: ["policy/gain"], digits: 2, base: 0, optional: true },
  { id: "reward", curves: ["policy/reward_deviation"], digits: 3 },
  { id: "explained", curves: ["policy/explained"], digits: 3, percent: true, base: 0 },
  { id: "entropy", curves: ["policy/entropy", "policy/entropy_target"], digits: 3 },
  { id: "alpha", curves: ["policy/alpha"], digits: 4, base: 0 },
  { id: "gamma", curves: ["policy/gamma"], digits: 2, percent: true, base: 0, optional: true },
  { id: "divergence", curves: ["policy/divergence"], digits: 4, base: 0 },
  { id: "ratios", curves: ["policy/ratio_0.5", "policy/ratio_0.01", "policy/ratio_0.99"], digits: 2, base: 1 },
  { id: "rejected", curves: ["policy/rejected"], digits: 4, percent: true, base: 0 },
  { id: "ends", curves: ["play/wins", "play/deal_ins"], digits: 3, percent: true },
  { id: "ways", curves: ["play/riichi", "play/calls"], digits: 3, percent: true },
  { id: "speed", curves: ["speed/games_per_s"], digits: 2, base: 0 },
  { id: "waited", curves: ["speed/waited_s"], digits: 1, base: 0 },
];

/** @param {Learning} all @param {boolean} over whether the program has stopped @returns {HTMLElement[]} the boxes of the page */
export function learningBoxes(all, over) {
  return [progress(all, over), evaluations(all), curves(all)];
}

/** @param {Learning} all @param {boolean} over */
function progress(all, over) {
  const { learning: text, series, games } = texts();
  const share = all.of ? all.games / all.of : 0;
  const whole = all.games >= all.of && all.phase === "learning";
  const phase = whole ? "done" : over ? "stopped" : all.phase;
  return make(
    "section", { class: "box game session" },
    make(
      "dl", { class: "cards" },
      card(games, number(all.games), series.of(number(all.of), percent(share, 0), series.lengths[all.length]), "games"),
      card(text.blocks, number(all.blocks), text.of(number(all.of_blocks)), "blocks"),
      card(series.speed, number(all.games_per_s, 2), all.games_per_s_overall === null ? "" : text.speedHint(number(all.games_per_s_overall, 2)), "games_per_s"),
      card(series.left, all.games < all.of ? duration(all.left_s) : "–", series.running(duration(all.seconds)), "left_s"),
      card(text.staleness, number(all.staleness), text.stalenessHint, "staleness"),
      card(text.waited, all.waited_s === null ? "–" : text.seconds(number(all.waited_s, 1)), text.waitedHint, "waited_s"),
    ),
    make("progress", { "aria-label": games, max: all.of, value: `${all.games}` }),
    make("p", { class: "quiet", "data-figure": "phase" }, text.phase[phase]),
  );
}

/** @param {Learning} all */
function evaluations(all) {
  const { learning: text } = texts();
  const box = (/** @type {HTMLElement[]} */ ...parts) => make("section", { class: "box learning-box" }, make("h2", {}, text.evaluations), ...parts);
  if (!all.evaluations.length) return box(make("p", { class: "quiet" }, text.noEvaluation));
  const at = all.evaluations.map((each) => each.at);
  const common = { hint: "", at, dots: true, best: { index: all.evaluations.findIndex((each) => each.best), name: text.best } };
  const charts = make(
    "div", { class: "charts" },
    chart({ ...common, title: text.points, digits: 2, base: 0, lines: [{ key: "arena/points", name: text.newest, values: all.evaluations.map((each) => each.points) }] }),
    chart({ ...common, title: text.placement, digits: 3, base: 2.5, turned: true, lines: [{ key: "arena/placement", name: text.newest, values: all.evaluations.map((each) => each.placement) }] }),
  );
  return box(make("p", { class: "quiet" }, text.evaluationsHint), make("div", { class: "evaluations" }, charts, evaluationTable(all.evaluations)));
}

/** @param {Evaluation[]} all */
function evaluationTable(all) {
  const { learning: text } = texts();
  const heads = [text.after, text.points, text.placement, text.over].map((head, index) => make("th", { scope: "col", class: index ? "num" : "" }, head));
  const rows = [...all].reverse().map((each) =>
    make(
      "tr", { class: each.best ? "preferred" : "" },
      make("th", { scope: "row" }, number(each.at), each.best ? make("span", { class: "tag" }, text.best) : null),
      make("td", { class: each.points > 0 ? "num gain" : each.points < 0 ? "num pain" : "num" }, signed(each.points, 2)),
      make("td", { class: "num" }, number(each.placement, 3)),
      make("td", { class: "num" }, number(each.games)),
    ),
  );
  return make("div", { class: "scroll" }, make("table", { class: "figures" }, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows)));
}

/** @param {Learning} all */
function curves(all) {
  const { learning: text } = texts();
  const known = CHARTS.filter((each) => all.at.length && each.curves[0] in all.curves && !(each.optional && all.curves[each.curves[0]].every((value) => !value)));
  const drawn = known.map(({ id, curves: names, optional: _, ...how }) => {
    const lines = names.filter((name) => name in all.curves).map((key) => ({ key, name: text.lines[/** @type {"policy/entropy"} */ (key)], values: all.curves[key] }));
    return chart({ ...how, title: text.charts[id][0], hint: text.charts[id][1], at: all.at, lines });
  });
  const hint = all.blocks_per_point > 1 ? text.means(number(all.blocks_per_point)) : text.single;
  return make("section", { class: "box learning-box" }, make("h2", {}, text.curves), make("p", { class: "quiet" }, drawn.length ? hint : text.noCurves), make("div", { class: "charts" }, ...drawn));
}
