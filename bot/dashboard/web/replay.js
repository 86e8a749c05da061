/**
 * A past game, with the bot's decisions.
 * @module
 */

import { make } from "/web/dom.js";
import { grow, nothing } from "/web/running.js";
import { start } from "/web/settings.js";
import { texts } from "/web/texts.js";
import { Viewer } from "/web/viewer.js";

/**
 * A note on what is missing if the decisions file is damaged.
 * @param {import("/web/review.js").Review & {left_out?: number | null}} review
 * @returns {HTMLElement | string}
 */
function leftOut(review) {
  if (review.left_out === 0 || review.left_out === undefined) return "";
  return make("span", { class: "damaged", role: "note" }, texts().leftOut(review.left_out));
}

class ReplayViewer extends Viewer {
  get title() {
    return texts().game;
  }

  build() {
    this.root.classList.add("live-page");
    super.build();
    const bar = make("div", { class: "live-bar" }, make("span", { class: "quiet" }, texts().replay), leftOut(this.review), make("nav", { class: "live-links" }, make("a", { href: "/games" }, texts().past)));
    this.root.querySelector("header.top")?.after(bar);
  }
}

start("review", (root, { messages, left_out }) => {
  const review = Object.assign(messages.reduce(grow, nothing()), { left_out });
  Object.assign(globalThis, { suzakuViewer: new ReplayViewer(root, review) });
});
