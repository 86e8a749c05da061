/**
 * The viewer of a review or a running game, and the current position in it.
 * @module
 */

import { caption, drawBoard, markAlike } from "./board.js";
import { commandOf, helpDialog, roundBar, seatSwitch, stopSwitch, switches, timeline, toolbar, viewButtons } from "./controls.js";
import { decisionPanel, handBars, handChips } from "./decision.js";
import { harmless, isolated, make } from "./dom.js";
import { caveats, gamePanel, worstItem } from "./game.js";
import { DecisionList, markCurrent } from "./list.js";
import { Practice } from "./practice.js";
import { resultCard } from "./result.js";
import { SIGNS, byDecision, byEvent, byRound, bySeat, clamp, compare, decisionAt, disagrees, isError, parseHash, toHash } from "./review.js";
import { choose, restore } from "./settings.js";
import { layOpen, tableAt } from "./table.js";
import { withTiles } from "./tiles.js";
import { number, words } from "./words.js";

/** @typedef {import("./review.js").Review} Review */
/** @typedef {import("./review.js").Position} Position */
/** @typedef {import("./controls.js").Command} Command */

const WORST = 3;

export class Viewer {
  /**
   * @param {HTMLElement} root the element to draw in
   * @param {Review} review
   */
  constructor(root, review) {
    const asked = parseHash(location.hash);
    const seat = asked?.seat ?? Number(/^#seat\.([0-3])$/.exec(location.hash)?.[1]);
    this.root = root;
    this.seats = bySeat(review);
    this.review = this.seats.find((one) => one.seat === seat) ?? review;
    this.chosen = restore();
    this.view = this.review.seat;
    this.hideOthers = true;
    this.tab = "decision";
    /** @type {Record<string, number>} how far each tab is scrolled */
    this.scrolled = {};
    this.opening = this.review.summary ? this.errors[0] : undefined;
    /** @type {Position} */
    this.position = clamp(review.rounds, asked ?? this.opening ?? { round: 0, event: 0 });
    /** @type {DecisionList | null} */
    this.list = null;
    /** @type {number} */
    this.drawnRound = -1;
    /** @type {number} */
    this.drawnCount = 0;
    this.build();
    document.addEventListener("keydown", (event) => this.onKey(event));
    window.addEventListener("hashchange", () => this.onHash());
    root.addEventListener("pointerover", (event) => this.onPoint(/** @type {Element} */ (event.target)));
  }

  // --- position -----------------------------------------------------------------------------------------

  /** @returns {import("./review.js").Decision[]} the errors that count */
  get errors() {
    return this.review.decisions.filter((one) => isError(one, this.chosen.stop));
  }

  /** @returns {Position} the last position */
  get end() {
    return clamp(this.review.rounds, { round: Infinity, event: Infinity });
  }

  /** @param {Position} position */
  go(position) {
    this.position = clamp(this.review.rounds, { round: position.round, event: position.event });
    this.show();
    this.remember();
  }

  /** Writes the position to the URL. */
  remember() {
    const hash = toHash(this.seats.length > 1 ? { ...this.position, seat: this.review.seat } : this.position);
    if (location.hash !== hash) history.replaceState(null, "", hash);
  }

  /** @param {Position} position goes there, and shows the decision made there */
  jump(position) {
    if (decisionAt(this.review.decisions, position)) this.openTab("decision");
    this.go(position);
  }

  onHash() {
    const position = parseHash(location.hash);
    if (position?.seat !== undefined) this.chooseSeat(position.seat);
    if (position && compare(clamp(this.review.rounds, position), this.position)) this.go(position);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const command = commandOf(event);
    if (!command) return;
    event.preventDefault();
    this.run(command);
  }

  /** @param {Element} target the element pointed at; all tiles of its kind are marked on the table */
  onPoint(target) {
    const tile = /** @type {HTMLElement | null} */ (target.closest(".tile"))?.dataset.tile;
    if (this.board) markAlike(this.board, tile ?? "");
  }

  /** @param {Command} command */
  run(command) {
    const { rounds, decisions } = this.review;
    const decide = (/** @type {1 | -1} */ direction, wanted = (/** @type {any} */ _) => true) => {
      const found = byDecision(decisions, this.position, direction, wanted);
      if (found) this.jump(found);
    };
    /** @type {Record<Command, () => void>} */
    const commands = {
      first: () => this.go({ round: 0, event: 0 }),
      last: () => this.go(this.end),
      previousRound: () => this.go(byRound(rounds, this.position, -1)),
      nextRound: () => this.go(byRound(rounds, this.position, 1)),
      previousEvent: () => this.go(byEvent(rounds, this.position, -1)),
      nextEvent: () => this.go(byEvent(rounds, this.position, 1)),
      previousDecision: () => decide(-1),
      nextDecision: () => decide(1),
      nextError: () => this.toError(1),
      previousError: () => this.toError(-1),
      rotate: () => this.rotate(),
      nextSeat: () => this.nextSeat(),
      hands: () => this.toggleHands(),
      practise: () => this.practise(),
      help: () => this.help(),
    };
    commands[command]();
  }

  /** @param {1 | -1} direction goes to the next error that counts, or reports that there is none; only in reviews */
  toError(direction) {
    if (!this.review.summary) return;
    const found = byDecision(this.review.decisions, this.position, direction, (one) => isError(one, this.chosen.stop));
    if (found) this.jump(found);
    else this.line?.replaceChildren(make("span", {}, words().controls.noError(words().controls.stops[/** @type {"fine"} */ (this.chosen.stop)])));
  }

  /** @param {number} seat whose decisions to show, at the same moment of the game */
  chooseSeat(seat) {
    const found = this.seats.find((one) => one.seat === seat);
    if (!found || found === this.review) return;
    this.review = found;
    this.view = seat;
    this.list = null;
    const focused = document.activeElement?.hasAttribute("data-seat");
    this.build();
    this.remember();
    if (focused) /** @type {HTMLElement | null} */ (this.root.querySelector(`[data-seat="${seat}"]`))?.focus();
  }

  nextSeat() {
    const place = this.seats.indexOf(this.review);
    this.chooseSeat(this.seats[(place + 1) % this.seats.length].seat);
  }

  rotate() {
    this.view = (this.view + 1) % 4;
    this.show();
  }

  toggleHands() {
    this.hideOthers = !this.hideOthers;
    this.buildViews();
    this.show();
  }

  /** Shows the errors that count one by one, without the policy; does nothing where there is none. */
  practise() {
    const { game, seat, rounds, summary, thresholds } = this.review;
    const exercises = this.errors.map((decision) => ({ names: game.names, seat, round: rounds[decision.round], decision }));
    if (summary && exercises.length) new Practice(this.root, exercises, thresholds.inaccuracy, () => this.build());
  }

  help() {
    const dialog = helpDialog(this.review.summary !== null, this.seats.length > 1);
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  }

  // --- drawing ------------------------------------------------------------------------------------------

  /** Rebuilds the page: at the start, after a change of language, or with new data. */
  build() {
    const jump = (/** @type {Position} */ position) => this.jump(position);
    const run = (/** @type {Command} */ command) => this.run(command);
    this.board = make("div", { class: "board", role: "region", "aria-label": words().board });
    this.overlay = make("div", { class: "overlay" });
    this.line = make("p", { class: "caption", "aria-live": "polite" });
    this.time = make("div", { class: "time" });
    this.views = make("div", { class: "views-place" });
    this.decision = make("div", { class: "pane", id: "pane-decision", role: "tabpanel", tabindex: 0, "aria-labelledby": "tab-decision" });
    this.game = make("div", { class: "pane", id: "pane-game", role: "tabpanel", tabindex: 0, "aria-labelledby": "tab-game" }, gamePanel(this.review, jump));
    this.decisions = this.decisionsPane();
    this.root.replaceChildren(
      this.header(), this.summaryBar() ?? "",
      make(
        "main", { class: "layout" },
        make(
          "div", { class: "stage" }, roundBar(this.review, jump),
          make("div", { class: "board-place" }, this.board, this.overlay),
          make("div", { class: "steer" }, this.time, toolbar(this.chosen.stop, run)),
          make("div", { class: "under" }, this.line, this.views),
        ),
        make(
          "aside", { class: "side-panel" },
          this.seats.length > 1 ? seatSwitch(this.seats, this.review.seat, (seat) => this.chooseSeat(seat)) : null,
          this.tabs(), this.decision, this.game, this.decisions,
        ),
      ),
    );
    document.title = `${this.title} – ${this.heading()}`;
    this.buildViews();
    this.openTab(this.tab);
    this.drawnRound = -1;
    this.show();
  }

  buildViews() {
    const focused = document.activeElement?.getAttribute("data-command");
    const stop = this.review.summary ? stopSwitch(this.chosen.stop, (value) => choose(this.chosen, "stop", value, this.root, () => this.build())) : null;
    this.views?.replaceChildren(viewButtons(this.hideOthers, (command) => this.run(command), stop));
    if (focused) /** @type {HTMLElement | null} */ (this.views?.querySelector(`[data-command="${focused}"]`))?.focus();
  }

  /** @returns {string} of a game whose player's name is unknown */
  get title() {
    return words().title;
  }

  /** @returns {string} */
  heading() {
    const { game } = this.review;
    const names = game.names.map(harmless);
    return [names[this.review.seat] || words().seatNumber(this.review.seat), game.date ?? game.id].filter(Boolean).join(" · ");
  }

  header() {
    const { game } = words();
    const { game: played, seat } = this.review;
    const policy = this.review.policy.name;
    const length = game[/** @type {"hanchan"} */ (played.length)] ?? "";
    const place = played.places ? words().place(played.places[seat]) : "";
    return make(
      "header", { class: "top" },
      make(
        "div", { class: "top-title" }, make("h1", {}, played.names[seat] ? isolated(played.names[seat]) : this.title),
        make("p", { class: "quiet" }, isolated([length, played.date ?? played.id, place].filter(Boolean).map(harmless).join(" · ")), policy ? make("span", { class: "top-policy" }, ` · ${game.policy} `, isolated(policy)) : null),
      ),
      switches(this.chosen, this.root, () => this.build(), (command) => this.run(command)),
    );
  }

  /** The rating, the worst decisions and the way to practise, in reviews only. @returns {HTMLElement | null} */
  summaryBar() {
    const { summary, decisions, rounds } = this.review;
    if (!summary) return null;
    const { game: text, practice } = words();
    const worst = summary.worst.slice(0, WORST).map((index) => {
      const { round, turn, category } = decisions[index];
      const place = words().roundShort(rounds[round].round_index, rounds[round].honba);
      return make(
        "button", { type: "button", class: "plain", "data-worst": index, onclick: () => this.jump(decisions[index]) },
        make("b", { class: `strip-${category}` }, SIGNS[/** @type {"fine"} */ (category)]), ` ${place}`, make("span", { class: "wider" }, ` ${text.turn(turn)}`),
      );
    });
    return make(
      "nav", { class: "summary-bar", "aria-label": text.worst }, make("span", {}, `${text.rating} `, make("strong", {}, number(summary.rating, 1))),
      typeof summary.price === "number" ? make("span", {}, `${text.price} `, make("strong", {}, number(summary.price))) : null,
      worst.length ? make("span", { class: "quiet wider" }, text.worst) : null, ...worst,
      make("button", { type: "button", class: "plain", "data-command": "practise", "aria-keyshortcuts": "P", disabled: !this.errors.length, onclick: () => this.practise() }, practice.title, make("span", { class: "wider" }, ` (${this.errors.length})`)),
    );
  }

  /** The table of all decisions, in reviews only. @returns {HTMLElement | null} */
  decisionsPane() {
    if (!this.review.summary) return null;
    this.list ??= new DecisionList(this.review, (decision) => {
      this.jump(decision);
      this.decision?.focus({ preventScroll: true });
    });
    return make("div", { class: "pane", id: "pane-decisions", role: "tabpanel", tabindex: 0, "aria-labelledby": "tab-decisions" }, this.list.build());
  }

  tabs() {
    const { tabs } = words();
    const names = /** @type {(keyof typeof tabs)[]} */ (Object.keys(tabs)).filter((name) => name !== "decisions" || this.review.summary);
    const buttons = names.map((name) =>
      make("button", { type: "button", role: "tab", id: `tab-${name}`, "data-tab": name, "aria-controls": `pane-${name}`, onclick: () => this.openTab(name) }, tabs[name]),
    );
    return make("div", { class: "tabs", role: "tablist" }, ...buttons);
  }

  /** @param {string} name a tab, which is scrolled as it was left */
  openTab(name) {
    const side = /** @type {HTMLElement} */ (this.root.querySelector(".side-panel"));
    const alone = getComputedStyle(side).overflowY === "auto"; // else the page scrolls, and the tabs stay in sight
    const box = alone ? side : document.documentElement;
    const top = alone ? 0 : side.getBoundingClientRect().top + box.scrollTop;
    this.scrolled[this.tab] = box.scrollTop;
    this.tab = name;
    for (const button of this.root.querySelectorAll("[role=tab]")) {
      button.setAttribute("aria-selected", String(button.getAttribute("data-tab") === name));
    }
    if (this.decision) this.decision.hidden = name !== "decision";
    if (this.game) this.game.hidden = name !== "game";
    if (this.decisions) this.decisions.hidden = name !== "decisions";
    box.scrollTop = Math.max(this.scrolled[name] ?? 0, Math.min(box.scrollTop, top));
  }

  /** Draws the current position. */
  show() {
    const { round, event } = this.position;
    const current = this.review.rounds[round];
    if (!current || !this.board) return;
    const table = tableAt(current.events, event);
    layOpen(table, current.result);
    const decision = decisionAt(this.review.decisions, this.position);
    const ours = decision !== null && this.view === this.review.seat;
    const look = {
      names: this.review.game.names, view: this.view, own: this.review.seat, dealer: current.dealer,
      hideOthers: this.hideOthers, roundIndex: current.round_index,
      bars: ours ? handBars(decision) : null, chips: ours ? handChips(decision) : [],
    };
    drawBoard(this.board, table, look);
    const card = resultCard(table, current.result, look);
    this.overlay?.replaceChildren(...(card ? [card] : []));
    this.showCaption(current, look);
    this.showTime(round, event, current.events.length);
    this.showDecision(decision, look);
  }

  /** @param {import("./review.js").Round} round @param {import("./board.js").Look} look */
  showCaption(round, look) {
    const message = round.events[this.position.event];
    const hidden = this.hideOthers && message.actor !== this.view;
    const name = message.actor === undefined ? "" : this.review.game.names[message.actor];
    const text = caption(message, look, hidden);
    this.line?.replaceChildren(make("span", {}, ...withTiles(text)), name ? isolated(name, "quiet") : "");
  }

  /** @param {number} round @param {number} event @param {number} count */
  showTime(round, event, count) {
    const anew = this.drawnRound !== round || this.drawnCount !== count;
    if (anew) {
      this.time?.replaceChildren(timeline(this.review, round, (position) => this.jump(position)));
      this.drawnRound = round;
      this.drawnCount = count;
    }
    /** @type {HTMLElement | null | undefined} */ (this.time?.querySelector(".track"))?.style.setProperty("--now", String(event / Math.max(count - 1, 1)));
    for (const mark of this.time?.querySelectorAll(".mark") ?? []) {
      mark.classList.toggle("mark-here", mark.getAttribute("data-event") === String(event));
    }
    if (anew) this.showRound(round);
  }

  /** @param {number} round */
  showRound(round) {
    for (const button of /** @type {NodeListOf<HTMLElement>} */ (this.root.querySelectorAll(".rounds .round"))) {
      const here = button.dataset.round === String(round);
      if (here) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
      const bar = button.parentElement;
      if (here && bar) bar.scrollLeft = button.offsetLeft - (bar.clientWidth - button.offsetWidth) / 2;
    }
  }

  /** @param {import("./review.js").Decision | null} decision @param {import("./board.js").Look} look */
  showDecision(decision, look) {
    const all = this.review.decisions;
    const { decision: text } = words();
    const content = decision
      ? make("div", {}, decision === this.opening ? caveats(this.review) : null, decisionPanel(decision, all.indexOf(decision) + 1, all.length, look))
      : make("div", {}, caveats(this.review), make("div", { class: "nothing" }, make("p", {}, text.none), make("p", { class: "quiet keys-hint" }, text.noneHint(this.review.summary !== null))), this.partings());
    this.decision?.replaceChildren(content);
    const index = decision ? all.indexOf(decision) : -1;
    this.list?.mark(index);
    if (this.game) markCurrent(this.game, index);
  }

  /** The decisions in this round where the player and the policy differ. @returns {HTMLElement | null} */
  partings() {
    const { decisions } = this.review;
    const here = decisions.filter((one) => one.round === this.position.round && disagrees(one));
    const items = here.map((one) => worstItem(this.review, decisions.indexOf(one), false, (position) => this.jump(position)));
    if (!items.length) return null;
    return make("section", {}, make("h3", {}, words().decision.here), make("ol", { class: "worst" }, ...items));
  }
}
