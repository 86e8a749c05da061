/**
 * The page of a duel of two-player mahjong: step by step, with both hands, the wall and every choice in the open.
 * @module
 */

import { commandOf, switches, toolButtons } from "./controls.js";
import { harmless, isolated, make } from "./dom.js";
import { choose, restore } from "./settings.js";
import { tileElement, tileOf, tileText } from "./tiles.js";
import { percent, words } from "./words.js";

/**
 * @typedef {{policy: string, stage: string, key: number, fields: Record<string, number>,
 *   probabilities: Record<string, number>}} Choice
 * @typedef {{round: number, phase: string, player: number, hands: string[][],
 *   melds: {form: string, tiles: string[]}[][], rivers: string[][], wall_left: number, offered: string | null,
 *   drawn: string | null, legal: string[], choice: Choice | null, policy: string | null, action: string | null,
 *   winner: number | null, points: number}} State
 * @typedef {{header: {names: string[], wall: string[], seed: number, deal: number}, states: State[]}} Duel
 */

/** @type {import("./controls.js").Command[]} */
const COMMANDS = ["first", "previousDecision", "previousEvent", "nextEvent", "nextDecision", "last"];
const DEALT = 26;
const KANS = ["ankan", "daiminkan", "kakan"];
const BOTH = [1, 0];

class DuelViewer {
  /** @param {HTMLElement} root @param {Duel} duel */
  constructor(root, duel) {
    this.root = root;
    this.duel = duel;
    this.chosen = restore();
    this.at = Number(location.hash.slice(1)) || 0;
    this.build();
    document.addEventListener("keydown", (event) => {
      const command = commandOf(event);
      if (!command || !COMMANDS.includes(command)) return;
      event.preventDefault();
      this.run(command);
    });
    window.addEventListener("hashchange", () => this.go(Number(location.hash.slice(1)) || 0));
  }

  /** @param {number} at the state to show */
  go(at) {
    this.at = Math.min(this.duel.states.length - 1, Math.max(0, Math.trunc(at)));
    this.show();
    const hash = `#${this.at}`;
    if (location.hash !== hash) history.replaceState(null, "", hash);
  }

  /** @param {import("./controls.js").Command} command */
  run(command) {
    const { states } = this.duel;
    const choices = states.flatMap((state, at) => (state.choice ? [at] : []));
    /** @type {Record<string, () => number | undefined>} */
    const places = {
      first: () => 0,
      last: () => states.length - 1,
      previousEvent: () => this.at - 1,
      nextEvent: () => this.at + 1,
      previousDecision: () => choices.filter((at) => at < this.at).at(-1),
      nextDecision: () => choices.find((at) => at > this.at),
    };
    const place = places[command]();
    if (place !== undefined) this.go(place);
  }

  /** Builds the page: at the start, and after a change of language. */
  build() {
    const { duel: text } = words();
    const { header, states } = this.duel;
    const [one, other] = header.names.map(harmless);
    document.title = `${text.title} – ${one} · ${other}`;
    this.table = make("section", { class: "duel", "aria-label": text.table });
    this.slider = /** @type {HTMLInputElement} */ (make("input", { type: "range", min: 0, max: states.length - 1, "aria-label": text.position, oninput: () => this.go(Number(this.slider?.value)) }));
    this.root.replaceChildren(
      make(
        "header", { class: "top" },
        make("div", { class: "top-title" }, make("h1", {}, text.title), make("p", { class: "quiet" }, isolated(header.names[0]), " · ", isolated(header.names[1]))),
        switches(this.chosen, (name, value) => this.change(name, value), null),
      ),
      make(
        "main", {}, this.table,
        make("div", { class: "steer duel-steer" }, this.slider, make("div", { class: "toolbar", role: "toolbar", "aria-label": words().controls.toolbar }, ...toolButtons(COMMANDS, (command) => this.run(command)))),
      ),
    );
    this.go(this.at);
  }

  /** @param {"theme" | "language"} name @param {string} value */
  change(name, value) {
    this.chosen[name] = value === "system" ? "" : value;
    choose(name, this.chosen[name]);
    if (name === "language") this.build();
    /** @type {HTMLElement | null} */ (this.root.querySelector(`[data-switch="${name}"]`))?.focus();
  }

  /** Draws the current state. */
  show() {
    const { states } = this.duel;
    const state = states[this.at];
    if (this.slider) this.slider.value = String(this.at);
    this.table?.replaceChildren(
      make("div", { class: "duel-choice" }, ...BOTH.map((player) => this.player(state, player)), this.caption(state), this.wall(state)),
      make("aside", { class: "duel-choice" }, this.decision(state), legal(state), this.choices()),
    );
  }

  /** @param {State} state @param {number} player the hand, melds and river of a player */
  player(state, player) {
    const { duel: text } = words();
    const name = this.duel.header.names[player];
    const acting = state.player === player && state.phase !== "over";
    const fresh = acting ? state.drawn : null;
    const last = state.hands[player].lastIndexOf(fresh ?? "");
    const hand = state.hands[player].map((tile, place) => element(tile, { fresh: place === last }));
    const melds = state.melds[player].map((meld) => make("span", { class: "duel-meld", "data-form": meld.form, title: action(meld.form) }, ...meld.tiles.map((tile) => element(tile))));
    const river = state.rivers[player].map((tile, place) => element(tile, { fresh: state.offered !== null && state.player !== player && place === state.rivers[player].length - 1 }));
    const policy = this.policyOf(player);
    return make(
      "section", { class: "duel-player", "data-player": player, "data-acting": acting ? 1 : 0, "aria-label": words().hand(harmless(name)) },
      make("p", { class: "duel-name" }, isolated(name, "strong"), policy ? make("small", { "data-value": "policy" }, text.follows(policyName(policy))) : null, acting ? make("small", {}, text.toAct) : null),
      make("div", { class: "duel-tiles", "data-zone": "hand" }, ...hand, ...melds),
      make("div", { class: "duel-tiles duel-river", "data-zone": "river", "aria-label": words().river(harmless(name)) }, ...river),
    );
  }

  /** @param {number} player @returns {string | null} the policy that a player follows now */
  policyOf(player) {
    return this.duel.states.slice(0, this.at + 1).findLast((state) => state.player === player && state.policy)?.policy ?? null;
  }

  /** @param {State} state */
  caption(state) {
    const { duel: text } = words();
    const name = harmless(this.duel.header.names[state.player]);
    const done = state.action ? `${name}${words().colon}${action(state.action)}` : this.result(state);
    return make(
      "p", { class: "duel-caption", "aria-live": "polite" },
      make("span", { class: "quiet", "data-value": "at" }, text.at(state.round, text.phases[/** @type {"claim"} */ (state.phase)])),
      make("strong", { "data-value": "action" }, done),
    );
  }

  /** @param {State} state @returns {string} */
  result(state) {
    const { duel: text } = words();
    return state.winner === null ? text.exhausted : text.wins(harmless(this.duel.header.names[state.winner]), state.points);
  }

  /** @param {State} state the choice of a policy, if one is made here */
  decision(state) {
    const { duel: text } = words();
    const { choice } = state;
    const head = make("h2", {}, text.decision);
    if (!choice) return make("section", { class: "box duel-choice" }, head, make("p", { class: "quiet" }, text.noDecision));
    const fact = (/** @type {string} */ name, /** @type {string | number} */ value, /** @type {string} */ key) => make("div", {}, make("dt", {}, name), make("dd", { "data-value": key }, value));
    const bars = Object.entries(choice.probabilities).map(([policy, share]) =>
      make(
        "p", { class: "duel-bar", "data-policy": policy, "data-chosen": policy === choice.policy ? 1 : 0 },
        make("span", {}, policyName(policy)), make("span", { class: "duel-bar-track", vars: { share } }), make("span", { class: "num" }, percent(share)),
      ),
    );
    return make(
      "section", { class: "box duel-choice", "data-key": choice.key }, head,
      make("p", {}, isolated(this.duel.header.names[state.player], "strong"), `${words().colon}${policyName(choice.policy)} · ${text.stages[/** @type {"middle"} */ (choice.stage)]}`),
      ...(bars.length ? bars : [make("p", { class: "quiet" }, text.given)]),
      make("dl", {}, fact(text.key, choice.key, "key"), ...Object.entries(choice.fields).map(([name, value]) => fact(text.fields[/** @type {"pairs"} */ (name)], value, name))),
    );
  }

  /** Buttons to every choice of the game. */
  choices() {
    const { duel: text } = words();
    const buttons = this.duel.states.flatMap((state, at) => {
      if (!state.choice) return [];
      const label = `${harmless(this.duel.header.names[state.player])} · ${text.stages[/** @type {"middle"} */ (state.choice.stage)]}${words().colon}${policyName(state.choice.policy)}`;
      return [make("li", {}, make("button", { type: "button", class: "plain", "data-at": at, "aria-current": at === this.at ? "step" : null, onclick: () => this.go(at) }, label))];
    });
    return make("section", { class: "box" }, make("h2", {}, text.choices), make("ul", { class: "duel-choices" }, ...buttons));
  }

  /** @param {State} state the tiles still to be drawn */
  wall(state) {
    const kans = state.melds.flat().filter((meld) => KANS.includes(meld.form)).length;
    const front = DEALT + state.round - kans;
    const tiles = this.duel.header.wall.slice(front, front + state.wall_left).map((tile) => element(tile));
    return make("section", { class: "box" }, make("h2", {}, `${words().wallLeft(state.wall_left)}`), make("p", { class: "quiet" }, words().duel.wall), make("div", { class: "duel-tiles duel-wall", "data-zone": "wall" }, ...tiles));
  }
}

/** @param {State} state */
function legal(state) {
  const items = state.legal.map((each) => make("li", { "data-action": each, "data-done": each === state.action ? 1 : 0 }, action(each)));
  return make("section", { class: "box" }, make("h2", {}, words().duel.legal), make("ul", { class: "duel-legal" }, ...items));
}

/** @param {string} text a tile as in the log @param {{fresh?: boolean}} [look] */
function element(text, look = {}) {
  return tileElement(tileOf(text), look);
}

/** @param {string} text an action as in the log @returns {string} in the page's language */
function action(text) {
  const [name, tile] = text.split(" ");
  const known = words().duel.actions[/** @type {"pass"} */ (name)] ?? harmless(name);
  return tile ? `${known} ${tileText(tileOf(tile))}` : known;
}

/** @param {string} name @returns {string} */
function policyName(name) {
  return words().duel.policies[/** @type {"normal"} */ (name)] ?? harmless(name);
}

const root = /** @type {HTMLElement} */ (document.getElementById("app"));
try {
  Object.assign(globalThis, { suzakuDuel: new DuelViewer(root, JSON.parse(document.getElementById("duel")?.textContent ?? "")) });
} catch (error) {
  restore();
  root.replaceChildren(make("p", { class: "broken", role: "alert" }, words().broken));
  throw error;
}
