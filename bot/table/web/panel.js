/**
 * What stands beside and over the table: the players, the switches, the keys, and the card before and after a game.
 * @module
 */

import { isolated, make } from "/web/dom.js";
import { tileElement, tileName } from "/web/tiles.js";
import { number, signed, words } from "/web/words.js";
import { wording } from "/web/wording.js";

/** @typedef {{name: string, level: string | null, own: boolean, person: boolean, here: boolean, ready: boolean}} SeatFacts */
/**
 * @typedef {{
 *   stage: "seating" | "playing" | "over", length: string, clock_name: string, ready: boolean, seats: SeatFacts[],
 *   review: {state: string, game_id: string, reason: string} | null, player: number,
 *   prompt: import("/web/actions.js").Prompt | null, clock: import("/web/clock.js").TimeLeft | null,
 *   level: string | null, levels: string[], loading: string | null, level_failed: boolean,
 *   result: number, practice: boolean, back: number, switches: Record<string, boolean>, advisable: boolean,
 *   waits: {tile: string, left: number, yaku: boolean}[], furiten: "discarded" | "riichi" | "passed" | null,
 * }} State
 */

/** @param {State} state @returns {HTMLElement} */
export function playerList(state) {
  const text = wording();
  const items = state.seats.map((seat) => {
    const kind = seat.own ? text.you : seat.person ? text.person : levelName(seat.level);
    const waits = state.stage !== "playing" && seat.person && seat.ready;
    const mark = !seat.here ? text.away : waits ? text.ready : "";
    return make(
      "li", { class: "sitter", "data-here": String(seat.here) }, isolated(seat.name, "sitter-name"),
      make("span", { class: "quiet" }, kind), mark ? make("span", { class: "sitter-mark" }, mark) : null,
    );
  });
  return make("section", { class: "side-box" }, make("h2", {}, text.players), make("ul", { class: "sitters" }, ...items));
}

/** @param {string | null} level @returns {string} what a program is, in words */
function levelName(level) {
  const text = wording();
  return level ? text.levels[/** @type {"rules"} */ (level)] : text.program;
}

/** @param {State} state @returns {HTMLElement | ""} the tiles that complete the hand, and how many are left of each */
export function waitLine(state) {
  const text = wording();
  if (!state.waits.length) return "";
  const items = state.waits.map(({ tile, left, yaku }) =>
    make("span", { class: yaku ? "wait" : "wait wait-no-yaku" }, tileElement(tile), make("span", { class: "wait-left" }, `×${left}`)),
  );
  return make("span", { class: "fact waits", role: "group", title: text.waitsHint }, text.waits, ...items);
}

/** @param {State} state @param {boolean} open whether the hand is open @returns {string} why a wait does not win, "" if all do */
export function whyNoWin({ waits, furiten }, open) {
  const text = wording();
  const barred = waits.filter((wait) => !wait.yaku);
  const all = barred.length === waits.length;
  const names = all ? "" : barred.map((wait) => tileName(wait.tile)).join(words().comma);
  const drawn = furiten && !(all && open) ? text.whyFuriten[furiten] : ""; // what does not win at all is no comfort
  return [drawn, barred.length ? text.whyNoYaku(names, open) : ""].filter(Boolean).join(" ");
}

/**
 * @param {Record<string, boolean>} switches by name
 * @param {boolean} advisable whether there is advice
 * @param {(name: string, on: boolean) => void} set
 * @returns {HTMLElement}
 */
export function switchBox(switches, advisable, set) {
  const text = wording();
  const names = Object.keys(text.switches).filter((name) => name !== "advice" || advisable);
  const boxes = names.map((name) =>
    make(
      "label", { class: "toggle" },
      make("input", { type: "checkbox", role: "switch", "data-switch": name, checked: switches[name], onchange: (/** @type {Event} */ event) => set(name, /** @type {HTMLInputElement} */ (event.target).checked) }),
      make("span", {}, text.switches[/** @type {"advice"} */ (name)]),
    ),
  );
  return make("section", { class: "side-box" }, make("h2", {}, text.settings), make("div", { class: "toggles" }, ...boxes));
}

/** @returns {HTMLElement} */
export function keyBox() {
  const text = wording();
  const rows = text.keyList.flatMap(([keys, meaning]) => [make("dt", {}, ...keys.split(" ").map((key) => make("kbd", {}, key))), make("dd", {}, meaning)]);
  return make("details", { class: "side-box key-box" }, make("summary", {}, text.keys), make("dl", { class: "keys" }, ...rows));
}

/**
 * @param {State} state
 * @param {() => void} sit
 * @param {(level: string) => void} setLevel
 * @returns {HTMLElement} the card before the first game
 */
export function seatingCard(state, sit, setLevel) {
  const text = wording();
  return make(
    "div", { class: "sheet", role: "group", "aria-label": text.seating }, make("h2", {}, text.seating),
    make("p", {}, [text.lengths[/** @type {"hanchan"} */ (state.length)], text.clocks[/** @type {"none"} */ (state.clock_name)]].join(" · ")),
    playerList(state), levelBox(state, setLevel), sitButton(state, text.sit, sit),
  );
}

/**
 * @param {State} state
 * @param {(level: string) => void} setLevel
 * @returns {HTMLElement} the levels of the programs to choose from, if they have one, and their measured strength
 */
function levelBox(state, setLevel) {
  const text = wording();
  const shown = state.loading ?? state.level;
  const known = /** @type {Record<string, string>} */ (text.strength);
  const levels = shown ? [shown] : [...new Set(state.seats.map((seat) => seat.level ?? ""))];
  const choices = state.levels.map((level) =>
    make(
      "label", { class: "toggle" },
      make("input", { type: "radio", name: "level", "data-level": level, checked: level === shown, disabled: state.ready, onchange: () => setLevel(level) }),
      make("span", {}, levelName(level)),
    ),
  );
  const sentences = levels.map((level) => known[level]).filter(Boolean);
  const news = state.loading ? [text.loading] : state.level_failed ? [text.notLoaded] : [];
  return make(
    "fieldset", { class: "levels", hidden: !choices.length && !sentences.length }, make("legend", {}, text.opponents), ...choices,
    ...sentences.map((sentence) => make("p", { class: "quiet" }, sentence)), ...news.map((sentence) => make("p", { role: "status" }, sentence)),
  );
}

/**
 * @param {State} state
 * @param {import("/web/review.js").Review} review the game
 * @param {() => void} sit
 * @param {(level: string) => void} setLevel
 * @param {string} seatQuery the part of an address that names the seat
 * @returns {HTMLElement} the card after a game
 */
export function overCard(state, review, sit, setLevel, seatQuery) {
  const text = wording();
  const { names, places, scores } = review.game;
  const { results } = /** @type {{results?: number[]}} */ (review.game);
  const order = [0, 1, 2, 3].sort((one, other) => (places?.[one] ?? 0) - (places?.[other] ?? 0));
  const rows = order.map((player) =>
    make(
      "tr", { class: player === review.seat ? "own" : "" }, make("td", {}, words().place(places?.[player] ?? 0)),
      make("th", { scope: "row" }, isolated(names[player])), make("td", { class: "num" }, number(scores?.[player])),
      make("td", { class: "num" }, signed(results?.[player], 1)),
    ),
  );
  const heads = [text.place, text.name].map((head) => make("th", { scope: "col" }, head));
  const figures = [text.points, text.result].map((head) => make("th", { scope: "col", class: "num" }, head));
  return make(
    "div", { class: "sheet", role: "group", "aria-label": text.over }, make("h2", {}, text.over),
    make("table", { class: "standings" }, make("thead", {}, make("tr", {}, ...heads, ...figures)), make("tbody", {}, ...rows)),
    reviewLine(state, seatQuery), levelBox(state, setLevel), sitButton(state, text.again, sit),
  );
}

/** @param {State} state @param {string} seatQuery */
function reviewLine(state, seatQuery) {
  const text = wording();
  const { review } = state;
  if (!review || review.state === "making") return make("p", { class: "quiet", role: "status" }, text.review.making);
  if (review.state === "failed") return make("p", { role: "status" }, text.saved, " ", text.review.failed(review.reason));
  const address = `/review/${encodeURIComponent(review.game_id)}?${seatQuery}`;
  return make("p", {}, text.saved, " ", make("a", { class: "review-link", href: address }, text.review.ready));
}

/** @param {State} state @param {string} label @param {() => void} sit */
function sitButton(state, label, sit) {
  const missing = state.seats.filter((seat) => seat.person && !seat.ready).map((seat) => seat.name);
  if (state.ready) return make("p", { role: "status" }, wording().waitingFor(missing.join(words().comma)));
  return make("button", { type: "button", class: "act act-win", "data-action": "sit", disabled: Boolean(state.loading), onclick: sit }, label);
}
