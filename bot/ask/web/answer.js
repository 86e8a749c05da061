/**
 * The answer: the table, and the panel of the decision as in a review.
 * @module
 */

import { asking } from "/web/asking.js";
import { drawBoard } from "/web/board.js";
import { decisionPanel, handBars, handChips, situation } from "/web/decision.js";
import { make } from "/web/dom.js";
import { tableAt } from "/web/table.js";
import { tileElement } from "/web/tiles.js";
import { words } from "/web/words.js";

/** @typedef {import("/web/review.js").Decision} Decision */
/**
 * @typedef {{
 *   answer: {decision: Decision | null, hand: NonNullable<Decision["hand"]>, turn: number, ukeire: {which: string[]} | null,
 *     position: {round_index: number}},
 *   player: number, knows_rivers: boolean, events: import("/web/table.js").Message[],
 * }} Told
 */

/**
 * @param {HTMLElement} place where it is shown; its content is replaced
 * @param {Told} told
 */
export function showAnswer(place, told) {
  const { answer, player, events } = told;
  const table = tableAt(events, events.length - 1);
  // what the policy prefers is done by nobody yet
  const decision = answer.decision && { ...answer.decision, done: null };
  const look = {
    names: ["", "", "", ""], view: player, own: player, dealer: table.dealer, hideOthers: true,
    roundIndex: answer.position.round_index, bars: decision && handBars(decision), chips: decision ? handChips(decision) : [],
  };
  const board = make("div", { class: "board", role: "region", "aria-label": words().board });
  const madeUp = !told.knows_rivers && table.rivers.some((river) => river.length > 0);
  place.replaceChildren(
    make("div", { class: "board-place" }, board),
    madeUp ? make("p", { class: "quiet" }, asking().unknown) : "",
    make("section", { class: "box" }, decision ? decisionPanel(decision, 1, 1, look) : waiting(answer)),
  );
  drawBoard(board, table, look);
}

/** @param {Told["answer"]} answer */
function waiting(answer) {
  const useful = answer.ukeire?.which ?? [];
  return make(
    "article", { class: "decision" }, make("p", {}, asking().waiting), situation(answer.hand),
    useful.length ? make("section", { class: "acceptance" }, make("h3", {}, words().decision.accepts), make("p", { class: "tiles" }, ...useful.map((tile) => tileElement(tile)))) : null,
  );
}
