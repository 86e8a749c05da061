/**
 * The buttons for everything but discards: riichi, calls with their tiles, wins, pass.
 * @module
 */

import { actionElement } from "/web/decision.js";
import { make } from "/web/dom.js";
import { sameAction } from "/web/review.js";
import { percent, words } from "/web/words.js";
import { wording } from "/web/wording.js";

/** @typedef {import("/web/review.js").Action} Action */
/** @typedef {import("/web/review.js").Decision} Decision */
/** @typedef {{choice: number, action: Action}} Offered an action, and its index in the prompt */
/** @typedef {{number: number, actions: Action[], riichi: number[]}} Prompt */

/** "Pass" first, whose place then does not depend on the other buttons. */
const ORDER = ["pass", "tsumo", "ron", "riichi", "nine_terminals", "ankan", "kakan", "daiminkan", "pon", "chi"];
const WINS = ["tsumo", "ron"];
/** The kinds that a key stands for. */
const KEYS = /** @type {Record<string, string[]>} */ ({
  r: ["riichi"], w: WINS, t: WINS, c: ["chi"], p: ["pon"], k: ["daiminkan", "ankan", "kakan"], n: ["nine_terminals"], x: ["pass"], Escape: ["pass"],
});

/** @param {Prompt | null} prompt @param {(kind: string) => boolean} wanted @returns {Offered[]} */
export function offered(prompt, wanted) {
  const all = (prompt?.actions ?? []).map((action, choice) => ({ choice, action }));
  return all.filter((one) => wanted(one.action.kind));
}

/** @param {Prompt | null} prompt @returns {Offered[]} everything but discards */
function buttonsOf(prompt) {
  const found = offered(prompt, (kind) => kind !== "discard");
  return found.sort((one, other) => ORDER.indexOf(one.action.kind) - ORDER.indexOf(other.action.kind) || one.choice - other.choice);
}

/**
 * @param {Prompt | null} prompt
 * @param {boolean} declaring whether a riichi is being declared
 * @param {Decision | null} advice what the policy would do; null if it is not to be shown
 * @param {(offered: Offered) => void} choose
 * @returns {HTMLElement[]}
 */
export function actionButtons(prompt, declaring, advice, choose) {
  return buttonsOf(prompt).map((one, place) => {
    const { kind } = one.action;
    const classes = ["act", `act-${kind}`, WINS.includes(kind) ? "act-win" : ""];
    const cancels = kind === "riichi" && declaring;
    return make(
      "button",
      { type: "button", class: classes.join(" ").trim(), "data-action": kind, "data-choice": one.choice, "aria-pressed": kind === "riichi" && String(declaring), "aria-keyshortcuts": String(place + 1), onclick: () => choose(one) },
      cancels ? wording().cancel : actionElement(one.action),
      advice && !cancels ? adviceElement(advice, one.action) : null,
    );
  });
}

/**
 * The policy's probability of an action, on its button.
 * @param {Decision} advice
 * @param {Action} action
 * @returns {HTMLElement | null} null if the policy does not say
 */
function adviceElement(advice, action) {
  // a riichi is one button, whatever its discard
  const means = (/** @type {Action | null} */ other) => (action.kind === "riichi" ? other?.kind === "riichi" : sameAction(other, action));
  const options = advice.options.filter((option) => means(option.action));
  if (!options.length) return null;
  const share = Math.min(1, options.reduce((sum, option) => sum + option.probability, 0));
  const preferred = means(advice.preferred);
  return make(
    "span", { class: preferred ? "act-advice act-preferred" : "act-advice", vars: { share } },
    make("span", { class: "act-meter", "aria-hidden": "true" }),
    make("span", { class: "act-share" }, preferred ? make("span", { role: "img", "aria-label": words().decision.preferred }, "★") : null, percent(share, 0)),
  );
}

/**
 * The button that a key stands for. If there are several, as with chi, the first one gets the focus instead.
 * @param {HTMLElement} bar
 * @param {string} key
 * @returns {boolean} whether the key means a button
 */
export function pressKey(bar, key) {
  const buttons = /** @type {HTMLElement[]} */ ([...bar.querySelectorAll("[data-action]")]);
  if (/^[1-9]$/.test(key)) {
    buttons[Number(key) - 1]?.click();
    return Number(key) <= buttons.length;
  }
  const kinds = KEYS[key.length === 1 ? key.toLowerCase() : key] ?? [];
  const found = buttons.filter((button) => kinds.includes(button.dataset.action ?? ""));
  if (found.length > 1) found[0].focus();
  else found[0]?.click();
  return found.length > 0;
}
