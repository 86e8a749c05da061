/**
 * Starts the page of a review.
 * @module
 */

import { start } from "./settings.js";
import { Viewer } from "./viewer.js";

start("review", (root, review) => Object.assign(globalThis, { suzakuViewer: new Viewer(root, review) }));
