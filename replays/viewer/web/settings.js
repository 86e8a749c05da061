/**
 * How a page starts, and what its reader chooses: theme and language (by default the system's), and which errors to
 * stop at. The choices are stored in the browser if it allows it.
 * @module
 */

import { make } from "./dom.js";
import { GRADES } from "./review.js";
import { speak, words } from "./words.js";

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
 * Applies a choice, and returns the focus to its list.
 * @param {Chosen} chosen
 * @param {keyof Chosen} name
 * @param {string} value "system" for the system's setting
 * @param {HTMLElement} root of the page
 * @param {() => void} build builds the page again
 */
export function choose(chosen, name, value, root, build) {
  chosen[name] = value === "system" ? "" : value;
  write(name, chosen[name]);
  apply(name, chosen[name]);
  if (name !== "theme") build();
  /** @type {HTMLElement | null} */ (root.querySelector(`[data-switch="${name}"]`))?.focus();
}

/**
 * Starts a page with the data in it, or says that they cannot be read.
 * @param {string} id of the element with the data
 * @param {(root: HTMLElement, data: any) => void} begin
 */
export async function start(id, begin) {
  const root = /** @type {HTMLElement} */ (document.getElementById("app"));
  try {
    begin(root, await unpacked(/** @type {HTMLScriptElement} */ (document.getElementById(id))));
  } catch (error) {
    restore();
    root.replaceChildren(make("p", { class: "broken", role: "alert" }, words().broken));
    throw error;
  }
}

/** @param {HTMLScriptElement} script JSON; in a page from disk gzip in Base64 @returns {Promise<any>} */
async function unpacked({ type, text }) {
  if (type === "application/json") return JSON.parse(text);
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

/** @param {keyof Chosen} name @param {string} value */
function apply(name, value) {
  if (name === "language") speak(value);
  if (name !== "theme") return;
  if (value === "light" || value === "dark") document.documentElement.dataset.theme = value;
  else delete document.documentElement.dataset.theme;
}
