// @ts-check
import { same } from './desk-client.js';
import { h } from './dom.js';

/** @typedef {import('./desk-client.js').PostRecord} PostRecord */

/** What the server and other clients change by themselves: nobody chooses among likes. */
const THEIRS_ALWAYS = ['counters', 'id'];

/**
 * Two versions of a post that both come from a third one. What only one of them changed is taken; where both did, the
 * person chooses. Dispatches `decided`.
 */
export class Conflict extends EventTarget {
  /** @type {Map<string, 'mine' | 'theirs'>} */
  #choices = new Map();

  /**
   * @param {PostRecord} base
   * @param {PostRecord} mine
   * @param {PostRecord} theirs
   */
  constructor(base, mine, theirs) {
    super();
    this.mine = mine;
    this.theirs = theirs;
    const names = [...new Set([...Object.keys(base), ...Object.keys(mine), ...Object.keys(theirs)])]
      .filter((name) => !THEIRS_ALWAYS.includes(name));
    const isChanged = (/** @type {PostRecord} */ version, /** @type {string} */ name) => !same(base[name], version[name]);
    /** What somebody else changed, and where. */
    this.names = names.filter((name) => isChanged(theirs, name) && !(name === 'feeds' && sameFeeds(base, theirs)));
    this.element = h('form', { class: 'conflict', onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      this.dispatchEvent(new Event('decided'));
    } },
    h('p', {}, 'Somebody else changed this post while you did. Choose what is to stand; everything else of both stays.'),
    h('div', { class: 'table', tabIndex: 0, role: 'region', 'aria-label': 'Both versions' }, h('table', {},
      h('thead', {}, h('tr', {}, h('td', { class: 'corner' }), h('th', { scope: 'col' }, 'Yours'), h('th', { scope: 'col' }, 'Theirs'))),
      h('tbody', {}, ...names.filter((name) => this.names.includes(name) || isChanged(mine, name)).map((name) => {
        const preset = isChanged(mine, name) ? 'mine' : 'theirs';
        this.#choices.set(name, preset);
        return h('tr', {}, h('th', { scope: 'row' }, name), ...['mine', 'theirs'].map((side) => h('td', {},
          h('label', {}, h('input', { type: 'radio', name: `of-${name}`, checked: side === preset,
            onchange: () => this.#choices.set(name, /** @type {'mine' | 'theirs'} */ (side)) }),
          h('span', { dir: 'auto' }, shown((side === 'mine' ? mine : theirs)[name]))))));
      })))),
    h('div', { class: 'ways' }, h('button', { class: 'main' }, 'Save with these'), h('button', { type: 'button', onclick: () => {
      for (const name of this.#choices.keys()) this.#choices.set(name, 'theirs');
      this.dispatchEvent(new Event('decided'));
    } }, 'Take all of theirs')));
  }

  /** Whether there is nothing for a person to decide. */
  get isEmpty() { return this.names.length === 0; }

  /** What comes of the choices, on top of theirs. */
  get merged() {
    /** @type {PostRecord} */
    const record = { ...this.theirs };
    for (const [name, side] of this.#choices) {
      const value = (side === 'mine' ? this.mine : this.theirs)[name];
      if (value === undefined) delete record[name];
      else record[name] = value;
    }
    return record;
  }
}

/**
 * Whether a post is in the same feeds: its ranks change when others are put beside it.
 *
 * @param {PostRecord} one
 * @param {PostRecord} other
 */
function sameFeeds({ feeds = [] }, { feeds: others = [] }) {
  const names = (/** @type {{name: string}[]} */ list) => list.map(({ name }) => name).sort();
  return same(names(feeds), names(others));
}

/**
 * A value as a person reads it: a list a line each, an object's members beside each other.
 *
 * @param {any} value
 * @returns {string}
 */
function shown(value) {
  if (value === undefined) return '(nothing)';
  if (typeof value === 'string') return value;
  if (/** @type {any} */ (JSON).isRawJSON?.(value)) return value.rawJSON;
  if (Array.isArray(value)) return value.every((one) => typeof one === 'string') ? value.join(', ') : value.map(shown).join('\n');
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return Object.entries(value).map(([name, one]) => `${name}: ${shown(one)}`).join(', ');
}
