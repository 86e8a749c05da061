/**
 * The running game: the viewer, with data from a WebSocket.
 * @module
 */

import { roundBar } from "/web/controls.js";
import { make } from "/web/dom.js";
import { gamePanel } from "/web/game.js";
import { Line, showWire } from "/web/line.js";
import { clamp, compare } from "/web/review.js";
import { grow, nothing } from "/web/running.js";
import { sessionPanel } from "/web/session.js";
import { texts } from "/web/texts.js";
import { Viewer } from "/web/viewer.js";
import { number } from "/web/words.js";

/** Messages after which the list of rounds looks different. */
const GROWTH = ["round", "patch", "over", "hands"];

class LiveViewer extends Viewer {
  /** @param {HTMLElement} root */
  constructor(root) {
    history.replaceState(null, "", location.pathname);
    root.classList.add("live-page");
    super(root, nothing());
    this.latest = this.review;
    this.following = true;
    /** @type {any} */
    this.session = null;
    /** @type {import("/web/line.js").Wire} */
    this.wire = { state: "opening", seconds: 0 };
    this.due = 0;
    this.grew = false;
    this.ended = false;
    this.line_ = new Line((messages) => this.hear(messages), (wire) => this.onWire(wire));
    this.build();
  }

  // --- incoming messages --------------------------------------------------------------------------------

  /** @param {any[]} messages */
  hear(messages) {
    for (const message of messages) {
      if (message.type === "session") this.session = message;
      else this.latest = grow(this.latest, message);
      this.grew ||= GROWTH.includes(message.type);
      this.ended ||= message.type === "over";
    }
    this.due ||= requestAnimationFrame(() => this.catchUp());
  }

  /** @param {import("/web/line.js").Wire} wire */
  onWire(wire) {
    this.wire = wire;
    this.showStatus();
  }

  /** Draws everything received since the last call. */
  catchUp() {
    this.due = 0;
    if (this.following && (this.ended || this.review !== this.latest)) this.switchTo();
    else if (this.grew && this.review === this.latest) this.showRounds();
    this.grew = this.ended = false;
    if (this.following) this.go(this.end);
    this.showStatus();
    this.showSession();
  }

  /** Replaces the game on the page with the newest one. */
  switchTo() {
    this.review = this.latest;
    this.view = this.review.seat;
    this.build();
  }

  showRounds() {
    const jump = (/** @type {import("/web/review.js").Position} */ position) => this.jump(position);
    this.root.querySelector(".rounds")?.replaceWith(roundBar(this.review, jump));
    this.game?.replaceChildren(gamePanel(this.review, jump));
    this.drawnRound = -1;
    if (!this.following) this.show();
  }

  // --- position -----------------------------------------------------------------------------------------

  follow() {
    this.following = true;
    if (this.review !== this.latest) this.switchTo();
    this.go(this.end);
  }

  /** @param {import("/web/review.js").Position} position */
  go(position) {
    this.following = this.following && compare(clamp(this.review.rounds, position), this.end) === 0;
    super.go(position);
    this.showStatus();
  }

  /** The URL contains the position only after the user has stepped back, not while following the game. */
  remember() {
    if (!this.following) super.remember();
    else if (location.hash) history.replaceState(null, "", location.pathname);
  }

  /** @param {import("/web/controls.js").Command} command */
  run(command) {
    if (command === "last") this.follow();
    else super.run(command);
  }

  // --- drawing ------------------------------------------------------------------------------------------

  get title() {
    return texts().now;
  }

  build() {
    super.build();
    this.status = make("div", { class: "live-status", role: "status" });
    this.back = make("button", { type: "button", class: "live-back", "data-command": "follow", onclick: () => this.follow() });
    this.links = make("nav", { class: "live-links" });
    this.root.querySelector("header.top")?.after(make("div", { class: "live-bar" }, this.status, this.back, this.links));
    this.sessionPane = make("div", { class: "pane", id: "pane-session", role: "tabpanel", "aria-labelledby": "tab-session" });
    const tab = make("button", { type: "button", role: "tab", id: "tab-session", "data-tab": "session", "aria-controls": "pane-session", onclick: () => this.openTab("session") }, texts().session);
    this.root.querySelector(".tabs")?.append(tab);
    this.root.querySelector(".side-panel")?.append(this.sessionPane);
    this.empty = make("p", { class: "live-empty" }, texts().waiting);
    this.root.querySelector(".board-place")?.append(this.empty);
    this.openTab(this.tab);
    this.showStatus();
    this.showSession();
  }

  /** @param {string} name */
  openTab(name) {
    super.openTab(name);
    if (this.sessionPane) this.sessionPane.hidden = name !== "session";
  }

  /**
   * @param {import("/web/review.js").Decision | null} decision
   * @param {import("/web/board.js").Look} look
   */
  showDecision(decision, look) {
    // the running game moves past a decision at once; the panel keeps showing the last one
    super.showDecision(decision ?? (this.following ? this.review.decisions.at(-1) ?? null : null), look);
  }

  showStatus() {
    if (!this.status || !this.back || !this.links || !this.empty || !this.wire) return;
    const { line, latency } = texts();
    const last = this.latest.decisions.at(-1)?.live;
    const facts = this.session ? [line[/** @type {"open"} */ (this.session.line)], last ? latency(number(last.time_ms)) : ""] : [];
    showWire(this.status, this.wire, this.following ? texts().live : "", facts);
    this.back.hidden = this.following;
    this.back.textContent = this.review === this.latest ? texts().follow : texts().newGame;
    this.links.replaceChildren(make("a", { href: "/games" }, texts().past));
    this.empty.hidden = this.review.rounds.length > 0;
  }

  showSession() {
    if (this.session) this.sessionPane?.replaceChildren(sessionPanel(this.session));
  }
}

const root = /** @type {HTMLElement} */ (document.getElementById("app"));
Object.assign(globalThis, { suzakuViewer: new LiveViewer(root) });
