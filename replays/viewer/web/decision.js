/**
 * The panel of one decision, and the bars it shows above the hand on the table.
 * @module
 */

import { seatName, windOf } from "./board.js";
import { candidatesPanel } from "./candidates.js";
import { harmless, isolated, make, pair } from "./dom.js";
import { askSection } from "./position.js";
import { SIGNS, sameAction } from "./review.js";
import { tileElement, tileName } from "./tiles.js";
import { number, percent, words } from "./words.js";

/** @typedef {import("./review.js").Decision} Decision */
/** @typedef {import("./review.js").Option} Option */
/** @typedef {import("./review.js").Action} Action */
/** @typedef {import("./board.js").Look} Look */

const DONE = "▲";
const PREFERRED = "★";
const OTHER = "◇";
/** From this probability of tenpai on, an opponent threatens. */
const THREAT = 0.3;
const LEAST_CHIP = 0.01;
/** Stands for the opponent that an option is most dangerous against. */
const WORST = -1;

/** @param {Action} action @returns {HTMLElement} an action as a word and its tiles; a discard is only its tile */
export function actionElement(action) {
  const tiles = action.tile ? [action.tile] : [];
  const own = action.consumed ?? [];
  const kind = words().actions[/** @type {"pass"} */ (action.kind)] ?? harmless(action.kind);
  return make(
    "span", { class: "action" },
    action.kind === "discard" ? null : make("span", { class: "action-kind" }, kind),
    ...tiles.map((tile) => tileElement(tile, { shaded: Boolean(action.tsumogiri) })),
    own.length ? make("span", { class: "action-own" }, ...own.map((tile) => tileElement(tile))) : null,
  );
}

/** @param {Decision} decision @param {Action} action @returns {HTMLElement} with "no riichi" where it could be declared */
export function optionElement(decision, action) {
  const silent = action.kind === "discard" && decision.options.some((one) => one.action.kind === "riichi" && one.action.tile === action.tile);
  const element = actionElement(action);
  if (silent) element.append(make("small", { class: "quiet" }, words().decision.silent));
  return element;
}

/** @param {string} category @returns {HTMLElement} */
export function categoryBadge(category) {
  const sign = SIGNS[/** @type {"fine"} */ (category)] ?? "";
  const name = words().categories[/** @type {"fine"} */ (category)] ?? harmless(category);
  return make("span", { class: `badge badge-${harmless(category)}` }, make("b", { "aria-hidden": "true" }, sign), ` ${name}`);
}

/** @param {Decision} decision @param {Option} option @returns {string} the signs of an option */
function signs(decision, option) {
  const done = sameAction(option.action, decision.done) ? DONE : "";
  const preferred = sameAction(option.action, decision.preferred) ? PREFERRED : "";
  return done + preferred + (sameAction(option.action, decision.other) ? OTHER : "");
}

/**
 * The bars above the tiles of the hand, by tile.
 * @param {Decision} decision
 * @returns {Map<string, HTMLElement>}
 */
export function handBars(decision) {
  /** @type {Map<string, {chance: number, sign: string}>} */
  const found = new Map();
  for (const option of decision.options) {
    if (!["discard", "riichi"].includes(option.action.kind) || !option.action.tile) continue;
    const known = found.get(option.action.tile) ?? { chance: 0, sign: "" };
    found.set(option.action.tile, { chance: known.chance + option.probability, sign: joined(known.sign, signs(decision, option)) });
  }
  return new Map([...found].map(([tile, { chance, sign }]) => [tile, bar(chance, sign)]));
}

/** @param {string} one @param {string} other @returns {string} the signs of both, each once */
function joined(one, other) {
  return [DONE, PREFERRED, OTHER].filter((sign) => (one + other).includes(sign)).join("");
}

/** @param {number} probability @param {string} sign */
function bar(probability, sign) {
  const label = probability >= 0.995 ? "100" : probability >= 0.01 ? number(100 * probability) : "";
  return make(
    "span", { class: sign.includes(PREFERRED) ? "bar bar-preferred" : "bar", vars: { share: probability } },
    make("span", { class: "bar-sign", "aria-hidden": "true" }, sign),
    make("span", { class: "bar-label" }, label),
    make("span", { class: "bar-fill" }),
  );
}

/**
 * The options other than discards, as chips next to the bars.
 * @param {Decision} decision
 * @returns {HTMLElement[]}
 */
export function handChips(decision) {
  return decision.options
    .filter((option) => option.action.kind !== "discard" && (option.action.kind !== "riichi" || option.probability >= LEAST_CHIP || signs(decision, option)))
    .map((option) =>
      make(
        "span", { class: sameAction(option.action, decision.preferred) ? "chip chip-preferred" : "chip" },
        actionElement(option.action), make("span", { class: "chip-share" }, percent(option.probability, 0)),
        make("span", { class: "chip-sign", "aria-hidden": "true" }, signs(decision, option)),
      ),
    );
}

/**
 * The panel.
 * @param {Decision} decision
 * @param {number} index its number, from 1
 * @param {number} all number of decisions
 * @param {Look} look
 * @returns {HTMLElement}
 */
export function decisionPanel(decision, index, all, look) {
  const { decision: text, steps, sources } = words();
  const step = steps[/** @type {"win"} */ (decision.step)] ?? harmless(decision.step);
  return make(
    "article", { class: "decision", "data-decision": index - 1 },
    make(
      "header", { class: "decision-head" },
      make("div", {}, make("h2", {}, text.heading(decision.turn, step)), make("p", { class: "quiet" }, text.number(index, all), " · ", sources[/** @type {"model"} */ (decision.source)] ?? "")),
      decision.done ? categoryBadge(decision.category) : null,
    ),
    verdict(decision),
    notes(decision, look, true),
    decision.price ? make("p", { class: "price" }, priceText(decision.price)) : null,
    situation(decision.hand, decision.judged !== decision.step ? decision.judged : undefined),
    notes(decision, look, false),
    optionTable(decision, look),
    acceptance(decision),
    opponents(decision, look),
    candidatesPanel(decision.candidates ?? [], [1, 2, 3].map((place) => seatName(look, (look.own + place) % 4))),
    live(decision),
    askSection(decision.position),
  );
}

/** @param {import("./review.js").Price} price @returns {string} a sentence */
export function priceText({ points, error }) {
  return words().decision.price(number(points), number(error));
}

/** @param {Decision} decision */
function verdict(decision) {
  const { decision: text } = words();
  const share = (/** @type {Action | null} */ action) => decision.options.find((one) => sameAction(one.action, action))?.probability;
  const shareOfOther = (/** @type {Action | null} */ action) => decision.options.find((one) => sameAction(one.action, action))?.other;
  const choice = (/** @type {string} */ label, /** @type {string} */ sign, /** @type {Action} */ action, shareOf = share) =>
    make(
      "div", { class: "choice" }, make("span", { class: "choice-label" }, make("b", { "aria-hidden": "true" }, sign), ` ${label}`),
      optionElement(decision, action), make("span", { class: "choice-share" }, percent(shareOf(action))),
    );
  return make(
    "div", { class: "verdict" },
    decision.done ? choice(text.done, DONE, decision.done) : null,
    choice(text.preferred, PREFERRED, decision.preferred),
    decision.other ? choice(text.other, OTHER, decision.other, shareOfOther) : null,
  );
}

/**
 * @param {Decision["hand"]} hand
 * @param {string} [judged] the step at which the action done and the preferred one differ, if it is to be named
 * @returns {HTMLElement} shanten, waits and furiten
 */
export function situation(hand, judged) {
  const { decision: text, steps } = words();
  const facts = [];
  if (hand) {
    facts.push(make("span", {}, shantenText(hand.shanten)));
    facts.push(make("span", {}, hand.riichi ? text.inRiichi : hand.is_open ? text.isOpen : text.closed));
    if (hand.furiten) facts.push(make("span", { class: "warn" }, text.furiten));
    if (hand.waits_gone?.length) facts.push(make("span", { class: "warn" }, `${text.waitsGone} `, make("span", { class: "tiles" }, ...hand.waits_gone.map((tile) => tileElement(tile)))));
    if (hand.waits.length) facts.push(make("span", {}, `${text.waits} `, make("span", { class: "tiles" }, ...hand.waits.map((tile) => tileElement(tile)))));
  }
  if (judged) facts.push(make("span", {}, text.judgedAt(steps[/** @type {"win"} */ (judged)])));
  return make("p", { class: "facts" }, ...facts);
}

/** @param {number} shanten @returns {string} */
function shantenText(shanten) {
  const { decision: text } = words();
  return shanten < 0 ? text.won : shanten === 0 ? text.tenpai : text.away(shanten);
}

/** @param {Decision} decision @param {Look} look @param {boolean} why the reasons of an error, or the other notes */
function notes(decision, look, why) {
  const wanted = decision.notes.filter((note) => /^(reason|cost)_/.test(note.key) === why);
  const lines = wanted.map((note) => noteLine(note, look)).filter(Boolean);
  return lines.length ? make("ul", { class: why ? "notes reasons" : "notes", "aria-label": why ? words().decision.why : words().decision.notes }, ...lines) : null;
}

/** @param {{key: string, params: any}} note @param {Look} look @returns {HTMLElement | null} */
function noteLine(note, look) {
  const parts = noteParts(note, look);
  return parts && make("li", { "data-note": note.key }, ...parts);
}

/** @param {{key: string, params: any}} note @param {Look} look @returns {(string | HTMLElement)[] | null} its sentence */
function noteParts(note, look) {
  const write = /** @type {Record<string, (params: any, who: (player: number) => string) => any[]>} */ (words().notes)[note.key];
  if (!write) return null;
  return write(note.params, (player) => seatName(look, player)).map((part) =>
    typeof part === "string" ? part : make("span", { class: "tiles" }, ...part.tiles.map((/** @type {string} */ tile) => tileElement(tile))),
  );
}

/**
 * The weightiest reason for the policy's choice, with the option it is compared with, if there is one.
 * @param {Decision} decision
 * @param {Look} look
 * @returns {HTMLElement | null} null if there is none
 */
export function reasonLine(decision, look) {
  const note = decision.notes.find((one) => one.key.startsWith("reason_"));
  const parts = note && noteParts(note, look);
  if (!parts) return null;
  const option = (/** @type {"better" | "worse"} */ side) => actionElement({ kind: note.params[side], tile: note.params[`${side}_tile`] });
  const other = note.params.worse ? [words().decision.ratherThan, option("worse")] : [];
  return make("p", { class: "reason", "data-note": note.key }, `${PREFERRED} `, option("better"), ...other, words().colon, ...parts);
}

/** @param {Decision} decision @param {Look} look */
function optionTable(decision, look) {
  const { decision: text } = words();
  const deep = decision.options.some((option) => option.shanten !== null && option.shanten !== undefined);
  const danger = decision.options.some((option) => option.danger) ? seatsOfDanger(decision) : [];
  const past = beside(decision);
  const searched = decision.live?.thought?.searched ?? null;
  const head = make(
    "tr", {}, make("th", { scope: "col" }, text.option), make("th", { scope: "col", class: "wide" }, ...both(text.probability, text.probabilityShort)),
    ...past.map((column) => make("th", { scope: "col", class: "num" }, column.name)),
    searched ? make("th", { scope: "col", class: "num", title: text.searchedMeans[decision.live?.thought?.worth ?? "points"] }, text.searched) : null,
    deep ? make("th", { scope: "col", class: "num" }, ...both(text.shanten, text.shantenShort)) : null,
    deep ? make("th", { scope: "col", class: "num" }, ...both(text.ukeire, text.ukeireShort)) : null,
    ...(danger.length === 1 ? [make("th", { scope: "col", class: "num" }, text.dangerMost)] : danger.map((seat) => dangerHead((look.own + seat + 1) % 4, look))),
  );
  const rows = decision.options.map((option, place) => optionRow(decision, option, place, { deep, danger, past, searched, look }));
  return make("div", { class: "scroll" }, make("table", { class: "options", "aria-label": text.options }, make("thead", {}, head), make("tbody", {}, ...rows)));
}

/** @param {Decision} decision @returns {number[]} the opponents, from 0, with a column each; one for all if none threatens */
function seatsOfDanger(decision) {
  return decision.opponents?.some((one) => one.tenpai >= THREAT) ?? true ? [0, 1, 2] : [WORST];
}

/** @param {number} player @param {Look} look */
function dangerHead(player, look) {
  const { decision: text, windLetters } = words();
  const wind = seatName(look, player);
  const letter = windLetters[windOf(player, look.dealer)];
  return make("th", { scope: "col", class: "num", "aria-label": text.dangerOf(wind) }, make("small", {}, text.danger), ...both(wind, letter));
}

/** @param {string} long @param {string} short @returns {HTMLElement[]} a heading and its short form */
export function both(long, short) {
  return [make("span", { class: "long" }, long), make("span", { class: "short", "aria-hidden": "true" }, short)];
}

/**
 * @param {Decision} decision
 * @param {Option} option
 * @param {number} place
 * @param {{deep: boolean, danger: number[], past: {name: string, values: (number | null)[]}[],
 *   searched: (Searched | null)[] | null, look: Look}} shown
 */
function optionRow(decision, option, place, shown) {
  const { decision: text } = words();
  const sign = signs(decision, option);
  const classes = [sign.includes(PREFERRED) ? "preferred" : "", sign.includes(DONE) ? "done" : ""];
  const cell = (/** @type {string} */ value, /** @type {string} */ name) => make("td", { class: "num", "data-value": name }, value);
  return make(
    "tr", { class: classes.join(" ").trim() },
    make("th", { scope: "row" }, signElement(sign), optionElement(decision, option.action)),
    make(
      "td", { class: "wide" },
      make("span", { class: "meter", vars: { share: option.probability } }),
      make("span", { class: "meter-label", "data-value": "probability" }, percent(option.probability)),
    ),
    ...shown.past.map((column) => cell(percent(column.values[place]), "past")),
    shown.searched ? searchedCell(shown.searched[place]) : null,
    shown.deep ? cell(option.shanten === null || option.shanten === undefined ? "" : String(option.shanten), "shanten") : null,
    shown.deep ? make("td", { class: "num", "data-value": "ukeire", title: ukeireTitle(option) }, option.ukeire ? make("span", {}, String(option.ukeire.tiles), make("small", {}, ` /${option.ukeire.kinds}`)) : null) : null,
    ...shown.danger.map((seat) => dangerCell(option, seat, shown.look)),
  );
}

/** @param {Searched | null} found what a search in play found out about an option */
function searchedCell(found) {
  if (!found) return make("td", { class: "num", "data-value": "searched" });
  const digits = Math.abs(found.ahead) < 100 && found.doubt < 100 ? 1 : 0;
  const sign = found.ahead > 0 ? "+" : "";
  const doubt = found.doubt ? make("small", {}, ` ±${found.doubt.toFixed(digits)}`) : null;
  return make("td", { class: "num", "data-value": "searched", title: words().decision.dealsPlayed(found.deals) }, make("span", {}, sign + found.ahead.toFixed(digits)), doubt);
}

/** @param {Option} option @returns {string} */
function ukeireTitle(option) {
  const { decision: text, comma } = words();
  if (!option.ukeire) return "";
  const count = text.ukeireCell(option.ukeire.tiles, option.ukeire.kinds);
  return option.discard ? count + comma + text.afterDiscard(tileName(option.discard)) : count;
}

/** @param {Option} option @param {number} seat an opponent, or `WORST` @param {Look} look */
function dangerCell(option, seat, look) {
  const { danger, learned } = option;
  if (!danger) return make("td", { class: "num", "data-value": "danger" });
  const worst = seat === WORST ? danger.indexOf(Math.max(...danger)) : seat;
  const value = danger[worst];
  const level = value >= 0.1 ? "high" : value >= 0.04 ? "some" : "low";
  const { decision: text, comma } = words();
  const titles = [seat === WORST ? text.dangerWorst(seatName(look, (look.own + worst + 1) % 4)) : "", learnedTitle(learned)];
  return make(
    "td", { class: `num danger danger-${level}`, vars: { share: Math.min(1, 5 * value) }, title: titles.filter(Boolean).join(comma) },
    learned ? make("small", {}, `${text.byRule} `) : null, make("span", { "data-value": "danger" }, percent(value)),
    learned ? make("small", { class: "learned" }, `${text.byModel} `, make("span", { "data-value": "learned" }, percent(learned.deal_in[worst]))) : null,
  );
}

/** @param {{deal_in: number[], cost: number} | null | undefined} learned @returns {string} */
function learnedTitle(learned) {
  return learned ? words().decision.learnedDanger(Math.round(learned.cost)) : "";
}

/** @param {string} sign @returns {HTMLElement} signs with their meaning */
function signElement(sign) {
  return make("span", { class: "sign", role: sign && "img", "aria-label": spoken(sign) }, sign);
}

/** @param {string} sign @returns {string} the meaning of the signs */
function spoken(sign) {
  const { decision: text, comma } = words();
  const names = [[DONE, text.done], [PREFERRED, text.preferred], [OTHER, text.other]];
  return names.filter(([each]) => sign.includes(each)).map(([, name]) => name).join(comma);
}

/** Further probabilities: of the other policy, and of the live decision in our own games. @param {Decision} decision */
function beside(decision) {
  const { decision: text } = words();
  const columns = [
    { name: text.other, values: decision.other ? decision.options.map((option) => option.other ?? null) : null },
    { name: text.then, values: decision.live?.adapted ? null : decision.live?.probabilities },
    { name: text.base, values: decision.live?.base },
    { name: text.adapted, values: decision.live?.adapted },
  ];
  return /** @type {{name: string, values: (number | null)[]}[]} */ (columns.filter((column) => column.values));
}

/** The useful tiles after the action played and after the policy's choice. @param {Decision} decision */
function acceptance(decision) {
  const { decision: text } = words();
  const seen = [decision.preferred, decision.done].map((action) => decision.options.find((one) => sameAction(one.action, action)));
  const shown = [...new Set(seen)].filter((option) => option?.ukeire?.which?.length);
  if (!shown.length) return null;
  const lines = shown.map((option) =>
    make(
      "li", {}, signElement(signs(decision, /** @type {Option} */ (option))),
      optionElement(decision, /** @type {Option} */ (option).action),
      option?.discard ? make("span", { class: "quiet" }, text.thenDiscard, " ", tileElement(option.discard)) : null,
      make("span", { class: "arrow", "aria-hidden": "true" }, "→"),
      make("span", { class: "tiles" }, ...(option?.ukeire?.which ?? []).map((tile) => tileElement(tile))),
    ),
  );
  return make("section", { class: "acceptance" }, make("h3", {}, text.accepts), make("ul", {}, ...lines));
}

/** @param {Decision} decision @param {Look} look */
function opponents(decision, look) {
  const { decision: text } = words();
  if (!decision.opponents?.length) return null;
  const items = decision.opponents.map((one) =>
    make(
      "li", {}, make("span", { class: "quiet" }, seatName(look, one.player)),
      make("strong", {}, percent(one.tenpai, 0)), make("span", { class: "quiet" }, words().points(number(one.points))),
    ),
  );
  return make("section", {}, make("h3", {}, `${text.opponents} · ${text.tenpai}`), make("ul", { class: "opponents" }, ...items));
}

/** @param {Decision} decision */
function live(decision) {
  const { decision: text, sources } = words();
  const facts = decision.live;
  if (!facts) return null;
  const time = facts.budget_ms ? text.budget(number(facts.time_ms), number(facts.budget_ms)) : text.unlimited(number(facts.time_ms));
  return make(
    "section", { class: "live" }, make("h3", {}, text.live),
    make(
      "dl", {}, ...pair(text.time, make("span", {}, time, facts.late ? make("b", { class: "warn" }, ` ${text.late}`) : "")),
      ...(facts.played ? pair(text.playedLive, actionElement(facts.played)) : []),
      ...(facts.thought ? pair(text.thought[facts.thought.way], text.playouts(number(facts.thought.playouts))) : []),
      ...(facts.thought?.base ? pair(text.alone, actionElement(facts.thought.base)) : []),
      ...(facts.fallback ? pair(text.fallback, isolated(facts.fallback)) : []),
      ...(facts.source ? pair(text.preferred, sources[/** @type {"model"} */ (facts.source)] ?? "") : []),
    ),
  );
}
