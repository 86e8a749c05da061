/**
 * The parts of a review that the page reads, and navigation in it.
 * The JSON is described in docs/review.md.
 * @module
 */

/**
 * @typedef {import("./table.js").Message} Message
 * @typedef {{kind: string, tile?: string, consumed?: string[], tsumogiri?: boolean}} Action
 * @typedef {{kinds: number, tiles: number, which?: string[]}} Ukeire
 * @typedef {{action: Action, probability: number, step: string, shanten: number | null,
 *   ukeire: Ukeire | null, danger: number[] | null,
 *   learned?: {deal_in: number[], cost: number} | null, other?: number | null,
 *   discard?: string | null}} Option
 * @typedef {{time_ms: number, budget_ms: number, source?: string, fallback: string, late: boolean,
 *   played?: Action | null, probabilities?: (number | null)[] | null, base?: (number | null)[] | null,
 *   adapted?: (number | null)[] | null, thought?: Thought | null}} Live
 * @typedef {{ahead: number, doubt: number, deals: number}} Searched
 * @typedef {{way: "adapted" | "search" | "both", base: Action | null, playouts: number, worth: "points" | "global",
 *   searched: (Searched | null)[] | null}} Thought
 * @typedef {{round: number, event: number, turn: number, step: string, judged?: string, source: string,
 *   hand: {shanten: number, waits: string[], waits_gone?: string[], furiten: boolean, riichi: boolean, is_open: boolean} | null,
 *   opponents?: {player: number, tenpai: number, points: number}[], done: Action | null, preferred: Action,
 *   options: Option[], agrees: boolean, ratio: number | null, category: string, price?: Price | null,
 *   notes: {key: string, params: any}[], other?: Action | null, other_agrees?: boolean | null,
 *   live?: Live | null, candidates?: Candidates[], position?: import("./position.js").Position | null}} Decision
 * @typedef {{points: number, error: number}} Price of a kind of error
 * @typedef {{model: "diffusion" | "autoregressive", hands: {tiles: string, shanten: number}[][]}} Candidates
 * @typedef {{id: number, name: string, han: number}} Yaku
 * @typedef {{player: number, from_player: number, tile: string, hand: string[], han: number | null,
 *   fu: number | null, limit: number | null, points: number, yaku: Yaku[],
 *   value?: "stated" | "computed" | "unknown"}} Winner
 * @typedef {{kind: string, wins: Winner[], reason: string | null, tenpai: boolean[] | null,
 *   hands?: (string[] | null)[] | null, deltas: number[] | null, scores: number[] | null}} Result
 * @typedef {{reward: number[] | null, placement: number[] | null}} Expected
 * @typedef {{index: number, round_index: number, honba: number, sticks: number, dealer: number,
 *   scores: number[], events: Message[], result: Result | null, expected: Expected | null,
 *   after: Expected | null}} Round
 * @typedef {{decisions: number, agreed: number, agreement: number | null, bad_moves: number,
 *   bad_move_rate: number | null, rating: number | null, categories: Record<string, number>, price?: number | null}} Figures
 * @typedef {Figures & {rating_definition: string, worst: number[], steps: (Figures & {step: string})[],
 *   rounds: (Figures & {round: number, delta: number | null, reward: number | null, placement: number | null})[],
 *   rates: Record<string, number | null>, hidden: number, comparison: any}} Summary
 * @typedef {{id: string, date: string | null, type: number, length: string, names: string[],
 *   ranks: number[] | null, rates: number[] | null, scores: number[] | null, places: number[] | null,
 *   source: string, known?: boolean[], caveats?: Caveat[]}} Game
 * @typedef {{key: string, params: {round_index?: number, honba?: number, lobby?: number, scores?: number[]}}} Caveat
 * @typedef {{format: string, program: string, game: Game, seat: number, policy: {name: string, identity: string},
 *   other?: {name: string, identity: string} | null, uma?: {places: number[], return_score: number}, thresholds: Record<string, number>, rounds: Round[],
 *   decisions: Decision[], summary: Summary | null, seats?: Seat[]}} Review
 * @typedef {{seat: number, decisions: Decision[], summary: Summary}} Seat another seat of the same game
 * @typedef {{round: number, event: number, seat?: number}} Position `event` is the latest event; `seat` the reviewed one
 */

/** The signs of the categories, which identify them without colour. */
export const SIGNS = { fine: "✓", inaccuracy: "?!", mistake: "?", blunder: "??" };

/** @param {Position} one @param {Position} other @returns {number} below 0 if `one` is earlier */
export function compare(one, other) {
  return one.round - other.round || one.event - other.event;
}

/**
 * The nearest position that exists.
 * @param {Round[]} rounds
 * @param {Position} position
 * @returns {Position}
 */
export function clamp(rounds, position) {
  const round = Math.min(Math.max(position.round, 0), Math.max(rounds.length - 1, 0));
  const count = rounds[round]?.events.length ?? 0;
  return { round, event: Math.min(Math.max(position.event, 0), Math.max(count - 1, 0)) };
}

/**
 * The position a number of events later, across rounds.
 * @param {Round[]} rounds
 * @param {Position} position
 * @param {1 | -1} direction
 * @returns {Position}
 */
export function byEvent(rounds, { round, event }, direction) {
  const next = event + direction;
  if (next < 0 && round > 0) return { round: round - 1, event: rounds[round - 1].events.length - 1 };
  if (next >= (rounds[round]?.events.length ?? 0) && round + 1 < rounds.length) return { round: round + 1, event: 0 };
  return clamp(rounds, { round, event: next });
}

/**
 * The start of the next round; backwards, the start of this round, or of the previous one if already there.
 * @param {Round[]} rounds
 * @param {Position} position
 * @param {1 | -1} direction
 * @returns {Position}
 */
export function byRound(rounds, { round, event }, direction) {
  if (direction > 0 && round + 1 >= rounds.length) return { round, event };
  if (direction < 0 && event > 0) return { round, event: 0 };
  return clamp(rounds, { round: round + direction, event: 0 });
}

/**
 * The next matching decision after a position; null if there is none.
 * @param {Decision[]} decisions in order
 * @param {Position} position
 * @param {1 | -1} direction
 * @param {(decision: Decision) => boolean} [wanted]
 * @returns {Decision | null}
 */
export function byDecision(decisions, position, direction, wanted = () => true) {
  const inWay = decisions.filter((one) => wanted(one) && Math.sign(compare(one, position)) === direction);
  return (direction > 0 ? inWay[0] : inWay[inWay.length - 1]) ?? null;
}

/** @param {Decision} decision @returns {boolean} */
export function disagrees(decision) {
  return decision.done !== null && !decision.agrees;
}

/** @type {(keyof typeof SIGNS)[]} the categories, the worst last */
export const GRADES = ["fine", "inaccuracy", "mistake", "blunder"];

/**
 * Whether a decision is an error of a category or worse; with "fine", whether it disagrees at all.
 * @param {Decision} decision
 * @param {string} least
 * @returns {boolean}
 */
export function isError(decision, least) {
  const grade = GRADES.indexOf(/** @type {"fine"} */ (decision.category));
  return disagrees(decision) && grade >= GRADES.indexOf(/** @type {"fine"} */ (least));
}

/** @param {Decision[]} decisions @param {Position} position @returns {Decision | null} the one made there */
export function decisionAt(decisions, position) {
  return decisions.find((one) => compare(one, position) === 0) ?? null;
}

/** @param {Action | null | undefined} one @param {Action | null | undefined} other @returns {boolean} */
export function sameAction(one, other) {
  if (!one || !other) return false;
  return (
    one.kind === other.kind && (one.tile ?? "") === (other.tile ?? "") &&
    (one.consumed ?? []).join() === (other.consumed ?? []).join() &&
    Boolean(one.tsumogiri) === Boolean(other.tsumogiri)
  );
}

/** @param {string} hash "#round.event" or "#round.event.seat", all from 0 @returns {Position | null} */
export function parseHash(hash) {
  const match = /^#(\d{1,4})(?:\.(\d{1,4}))?(?:\.([0-3]))?$/.exec(hash);
  if (!match) return null;
  const position = { round: Number(match[1]), event: Number(match[2] ?? 0) };
  return match[3] === undefined ? position : { ...position, seat: Number(match[3]) };
}

/** @param {Position} position @returns {string} */
export function toHash({ round, event, seat }) {
  return seat === undefined ? `#${round}.${event}` : `#${round}.${event}.${seat}`;
}

/**
 * The reviews of all seats that a review has, by seat.
 * @param {Review} review
 * @returns {Review[]}
 */
export function bySeat(review) {
  const others = (review.seats ?? []).map((one) => ({ ...review, ...one }));
  return [review, ...others].sort((one, other) => one.seat - other.seat);
}
