/**
 * The panel of the whole game: figures, worst decisions, rounds, curves and player statistics.
 * @module
 */

import { windOf } from "./board.js";
import { curve } from "./curve.js";
import { actionElement, both, categoryBadge } from "./decision.js";
import { harmless, isolated, make, pair } from "./dom.js";
import { SIGNS } from "./review.js";
import { number, percent, signed, words } from "./words.js";

/** @typedef {import("./review.js").Review} Review */
/** @typedef {import("./review.js").Figures} Figures */
/** @typedef {(position: import("./review.js").Position) => void} Jump */

const WORST = 8;
/** Those of a 7-dan, for first to fourth place. */
const RANK_POINTS = [90, 45, 0, -135];
const SHARES = ["win", "tsumo", "deal_in", "riichi", "call", "draw", "tenpai_at_draw"];

/**
 * @param {Review} review
 * @param {Jump} jump goes to a position
 * @returns {HTMLElement}
 */
export function gamePanel(review, jump) {
  const summary = review.summary;
  if (!review.rounds.length) return make("article", { class: "game" }, caveats(review));
  return make(
    "article", { class: "game" }, caveats(review), players(review),
    summary ? figures(summary, summary.rating_definition, summary.price ?? null) : null,
    summary ? categoryStrip(summary) : null,
    summary ? worst(review, summary, jump) : null,
    curves(review),
    rounds(review, jump),
    summary ? ratesSection(summary.rates) : null,
    summary ? steps(summary) : null,
    summary?.comparison ? comparison(summary.comparison) : null,
    about(review),
  );
}

/** @param {Review} review */
function players(review) {
  const { game: text } = words();
  const { game, seat } = review;
  const order = [0, 1, 2, 3].sort((one, other) => (game.places?.[one] ?? one) - (game.places?.[other] ?? other));
  const items = order.map((player) =>
    make(
      "li", { class: player === seat ? "own" : "" },
      make("span", { class: "player-place" }, game.places ? words().place(game.places[player]) : "–"),
      make("span", { class: "player-name" }, playerName(review, player), player === seat ? make("small", { class: "tag" }, review.summary ? text.reviewed : words().own) : null),
      make("small", { class: "player-rank" }, standingOf(game, player)),
      make("strong", {}, game.scores ? number(game.scores[player]) : ""),
    ),
  );
  return make("ol", { class: "players", "aria-label": text.players }, ...items);
}

/** @param {import("./review.js").Game} game @param {number} player @returns {string} rank and rating, as far as known */
function standingOf(game, player) {
  const rank = game.ranks ? words().rank(game.ranks[player]) : "";
  return [rank, game.rates ? `R${Math.round(game.rates[player])}` : ""].filter(Boolean).join(" ");
}

/** @param {Review} review @param {number} player @returns {Node} the name, or the seat number if it is hidden */
function playerName(review, player) {
  const name = review.game.names[player];
  return name ? isolated(name) : document.createTextNode(words().seatNumber(player));
}

/** @param {Review} review @returns {HTMLElement | null} what readers should know about the record */
export function caveats(review) {
  const items = (review.game.caveats ?? []).map(caveatText).filter(Boolean).map((line) => make("li", {}, line));
  return items.length ? make("ul", { class: "caveats", role: "note" }, ...items) : null;
}

/** @param {import("./review.js").Caveat} caveat @returns {string} "" for an unknown one */
export function caveatText(caveat) {
  const write = words().caveats[/** @type {"cut"} */ (caveat.key)];
  return write ? write(/** @type {any} */ (caveat.params)) : "";
}

/** @param {string} name @param {string} value @param {string} hint @param {string} key @returns {HTMLElement} a figure in large type */
export function card(name, value, hint, key) {
  return make("div", { class: "card" }, make("dt", {}, name), make("dd", {}, make("strong", { "data-figure": key }, value), make("small", {}, hint)));
}

/** @param {Figures} all @param {string} definition @param {number | null} [price] of the errors, if it is to be shown */
export function figures(all, definition, price = null) {
  const { game: text } = words();
  const cards = make(
    "dl", { class: "cards" },
    card(text.agreement, percent(all.agreement), text.agreed(all.agreed, all.decisions), "agreement"),
    card(text.badMoves, percent(all.bad_move_rate), text.badMovesHint, "bad_move_rate"),
    card(text.rating, number(all.rating, 1), text.ratingHint, "rating"),
    price === null ? null : card(text.price, number(price), text.priceHint, "price"),
  );
  return make("div", {}, cards, make("p", { class: "quiet definition" }, text.ratingMeans(harmlessLine(definition))));
}

/** @param {string} line @returns {string} one of our own lines from the data, which may be longer than a name */
function harmlessLine(line) {
  return line.split(" ").map(harmless).join(" ");
}

/** The number of decisions in each category, as one strip. @param {Figures} all */
export function categoryStrip(all) {
  const names = /** @type {(keyof typeof SIGNS)[]} */ (Object.keys(SIGNS));
  const parts = names.map((name) => make("span", { class: `strip-part strip-${name}`, vars: { grow: all.categories[name] ?? 0 } }));
  const labels = names.map((name) =>
    make("li", { class: `strip-label strip-${name}` }, make("b", { "aria-hidden": "true" }, SIGNS[name]), ` ${words().categories[name]} `, make("strong", {}, number(all.categories[name] ?? 0))),
  );
  return make("div", { class: "strip" }, make("div", { class: "strip-bar", "aria-hidden": "true" }, ...parts), make("ul", {}, ...labels));
}

/** @param {Review} review @param {import("./review.js").Summary} summary @param {Jump} jump */
function worst(review, summary, jump) {
  const { game: text } = words();
  const items = summary.worst.map((index, place) => worstItem(review, index, place >= WORST, jump));
  const list = make("ol", { class: "worst" }, ...items);
  const rest = items.length - WORST;
  const more = rest <= 0 ? null : make("button", { type: "button", class: "more", onclick: (/** @type {Event} */ event) => {
    for (const item of items) item.hidden = false;
    /** @type {HTMLElement} */ (event.currentTarget).remove();
    items[WORST].querySelector("button")?.focus();
  } }, text.worstMore(rest));
  return make("section", {}, make("h2", {}, text.worst), items.length ? list : make("p", { class: "quiet" }, text.worstNone), more);
}

/** @param {Review} review @param {number} index @param {boolean} hidden @param {Jump} jump @returns {HTMLElement} */
export function worstItem(review, index, hidden, jump) {
  const decision = review.decisions[index];
  const round = review.rounds[decision.round];
  const { game: text } = words();
  return make(
    "li", { hidden },
    make(
      "button", { type: "button", "data-jump": index, onclick: () => jump(decision) },
      make("span", { class: "worst-where" }, words().roundShort(round.round_index, round.honba), " ", make("small", {}, text.turn(decision.turn))),
      categoryBadge(decision.category),
      make("span", { class: "worst-what" }, decision.done ? actionElement(decision.done) : null, make("span", { class: "arrow", "aria-hidden": "true" }, "→"), actionElement(decision.preferred)),
      make("span", { class: "worst-figure" }, make("small", {}, decision.price ? text.price : words().decision.ratio), " ", decision.price ? number(decision.price.points) : percent(decision.ratio)),
    ),
  );
}

/** @param {Review} review */
function curves(review) {
  const { game: text } = words();
  const labels = review.rounds.map((round) => words().roundShort(round.round_index, round.honba));
  const points = review.rounds.map((round) => round.expected);
  const after = review.rounds.at(-1)?.after;
  if (after) {
    labels.push(text.final);
    points.push(after);
  }
  const series = (/** @type {"reward" | "placement"} */ key) => [0, 1, 2, 3].map((player) => points.map((point) => point?.[key]?.[player] ?? null));
  const some = (/** @type {(number | null)[][]} */ values) => values.some((line) => line.some((value) => value !== null));
  const names = [0, 1, 2, 3].map((player) => playerName(review, player));
  const base = { labels, seat: review.seat, names };
  const placement = series("placement");
  const reward = series("reward");
  const flat = reward.flat().filter((value) => value !== null);
  const { places, return_score: zero } = review.uma ?? { places: RANK_POINTS, return_score: 0 };
  const unit = zero || places.join() !== RANK_POINTS.join() ? "uma" : "rank";
  const step = Math.ceil(Math.max(1, ...places.map(Math.abs)) / 3);
  const low = step * Math.floor(Math.min(-2 * step, ...flat) / step);
  const high = step * Math.ceil(Math.max(2 * step, ...flat) / step);
  const title = text.curveReward[unit](places.map((value) => number(value, value % 1 ? 1 : 0)).join(" / "), zero && number(zero));
  const drawn = [
    some(placement) ? curve({ ...base, title: text.curvePlacement, series: placement, low: 4, high: 1, ticks: [1, 2, 3, 4], digits: 2 }) : null,
    some(reward) ? curve({ ...base, title, series: reward, low, high, ticks: [low, 0, high], digits: 1 }) : null,
  ].filter(Boolean);
  return drawn.length ? make("section", {}, make("h2", {}, text.curves), ...drawn) : null;
}

/** @param {Review} review @param {Jump} jump */
function rounds(review, jump) {
  const { game: text } = words();
  const priced = typeof review.summary?.price === "number";
  const rows = review.rounds.map((round) => {
    const judged = review.summary?.rounds.find((one) => one.round === round.index);
    const delta = judged?.delta ?? round.result?.deltas?.[review.seat] ?? null;
    return make(
      "tr", {},
      make("th", { scope: "row" }, make("button", { type: "button", class: "link", "data-round": round.index, onclick: () => jump({ round: round.index, event: 0 }) }, words().roundShort(round.round_index, round.honba))),
      make("td", {}, outcome(round, review.seat)),
      gainCell(delta, 0),
      make("td", { class: "num" }, percent(judged?.agreement, 0)),
      make("td", { class: "num" }, number(judged?.rating)),
      make("td", { class: "num" }, number(judged?.bad_moves)),
      priced ? make("td", { class: "num" }, number(judged?.price)) : null,
      make("td", { class: "num" }, signed(judged?.reward, 1)),
      make("td", { class: "num" }, signed(judged?.placement, 2)),
    );
  });
  const heads = [text.round, text.result, text.delta, both(text.agreement, text.agreementShort), both(text.rating, text.ratingShort), text.bad, ...(priced ? [text.price] : []), text.reward, text.placement];
  return make("section", {}, make("h2", {}, text.rounds), figureTable(text.rounds, heads, rows, 2));
}

/**
 * @param {string} name of the table, for screen readers
 * @param {(string | Node[])[]} heads
 * @param {HTMLElement[]} rows
 * @param {number} texts number of columns that are not numeric
 * @param {number} [end] the column after the last numeric one
 */
export function figureTable(name, heads, rows, texts, end = heads.length) {
  const cells = heads.map((head, index) => make("th", { scope: "col", class: index >= texts && index < end ? "num" : "" }, ...[head].flat()));
  return make("div", { class: "scroll" }, make("table", { class: "figures", "aria-label": name }, make("thead", {}, make("tr", {}, ...cells)), make("tbody", {}, ...rows)));
}

/** @param {number | null} value @param {number} digits @returns {HTMLElement} a cell with points won or lost */
export function gainCell(value, digits) {
  const sign = Math.sign(value ?? 0);
  return make("td", { class: sign > 0 ? "num gain" : sign < 0 ? "num pain" : "num" }, signed(value, digits));
}

/** The result of a round for the player, in a word or two. @param {import("./review.js").Round} round @param {number} seat */
function outcome(round, seat) {
  const { result: text, winds, own } = words();
  const result = round.result;
  if (!result || result.kind === "cut") return "–";
  if (result.kind === "draw") return text.reasons[/** @type {"exhaustive"} */ (result.reason ?? "exhaustive")];
  const name = (/** @type {number} */ player) => (player === seat ? own : winds[windOf(player, round.dealer)]);
  return result.wins.map((win) => (win.player === win.from_player ? `${name(win.player)} ${text.tsumo}` : `${name(win.player)} ← ${name(win.from_player)}`)).join(words().comma);
}

/** @param {Record<string, number | null>} all */
export function ratesSection(all) {
  const { game: text } = words();
  const names = /** @type {(keyof typeof text.rate)[]} */ (Object.keys(text.rate));
  const items = names.filter((name) => name in all).map((name) =>
    make("div", {}, make("dt", {}, text.rate[name]), make("dd", { "data-rate": name }, SHARES.includes(name) ? percent(all[name]) : number(all[name]))),
  );
  return make("section", {}, make("h2", {}, text.rates), make("dl", { class: "rates" }, ...items));
}

/** @param {import("./review.js").Summary} summary */
function steps(summary) {
  const { game: text, steps: names } = words();
  const rows = summary.steps.filter((one) => one.decisions).map((one) =>
    make(
      "tr", {}, make("th", { scope: "row" }, names[/** @type {"win"} */ (one.step)] ?? harmless(one.step)),
      make("td", { class: "num" }, number(one.decisions)), make("td", { class: "num" }, percent(one.agreement, 0)),
      make("td", { class: "num" }, number(one.bad_moves)), make("td", { class: "num" }, number(one.rating, 1)),
    ),
  );
  return make("section", {}, make("h2", {}, text.steps), figureTable(text.steps, [text.step, text.decisions, text.agreement, text.bad, text.rating], rows, 1));
}

/** @param {any} other */
function comparison(other) {
  const { game: text } = words();
  const judged = other.figures;
  return make(
    "section", {}, make("h2", {}, text.comparison), make("p", {}, isolated(other.name || words().seatNumber(other.seat), "strong")),
    make(
      "dl", { class: "pairs" }, ...pair(text.comparedAgreement, percent(other.agreement)),
      ...(other.of_policies === null || other.of_policies === undefined ? [] : pair(text.ofPolicies, percent(other.of_policies))),
      ...(judged ? [...pair(text.badMoves, percent(judged.bad_move_rate)), ...pair(text.rating, number(judged.rating, 1))] : []),
    ),
  );
}

/** @param {Review} review */
function about(review) {
  const { game: text, categories } = words();
  const limits = /** @type {const} */ (["inaccuracy", "mistake", "blunder"]).filter((name) => name in review.thresholds).flatMap((name) =>
    pair(`${SIGNS[name]} ${categories[name]}`, text.threshold(percent(review.thresholds[name], 2))),
  );
  return make(
    "section", { class: "about" }, make("h2", {}, text.about),
    make(
      "dl", { class: "pairs pairs-wide" }, ...pair(text.policy, [isolated(review.policy.name), " ", make("small", {}, isolated(review.policy.identity))]),
      ...limits, ...pair(text.source, isolated([review.game.source, review.game.id].filter(Boolean).join(" · "))),
      ...pair(text.program, isolated(review.program)),
    ),
    make("p", { class: "quiet" }, text.ratio),
    review.summary?.hidden ? make("p", { class: "quiet" }, text.hidden(review.summary.hidden)) : null,
  );
}
