/**
 * Hands that the opponents may hold, by model side by side: the reader chooses an opponent, or only ready hands.
 * @module
 */

import { make } from "./dom.js";
import { tileElement } from "./tiles.js";
import { words } from "./words.js";

/** @typedef {import("./review.js").Candidates} Candidates */

/** What the reader chose last; it stays while decisions change. */
const chosen = { opponent: 0, ready: false };

/**
 * @param {Candidates[]} found by model
 * @param {string[]} names of the opponents, from shimocha on
 * @returns {HTMLElement | null}
 */
export function candidatesPanel(found, names) {
  if (!found.length) return null;
  const { decision: text } = words();
  const lists = make("div", { class: "candidates-models" });
  const show = () => lists.replaceChildren(...found.map((each) => modelColumn(each)));
  const seats = names.map((name, place) =>
    make(
      "button", {
        type: "button", "aria-pressed": String(place === chosen.opponent),
        onclick: () => {
          chosen.opponent = place;
          seats.forEach((button, at) => button.setAttribute("aria-pressed", String(at === place)));
          show();
        },
      }, name,
    ),
  );
  const ready = /** @type {HTMLInputElement} */ (make("input", { type: "checkbox" }));
  ready.checked = chosen.ready;
  ready.addEventListener("change", () => {
    chosen.ready = ready.checked;
    show();
  });
  show();
  return make(
    "section", { class: "candidates" }, make("h3", {}, text.candidates),
    make("div", { class: "candidates-choice" }, make("div", { role: "group", "aria-label": text.whose }, ...seats), make("label", {}, ready, text.onlyReady)),
    lists,
  );
}

/** @param {Candidates} each */
function modelColumn(each) {
  const { decision: text } = words();
  const hands = each.hands[chosen.opponent];
  const shown = hands.filter((hand) => !chosen.ready || hand.shanten === 0);
  const ready = hands.filter((hand) => hand.shanten === 0).length;
  return make(
    "div", { "data-model": each.model },
    make("h4", {}, text.models[each.model], make("small", { class: "quiet" }, text.readyOf(ready, hands.length))),
    shown.length
      ? make("ol", {}, ...shown.map((hand) => make("li", {}, make("span", { class: "candidate-shanten", title: text.shanten }, String(hand.shanten)), make("span", { class: "tiles" }, ...hand.tiles.split(" ").map((tile) => tileElement(tile))))))
      : make("p", { class: "quiet" }, text.noneReady),
  );
}
