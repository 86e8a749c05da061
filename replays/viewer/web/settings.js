/**
 * Theme and language (by default the system's), and which errors to stop at. Stored in the browser if it allows it.
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
    // A browser may refuse to store data for a page from disk; the choice then lasts until the page is closed.
  }
}

/** @typedef {{theme: string, language: string, stop: string}} Chosen `stop` is the least category to stop at */

/** @returns {Chosen} the stored choices, after applying them */
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
 * @param {string} value "" for the system's setting
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
