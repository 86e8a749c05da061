/**
 * Starts the page: reads the data embedded in it.
 * @module
 */

import { make } from "./dom.js";
import { restore } from "./settings.js";
import { Viewer } from "./viewer.js";
import { words } from "./words.js";

const root = /** @type {HTMLElement} */ (document.getElementById("app"));
try {
  const review = JSON.parse(document.getElementById("review")?.textContent ?? "");
  Object.assign(globalThis, { suzakuViewer: new Viewer(root, review) });
} catch (error) {
  restore();
  root.replaceChildren(make("p", { class: "broken", role: "alert" }, words().broken));
  throw error;
}
