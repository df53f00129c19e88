// @ts-check
/**
 * Makes elements without markup: what a feed says is text, never HTML.
 *
 * @param {string} name
 * @param {Record<string, unknown>} [properties] `class`, `on…` listeners, properties, or attributes
 * @param {...(Node | string | number | null | undefined | false)} children
 * @returns {any}
 */
export function h(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
    else if (key === 'class') element.className = String(value);
    else if (key in element && !key.includes('-') && key !== 'list') /** @type {any} */ (element)[key] = value;
    else element.setAttribute(key, value === true ? '' : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

/**
 * The same for a drawing.
 *
 * @param {string} name
 * @param {Record<string, string | number>} [attributes]
 * @param {...Node} children
 */
export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

/**
 * The element with this id.
 *
 * @param {string} id
 * @returns {any}
 */
export const byId = (id) => /** @type {any} */ (document.getElementById(id));

/** @param {number} bytes */
export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(bytes < 1e4 ? 1 : 0)} KB`;
  if (bytes < 1e9) return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
  return `${(bytes / 1e9).toFixed(1)} GB`;
}

/** @param {number} milliseconds */
export function duration(milliseconds) {
  if (milliseconds < 1) return `${Math.round(milliseconds * 1000)} µs`;
  if (milliseconds < 1000) return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;
  if (milliseconds < 120_000) return `${(milliseconds / 1000).toFixed(milliseconds < 1e4 ? 1 : 0)} s`;
  const minutes = Math.round(milliseconds / 60_000);
  if (minutes < 120) return `${minutes} min`;
  return minutes < 2880 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1440)} days`;
}

/** @param {number} number */
export const count = (number) => number.toLocaleString('en', { maximumFractionDigits: 1 });

/** Whether the person asked for less motion. */
export const lessMotion = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

/**
 * What went wrong, in words, without the stop at their end.
 *
 * @param {unknown} error
 */
export const words = (error) => (error instanceof TypeError ? 'the server cannot be reached'
  : (error instanceof Error ? error.message : String(error)).replace(/\.$/, ''));
