/**
 * The table as the page draws it: four hands, rivers and melds around the centre.
 * @module
 */

import { isolated, make } from "./dom.js";
import { alike } from "./table.js";
import { inOrder, isTile, tileElement } from "./tiles.js";
import { number, words } from "./words.js";

/** @typedef {import("./table.js").Table} Table */
/**
 * @typedef {{
 *   names: string[], view: number, own: number, dealer: number, hideOthers: boolean, roundIndex: number,
 *   bars: Map<string, HTMLElement> | null, chips: HTMLElement[],
 * }} Look `view` is the player who sits at the bottom, `own` the reviewed one; `bars` stand over the tiles of
 *   `view`, by tile
 */

const INDICATORS = 5;
const HAND = 13;

/**
 * Draws a table.
 * @param {HTMLElement} board the element to draw in; its content is replaced
 * @param {Table} table
 * @param {Look} look
 */
export function drawBoard(board, table, look) {
  const felt = make("div", { class: "felt" });
  for (const player of [0, 1, 2, 3]) felt.append(...seat(table, look, player));
  felt.append(centre(table, look));
  if (look.chips.length) felt.append(make("div", { class: look.bars?.size ? "chips" : "chips chips-wide" }, ...look.chips));
  board.replaceChildren(felt);
  fit(felt);
}

/** @param {number} player @param {number} view @returns {number} 0 bottom, 1 right, 2 across, 3 left */
function placeOf(player, view) {
  return (player - view + 4) % 4;
}

/** @param {Table} table @param {Look} look @param {number} player @returns {HTMLElement[]} */
function seat(table, look, player) {
  const place = placeOf(player, look.view);
  const concealed = hand(table, look, player, place);
  const shown = melds(table, look, player);
  const attributes = { "data-place": place, "data-player": player };
  return [
    make("section", { class: "seat", ...attributes }, river(table, look, player), stick(table, player)),
    make("section", { class: "row", ...attributes }, make("div", { class: "line" }, concealed, shown)),
    plate(table, look, player, place),
  ];
}

/** @param {Table} table @param {Look} look @param {number} player @param {number} place @returns {HTMLElement} */
function hand(table, look, player, place) {
  const back = place !== 0 && look.hideOthers && !table.shown[player];
  const drawn = table.drawn?.player === player ? table.drawn.tile : null;
  const space = HAND - 3 * table.melds[player].length;
  const items = table.hands[player].map((tile) => held(tile, back, place, look, false));
  if (drawn !== null) items.push(held(drawn, back, place, look, true));
  return make(
    "ul",
    { class: "hand", "data-zone": "hand", vars: { room: space + 1.3, half: Math.ceil((space + 1) / 2) }, "aria-label": words().hand(seatName(look, player)) },
    ...items,
  );
}

/**
 * @param {string} tile
 * @param {boolean} back
 * @param {number} place
 * @param {Look} look
 * @param {boolean} drawn
 * @returns {HTMLElement}
 */
function held(tile, back, place, look, drawn) {
  const bar = place === 0 && look.bars ? look.bars.get(tile)?.cloneNode(true) : null;
  const marks = drawn ? [words().tiles.drawn] : [];
  return make("li", { class: drawn ? "held drawn" : "held" }, bar, tileElement(tile, { back, marks }));
}

/** @param {Table} table @param {Look} look @param {number} player @returns {HTMLElement} */
function river(table, look, player) {
  const { tiles } = words();
  const thrown = table.rivers[player].map((one, index) => {
    const last = table.last?.kind === "river" && table.last.player === player && index === table.rivers[player].length - 1;
    const marks = [];
    if (one.tsumogiri) marks.push(tiles.tsumogiri);
    if (one.riichi) marks.push(tiles.riichi);
    if (one.calledBy >= 0) marks.push(tiles.called(seatName(look, one.calledBy)));
    const element = tileElement(one.tile, {
      turned: one.riichi, shaded: one.tsumogiri, gone: one.calledBy >= 0, fresh: last, marks,
    });
    if (one.calledBy >= 0) element.dataset.caller = String(placeOf(one.calledBy, player));
    return make("li", { class: one.riichi ? "thrown thrown-turned" : "thrown" }, element);
  });
  const rows = [];
  for (let start = 0; start < thrown.length; start += 6) {
    const end = start >= 18 ? thrown.length : start + 6;
    rows.push(make("ul", { class: "river-row", role: "presentation" }, ...thrown.slice(start, end)));
    if (end === thrown.length) break;
  }
  return make(
    "div", { class: "river", role: "list", "data-zone": "river", "aria-label": words().river(seatName(look, player)) },
    ...rows,
  );
}

/** @param {Table} table @param {number} player @returns {HTMLElement | null} */
function stick(table, player) {
  if (table.riichi[player] !== 2) return null;
  return make("span", { class: "stick", role: "img", "aria-label": words().inRiichi });
}

/** @param {Table} table @param {Look} look @param {number} player @returns {HTMLElement | null} */
function melds(table, look, player) {
  const all = table.melds[player];
  if (!all.length) return null;
  const items = [...all].reverse().map((meld) => meldElement(meld, look, player));
  return make("ul", { class: "melds", "data-zone": "melds", "aria-label": words().melds(seatName(look, player)) }, ...items);
}

/**
 * A meld as on the table: the called tile is turned, on the side of the player it came from.
 * @param {import("./table.js").Meld} meld
 * @param {Look} look
 * @param {number} player
 * @returns {HTMLElement}
 */
function meldElement(meld, look, player) {
  const label = `${words().actions[/** @type {"pon"} */ (meld.kind)]}`;
  const attributes = { class: `meld meld-${meld.kind}`, "data-kind": meld.kind, "aria-label": label };
  const own = inOrder(meld.tiles);
  if (meld.kind === "ankan") {
    const faces = [...own].sort((one, other) => Number(one.endsWith("r")) - Number(other.endsWith("r")));
    const [first, second, third, fourth] = faces;
    return make(
      "li", { ...attributes, "data-hidden": `${first} ${second}` },
      tileElement(first, { back: true }), tileElement(third), tileElement(fourth), tileElement(second, { back: true }),
    );
  }
  const from = placeOf(meld.from, player);
  const marks = [words().tiles.from(seatName(look, meld.from))];
  const called = [tileElement(meld.called, { turned: true, marks })];
  if (meld.added) called.unshift(tileElement(meld.added, { turned: true }));
  const pile = make("span", { class: "pile" }, ...called);
  const tiles = /** @type {HTMLElement[]} */ (own.map((tile) => tileElement(tile)));
  const position = from === 3 ? 0 : from === 2 ? 1 : tiles.length;
  tiles.splice(position, 0, pile);
  return make("li", attributes, ...tiles);
}

/** @param {Table} table @param {Look} look @param {number} player @param {number} place @returns {HTMLElement} */
function plate(table, look, player, place) {
  const turn = table.turn === player && !table.over && !table.wins.length;
  const name = look.names[player];
  return make(
    "div", { class: turn ? "plate plate-turn" : "plate", "data-place": place },
    make("span", { class: "plate-seat" }, seatName(look, player), player === look.own ? make("small", { class: "plate-own" }, words().own) : null, turn ? make("span", { class: "turn-mark", role: "img", "aria-label": words().turn }, "●") : null),
    name ? isolated(name, "plate-name") : null,
    table.riichi[player] ? make("span", { class: "plate-riichi" }, words().inRiichi) : null,
  );
}

/** @param {Table} table @param {Look} look @returns {HTMLElement} */
function centre(table, look) {
  const dora = table.indicators.map((tile) => tileElement(tile));
  while (dora.length < INDICATORS) dora.push(make("span", { "aria-hidden": "true" }, tileElement("?", { back: true })));
  return make(
    "div", { class: "centre" },
    ...[0, 1, 2, 3].map((player) => side(table, look, player)),
    make(
      "div", { class: "heart" },
      make("strong", { class: "heart-round" }, words().round(look.roundIndex, 0)),
      make(
        "span", { class: "heart-counts" },
        count("honba", words().honba(table.honba), table.honba),
        count("sticks", words().sticks(table.sticks), table.sticks),
        count("wall", words().wallLeft(table.wallLeft), table.wallLeft),
      ),
      make("span", { class: "heart-dora", "data-zone": "dora", role: "group", "aria-label": words().dora }, ...dora),
    ),
  );
}

/** @param {string} zone @param {string} label @param {number} value @returns {HTMLElement} a small picture and a number */
function count(zone, label, value) {
  const picture = make("i", { class: `picture picture-${zone}`, "aria-hidden": "true" });
  return make("span", { class: "count", title: label, role: "img", "aria-label": label, "data-zone": zone }, picture, String(value));
}

/** @param {Table} table @param {Look} look @param {number} player @returns {HTMLElement} */
function side(table, look, player) {
  const wind = windOf(player, table.dealer);
  const classes = ["side"];
  if (wind === 0) classes.push("side-dealer");
  if (table.turn === player && !table.over && !table.wins.length) classes.push("side-turn");
  const label = `${seatName(look, player)}: ${words().points(number(table.scores[player]))}`;
  return make(
    "div", { class: classes.join(" "), "data-place": placeOf(player, look.view), role: "img", "aria-label": label },
    make("span", { class: "side-wind" }, words().windLetters[wind]),
    make("span", { class: "side-score", "data-zone": "score", "data-player": player }, String(table.scores[player])),
  );
}

/** @param {number} player @param {number} dealer @returns {number} the seat's wind, 0 East */
export function windOf(player, dealer) {
  return (player - dealer + 4) % 4;
}

/** @param {{dealer: number}} look @param {number} player @returns {string} the seat by its wind in this round */
export function seatName(look, player) {
  return words().winds[windOf(player, look.dealer)];
}

/**
 * Marks all tiles of one kind on the table, to help with counting them.
 * @param {HTMLElement} board
 * @param {string} tile "" for none
 */
export function markAlike(board, tile) {
  for (const one of /** @type {NodeListOf<HTMLElement>} */ (board.querySelectorAll(".tile"))) {
    one.classList.toggle("tile-alike", isTile(tile) && alike(one.dataset.tile ?? "", tile));
  }
}

/** Shrinks rows with many melds to fit their side. @param {HTMLElement} felt */
function fit(felt) {
  for (const line of /** @type {NodeListOf<HTMLElement>} */ (felt.querySelectorAll(".line"))) {
    const room = line.parentElement?.clientWidth ?? 0;
    const needed = line.scrollWidth;
    if (room && needed > room + 1) line.style.setProperty("--shrink", String(room / needed));
  }
}

/**
 * A sentence that describes the latest event.
 * @param {import("./table.js").Message} message
 * @param {Look} look
 * @param {boolean} hidden whether the actor's hand is hidden
 * @returns {string} with tiles as `withTiles` takes them
 */
export function caption(message, look, hidden) {
  const { events, asDrawn } = words();
  const write = events[/** @type {"tsumo"} */ (message.type)];
  if (!write) return "";
  const who = message.actor === undefined ? "" : seatName(look, message.actor);
  const tile = message.pai ?? message.dora_marker ?? message.consumed?.[0] ?? "";
  if (message.type === "tsumo") return write(who, hidden || tile === "?" ? "" : `{${tile}}`);
  const text = write(who, tile ? `{${tile}}` : "");
  return message.type === "dahai" && message.tsumogiri ? asDrawn(text) : text;
}
