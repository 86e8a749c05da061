/**
 * The result of a round: the winners and their hands, and the score changes.
 * @module
 */

import { seatName } from "./board.js";
import { isolated, make } from "./dom.js";
import { inOrder, tileElement } from "./tiles.js";
import { number, signed, words } from "./words.js";

/** @typedef {import("./table.js").Table} Table */
/** @typedef {import("./board.js").Look} Look */

/**
 * The result of a round, shown over the table.
 * @param {import("./table.js").Table} table
 * @param {import("./review.js").Result | null} result
 * @param {Look} look
 * @returns {HTMLElement | null}
 */
export function resultCard(table, result, look) {
  if (!table.wins.length && !table.drawnRound && !(table.over && result)) return null;
  const parts = table.wins.map((win) => winPart(table, win, result, look));
  if (!table.wins.length) parts.push(drawPart(table, result));
  return make("div", { class: "result", role: "group" }, ...parts, scoreTable(table, result, look));
}

/**
 * @param {Table} table
 * @param {import("./table.js").Won} win
 * @param {import("./review.js").Result | null} result
 * @param {Look} look
 */
function winPart(table, win, result, look) {
  const { result: text } = words();
  const given = result?.wins?.find((one) => one.player === win.player) ?? null;
  const tsumo = win.from === win.player;
  const hand = table.hands[win.player];
  const heading = make(
    "h3", {}, text.win(seatName(look, win.player)), " ",
    look.names[win.player] ? isolated(look.names[win.player], "result-name") : null,
    make("span", { class: "result-how" }, tsumo ? text.tsumo : `${text.ron} · ${text.from(seatName(look, win.from))}`),
  );
  const tiles = make(
    "div", { class: "result-hand" }, ...hand.map((tile) => tileElement(tile)),
    ...table.melds[win.player].map((meld) => make("span", { class: "result-meld" }, ...shownTiles(meld))),
    make("span", { class: "result-tile" }, tileElement(win.tile, { fresh: true, marks: [words().tiles.winning] })),
  );
  return make("div", { class: "result-win" }, heading, tiles, indicators(table, win), given ? value(given, win) : null);
}

/** @param {import("./table.js").Meld} meld @returns {HTMLElement[]} */
function shownTiles(meld) {
  const all = [...meld.tiles, meld.called, meld.added].filter(Boolean);
  return inOrder(all).map((tile, index) => tileElement(tile, { back: meld.kind === "ankan" && index % 3 === 0 }));
}

/** @param {Table} table @param {import("./table.js").Won} win */
function indicators(table, win) {
  const group = (/** @type {string} */ label, /** @type {string[]} */ tiles) =>
    make("span", { class: "result-dora" }, make("small", {}, label), ...tiles.map((tile) => tileElement(tile)));
  return make(
    "div", { class: "result-indicators" }, group(words().dora, table.indicators),
    win.ura.length ? group(words().ura, win.ura) : null,
  );
}

/** @param {import("./review.js").Winner} win @param {import("./table.js").Won} won */
function value(win, won) {
  const { result: text } = words();
  const limit = text.limits[win.limit ?? 0];
  const yaku = win.yaku.map((one) =>
    make("li", {}, make("span", {}, yakuName(one)), make("span", {}, one.han ? text.han(one.han) : text.yakuman)),
  );
  const extras = [won.honba ? words().honba(won.honba) : "", won.sticks ? words().sticks(won.sticks) : ""].filter(Boolean);
  const han = win.han && win.fu !== null ? text.value(win.han, win.fu) : "";
  const source = win.value === "computed" || win.value === "unknown" ? text.sources[win.value] : "";
  return make(
    "div", { class: "result-value" }, make("ul", { class: "result-yaku" }, ...yaku),
    make("p", { class: "result-points" }, make("span", {}, [limit, (win.limit ?? 0) >= 5 ? "" : han].filter(Boolean).join(" · ")), win.points ? make("strong", {}, words().points(number(win.points))) : null),
    source ? make("p", { class: "result-extras" }, source) : null,
    extras.length ? make("p", { class: "result-extras" }, `+ ${extras.join(words().comma)}`) : null,
  );
}

/** @param {{id: number, name: string}} yaku @returns {Node} */
function yakuName(yaku) {
  const name = words().yaku[yaku.id];
  return name ? document.createTextNode(name) : isolated(yaku.name);
}

/** @param {Table} table @param {import("./review.js").Result | null} result */
function drawPart(table, result) {
  const { result: text } = words();
  const reason = result?.reason ?? table.drawnRound?.reason ?? "";
  const title = text.reasons[/** @type {"exhaustive"} */ (reason)] ?? (table.drawnRound ? text.draw : text.cut);
  return make("h3", {}, title);
}

/** @param {Table} table @param {import("./review.js").Result | null} result @param {Look} look */
function scoreTable(table, result, look) {
  const ready = table.drawnRound ? result?.tenpai : null;
  const known = result?.deltas !== null || result.kind === "cut";
  const deltas = [0, 0, 0, 0];
  for (const win of table.wins) win.deltas.forEach((delta, player) => (deltas[player] += delta));
  (table.drawnRound?.deltas ?? []).forEach((delta, player) => (deltas[player] += delta));
  const items = [0, 1, 2, 3].map((place) => {
    const player = (look.view + place) % 4;
    const sign = Math.sign(deltas[player]);
    return make(
      "li", {}, make("span", { class: "result-seat" }, seatName(look, player)),
      ready ? make("span", { class: ready[player] ? "result-ready" : "result-seat" }, ready[player] ? words().result.tenpai : words().result.noten) : null,
      make("strong", {}, number(known ? table.scores[player] : null)),
      make("span", { class: sign > 0 ? "gain" : sign < 0 ? "pain" : "even" }, signed(known ? deltas[player] : null)),
    );
  });
  return make("ul", { class: "result-scores", "aria-label": words().result.scores }, ...items);
}
