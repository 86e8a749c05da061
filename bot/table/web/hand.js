/**
 * The person's hand on the drawn table, made playable: every tile becomes a button of one toolbar.
 * @module
 */

import { tileName } from "/web/tiles.js";
import { wording } from "/web/wording.js";

/** @typedef {import("/web/actions.js").Offered} Offered */

/**
 * The discards by place in the hand, the drawn tile last.
 * @param {HTMLElement[]} tiles the tiles of the hand
 * @param {Offered[]} discards what may be discarded
 * @returns {(Offered | null)[]} for each tile, null if it must stay
 */
function discardsOf(tiles, discards) {
  return tiles.map((tile) => {
    const face = tile.querySelector(".tile")?.getAttribute("data-tile");
    const drawn = tile.classList.contains("drawn");
    const same = discards.filter((one) => one.action.tile === face);
    return same.find((one) => Boolean(one.action.tsumogiri) === drawn) ?? same[0] ?? null;
  });
}

/**
 * Makes the hand playable, until the table is drawn again.
 * @param {HTMLElement} board the drawn table
 * @param {Offered[]} discards what may be discarded
 * @param {boolean} declaring whether this is the discard of a riichi
 * @param {(offered: Offered) => void} choose
 */
export function makePlayable(board, discards, declaring, choose) {
  const hand = /** @type {HTMLElement | null} */ (board.querySelector('.row[data-place="0"] .hand'));
  if (!hand || !discards.length) return;
  const tiles = /** @type {HTMLElement[]} */ ([...hand.querySelectorAll(".held")]);
  const choices = discardsOf(tiles, discards);
  hand.classList.add("hand-playable");
  // tiles that must stay are dimmed, and the others lit
  hand.classList.toggle("hand-lit", declaring || choices.includes(null));
  hand.setAttribute("role", "toolbar");
  hand.setAttribute("aria-label", wording().yourHand);
  tiles.forEach((tile, place) => {
    const choice = choices[place];
    const name = tileName(tile.querySelector(".tile")?.getAttribute("data-tile") ?? "?");
    tile.setAttribute("role", "button");
    tile.setAttribute("aria-label", choice ? wording().discard(name) : wording().notNow(name));
    tile.setAttribute("aria-disabled", String(!choice));
    tile.dataset.place = String(place);
    tile.tabIndex = place === tiles.length - 1 ? 0 : -1;
    tile.classList.toggle("held-open", choice !== null);
    if (choice) tile.addEventListener("click", () => choose(choice));
  });
}

/**
 * Moves the focus along the hand.
 * @param {HTMLElement} board
 * @param {1 | -1} direction
 */
export function moveFocus(board, direction) {
  const tiles = /** @type {HTMLElement[]} */ ([...board.querySelectorAll(".hand-playable .held-open")]);
  if (!tiles.length) return;
  const at = tiles.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const next = at < 0 ? (direction > 0 ? 0 : tiles.length - 1) : (at + direction + tiles.length) % tiles.length;
  focusTile(board, tiles[next]);
}

/** @param {HTMLElement} board @param {HTMLElement} tile */
function focusTile(board, tile) {
  for (const one of /** @type {NodeListOf<HTMLElement>} */ (board.querySelectorAll(".hand-playable .held"))) one.tabIndex = one === tile ? 0 : -1;
  tile.focus({ preventScroll: true });
}

/** @returns {number | null} the place of the focused tile, null if the focus is elsewhere */
export function focusedPlace() {
  const held = /** @type {HTMLElement | null} */ (document.activeElement?.closest(".hand-playable .held") ?? null);
  return held ? Number(held.dataset.place) : null;
}

/**
 * Returns the focus to the hand after the table was drawn again.
 * @param {HTMLElement} board
 * @param {number | null} place as it was
 */
export function restoreFocus(board, place) {
  if (place === null) return;
  const tiles = /** @type {HTMLElement[]} */ ([...board.querySelectorAll(".hand-playable .held")]);
  const tile = tiles[Math.min(place, tiles.length - 1)];
  if (tile) focusTile(board, tile);
  else board.focus({ preventScroll: true });
}
