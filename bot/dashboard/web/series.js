/**
 * The page of many games at once: a running series, with its progress, its speed and the players' results; or a run that
 * learns from such games.
 * @module
 */

import { switches } from "/web/controls.js";
import { isolated, make } from "/web/dom.js";
import { card } from "/web/game.js";
import { ladderFigure } from "/web/ladder.js";
import { learningBoxes } from "/web/learning.js";
import { Line } from "/web/line.js";
import { duration, pair, placesStrip, rank } from "/web/session.js";
import { choose, restore } from "/web/settings.js";
import { showWire } from "/web/status.js";
import { texts } from "/web/texts.js";
import { number, percent, words } from "/web/words.js";

/**
 * @typedef {{name: string, places: number[], average_place: number | null, stable_rank: number | null,
 *   ladder: import("/web/ladder.js").Ladder | null}} Player
 * @typedef {{length: "hanchan" | "tonpuu", games: number, of: number, crashes: number, faults: number, seconds: number,
 *   games_per_s: number | null, games_per_s_overall: number | null, left_s: number | null, players: Player[]}} Series
 */

class SeriesPage {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.chosen = restore();
    /** @type {{line: string, past: boolean, series?: Series | null, learning?: import("/web/learning.js").Learning | null} | null} */
    this.session = null;
    /** @type {import("/web/line.js").Wire} */
    this.wire = { state: "opening", seconds: 0 };
    this.build();
    this.line = new Line((messages) => this.hear(messages), (wire) => this.onWire(wire));
  }

  /** @param {any[]} messages */
  hear(messages) {
    for (const message of messages) if (message.type === "session") this.session = message;
    this.show();
  }

  /** @param {import("/web/line.js").Wire} wire */
  onWire(wire) {
    this.wire = wire;
    this.show();
  }

  /** @param {"theme" | "language"} name @param {string} value */
  change(name, value) {
    this.chosen[name] = value === "system" ? "" : value;
    choose(name, this.chosen[name]);
    if (name === "language") this.build();
    /** @type {HTMLElement | null} */ (this.root.querySelector(`[data-switch="${name}"]`))?.focus();
  }

  build() {
    const { series: text } = texts();
    document.title = `${words().title} – ${text.title}`;
    this.status = make("div", { class: "live-status", role: "status" });
    this.links = make("nav", { class: "live-links" });
    this.main = make("main", { class: "many" });
    this.root.replaceChildren(
      make("header", { class: "top" }, make("div", { class: "top-title" }, make("h1", {}, text.title)), switches(this.chosen, (name, value) => this.change(name, value), null)),
      make("div", { class: "live-bar" }, this.status, this.links),
      this.main,
    );
    this.show();
  }

  show() {
    if (!this.status || !this.links || !this.main) return;
    const { series, learning } = this.session ?? {};
    showWire(this.status, this.wire, texts().live, []);
    this.links.replaceChildren(...(this.session?.past && series?.games ? [make("a", { href: "/games" }, texts().past)] : []));
    if (series) this.main.replaceChildren(progress(series), ...series.players.map((player) => playerBox(player)));
    else if (learning) this.main.replaceChildren(...learningBoxes(learning, this.session?.line === "over"));
    else this.main.replaceChildren(make("p", { class: "box nothing" }, texts().series.waiting));
  }
}

/** @param {Series} all */
function progress(all) {
  const { series: text, games } = texts();
  const share = all.of ? all.games / all.of : 0;
  return make(
    "section", { class: "box game session" },
    make(
      "dl", { class: "cards" },
      card(games, number(all.games), text.of(number(all.of), percent(share, 0), text.lengths[all.length]), "games"),
      card(text.speed, number(all.games_per_s, 2), text.speedHint, "games_per_s"),
      card(text.overall, number(all.games_per_s_overall, 2), text.overallHint, "games_per_s_overall"),
      card(text.left, all.games < all.of ? duration(all.left_s) : "–", text.running(duration(all.seconds)), "left_s"),
    ),
    make("progress", { "aria-label": games, max: all.of, value: `${all.games}` }),
    all.crashes || all.faults ? make("dl", { class: "pairs" }, ...pair(text.crashes, number(all.crashes), "crashes"), ...pair(text.faults, number(all.faults), "faults")) : null,
  );
}

/** @param {Player} player */
function playerBox(player) {
  const text = texts();
  const seats = player.places.reduce((sum, count) => sum + count, 0);
  return make(
    "section", { class: "box game session", "data-player": player.name },
    make("h2", {}, isolated(player.name)),
    make("dl", { class: "cards" }, card(text.average, number(player.average_place, 3), text.series.seats(number(seats)), "average_place"), card(text.stable, rank(player.stable_rank), text.stableHint, "stable_rank")),
    seats ? placesStrip(player.places) : null,
    ladderFigure(player.ladder),
  );
}

const root = /** @type {HTMLElement} */ (document.getElementById("app"));
Object.assign(globalThis, { suzakuSeries: new SeriesPage(root) });
