/**
 * The table as a fold over mjai messages: what lies where after each of them.
 * Players are absolute, tiles are mjai's texts, points are points.
 * @module
 */

import { inOrder } from "./tiles.js";

/**
 * @typedef {{type: string, actor?: number, target?: number, pai?: string, consumed?: string[],
 *   tsumogiri?: boolean, deltas?: number[], ura_markers?: string[], dora_marker?: string, reason?: string,
 *   bakaze?: string, kyoku?: number, honba?: number, kyotaku?: number, oya?: number, scores?: number[],
 *   tehais?: string[][]}} Message
 * @typedef {{tile: string, tsumogiri: boolean, riichi: boolean, calledBy: number}} Thrown
 * @typedef {{kind: string, tiles: string[], called: string, from: number, added: string}} Meld
 * @typedef {{player: number, from: number, tile: string, deltas: number[], ura: string[],
 *   honba: number, sticks: number}} Won
 * @typedef {{
 *   wind: string, number: number, honba: number, sticks: number, dealer: number, scores: number[],
 *   indicators: string[], wallLeft: number, hands: string[][], drawn: {player: number, tile: string} | null,
 *   rivers: Thrown[][], melds: Meld[][], riichi: number[], turn: number,
 *   last: {player: number, kind: string} | null, wins: Won[], drawnRound: Message | null, over: boolean,
 *   shown: boolean[],
 * }} Table `shown` marks the players whose hands are open
 */

const UNSEEN = "?";
const WALL = 70;
const STICK = 1000;

/** @returns {Table} a table with nothing on it */
function emptyTable() {
  return {
    wind: "E", number: 1, honba: 0, sticks: 0, dealer: 0, scores: [0, 0, 0, 0], indicators: [],
    wallLeft: WALL, hands: [[], [], [], []], drawn: null, rivers: [[], [], [], []], melds: [[], [], [], []],
    riichi: [0, 0, 0, 0], turn: -1, last: null, wins: [], drawnRound: null, over: false,
    shown: [false, false, false, false],
  };
}

/**
 * The table after the first messages of a round.
 * @param {Message[]} events
 * @param {number} last index of the last message that has happened
 * @returns {Table}
 */
export function tableAt(events, last) {
  let table = emptyTable();
  for (let index = 0; index <= last && index < events.length; index++) {
    table = step(table, events[index]);
  }
  return table;
}

/**
 * The table after one more message; the old table must not be used again. Unknown messages change nothing.
 * @param {Table} table
 * @param {Message} message
 * @returns {Table}
 */
export function step(table, message) {
  if (message.type === "start_kyoku") return dealt(message);
  const handler = HANDLERS[message.type];
  if (handler) handler(table, message, message.actor ?? -1);
  return table;
}

/** @param {Message} m @returns {Table} */
function dealt(m) {
  return Object.assign(emptyTable(), {
    wind: m.bakaze, number: m.kyoku, honba: m.honba, sticks: m.kyotaku, dealer: m.oya,
    scores: [...(m.scores ?? [])], indicators: [m.dora_marker], turn: m.oya,
    hands: (m.tehais ?? []).map((hand) => inOrder(hand)),
  });
}

/** @type {Record<string, (table: Table, message: any, actor: number) => void>} */
const HANDLERS = {
  tsumo(table, m, actor) {
    table.drawn = { player: actor, tile: m.pai };
    table.wallLeft -= 1;
    table.turn = actor;
    table.last = null;
  },
  dahai(table, m, actor) {
    if (m.tsumogiri && table.drawn?.player === actor) table.drawn = null;
    else take(table, actor, [m.pai]);
    const riichi = table.riichi[actor] === 1 && !table.rivers[actor].some((thrown) => thrown.riichi);
    table.rivers[actor].push({ tile: m.pai, tsumogiri: m.tsumogiri, riichi, calledBy: -1 });
    table.turn = actor;
    table.last = { player: actor, kind: "river" };
  },
  chi: called,
  pon: called,
  daiminkan: called,
  ankan(table, m, actor) {
    take(table, actor, m.consumed);
    table.melds[actor].push({ kind: "ankan", tiles: m.consumed, called: "", from: actor, added: "" });
    table.last = { player: actor, kind: "meld" };
  },
  kakan(table, m, actor) {
    take(table, actor, [m.pai]);
    const meld = table.melds[actor].find((one) => one.kind === "pon" && alike(one.called, m.pai));
    if (meld) Object.assign(meld, { kind: "kakan", added: m.pai });
    table.last = { player: actor, kind: "meld" };
  },
  dora(table, m) {
    table.indicators.push(m.dora_marker);
  },
  reach(table, _, actor) {
    table.riichi[actor] = 1;
  },
  reach_accepted(table, _, actor) {
    table.riichi[actor] = 2;
    table.scores[actor] -= STICK;
    table.sticks += 1;
  },
  hora(table, m, actor) {
    // with two winners, the first gets the honba and the riichi sticks
    const honba = table.wins.length ? 0 : table.honba;
    const { deltas = [], ura_markers: ura = [] } = m;
    table.wins.push({ player: actor, from: m.target, tile: m.pai, deltas, ura, honba, sticks: table.sticks });
    settle(table, m.deltas);
    table.sticks = 0;
  },
  ryukyoku(table, m) {
    table.drawnRound = m;
    settle(table, m.deltas);
  },
  end_kyoku(table) {
    table.over = true;
  },
};

/** @param {Table} table @param {any} m @param {number} actor */
function called(table, m, actor) {
  const river = table.rivers[m.target];
  if (river.length) river[river.length - 1].calledBy = actor;
  take(table, actor, m.consumed);
  table.melds[actor].push({ kind: m.type, tiles: m.consumed, called: m.pai, from: m.target, added: "" });
  table.turn = actor;
  table.last = { player: actor, kind: "meld" };
}

/**
 * Removes tiles from a hand, which includes the drawn tile; an unseen tile stands for any tile.
 * @param {Table} table
 * @param {number} player
 * @param {string[]} tiles
 */
function take(table, player, tiles) {
  const hand = table.hands[player];
  if (table.drawn?.player === player) {
    hand.push(table.drawn.tile);
    table.drawn = null;
  }
  for (const tile of tiles) {
    const place = hand.includes(tile) ? hand.indexOf(tile) : hand.indexOf(UNSEEN);
    if (place >= 0) hand.splice(place, 1);
  }
  table.hands[player] = inOrder(hand);
}

/**
 * Opens the hands at the end of a round: the winners', and after a draw those that were shown.
 * A known hand stays as it is; an unknown one is taken from the result.
 * @param {Table} table
 * @param {import("./review.js").Result | null} result
 */
export function layOpen(table, result) {
  for (const { player, from } of table.wins) {
    table.shown[player] = true;
    const won = result?.wins.find((one) => one.player === player);
    if (!won?.hand.length || !isUnseen(table, player)) continue;
    const rest = [...won.hand];
    rest.splice(rest.indexOf(won.tile), 1);
    table.hands[player] = inOrder(rest);
    if (from === player) table.drawn = { player, tile: won.tile };
  }
  if (!table.drawnRound) return;
  result?.hands?.forEach((hand, player) => {
    if (!hand) return;
    table.shown[player] = true;
    if (!isUnseen(table, player)) return;
    table.hands[player] = inOrder(hand);
    if (table.drawn?.player === player) table.drawn = null;
  });
}

/** @param {Table} table @param {number} player @returns {boolean} whether part of the hand is unknown */
function isUnseen(table, player) {
  const drawn = table.drawn?.player === player ? table.drawn.tile : "";
  return drawn === UNSEEN || table.hands[player].includes(UNSEEN);
}

/** @param {Table} table @param {number[] | undefined} deltas */
function settle(table, deltas) {
  (deltas ?? []).forEach((delta, player) => (table.scores[player] += delta));
}

/** @param {string} one @param {string} other @returns {boolean} whether both are of one kind, red or not */
export function alike(one, other) {
  return one.slice(0, 2) === other.slice(0, 2);
}
