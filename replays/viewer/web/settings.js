/**
 * Theme and language, the system's unless somebody chose, and which errors to stop at. Kept in the browser where
 * it lets us.
 * @module
 */

import { GRADES } from "./review.js";
import { speak } from "./words.js";

const PREFIX = "suzaku.";

/** @param {string} name @returns {string} */
function read(name) {
  try {
    return localStorage.getItem(PREFIX + name) ?? "";
  } catch {
    return "";
  }
}

/** @param {string} name @param {string} value */
function write(name, value) {
  try {
    localStorage.setItem(PREFIX + name, value);
  } catch {
    // A browser may refuse to keep anything for a page from disk; the choice then lasts as long as the page.
  }
}

/** @typedef {{theme: string, language: string, stop: string}} Chosen `stop` is the least category to stop at */

/** @returns {Chosen} what was chosen before, now in force */
export function restore() {
  const stop = read("stop");
  const least = GRADES.includes(/** @type {"fine"} */ (stop)) ? stop : "inaccuracy";
  const chosen = { theme: read("theme"), language: read("language"), stop: least };
  apply("theme", chosen.theme);
  apply("language", chosen.language);
  return chosen;
}

/**
 * @param {keyof Chosen} name
 * @param {string} value "" for the system's
 */
export function choose(name, value) {
  write(name, value);
  apply(name, value);
}

/** @param {keyof Chosen} name @param {string} value */
function apply(name, value) {
  if (name === "language") speak(value);
  if (name !== "theme") return;
  if (value === "light" || value === "dark") document.documentElement.dataset.theme = value;
  else delete document.documentElement.dataset.theme;
}
