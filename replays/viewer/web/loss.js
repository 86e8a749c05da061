/**
 * Losses as text, with their standard errors; nothing where they are not significant.
 * @module
 */

import { make } from "./dom.js";
import { number } from "./words.js";

/** @typedef {{loss: number | null, loss_error?: number | null}} Lost */

/**
 * @param {Lost} lost
 * @param {number} clear number of standard errors from which a loss is distinguished from 0
 * @returns {boolean}
 */
export function isClear(lost, clear) {
  return lost.loss !== null && !!lost.loss_error && Math.abs(lost.loss) >= clear * lost.loss_error;
}

/**
 * @param {Lost} lost
 * @param {number} clear
 * @returns {(Node | string)[]} "4.2 ±1.9", nothing for noise or without a loss, "0" for the policy's choice
 */
export function lossParts(lost, clear) {
  if (lost.loss === null || lost.loss === undefined) return [];
  if (!lost.loss_error) return [number(lost.loss)];
  if (!isClear(lost, clear)) return [];
  return [number(lost.loss, 1), make("span", { class: "loss-error" }, ` ±${number(lost.loss_error, 1)}`)];
}
