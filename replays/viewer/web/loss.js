/**
 * Losses in words: with their errors where they mean something, and as noise where they do not.
 * @module
 */

import { make } from "./dom.js";
import { number, words } from "./words.js";

/** @typedef {{loss: number | null, loss_error?: number | null}} Lost */

/**
 * @param {Lost} lost
 * @param {number} clear from how many errors on a loss is told apart from 0
 * @returns {boolean}
 */
export function isClear(lost, clear) {
  return lost.loss !== null && !!lost.loss_error && Math.abs(lost.loss) >= clear * lost.loss_error;
}

/**
 * @param {Lost} lost
 * @param {number} clear
 * @returns {(Node | string)[]} "4.2 ±1.9", "≈ 0" for noise, "0" of what is preferred, or a dash where there is none
 */
export function lossParts(lost, clear) {
  if (lost.loss === null || lost.loss === undefined) return ["–"];
  if (!lost.loss_error) return [number(lost.loss)];
  if (!isClear(lost, clear)) return [words().decision.lossNoise];
  return [number(lost.loss, 1), make("span", { class: "loss-error" }, ` ±${number(lost.loss_error, 1)}`)];
}
