/**
 * Practising one's errors: the table at an error without the policy, then what the policy would have done. What was
 * missed comes again.
 * @module
 */

import { caption, drawBoard } from "./board.js";
import { decisionPanel, handBars, handChips, optionElement } from "./decision.js";
import { make } from "./dom.js";
import { sameAction } from "./review.js";
import { alike, tableAt } from "./table.js";
import { rank, withTiles } from "./tiles.js";
import { words } from "./words.js";

/** @typedef {import("./review.js").Option} Option */
/**
 * @typedef {{names: string[], seat: number, round: import("./review.js").Round,
 *   decision: import("./review.js").Decision}} Exercise
 */

const KEYS = "1234567890qwertyuiopasdfghjkl";
/** What was missed comes again after so many others. */
const AGAIN = 3;

/** @param {Option[]} options @returns {Option[]} in an order that does not depend on the policy */
function inOrderOfTiles(options) {
  const key = (/** @type {Option} */ { action }) => `${action.kind} ${1000 + rank(action.tile || "?")} ${action.consumed ?? ""}`;
  return [...options].sort((one, other) => key(one).localeCompare(key(other)));
}

export class Practice {
  /**
   * @param {HTMLElement} root the element to draw in
   * @param {Exercise[]} exercises
   * @param {number} limit an option is right if it is at least this share as likely as the policy's choice
   * @param {() => void} leave draws what was there before
   */
  constructor(root, exercises, limit, leave) {
    const { practice: text, controls, board } = words();
    this.exercises = exercises;
    this.limit = limit;
    this.leave = leave;
    this.queue = [...exercises];
    this.missed = new Set();
    /** @type {Option | null} */
    this.answer = null;
    this.board = make("div", { class: "board", role: "region", "aria-label": board });
    this.line = make("p", { class: "caption" });
    this.left = make("p", { class: "quiet", role: "status" });
    this.pane = make("div", { class: "pane", tabindex: -1 });
    root.replaceChildren(
      make(
        "header", { class: "top" }, make("div", { class: "top-title" }, make("h1", {}, text.title), this.left),
        make("button", { type: "button", class: "plain", "data-command": "leave", "aria-keyshortcuts": "Escape", onclick: () => this.close() }, controls.close),
      ),
      make(
        "main", { class: "layout practice" }, make("div", { class: "stage" }, make("div", { class: "board-place" }, this.board), make("div", { class: "under" }, this.line)),
        make("aside", { class: "side-panel" }, this.pane),
      ),
    );
    this.hear = (/** @type {KeyboardEvent} */ event) => this.onKey(event);
    document.addEventListener("keydown", this.hear, true);
    this.show();
  }

  close() {
    document.removeEventListener("keydown", this.hear, true);
    this.leave();
    /** @type {HTMLElement | null} */ (document.querySelector("[data-command=practise]"))?.focus();
  }

  /** @param {KeyboardEvent} event none reaches the page below */
  onKey(event) {
    if (!this.board.isConnected) document.removeEventListener("keydown", this.hear, true);
    if (!this.board.isConnected || event.ctrlKey || event.altKey || event.metaKey) return;
    event.stopImmediatePropagation();
    if (event.key === "Escape") this.close();
    const option = inOrderOfTiles(this.queue[0]?.decision.options ?? [])[KEYS.indexOf(event.key.toLowerCase())];
    if (option) this.choose(option);
  }

  /** Whether the answer is the policy's choice or nearly as good, and not the error itself. */
  get isRight() {
    const { options, done } = this.queue[0].decision;
    return this.answer !== null && !sameAction(this.answer.action, done) && this.answer.probability >= this.limit * options[0].probability;
  }

  /** @param {Option} option */
  choose(option) {
    if (this.answer) return;
    this.answer = option;
    if (!this.isRight) this.missed.add(this.queue[0]);
    this.show();
    /** @type {HTMLElement | null} */ (this.pane.querySelector("[data-command=next]"))?.focus();
  }

  next() {
    const again = this.isRight ? [] : [this.queue[0]];
    this.queue.shift();
    this.queue.splice(AGAIN, 0, ...again);
    this.answer = null;
    this.show();
    this.pane.focus(); // not an option, which a key held down would choose
    scrollTo(0, 0);
  }

  /** Draws the error that comes next, or what the policy says about it. */
  show() {
    const { practice: text } = words();
    const { missed, exercises, queue: [current] } = this;
    this.left.replaceChildren(text.left(this.queue.length, missed.size));
    if (!current) return this.pane.replaceChildren(make("p", { class: "nothing" }, text.over(exercises.length, exercises.length - missed.size)));
    const { names, seat, round, decision } = current;
    const look = {
      names, view: seat, own: seat, dealer: round.dealer, hideOthers: true, roundIndex: round.round_index,
      bars: this.answer ? handBars(decision) : null, chips: this.answer ? handChips(decision) : [],
    };
    const message = round.events[decision.event];
    drawBoard(this.board, tableAt(round.events, decision.event), look);
    this.line.replaceChildren(make("span", {}, ...withTiles(caption(message, look, message.actor !== seat))));
    this.pane.replaceChildren(this.answer ? this.verdict(this.answer, look) : this.question(current));
  }

  /** @param {Exercise} exercise its options as buttons; discards can be chosen in the hand as well */
  question({ round, decision }) {
    for (const tile of this.board.querySelectorAll(".row[data-place='0'] .held")) {
      const face = /** @type {HTMLElement | null} */ (tile.querySelector(".tile"))?.dataset.tile ?? "?";
      const option = decision.options.find(({ action }) => action.kind === "discard" && alike(action.tile ?? "", face));
      if (!option) continue;
      tile.classList.add("held-open");
      tile.addEventListener("click", () => this.choose(option));
    }
    const buttons = inOrderOfTiles(decision.options).map((option, place) =>
      make(
        "button", { type: "button", class: "choice", "data-option": decision.options.indexOf(option), "aria-keyshortcuts": KEYS[place], onclick: () => this.choose(option) },
        make("kbd", {}, KEYS[place]), optionElement(decision, { ...option.action, tsumogiri: false }),
      ),
    );
    return make(
      "article", { class: "decision" }, make("h2", {}, `${words().round(round.round_index, round.honba)} · ${words().game.turn(decision.turn)}`),
      make("p", {}, words().practice.question), make("div", { class: "verdict" }, ...buttons),
    );
  }

  /** @param {Option} answer @param {import("./board.js").Look} look */
  verdict(answer, look) {
    const { practice: text } = words();
    const [current] = this.queue;
    return make(
      "article", { class: "decision" },
      make(
        "div", { class: "decision-head" }, make("p", { role: "status", class: `badge badge-${this.isRight ? "fine" : "blunder"}` }, this.isRight ? text.right : text.missed),
        make("span", { class: "tiles" }, optionElement(current.decision, answer.action)),
        make("button", { type: "button", class: "plain", "data-command": "next", onclick: () => this.next() }, words().controls.nextError),
      ),
      decisionPanel(current.decision, this.exercises.indexOf(current) + 1, this.exercises.length, look),
    );
  }
}
