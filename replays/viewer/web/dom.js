/**
 * Creating elements, and making untrusted text harmless: text always becomes text nodes.
 * @module
 */

const SVG = "http://www.w3.org/2000/svg";
const LONGEST = 48;
// Control and format characters (among them those that turn the direction of text), stray halves of characters,
// line separators.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const PILED_MARKS = /(\p{M}{2})\p{M}+/gu;

/**
 * Untrusted text (a player's or policy's name) made safe to show: no control or direction marks, limited length.
 * @param {unknown} text
 * @returns {string}
 */
export function harmless(text) {
  const clean = String(text ?? "").replace(UNSEEN, "").replace(PILED_MARKS, "$1").trim();
  const letters = Array.from(clean);
  return letters.length > LONGEST ? letters.slice(0, LONGEST - 1).join("") + "…" : clean;
}

/**
 * Untrusted text in its own element, so that its writing direction ends with it.
 * @param {unknown} text
 * @param {string} [className]
 * @returns {HTMLElement}
 */
export function isolated(text, className = "") {
  return make("bdi", { class: className, dir: "auto" }, harmless(text));
}

/**
 * An HTML element.
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes] attributes by name; false and null are left out, `on…` are event listeners
 * @param {...(Node | string | number | null | undefined | false)} children
 * @returns {HTMLElement}
 */
export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * A term and what is said of it, for a list of such pairs.
 * @param {string} name
 * @param {Node | string | (Node | string)[]} value
 * @param {string} [key] what the value is called in the data
 * @returns {HTMLElement[]}
 */
export function pair(name, value, key = "") {
  return [make("dt", {}, name), make("dd", { "data-figure": key }, ...[value].flat())];
}

/**
 * An SVG element; arguments as for `make`.
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {...(Node | string | number | null | undefined | false)} children
 * @returns {SVGElement}
 */
export function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * @template {Element} T
 * @param {T} element
 * @param {Record<string, unknown>} attributes
 * @param {(Node | string | number | null | undefined | false)[]} children
 * @returns {T}
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined || value === "") continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else if (name === "vars") setVariables(element, /** @type {Record<string, string | number>} */ (value));
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/**
 * Sets custom properties; the page's security policy forbids `style` attributes.
 * @param {Element} element
 * @param {Record<string, string | number>} values
 */
function setVariables(element, values) {
  for (const [name, value] of Object.entries(values)) {
    /** @type {HTMLElement} */ (element).style.setProperty(`--${name}`, String(value));
  }
}
