/**
 * Leads from a decision to `suzaku ask`: the command for its position, and the address on the page of a running one.
 * @module
 */

import { make } from "./dom.js";
import { words } from "./words.js";

/**
 * @typedef {{hand: string, rivers: string[], melds: string[], dora: string, round_index: number, seat_wind: number,
 *   honba: number, sticks: number | null, scores: number[] | null, offered: string, offered_by: number,
 *   after_call: boolean, length: string}} Position a position as `suzaku ask` takes it
 */

const PAGE = "http://127.0.0.1:8767/";
const SEATS = ["", "shimocha", "toimen", "kamicha"];
const WINDS = "ESWN";

/** @param {Position} position @returns {string} the command line, quoted for a shell */
export function askCommand(position) {
  const { rivers, melds } = position;
  const options = [
    ["dora", position.dora],
    ["round", WINDS[position.round_index >> 2] + ((position.round_index % 4) + 1)],
    ["wind", WINDS[position.seat_wind]],
    ["river", rivers[0]], ...[1, 2, 3].map((seat) => [SEATS[seat], rivers[seat]]),
    ["melds", melds[0]], ...[1, 2, 3].map((seat) => [`${SEATS[seat]}-melds`, melds[seat]]),
    ["offered", position.offered], ["from", position.offered && SEATS[position.offered_by]],
    ["scores", position.scores?.join(",")], ["sticks", position.sticks], ["honba", position.honba || ""],
  ].filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const flags = [position.after_call && "--called", position.length === "tonpuu" && "--tonpuu"].filter(Boolean);
  return ["suzaku ask", quoted(position.hand), ...options.map(([name, value]) => `--${name}=${quoted(String(value))}`), ...flags].join(" ");
}

/** @param {string} text @returns {string} */
function quoted(text) {
  return /^[\w,-]+$/.test(text) ? text : `'${text}'`;
}

/** @param {Position} position @returns {string} its address on the page of `suzaku ask --page` */
function askAddress(position) {
  return `${PAGE}#${encodeURIComponent(JSON.stringify(position))}`;
}

/** @param {Position | null | undefined} position @returns {HTMLElement | null} a section that opens */
export function askSection(position) {
  if (!position) return null;
  const { decision: text } = words();
  const command = askCommand(position);
  const code = make("code", { class: "ask-command", tabindex: 0 }, command);
  const copy = make("button", { type: "button", class: "plain", "data-command": "copy" }, text.copy);
  copy.addEventListener("click", async () => {
    getSelection()?.selectAllChildren(code);
    try {
      await navigator.clipboard.writeText(command);
      copy.textContent = text.copied;
    } catch {
      // A browser may refuse a page from disk its clipboard; the command is selected then.
    }
  });
  return make(
    "details", { class: "ask-here" }, make("summary", {}, text.ask),
    make("p", { class: "quiet" }, text.askCommand), code,
    make("p", { class: "ask-ways" }, copy, make("a", { href: askAddress(position), target: "_blank", rel: "noreferrer" }, text.askPage)),
  );
}
