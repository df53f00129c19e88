// @ts-check
import { h, words } from './dom.js';

/**
 * Changes an item's title and its rank in the feed, and takes the last change back. The token is kept in memory, and
 * what somebody else changed meanwhile is never overwritten (`If-Match`).
 */
export class Editor {
  #token = '';
  /** @type {string | null} */
  #id = null;
  /**
   * The record as it was before the last change.
   *
   * @type {{id: string, record: string} | null}
   */
  #before = null;

  /**
   * @param {URL} server
   * @param {() => string} feed
   * @param {(id: string) => void} changed
   */
  constructor(server, feed, changed) {
    this.server = server;
    this.feed = feed;
    this.changed = changed;
    this.token = h('input', {
      type: 'password', autocomplete: 'off',
      oninput: () => { this.#token = this.token.value.trim(); },
    });
    this.title = h('input', { maxLength: 4096, dir: 'auto' });
    this.rank = h('input', { type: 'number', step: 1, placeholder: 'none: by its time' });
    this.undo = h('button', { type: 'button', disabled: true, onclick: () => void this.#undo() }, 'Undo');
    this.note = h('p', { class: 'note', role: 'status' });
    this.element = h('details', { class: 'editor', ontoggle: () => void this.#read() }, h('summary', {}, 'Change it'),
      h('form', { onsubmit: (/** @type {Event} */ event) => this.#submit(event) },
        h('label', {}, 'Write token', this.token), h('label', {}, 'Title', this.title),
        h('label', {}, 'Rank in this feed', this.rank),
        h('div', { class: 'ways' }, h('button', {}, 'Save'), this.undo)), this.note);
  }

  /** @param {import('../lookahead.js').Item | undefined} item */
  show(item) {
    if (!item || item.id === this.#id) return;
    this.#id = item.id;
    this.note.textContent = '';
    void this.#read();
  }

  /** @param {string} id */
  #url(id) { return new URL(`v1/items/${encodeURIComponent(id)}`, this.server); }

  async #read() {
    if (!this.element.open || this.#id === null) return null;
    const id = this.#id;
    try {
      const answer = await fetch(`${this.#url(id)}/record`, { cache: 'no-cache' });
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      const text = await answer.text();
      if (id !== this.#id) return null;
      const record = JSON.parse(text);
      this.title.value = record.title ?? '';
      this.rank.value = record.feeds?.find((/** @type {any} */ one) => one.name === this.feed())?.rank ?? '';
      return { id, text, tag: answer.headers.get('ETag') ?? '*' };
    } catch (error) {
      this.note.textContent = `It cannot be read: ${words(error)}.`;
      return null;
    }
  }

  /** @param {Event} event */
  async #submit(event) {
    event.preventDefault();
    const [title, rank] = [this.title.value, this.rank.value];
    const now = await this.#read();
    if (!now) return;
    [this.title.value, this.rank.value] = [title, rank];
    const record = JSON.parse(now.text);
    if (title === '') delete record.title;
    else record.title = title;
    const place = record.feeds?.find((/** @type {any} */ one) => one.name === this.feed());
    if (place && rank === '') delete place.rank;
    else if (place) place.rank = Number(rank);
    if (await this.#put(now.id, JSON.stringify(record), now.tag)) {
      this.#before = { id: now.id, record: now.text };
      this.undo.disabled = false;
      this.note.textContent = 'Saved. Everybody who asks for the feed sees it.';
    }
  }

  async #undo() {
    const before = this.#before;
    if (!before) return;
    const answer = await fetch(`${this.#url(before.id)}/record`, { cache: 'no-cache' }).catch(() => null);
    if (!answer?.ok) return this.#say('It cannot be read.');
    if (!await this.#put(before.id, before.record, answer.headers.get('ETag') ?? '*')) return undefined;
    this.#before = null;
    this.undo.disabled = true;
    await this.#read();
    return this.#say('As it was.');
  }

  /** @param {string} text */
  #say(text) { this.note.textContent = text; }

  /**
   * @param {string} id
   * @param {string} body
   * @param {string} tag
   */
  async #put(id, body, tag) {
    try {
      const answer = await fetch(this.#url(id), {
        method: 'PUT', body,
        headers: { 'Content-Type': 'application/json', 'If-Match': tag, Authorization: `Bearer ${this.#token}` },
      });
      if (answer.ok) {
        this.changed(id);
        return true;
      }
      const problem = await answer.json().catch(() => ({}));
      this.#say(problem.detail ?? `It is refused: status ${answer.status}.`);
    } catch (error) {
      this.#say(`It is not saved: ${words(error)}.`);
    }
    return false;
  }
}
