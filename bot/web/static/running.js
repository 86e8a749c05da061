/**
 * The running game: a review that grows with the messages from the program.
 * @module
 */

/** @typedef {import("/web/review.js").Review} Review */

/** @returns {Review} an empty game */
export function nothing() {
  return /** @type {Review} */ (/** @type {unknown} */ ({
    format: "suzaku-review/3", program: "", seat: 0, policy: { name: "", identity: "" }, thresholds: {},
    game: { id: "", date: null, type: 0, length: "", names: ["", "", "", ""], ranks: null, rates: null, scores: null, places: null, source: "live" },
    rounds: [], decisions: [], summary: null,
  }));
}

/**
 * Adds a message to the game; messages of other kinds change nothing.
 * @param {Review} review
 * @param {any} message
 * @returns {Review} the same game, or a new one that the message begins
 */
export function grow(review, message) {
  return HANDLERS[message.type]?.(review, message) ?? review;
}

/** @type {Record<string, (review: Review, message: any) => Review | void>} */
const HANDLERS = {
  reset: () => nothing(),
  game: (_, message) => message.game,
  round(review, message) {
    review.rounds.push(message.round);
  },
  events(review, message) {
    review.rounds[message.round]?.events.push(...message.events);
  },
  patch(review, message) {
    Object.assign(review.rounds[message.round] ?? {}, message.fields);
  },
  decision(review, message) {
    const { decisions } = review;
    const { decision } = message;
    const last = decisions.at(-1);
    // asked again after a lost connection: only the last answer counts
    if (last && last.round === decision.round && last.event === decision.event) decisions.pop();
    decisions.push(decision);
  },
  hands(review, message) {
    const decision = review.decisions.findLast((each) => each.round === message.round && each.event === message.event);
    if (decision) decision.candidates = message.candidates;
  },
  over(review, message) {
    Object.assign(review.game, { scores: message.scores, results: message.results, places: message.places });
  },
};
