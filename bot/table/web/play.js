/**
 * The table at which a person plays: the viewer's table, with the actions that the program offers.
 *
 * The page knows what the seat sees. It answers with the number of a prompt and the index of one of its actions;
 * what is legal, and what time it is, the program decides.
 * @module
 */

import { actionButtons, offered, pressKey } from "/web/actions.js";
import { caption, drawBoard, markAlike } from "/web/board.js";
import { Clock } from "/web/clock.js";
import { switches as pageSwitches } from "/web/controls.js";
import { handBars, reasonLine } from "/web/decision.js";
import { make } from "/web/dom.js";
import { focusedPlace, makePlayable, moveFocus, restoreFocus } from "/web/hand.js";
import { Line, showWire } from "/web/line.js";
import { keyBox, overCard, playerList, seatingCard, switchBox, waitLine, whyNoWin } from "/web/panel.js";
import { resultCard } from "/web/result.js";
import { grow, nothing } from "/web/running.js";
import { restore } from "/web/settings.js";
import { layOpen, tableAt } from "/web/table.js";
import { withTiles } from "/web/tiles.js";
import { words } from "/web/words.js";
import { wording } from "/web/wording.js";

/** @typedef {import("/web/actions.js").Offered} Offered */
/** @typedef {import("/web/panel.js").State} State */

const SPOKEN = 6;
const TONE = { seconds: 0.12, volume: 0.08 };
const PROMPT_HZ = 660;
const SHOUT_MS = 1100;
/** A second click on what ended the round is not one on the button that has taken its place. */
const SETTLE_MS = 500;
/** The page waits no longer than this for a pointer to be released. */
const PRESS_MS = 1000;
/** What others do that is announced at their seat, and the sound of it. @type {Record<string, number>} */
const SHOUTS = { chi: 440, pon: 440, daiminkan: 440, ankan: 440, kakan: 440, reach: 990 };
/** Events after which somebody must act. */
const ACTS = ["tsumo", "chi", "pon", "reach"];

/** @type {AudioContext | null} */
let audio = null;

/** Plays a short tone. @param {number} hz */
function chime(hz) {
  audio ??= new AudioContext();
  const tone = audio.createOscillator();
  const volume = audio.createGain();
  tone.frequency.value = hz;
  volume.gain.setValueAtTime(TONE.volume, audio.currentTime);
  volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + TONE.seconds);
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + TONE.seconds);
}

/** @param {Element} target @param {string} key @returns {boolean} whether the element with the focus needs the key itself */
function ownKey(target, key) {
  if (target.matches("select")) return true;
  if (target.matches("[type=radio]") && key.startsWith("Arrow")) return true;
  return target.matches("input, summary, a") && (key === " " || key === "Enter");
}

class TablePage {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.chosen = restore();
    this.seatQuery = `seat=${encodeURIComponent(new URLSearchParams(location.search).get("seat") ?? "")}`;
    this.game = nothing();
    /** @type {State | null} */
    this.state = null;
    /** @type {import("/web/line.js").Wire} */
    this.wire = { state: "opening", seconds: 0 };
    this.clock = new Clock();
    this.sound = false;
    this.due = 0;
    this.held = 0;
    this.answered = 0;
    /** @type {Record<string, boolean>} switches as set here, until the table confirms them */
    this.wanted = {};
    this.heardPrompt = 0;
    this.told = "";
    this.heard = { rounds: 0, events: Infinity }; // of which others' calls have been announced
    this.onwardFrom = Infinity; // when the button to go on works
    this.standings = false; // whether the person has gone on from the last result
    /** @type {import("/web/review.js").Action | null | undefined} the discard of a riichi; undefined: none is declared */
    this.riichi = undefined;
    this.build();
    document.addEventListener("keydown", (event) => this.onKey(event));
    document.addEventListener("pointerdown", () => this.hold(PRESS_MS));
    for (const name of ["pointerup", "pointercancel"]) document.addEventListener(name, () => this.hold(0));
    this.line = new Line((messages) => this.hear(messages), (wire) => this.onWire(wire), `&${this.seatQuery}`);
  }

  // --- messages -----------------------------------------------------------------------------------------

  /** @param {any[]} messages */
  hear(messages) {
    for (const message of messages) {
      if (message.type === "session") this.take(message);
      else this.game = grow(this.game, message);
    }
    this.due ||= requestAnimationFrame(() => this.draw());
  }

  /** @param {State} state */
  take(state) {
    this.state = state;
    this.clock.set(state.clock);
    this.wanted = Object.fromEntries(Object.entries(this.wanted).filter(([name, on]) => state.switches[name] !== on));
    const { prompt } = state;
    if (prompt && prompt.number !== this.heardPrompt) {
      this.heardPrompt = prompt.number;
      if (this.sound) chime(PROMPT_HZ);
      // unless the clock was faster than the declaration
      const declared = this.game.rounds.at(-1)?.events.at(-1)?.type === "reach";
      const discard = declared && this.riichi && offered(prompt, (kind) => kind === "discard").find((one) => one.action.tile === this.riichi?.tile && one.action.tsumogiri === this.riichi?.tsumogiri);
      this.riichi = undefined;
      if (discard) this.answer(discard);
    }
  }

  /** @param {import("/web/line.js").Wire} wire */
  onWire(wire) {
    this.wire = wire;
    if (wire.state === "open") { // an answer may have been lost with the connection
      this.answered = 0;
      this.wanted = {};
    }
    this.showStatus();
  }

  // --- answers ------------------------------------------------------------------------------------------

  get prompt() {
    const prompt = this.state?.prompt ?? null;
    return prompt && prompt.number !== this.answered ? prompt : null;
  }

  /** @param {Offered} one */
  answer(one) {
    const number = this.state?.prompt?.number;
    if (number === undefined || number === this.answered) return;
    this.answered = number;
    this.line?.send({ type: "choose", prompt: number, choice: one.choice });
    this.draw();
  }

  /** @param {Offered} one a button was pressed */
  press(one) {
    if (one.action.kind !== "riichi") this.answer(one);
    else {
      this.riichi = this.riichi === null ? undefined : null;
      this.draw();
    }
  }

  /** @param {Offered} one a tile was chosen */
  discard(one) {
    if (this.riichi !== null) {
      this.answer(one);
      return;
    }
    const riichi = offered(this.prompt, (kind) => kind === "riichi")[0];
    this.riichi = one.action; // to be discarded as soon as the riichi is declared
    if (riichi) this.answer(riichi);
  }

  goOn() {
    if (performance.now() < this.onwardFrom) return;
    if (this.state?.result) this.line?.send({ type: "go_on", result: this.state.result });
    else if (this.state?.stage === "over") {
      this.standings = true;
      this.draw();
    }
  }

  takeBack() {
    if (this.state?.back) this.line?.send({ type: "take_back", prompt: this.state.back });
  }

  sit() {
    this.standings = false;
    this.line?.send({ type: "sit" });
  }

  /** @param {string} name @param {boolean} on */
  set(name, on) {
    if (name === "sound") this.sound = on;
    else {
      this.wanted[name] = on;
      this.line?.send({ type: "switch", name, on });
    }
    if (name === "sound" && on) chime(PROMPT_HZ);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const target = /** @type {Element} */ (event.target);
    if (event.ctrlKey || event.altKey || event.metaKey || ownKey(target, event.key)) return;
    if (this.pressed(event.key, target)) event.preventDefault();
  }

  /** @param {string} key @param {Element} target @returns {boolean} whether the key did something */
  pressed(key, target) {
    const tile = /** @type {HTMLElement | null} */ (target.closest(".held-open"));
    if (key === "ArrowLeft" || key === "ArrowRight") moveFocus(this.board, key === "ArrowRight" ? 1 : -1);
    else if ((key === "Enter" || key === " ") && tile) tile.click();
    else if ((key === "Enter" || key === " ") && target.matches("button")) return false;
    else if (key === "Escape" && this.riichi === null) this.press({ choice: -1, action: { kind: "riichi" } });
    else if (key.toLowerCase() === "d") /** @type {HTMLElement | null} */ (this.board.querySelector(".held-open.drawn"))?.click();
    else if (key.toLowerCase() === "u") this.takeBack();
    else if (key === " ") this.goOn();
    else return pressKey(this.bar, key);
    return true;
  }

  // --- drawing ------------------------------------------------------------------------------------------

  /** Builds the page: at the start, and after a change of language. */
  build() {
    this.board = make("div", { class: "board", role: "region", tabindex: -1, "aria-label": words().board });
    const mark = (/** @type {Event} */ { target }) => markAlike(/** @type {HTMLElement} */ (this.board), /** @type {HTMLElement} */ (target).closest(".hand-playable .held")?.querySelector(".tile")?.getAttribute("data-tile") ?? "");
    for (const event of ["pointerover", "focusin"]) this.board.addEventListener(event, mark);
    this.overlay = make("div", { class: "overlay" });
    this.shouts = make("div", { class: "shouts", "aria-hidden": "true" });
    this.bar = make("div", { class: "act-bar", role: "group", "aria-label": wording().actions });
    this.facts = make("div", { class: "play-facts" });
    this.undo = make("button", { type: "button", class: "plain", "data-command": "take_back", "aria-keyshortcuts": "U", hidden: true, onclick: () => this.takeBack() }, wording().takeBack);
    this.reason = make("div", { class: "why", "aria-live": "polite" });
    this.deck = make("div", { class: "deck" }, make("div", { class: "deck-line" }, this.clock.element, this.facts, this.undo), this.bar);
    this.spoken = make("p", { class: "caption play-caption", "aria-live": "polite" });
    this.why = make("p", { class: "why-no-win", role: "status" });
    // what a pointer has set gives the keys back to play
    this.side = make("div", { class: "play-side", onclick: (/** @type {MouseEvent} */ event) => event.detail && /** @type {HTMLElement} */ (document.activeElement).blur() });
    this.status = make("div", { class: "live-status", role: "status" });
    this.root.classList.add("play-page");
    this.root.replaceChildren(
      make("header", { class: "top" }, make("div", { class: "top-title" }, make("h1", {}, wording().heading)), this.status, pageSwitches(this.chosen, this.root, () => this.build())),
      make(
        "main", { class: "play" },
        make("div", { class: "play-main" }, make("div", { class: "board-place" }, this.board, this.shouts, this.overlay, this.deck, this.reason)),
        make("aside", { class: "play-aside" }, this.why, this.spoken, this.side),
      ),
    );
    document.title = wording().title;
    this.drawnSide = "";
    this.drawnCard = "";
    this.showStatus();
    this.draw();
  }

  showStatus() {
    if (this.status) showWire(this.status, this.wire, "", []);
  }

  /** Draws later: a press on what is replaced before the release would be lost. @param {number} ms */
  hold(ms) {
    window.clearTimeout(this.held);
    this.held = window.setTimeout(() => {
      this.held = 0;
      this.draw();
    }, ms);
  }

  draw() {
    if (this.held) {
      this.due ||= this.held;
      return;
    }
    this.due = 0;
    const { state } = this;
    if (!state) return;
    const place = focusedPlace();
    const round = this.game.rounds.at(-1);
    if (round) this.drawTable(state, round);
    else {
      this.board.replaceChildren();
      this.drawCard(state, null);
    }
    restoreFocus(this.board, place);
    this.board.parentElement?.classList.toggle("advised", state.switches.advice);
    this.drawBar(state, Boolean(round?.result));
    this.drawSide(state);
  }

  /** @param {State} state @param {import("/web/review.js").Round} round */
  drawTable(state, round) {
    const table = tableAt(round.events, round.events.length - 1);
    layOpen(table, round.result);
    const look = this.look(state, round);
    const { prompt } = this;
    const declaring = this.riichi === null && prompt !== null;
    drawBoard(this.board, table, look);
    this.board.classList.toggle("thinking", ACTS.includes(round.events.at(-1)?.type ?? "") && !round.result);
    this.announce(round, look);
    const allowed = (/** @type {Offered} */ one) => !declaring || prompt?.riichi.includes(one.choice);
    const discards = offered(prompt, (kind) => kind === "discard").filter(allowed);
    makePlayable(this.board, discards, declaring, (one) => this.discard(one));
    this.drawCard(state, resultCard(table, round.result, look));
    this.drawReason(state, look);
    this.speak(round, look, declaring);
    const why = round.result ? "" : whyNoWin(state, table.melds[look.own].some((meld) => meld.kind !== "ankan"));
    if (this.why.textContent !== why) this.why.textContent = why;
    this.facts.replaceChildren(
      round.result ? "" : waitLine(state), state.furiten ? make("strong", { class: "fact furiten", title: why }, wording().furiten) : "",
      declaring ? make("strong", { class: "fact" }, wording().choose) : "",
    );
  }

  /** Shows why the policy would do it; a sentence that has not changed is not read out again. @param {State} state @param {import("/web/board.js").Look} look */
  drawReason(state, look) {
    const advice = this.advice(state);
    const line = advice && reasonLine(advice, look);
    const old = this.reason.firstChild;
    if (line ? !line.isEqualNode(old) : old) this.reason.replaceChildren(...(line ? [line] : []));
  }

  /**
   * Shows the latest call or riichi of another player at their seat, for a second, if it has not been shown.
   * @param {import("/web/review.js").Round} round
   * @param {import("/web/board.js").Look} look
   */
  announce(round, look) {
    const from = this.heard.rounds === this.game.rounds.length ? this.heard.events : this.heard.rounds ? 0 : Infinity;
    this.heard = { rounds: this.game.rounds.length, events: round.events.length };
    const event = round.events.slice(from).findLast(({ type, actor }) => SHOUTS[type] && actor !== look.own);
    if (!event) return;
    if (this.sound) chime(SHOUTS[event.type]);
    const kind = /** @type {"pon"} */ (event.type === "reach" ? "riichi" : event.type);
    const shout = make("strong", { class: "shout", "data-place": ((event.actor ?? 0) - look.own + 4) % 4 }, words().actions[kind]);
    this.shouts.replaceChildren(shout);
    window.setTimeout(() => shout.remove(), SHOUT_MS);
  }

  /** @param {State} state @param {import("/web/review.js").Round} round @returns {import("/web/board.js").Look} */
  look(state, round) {
    const { seat } = this.game;
    const made = this.advice(state);
    const declared = made && { ...made, options: made.options.filter(({ action }) => action.kind === "riichi") };
    const advice = this.riichi === null ? declared : made;
    return {
      names: this.game.game.names, view: seat, own: seat, dealer: round.dealer, hideOthers: true,
      roundIndex: round.round_index, bars: advice ? handBars(advice) : null, chips: [],
    };
  }

  /** @param {State} state @returns {import("/web/review.js").Decision | null} what the policy would do now */
  advice(state) {
    const made = this.game.decisions.at(-1);
    const { rounds } = this.game;
    const here = made && made.round === rounds.length - 1 && made.event === (rounds.at(-1)?.events.length ?? 0) - 1;
    return here && state.switches.advice && this.prompt ? made : null;
  }

  /**
   * Shows the card over the table: before a game, after a round, after the game. One that has not changed stays, with
   * its focus and its scrolling.
   * @param {State} state
   * @param {HTMLElement | null} result the card of a round
   */
  drawCard(state, result) {
    const { stage, seats, ready, review } = state;
    const { places } = this.game.game;
    const over = stage === "over" && places && (this.standings || !result);
    const shown = stage === "seating" ? "seating" : over ? "over" : result ? "result" : "";
    const { level, loading, level_failed: failed } = state;
    const facts = shown === "result" ? this.game.rounds.at(-1)?.result : [seats, ready, review, level, loading, failed];
    const now = shown && JSON.stringify([words().code, shown, this.game.rounds.length, facts]);
    if (now === this.drawnCard) return;
    this.drawnCard = now;
    const sit = () => this.sit();
    const setLevel = (/** @type {string} */ name) => this.line?.send({ type: "level", level: name });
    const card = { "": null, seating: () => seatingCard(state, sit, setLevel), over: () => overCard(state, this.game, sit, setLevel, this.seatQuery), result: () => result }[shown]?.();
    const focused = this.overlay.contains(document.activeElement);
    const choosing = document.activeElement?.hasAttribute("data-level");
    this.overlay.replaceChildren(...(card ? [card] : []));
    if (focused) /** @type {HTMLElement | null} */ (this.overlay.querySelector(choosing ? "[data-level]:checked" : "button, a") ?? this.board)?.focus();
  }

  /** @param {State} state @param {boolean} ended whether the round has a result */
  drawBar(state, ended) {
    const text = wording();
    const focused = document.activeElement?.getAttribute("data-choice");
    const buttons = actionButtons(this.prompt, this.riichi === null, this.advice(state), (one) => this.press(one));
    const onward = state.result ? text.goOn : state.stage === "over" && ended && !this.standings ? text.standings : "";
    this.onwardFrom = onward ? Math.min(this.onwardFrom, performance.now() + SETTLE_MS) : Infinity;
    if (onward) buttons.push(make("button", { type: "button", class: "act act-win", "data-action": "go_on", "aria-keyshortcuts": "Space", onclick: () => this.goOn() }, onward));
    else if (ended && state.stage === "playing") buttons.push(make("span", { class: "quiet" }, text.others));
    this.bar.replaceChildren(...buttons);
    this.undo.hidden = !state.practice || state.stage !== "playing";
    this.undo.toggleAttribute("disabled", !state.back);
    if (focused) /** @type {HTMLElement | null} */ (this.bar.querySelector(`[data-choice="${focused}"]`))?.focus();
  }

  /** Rebuilds the side only if something in it has changed, so that it keeps the focus. @param {State} state */
  drawSide(state) {
    const { seats, advisable, stage } = state;
    const switches = { ...state.switches, ...this.wanted };
    const now = JSON.stringify([seats, switches, advisable, stage, this.sound]);
    if (now === this.drawnSide) return;
    this.drawnSide = now;
    const focused = document.activeElement?.getAttribute("data-switch");
    const open = this.side.querySelector("details")?.open ?? false;
    const keys = /** @type {HTMLDetailsElement} */ (keyBox());
    keys.open = open;
    this.side.replaceChildren(
      switchBox({ ...switches, sound: this.sound }, advisable, (name, on) => this.set(name, on)),
      ...(stage === "playing" ? [playerList(state)] : []), keys,
    );
    if (focused) /** @type {HTMLElement | null} */ (this.side.querySelector(`[data-switch="${focused}"]`))?.focus();
  }

  /**
   * Says what has happened since the person was last asked.
   * @param {import("/web/review.js").Round} round
   * @param {import("/web/board.js").Look} look
   * @param {boolean} declaring
   */
  speak(round, look, declaring) {
    const own = (/** @type {any} */ event) => event.actor === look.own;
    const last = round.events.findLastIndex((event, place) => own(event) && event.type === "dahai" && place < round.events.length - 1);
    const news = round.events.slice(Math.max(last + 1, round.events.length - SPOKEN)).filter((event) => event.type !== "tsumo" || own(event));
    const texts = news.map((event) => caption(event, look, false)).filter(Boolean);
    const { prompt } = this;
    if (declaring) texts.push(wording().choose);
    else if (prompt) {
      const asked = ["ron", "pass"].find((kind) => prompt.actions.some((one) => one.kind === kind));
      texts.push(asked ? wording().yourCall[/** @type {"ron" | "pass"} */ (asked)] : wording().yourTurn);
    }
    const told = wording().sentences(texts);
    if (told === this.told) return;
    this.told = told;
    this.spoken.replaceChildren(make("span", {}, ...withTiles(told)));
  }
}

const root = /** @type {HTMLElement} */ (document.getElementById("app"));
Object.assign(globalThis, { suzakuTable: new TablePage(root) });
