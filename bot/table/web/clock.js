/**
 * The time left for a decision or a result, counted down on the page; the program's own clock decides.
 * @module
 */

import { make } from "/web/dom.js";
import { wording } from "/web/wording.js";

const TICK_MS = 200;
const SHORT_S = 5;

/** @typedef {{base: number, bank: number}} TimeLeft seconds: of this decision, then of the round's bank */

export class Clock {
  constructor() {
    this.element = make("span", { class: "clock", role: "timer", "aria-live": "off", hidden: true });
    /** @type {TimeLeft | null} */
    this.left = null;
    this.since = 0;
    window.setInterval(() => this.show(), TICK_MS);
  }

  /** @param {TimeLeft | null} left the time left now; null stops the clock */
  set(left) {
    this.left = left;
    this.since = performance.now();
    this.show();
  }

  show() {
    const { left, element } = this;
    element.hidden = left === null;
    if (left === null) return;
    const gone = (performance.now() - this.since) / 1000;
    const base = Math.ceil(Math.max(0, left.base - gone));
    const bank = Math.ceil(Math.max(0, left.bank - Math.max(0, gone - left.base)));
    const text = left.bank ? `${base} + ${bank}` : String(base);
    if (element.textContent === text) return;
    element.textContent = text;
    element.setAttribute("aria-label", wording().time(base, bank));
    element.classList.toggle("clock-short", base + bank <= SHORT_S);
  }
}
