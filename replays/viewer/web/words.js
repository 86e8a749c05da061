/**
 * The language of the page, and the format of numbers in it.
 * @module
 */

import { english } from "./english.js";
import { japanese } from "./japanese.js";

/** @typedef {typeof english} Words */

/** @type {Record<string, Words>} */
const LANGUAGES = { en: english, ja: japanese };

let current = english;

/** @returns {Words} the texts in the current language */
export function words() {
  return current;
}

/**
 * Texts of a page in addition to those of the viewer.
 * @template T
 * @param {T} texts in English
 * @param {T} japanese
 * @returns {() => T} those in the current language
 */
export function inBoth(texts, japanese) {
  return () => (current === english ? texts : japanese);
}

/**
 * @param {string} language "en", "ja", or "" for the browser's language
 * @returns {string} the current language
 */
export function speak(language) {
  const asked = language || (navigator.language.startsWith("ja") ? "ja" : "en");
  current = LANGUAGES[asked] ?? english;
  document.documentElement.lang = current.code;
  return current.code;
}

/** @param {number | null | undefined} share 0 to 1 @param {number} [digits] @returns {string} "12.3 %", or a dash */
export function percent(share, digits = 1) {
  if (share === null || share === undefined) return "–";
  return `${number(100 * share, digits)}%`;
}

/** @param {number | null | undefined} value @param {number} [digits] @returns {string} */
export function number(value, digits = 0) {
  if (value === null || value === undefined) return "–";
  const options = /** @type {const} */ ({ minimumFractionDigits: digits, maximumFractionDigits: digits, signDisplay: "negative" });
  return value.toLocaleString(current.code, options).replace("-", "−");
}

/** @param {number | null | undefined} value @param {number} [digits] @returns {string} with its sign, "±0" for none */
export function signed(value, digits = 0) {
  if (value === null || value === undefined) return "–";
  const text = number(Math.abs(value), digits);
  if (!/[1-9]/.test(text)) return `±${text}`;
  return (value > 0 ? "+" : "−") + text;
}
