/**
 * Controls for stepping through a game: rounds, buttons, timeline, switches and help.
 * @module
 */

import { draw, isolated, make } from "./dom.js";
import { GRADES, SIGNS, disagrees } from "./review.js";
import { choose } from "./settings.js";
import { tileElement } from "./tiles.js";
import { number, words } from "./words.js";

/** @typedef {import("./review.js").Review} Review */
/**
 * @typedef {"first" | "last" | "previousRound" | "nextRound" | "previousEvent" | "nextEvent" | "previousDecision"
 *   | "nextDecision" | "nextError" | "previousError" | "rotate" | "hands" | "nextSeat" | "practise" | "help"} Command
 */

/** @type {[Command, string, string][]} the buttons, their outlines on a field of 24 by 24, and their keys */
const BUTTONS = [
  ["first", "M6 5v14M20 5 9 12l11 7z", "Home"],
  ["previousRound", "M6 14l6-6 6 6M6 19l6-6 6 6", "ArrowUp"],
  ["previousDecision", "M12 5 3 12l9 7zM21 5l-9 7 9 7z", "Shift+ArrowLeft"],
  ["previousEvent", "M16 5 6 12l10 7z", "ArrowLeft"],
  ["nextEvent", "M8 5l10 7-10 7z", "ArrowRight"],
  ["nextDecision", "M3 5l9 7-9 7zM12 5l9 7-9 7z", "Shift+ArrowRight"],
  ["nextRound", "M6 5l6 6 6-6M6 10l6 6 6-6", "ArrowDown"],
  ["last", "M18 5v14M4 5l11 7-11 7z", "End"],
];

/** @type {Record<string, Command>} */
const KEYS = {
  Home: "first", End: "last", ArrowUp: "previousRound", ArrowDown: "nextRound", ArrowLeft: "previousEvent",
  ArrowRight: "nextEvent", "Shift+ArrowLeft": "previousDecision", "Shift+ArrowRight": "nextDecision",
  e: "nextError", "Shift+e": "previousError", r: "rotate", h: "hands", s: "nextSeat", p: "practise", "?": "help",
};

/**
 * The command a key asks for; null where it is none, or is meant for a field or a dialog.
 * @param {KeyboardEvent} event
 * @returns {Command | null}
 */
export function commandOf(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return null;
  const target = /** @type {HTMLElement} */ (event.target);
  if (target.closest?.("input, select, textarea, dialog[open]")) return null;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  return (event.shiftKey && KEYS[`Shift+${key}`]) || KEYS[key] || null;
}

/**
 * @param {string} least the category that the button stops at
 * @param {(command: Command) => void} run
 * @returns {HTMLElement} the bar of buttons
 */
export function toolbar(least, run) {
  const { controls } = words();
  const buttons = BUTTONS.map(([command, outline, keys]) =>
    make(
      "button",
      { type: "button", class: `tool tool-${command}`, "data-command": command, title: controls[/** @type {"first"} */ (command)], "aria-label": controls[/** @type {"first"} */ (command)], "aria-keyshortcuts": keys, onclick: () => run(command) },
      draw("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, draw("path", { d: outline, class: command.endsWith("Round") ? "outline" : "" })),
    ),
  );
  const wrong = make(
    "button",
    { type: "button", class: "tool tool-wide", "data-command": "nextError", title: controls.nextError, "aria-label": controls.nextError, "aria-keyshortcuts": "E", onclick: () => run("nextError") },
    make("b", { "aria-hidden": "true" }, stopSign(least)), make("span", { class: "tool-text" }, ` ${controls.nextError}`),
  );
  return make("div", { class: "toolbar", role: "toolbar", "aria-label": controls.toolbar }, ...buttons, wrong);
}

/** @param {string} least @returns {string} the sign of the least category to stop at; of any disagreement its own */
function stopSign(least) {
  return least === "fine" ? "≠" : SIGNS[/** @type {"mistake"} */ (least)];
}

/**
 * A button for every round, marked with the gravest decision in it.
 * @param {Review} review
 * @param {(position: import("./review.js").Position) => void} jump
 * @returns {HTMLElement}
 */
export function roundBar(review, jump) {
  const items = review.rounds.map((round, index) => {
    const made = review.decisions.filter((one) => one.round === index);
    const worst = Math.max(0, ...made.map((one) => GRADES.indexOf(/** @type {"fine"} */ (one.category))));
    const grade = GRADES[worst];
    return make(
      "button", { type: "button", class: "round", "data-round": index, title: words().round(round.round_index, round.honba), onclick: () => jump({ round: index, event: 0 }) },
      words().roundShort(round.round_index, round.honba),
      worst ? make("small", { class: `round-mark mark-${grade}`, role: "img", "aria-label": words().categories[grade] }, SIGNS[grade]) : null,
    );
  });
  return make("nav", { class: "rounds", "aria-label": words().controls.rounds }, ...items);
}

/**
 * The round as a line, with a mark for every decision that is not what the policy prefers.
 * @param {Review} review
 * @param {number} round
 * @param {(position: import("./review.js").Position) => void} jump
 * @returns {HTMLElement}
 */
export function timeline(review, round, jump) {
  const count = Math.max((review.rounds[round]?.events.length ?? 1) - 1, 1);
  const marks = review.decisions.filter((one) => one.round === round && disagrees(one)).map((one) =>
    make(
      "button",
      { type: "button", class: `mark mark-${one.category}`, "data-event": one.event, tabindex: -1, "aria-label": `${words().game.turn(one.turn)}: ${words().categories[/** @type {"fine"} */ (one.category)]}`, title: words().game.turn(one.turn), vars: { at: one.event / count }, onclick: (/** @type {Event} */ event) => { event.stopPropagation(); jump(one); } },
      SIGNS[/** @type {"fine"} */ (one.category)],
    ),
  );
  const track = make("div", { class: "track" }, make("span", { class: "track-done" }), ...marks);
  track.addEventListener("click", (event) => {
    const box = track.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    jump({ round, event: Math.round(share * count) });
  });
  return make("div", { class: "timeline", role: "group", "aria-label": words().controls.timeline }, track);
}

/**
 * The switches of the page.
 * @param {import("./settings.js").Chosen} chosen
 * @param {HTMLElement} root of the page
 * @param {() => void} build builds the page again
 * @param {((command: Command) => void) | null} [run] null where there is no table
 * @returns {HTMLElement}
 */
export function switches(chosen, root, build, run = null) {
  const { controls } = words();
  const select = (/** @type {"theme" | "language"} */ name, /** @type {Record<string, string>} */ options) =>
    make(
      "label", { class: "switch" }, make("span", { class: "hidden" }, controls[name]),
      make(
        "select", { "data-switch": name, title: controls[name], onchange: (/** @type {Event} */ event) => choose(chosen, name, /** @type {HTMLSelectElement} */ (event.target).value, root, build) },
        ...Object.entries(options).map(([value, text]) => make("option", { value: value || "system", selected: chosen[name] === value }, text)),
      ),
    );
  return make(
    "div", { class: "switches" },
    select("language", controls.languages), select("theme", controls.themes),
    run ? make("button", { type: "button", class: "plain", "data-command": "help", title: controls.help, "aria-label": controls.help, onclick: () => run("help") }, "?") : null,
  );
}

/**
 * @param {boolean} hidden whether the other hands are
 * @param {(command: Command) => void} run
 * @param {HTMLElement | null} more a further switch
 * @returns {HTMLElement} what changes the view of the table
 */
export function viewButtons(hidden, run, more) {
  const { controls } = words();
  return make(
    "div", { class: "views" },
    make("button", { type: "button", class: "plain", "data-command": "rotate", "aria-keyshortcuts": "R", onclick: () => run("rotate") }, make("span", { "aria-hidden": "true" }, "↻ "), controls.rotate),
    make("button", { type: "button", class: "plain", "data-command": "hands", "aria-keyshortcuts": "H", "aria-pressed": String(!hidden), onclick: () => run("hands") }, make("span", { "aria-hidden": "true" }, hidden ? "▯ " : "▮ "), controls.hands),
    more,
  );
}

/**
 * @param {Review[]} reviews of all seats of the game
 * @param {number} seat the one shown
 * @param {(seat: number) => void} choose
 * @returns {HTMLElement} a button for each seat, with its rating
 */
export function seatSwitch(reviews, seat, choose) {
  const { controls, game } = words();
  const buttons = reviews.map((review) => {
    const name = review.game.names[review.seat];
    return make(
      "button", { type: "button", class: "seat-choice", "data-seat": review.seat, "aria-pressed": String(review.seat === seat), onclick: () => choose(review.seat) },
      make("span", { class: "seat-name" }, name ? isolated(name) : words().seatNumber(review.seat)),
      make("small", {}, `${game.rating} ${number(review.summary?.rating, 1)}`),
    );
  });
  return make("div", { class: "seats", role: "group", "aria-label": controls.seat, "aria-keyshortcuts": "S" }, ...buttons);
}

/** @param {string} least @param {(value: string) => void} choose @returns {HTMLElement} which errors to stop at */
export function stopSwitch(least, choose) {
  const { controls } = words();
  const options = [...GRADES].reverse().map((grade) =>
    make("option", { value: grade, selected: grade === least }, `${stopSign(grade)} ${controls.stops[grade]}`),
  );
  return make(
    "label", { class: "switch switch-stop" }, make("span", { class: "hidden" }, controls.stop),
    make("select", { "data-switch": "stop", title: controls.stop, onchange: (/** @type {Event} */ event) => choose(/** @type {HTMLSelectElement} */ (event.target).value) }, ...options),
  );
}

/**
 * @param {boolean} judged whether there are verdicts to go to
 * @param {boolean} seats whether other seats are reviewed
 * @returns {HTMLDialogElement} the help
 */
export function helpDialog(judged, seats) {
  const { help, controls } = words();
  const keys = help.keys.filter(([key]) => (judged || !["E", "P"].includes(key)) && (seats || key !== "S")).flatMap(([key, text]) => [make("dt", {}, ...key.split(" ").map((one) => make("kbd", {}, one))), make("dd", {}, text)]);
  const samples = { shaded: { shaded: true }, turned: { turned: true }, gone: { gone: true } };
  const signs = help.signs.flatMap(([sign, text]) => {
    const look = samples[/** @type {"gone"} */ (sign)];
    return [make("dt", {}, look ? tileElement("7p", look) : make("b", {}, sign)), make("dd", {}, text)];
  });
  const dialog = /** @type {HTMLDialogElement} */ (make("dialog", { class: "help", "aria-label": help.title }));
  dialog.append(
    make("div", { class: "help-head" }, make("h2", {}, help.title), make("button", { type: "button", class: "plain", onclick: () => dialog.close() }, controls.close)),
    make("dl", { class: "keys keys-hint" }, ...keys), make("dl", { class: "keys signs" }, ...signs),
  );
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  return dialog;
}
