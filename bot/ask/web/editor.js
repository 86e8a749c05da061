/**
 * The page on which a position is written: fields of text, a palette that writes into them, and the answer beside.
 *
 * The address holds the position at any time, so that a reload, a bookmark or a link brings it back.
 * @module
 */

import { showAnswer } from "/web/answer.js";
import { asking } from "/web/asking.js";
import { switches } from "/web/controls.js";
import { isolated, make } from "/web/dom.js";
import { MELDS, RIVERS, SEATS, addressOf, appended, positionOf, shortened, tilesOf, valuesAt } from "/web/fields.js";
import { palette } from "/web/palette.js";
import { restore } from "/web/settings.js";
import { tileElement } from "/web/tiles.js";
import { words } from "/web/words.js";

/** @typedef {import("/web/answer.js").Told} Told */
/** @typedef {HTMLInputElement | HTMLSelectElement} Field */

const TILES = ["hand", "dora", "offered", ...RIVERS, ...MELDS];
const HAND = 14;
const ROUNDS = 12;

class EditorPage {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.chosen = restore();
    this.about = /** @type {{program: string, policy: string}} */ (JSON.parse(document.getElementById("ask")?.textContent ?? "{}"));
    this.active = "hand"; // the field that the palette writes into
    this.questions = 0;
    addEventListener("hashchange", () => this.load());
    this.load();
  }

  // --- the position -------------------------------------------------------------------------------------

  /** Takes the position from the address. */
  load() {
    this.values = valuesAt(location.hash);
    /** @type {Told | null} */
    this.told = null;
    this.complaint = { error: "", fields: /** @type {string[]} */ ([]) };
    this.changed = false;
    this.answered = this.questions += 1; // whatever was asked before
    this.build();
    this.focus("hand");
    if (this.values.hand) this.ask();
  }

  /** @param {string} name @param {string} value */
  set(name, value) {
    this.values[name] = value;
    this.changed = true;
    history.replaceState(null, "", addressOf(this.values));
    this.preview(name);
    this.showStatus();
  }

  /** @param {(text: string) => string} change of the text of the field in use */
  edit(change) {
    const field = this.fields[this.active];
    field.value = change(field.value);
    this.set(this.active, field.value);
  }

  clear() {
    history.replaceState(null, "", addressOf(valuesAt("")));
    this.load();
  }

  async ask() {
    const number = (this.questions += 1);
    this.changed = false;
    this.showStatus();
    let told = { error: asking().lost, fields: [] };
    try {
      const answer = await fetch("/ask", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(positionOf(this.values)) });
      told = await answer.json();
    } catch {
      // the program has stopped, or the line is cut
    }
    if (number !== this.questions) return; // a later question is on its way
    this.answered = number;
    this.complaint = told.error ? told : { error: "", fields: [] };
    if (!told.error) this.told = /** @type {Told} */ (/** @type {unknown} */ (told));
    const [wrong] = this.showComplaint();
    if (wrong) this.fields[wrong].focus();
    this.showStatus();
    this.showAnswer();
    if (!told.error && this.place.getBoundingClientRect().top > innerHeight) this.place.scrollIntoView();
  }

  // --- drawing ------------------------------------------------------------------------------------------

  /** Builds the page: at the start, and after a change of language. */
  build() {
    const text = asking();
    /** @type {Record<string, Field>} */
    this.fields = {};
    /** @type {Record<string, HTMLElement>} */
    this.previews = {};
    const ask = make("button", { type: "submit", class: "ask-button" }, text.ask);
    const clear = make("button", { type: "button", class: "plain", "data-command": "clear", onclick: () => this.clear() }, text.clear);
    this.error = make("p", { class: "ask-error", id: "ask-error", role: "alert", hidden: true });
    this.status = make("p", { class: "quiet ask-status", role: "status" });
    const onsubmit = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.ask();
    };
    this.form = make(
      "form", { class: "ask-form box", "aria-label": text.form, onsubmit, novalidate: true },
      this.tiles("hand", text.fields.hand, text.hints.hand),
      palette((added) => this.add(added), () => this.edit(shortened)),
      make("div", { class: "ask-buttons" }, ask, clear, this.status), this.error,
      make("div", { class: "ask-pair" }, this.tiles("dora", text.fields.dora), make("div", { class: "ask-offer" }, this.tiles("offered", text.fields.offered), this.select("offered_by", [1, 2, 3].map((seat) => [String(seat), text.seats[seat]])))),
      this.facts(),
      ...SEATS.map((seat) => this.seat(seat)),
      make("p", { class: "quiet" }, text.hints.rivers, " ", text.hints.melds),
      make("label", { class: "toggle" }, this.keep("after_call", make("input", { type: "checkbox", checked: Boolean(this.values.after_call) })), make("span", {}, text.fields.after_call)),
    );
    this.place = make("div", { class: "ask-place" });
    this.root.classList.add("ask-page");
    this.root.replaceChildren(
      make(
        "header", { class: "top" },
        make("div", { class: "top-title" }, make("h1", {}, text.heading), make("p", { class: "quiet" }, isolated(`${this.about.program} · ${this.about.policy}`))),
        switches(this.chosen, this.root, () => this.build()),
      ),
      make("main", { class: "ask" }, this.form, make("section", { class: "ask-answer", "aria-label": text.answer }, this.place)),
    );
    document.title = text.title;
    for (const name of TILES) this.preview(name);
    this.choose(this.active);
    this.showComplaint();
    this.showStatus();
    this.showAnswer();
  }

  /** @param {number} seat */
  seat(seat) {
    const text = asking();
    return make(
      "fieldset", { class: "ask-seat" }, make("legend", {}, text.seats[seat]),
      this.tiles(RIVERS[seat], text.river), this.tiles(MELDS[seat], text.melds),
    );
  }

  facts() {
    const text = asking();
    const rounds = Array.from({ length: ROUNDS }, (_, index) => /** @type {[string, string]} */ ([String(index), words().round(index, 0)]));
    const winds = words().winds.map((wind, index) => /** @type {[string, string]} */ ([String(index), wind]));
    return make(
      "div", { class: "ask-facts" },
      this.select("round_index", rounds), this.select("seat_wind", winds),
      this.entry("turn", { inputmode: "numeric" }), this.entry("honba", { inputmode: "numeric" }), this.entry("sticks", { inputmode: "numeric" }),
      this.entry("scores", { placeholder: text.hints.scores }, "ask-wide"),
      this.select("length", Object.entries(text.lengths)),
    );
  }

  /** @param {string} name @param {string} label @param {string} [hint] @returns {HTMLElement} a field of tiles, and the tiles in it */
  tiles(name, label, hint) {
    this.previews[name] = make("span", { class: "tiles ask-preview", "data-preview": name });
    // where there is no mouse, the palette is the keyboard
    const keyboard = matchMedia("(hover: none)").matches && "none";
    const attributes = { inputmode: keyboard, autocapitalize: "off", onfocus: () => this.choose(name) };
    return make("div", { class: "ask-tiles" }, this.entry(name, attributes, "", label), hint ? make("p", { class: "quiet" }, hint) : null, this.previews[name]);
  }

  /** @param {string} name @param {Record<string, unknown>} attributes @param {string} [className] @param {string} [label] */
  entry(name, attributes, className = "", label = asking().fields[/** @type {"hand"} */ (name)]) {
    const input = make("input", { type: "text", autocomplete: "off", spellcheck: "false", maxlength: 300, value: this.values[name], ...attributes });
    return make("label", { class: `ask-field ${className}`.trim() }, make("span", {}, label), this.keep(name, input));
  }

  /** @param {string} name @param {[string, string][]} options */
  select(name, options) {
    const found = options.map(([value, text]) => make("option", { value, selected: value === this.values[name] }, text));
    return make("label", { class: "ask-field" }, make("span", {}, asking().fields[/** @type {"length"} */ (name)]), this.keep(name, make("select", {}, ...found)));
  }

  /** @param {string} name @param {HTMLElement} element @returns {HTMLElement} the field, which reports its changes */
  keep(name, element) {
    const field = /** @type {Field} */ (element);
    this.fields[name] = field;
    field.dataset.field = name;
    field.addEventListener("input", () => this.set(name, field.type === "checkbox" ? (/** @type {HTMLInputElement} */ (field).checked ? "true" : "") : field.value));
    return field;
  }

  /** @param {string} name the field that the palette writes into */
  choose(name) {
    this.active = name;
    for (const each of TILES) this.fields[each].classList.toggle("ask-active", each === name);
  }

  /** @param {string} name */
  focus(name) {
    this.choose(name);
    this.fields[name].focus({ preventScroll: true });
  }

  /** @param {string} added */
  add(added) {
    // one tile is on offer; another takes its place
    const replaces = this.active === "offered" && added.length === 2;
    this.edit((text) => (replaces ? added : appended(text, added)));
  }

  /** @param {string} name the field whose tiles are shown again */
  preview(name) {
    if (!(name in this.previews)) return;
    const tiles = tilesOf(this.values[name]);
    const elements = tiles.map(({ tile, marks }, place) => {
      if (!tile) return make("span", { class: "ask-gap" });
      const shown = tileElement(tile, { shaded: marks.includes("_"), turned: /[!~]/.test(marks) });
      if (name === "hand" && place === HAND - 1) shown.classList.add("ask-drawn");
      return shown;
    });
    this.previews[name].replaceChildren(...elements);
  }

  /** Shows what is wrong by the first field it concerns, and marks all of these. @returns {string[]} their names */
  showComplaint() {
    const { error, fields } = this.complaint;
    const concerns = (/** @type {string} */ name) => fields.some((field) => field === name || field.split(".")[0] === name);
    const wrong = Object.keys(this.fields).filter((name) => error && concerns(name));
    for (const [name, field] of Object.entries(this.fields)) {
      for (const [attribute, value] of [["aria-invalid", "true"], ["aria-describedby", "ask-error"]]) {
        if (wrong.includes(name)) field.setAttribute(attribute, value);
        else field.removeAttribute(attribute);
      }
    }
    this.error.textContent = error;
    this.error.hidden = !error;
    this.error.lang = error === asking().lost ? "" : "en";
    const first = wrong.length ? this.fields[wrong[0]] : null;
    const home = first ? first.closest(".ask-tiles") ?? first.closest("label") : this.form.querySelector(".ask-buttons");
    home?.after(this.error);
    return wrong;
  }

  showStatus() {
    const text = asking();
    const stale = this.changed && this.told ? text.changed : "";
    this.status.textContent = this.questions > this.answered ? text.asking : stale;
  }

  showAnswer() {
    if (this.told) showAnswer(this.place, this.told);
    else this.place.replaceChildren(make("p", { class: "box nothing" }, asking().none));
    this.place.classList.toggle("ask-stale", Boolean(this.told && this.complaint.error));
  }
}

Object.assign(globalThis, { suzakuEditor: new EditorPage(/** @type {HTMLElement} */ (document.getElementById("app"))) });
