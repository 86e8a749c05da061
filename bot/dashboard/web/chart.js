/**
 * A small line chart over games, as inline SVG.
 * @module
 */

import { draw, make } from "/web/dom.js";
import { number, percent, words } from "/web/words.js";

const WIDTH = 360;
const HEIGHT = 170;
const LEFT = 44;
const RIGHT = 12;
const TOP = 10;
const BOTTOM = 24;
const TICKS = 4;
const DASHES = ["", "7 4", "2 4"];

/**
 * @typedef {{key: string, name: string, values: (number | null)[]}} ChartLine
 * @typedef {{title: string, hint: string, at: number[], lines: ChartLine[], digits: number, percent?: boolean,
 *   base?: number, turned?: boolean, dots?: boolean, best?: {index: number, name: string}}} ChartPlan
 */

/**
 * The first line is emphasized.
 * @param {ChartPlan} plan `at`: games; `base`: a value that is always in view, with a line of its own; `turned`: small
 *   values above large ones; `dots`: mark the points; `best`: the point of the first line to mark
 * @returns {HTMLElement}
 */
export function chart(plan) {
  const shown = plan.lines.flatMap((line) => line.values.filter((value) => value !== null));
  const up = ticksOf([...shown, ...(plan.base === undefined ? [] : [plan.base])], 0.001);
  const across = ticksOf([0, ...plan.at], 1);
  const right = Math.max(plan.at.at(-1) ?? 0, 1);
  const [low, high] = [up.ticks[0], up.ticks.at(-1) ?? 1];
  const x = (/** @type {number} */ games) => LEFT + ((WIDTH - LEFT - RIGHT) * games) / right;
  const share = (/** @type {number} */ value) => (plan.turned ? value - low : high - value) / (high - low);
  const y = (/** @type {number} */ value) => TOP + (HEIGHT - TOP - BOTTOM) * share(value);
  const grid = up.ticks.flatMap((tick) => [
    draw("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(tick), y2: y(tick), class: tick === plan.base ? "grid grid-base" : "grid" }),
    draw("text", { x: LEFT - 6, y: y(tick) + 3.5, class: "tick tick-y" }, shownAs(plan, tick, up.digits)),
  ]);
  const games = across.ticks.filter((tick) => tick <= right).map((tick) => draw("text", { x: x(tick), y: HEIGHT - 7, class: "tick tick-x" }, compact(tick)));
  const lines = [...plan.lines].reverse().map((line) => lineOf(plan, line, x, y));
  const last = plan.lines.map((line) => `${line.name} ${told(plan, newest(line.values))}`).join(words().comma);
  const picture = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${plan.title}: ${last}` }, ...grid, ...games, ...lines, ...hovers(plan, x));
  return make("figure", { class: "curve chart", "data-chart": plan.lines[0].key }, make("figcaption", {}, make("strong", {}, plan.title), ` ${plan.hint}`), picture, legend(plan));
}

/** @param {ChartPlan} plan @param {ChartLine} line @param {(games: number) => number} x @param {(value: number) => number} y */
function lineOf(plan, line, x, y) {
  const points = plan.at.flatMap((at, index) => {
    const value = line.values[index];
    return value === null || value === undefined ? [] : [{ x: x(at).toFixed(1), y: y(value).toFixed(1), best: index === plan.best?.index }];
  });
  const index = plan.lines.indexOf(line);
  const dots = plan.dots || points.length === 1 ? points.map((point) => draw("circle", { cx: point.x, cy: point.y, r: point.best ? 5.5 : 2.8, class: point.best ? "dot-best" : "" })) : [];
  return draw(
    "g", { class: index ? "line" : "line line-own", "data-series": line.values.map((value) => value ?? "").join(" ") },
    draw("polyline", { points: points.map((point) => `${point.x},${point.y}`).join(" "), "stroke-dasharray": DASHES[index] }), ...dots,
  );
}

/** The values at each point as tooltips, over the height of the chart. @param {ChartPlan} plan @param {(games: number) => number} x */
function hovers(plan, x) {
  return plan.at.map((at, index) => {
    const [from, to] = [index ? (x(plan.at[index - 1]) + x(at)) / 2 : LEFT, index + 1 < plan.at.length ? (x(at) + x(plan.at[index + 1])) / 2 : WIDTH - RIGHT];
    const said = plan.lines.map((line) => `${line.name} ${told(plan, line.values[index])}`).join(words().comma);
    return draw("rect", { x: from.toFixed(1), y: TOP, width: Math.max(to - from, 0.5).toFixed(1), height: HEIGHT - TOP - BOTTOM, class: "hover" }, draw("title", {}, `${number(at)}: ${said}`));
  });
}

/** The names of the lines, with their newest values. @param {ChartPlan} plan */
function legend(plan) {
  const entries = plan.lines.map((line, index) => {
    const sample = draw("svg", { viewBox: "0 0 24 6", class: "sample", "aria-hidden": "true" }, draw("line", { x1: 0, x2: 24, y1: 3, y2: 3, "stroke-dasharray": DASHES[index] }));
    return make("li", { class: index ? "" : "own" }, sample, line.name, " ", make("span", { "data-figure": line.key }, told(plan, newest(line.values))));
  });
  const best = plan.best && make("li", {}, `${plan.best.name} `, make("span", { "data-figure": `${plan.lines[0].key}-best` }, told(plan, plan.lines[0].values[plan.best.index])));
  return make("ul", { class: "legend" }, ...entries, best);
}

/** @param {(number | null)[]} values @returns {number | null} */
function newest(values) {
  return values.findLast((value) => value !== null) ?? null;
}

/** @param {ChartPlan} plan @param {number | null | undefined} value @param {number} digits @returns {string} on an axis */
function shownAs(plan, value, digits) {
  return plan.percent ? percent(value, Math.max(digits - 2, 0)) : number(value, digits);
}

/** @param {ChartPlan} plan @param {number | null | undefined} value @returns {string} with fewer digits if it is large */
function told(plan, value) {
  const large = value && !plan.percent ? Math.max(Math.floor(Math.log10(Math.abs(value))), 0) : 0;
  return shownAs(plan, value, Math.max(plan.digits - large, 0));
}

/** @param {number} value @returns {string} a number of games, short enough for an axis */
function compact(value) {
  return value.toLocaleString(words().code, { notation: "compact", maximumFractionDigits: 1 });
}

/**
 * Round values that enclose all of some.
 * @param {number[]} values @param {number} least the smallest distance between two
 * @returns {{ticks: number[], digits: number}}
 */
function ticksOf(values, least) {
  const [min, max] = values.length ? [Math.min(...values), Math.max(...values)] : [0, 1];
  const rough = Math.max((max - min) / TICKS, least, Math.abs(max) * 1e-6);
  const power = 10 ** Math.floor(Math.log10(rough) + 1e-9);
  const step = ([1, 2, 5].find((factor) => factor * power >= rough * 0.999) ?? 10) * power;
  const first = Math.floor(min / step + 1e-9);
  const last = Math.max(Math.ceil(max / step - 1e-9), first + 1);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return { ticks: Array.from({ length: last - first + 1 }, (_, index) => Number(((first + index) * step).toFixed(digits))), digits };
}
