/**
 * A curve by round, as inline SVG.
 * @module
 */

import { draw, make } from "./dom.js";
import { number, words } from "./words.js";

const WIDTH = 360;
const HEIGHT = 150;
const LEFT = 34;
const RIGHT = 10;
const TOP = 10;
const BOTTOM = 26;
const DASHES = ["", "7 4", "2 4", "9 3 2 3"];

/**
 * One line per player; the reviewed player's is emphasized.
 * @param {{title: string, labels: string[], series: (number | null)[][], seat: number, low: number,
 *   high: number, ticks: number[], digits: number, names: Node[], dotted?: boolean}} plan `series` by player; `low` is
 *   at the bottom, so that place 4 can be below place 1; `dotted` draws the other series as dots without a line
 * @returns {HTMLElement}
 */
export function curve(plan) {
  const steps = Math.max(plan.labels.length - 1, 1);
  const x = (/** @type {number} */ index) => LEFT + ((WIDTH - LEFT - RIGHT) * index) / steps;
  const y = (/** @type {number} */ value) => TOP + ((HEIGHT - TOP - BOTTOM) * (plan.high - value)) / (plan.high - plan.low);
  const grid = plan.ticks.flatMap((tick) => [
    draw("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(tick), y2: y(tick), class: "grid" }),
    draw("text", { x: LEFT - 6, y: y(tick) + 3.5, class: "tick tick-y" }, number(tick)),
  ]);
  const every = Math.ceil((plan.labels.length * Math.max(3, ...plan.labels.map((label) => label.length))) / 30);
  const names = plan.labels.map((label, index) =>
    index !== steps && (index % every || steps - index < every) ? null : draw("text", { x: x(index), y: HEIGHT - 8, class: "tick tick-x" }, label),
  );
  const order = plan.series.map((_, player) => player).sort((one, other) => Number(one === plan.seat) - Number(other === plan.seat));
  const lines = order.map((player) => {
    const points = plan.series[player].map((value, index) => (value === null ? "" : `${x(index).toFixed(1)},${y(value).toFixed(1)}`));
    const own = player === plan.seat;
    const place = (player - plan.seat + 4) % 4;
    const dots = plan.dotted ? !own : own;
    return draw(
      "g", { class: own ? "line line-own" : "line", "data-series": plan.series[player].map((value) => value ?? "").join(" ") },
      own || !plan.dotted ? draw("polyline", { points: points.join(" ").trim(), "stroke-dasharray": DASHES[place] }) : null,
      ...(dots ? plan.series[player].map((value, index) => (value === null ? null : draw("circle", { cx: x(index), cy: y(value), r: 3 }, draw("title", {}, `${plan.labels[index]}: ${number(value, plan.digits)}`)))) : []),
    );
  });
  const last = plan.series[plan.seat];
  const summary = `${plan.title}: ${plan.labels.map((label, index) => `${label} ${number(last[index], plan.digits)}`).join(words().comma)}`;
  const legend = plan.names.map((_, place) => {
    const player = (plan.seat + place) % plan.names.length;
    const sample = draw("svg", { viewBox: "0 0 24 6", class: "sample", "aria-hidden": "true" }, draw("line", { x1: 0, x2: 24, y1: 3, y2: 3, "stroke-dasharray": plan.dotted && place ? "2 6" : DASHES[place] }));
    return make("li", { class: place ? "" : "own" }, sample, plan.names[player].cloneNode(true));
  });
  return make(
    "figure", { class: "curve" }, make("figcaption", {}, plan.title),
    draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": summary }, ...grid, ...names, ...lines),
    make("ul", { class: "legend" }, ...legend),
  );
}
