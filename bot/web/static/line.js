/**
 * The connection to the program: reconnects when it is lost, and requests only the missing messages; and its state as a
 * word and a coloured dot.
 * @module
 */

import { make } from "/web/dom.js";
import { inBoth } from "/web/words.js";

const FIRST_MS = 500;
const LONGEST_MS = 15000;
const TRY_LATER = 1013;
const GOING_AWAY = 1001;
const REFUSED = 1006; // or cut

/** @typedef {{state: "opening" | "open" | "lost" | "full" | "over" | "moved", seconds: number}} Wire */

/** @returns {Promise<boolean>} whether the program was started again, and knows this address no more */
async function isUnknown() {
  const answer = await fetch(location.href, { method: "HEAD" }).catch(() => null);
  return answer?.status === 403 || answer?.status === 404;
}

export class Line {
  /**
   * @param {(messages: any[]) => void} take called with incoming messages
   * @param {(wire: Wire) => void} say called with the state of the connection
   * @param {string} [query] what the address says beside the position, as "&name=value"
   */
  constructor(take, say, query = "") {
    this.take = take;
    this.say = say;
    this.query = query;
    /** @type {WebSocket | null} */
    this.socket = null;
    this.run = "";
    this.number = 0;
    this.waitMs = FIRST_MS;
    this.timer = 0;
    /** @type {"over" | "moved" | ""} why nothing more is to be expected here */
    this.end = "";
    this.open();
    window.addEventListener("online", () => this.hurry());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.hurry();
    });
  }

  open() {
    this.timer = 0;
    if (!this.end) this.say({ state: "opening", seconds: 0 });
    const address = `ws://${location.host}/live?run=${this.run}&seq=${this.number}${this.query}`;
    const socket = (this.socket = new WebSocket(address));
    socket.onmessage = (event) => this.heard(JSON.parse(event.data));
    socket.onclose = (event) => this.closed(event.code);
  }

  /** @param {any} said a greeting, or a list of messages */
  heard(said) {
    if (!Array.isArray(said)) {
      if (said.run !== this.run) {
        this.number = 0;
        this.end = "";
      }
      this.run = said.run;
      if (this.end) return; // the same run, still over
      this.waitMs = FIRST_MS;
      this.say({ state: "open", seconds: 0 });
      return;
    }
    for (const message of said) if (message.seq) this.number = message.seq;
    this.take(said);
  }

  /** @param {number} code why the connection was closed */
  async closed(code) {
    if (code === GOING_AWAY) this.end = "over";
    else if (code === REFUSED && (await isUnknown())) this.end = "moved";
    const state = this.end || (code === TRY_LATER ? "full" : "lost");
    // with jitter, so that many browsers do not reconnect at once
    const wait = this.waitMs * (0.75 + Math.random() / 2);
    this.waitMs = Math.min(2 * this.waitMs, LONGEST_MS);
    this.say({ state, seconds: Math.ceil(wait / 1000) });
    this.timer = window.setTimeout(() => this.open(), wait);
  }

  /**
   * Sends a message; one that cannot be sent now is lost.
   * @param {object} message
   */
  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** Tries again at once instead of waiting. */
  hurry() {
    if (!this.timer) return;
    window.clearTimeout(this.timer);
    this.open();
  }
}

const english = {
  opening: "Connecting to Suzaku …",
  open: "Connected",
  lost: (/** @type {number} */ seconds) => `Suzaku is not responding. Next try in ${seconds} s.`,
  full: "Too many browsers are watching.",
  over: "Suzaku has finished. This is its last state.",
  moved: "Suzaku was started again. Open the new link in its terminal.",
};

/** @type {typeof english} */
const japanese = {
  opening: "Suzaku に接続中…",
  open: "接続済み",
  lost: (seconds) => `Suzaku が応答しません。${seconds} 秒後に再接続します。`,
  full: "閲覧者が多すぎます。",
  over: "Suzaku は終了しました。これが最後の状態です。",
  moved: "Suzaku は再起動されました。端末の新しいリンクを開いてください。",
};

const texts = inBoth(english, japanese);

/**
 * @param {HTMLElement} place the element to show it in
 * @param {Wire} wire
 * @param {string} word replaces "connected" while the connection is up; "" for "connected"
 * @param {string[]} facts shown next to it while the connection is up; empty ones are left out
 */
export function showWire(place, wire, word, facts) {
  const text = texts();
  const good = wire.state === "open";
  const said = wire.state === "lost" ? text.lost(wire.seconds) : text[wire.state];
  place.dataset.wire = wire.state;
  place.replaceChildren(
    make("strong", {}, make("span", { class: "live-dot", "aria-hidden": "true" }), (good && word) || said),
    ...(good ? facts.filter(Boolean).map((fact) => make("span", { class: "quiet" }, fact)) : []),
  );
}
