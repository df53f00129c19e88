// @ts-check
import { count, h, words } from './dom.js';

/** Chooses one of the feeds, of which there may be very many: a page at a time, or by name. */
export class FeedChoice {
  /**
   * @param {HTMLDialogElement} dialog
   * @param {URL} server
   * @param {(name: string) => void} chosen
   */
  constructor(dialog, server, chosen) {
    this.dialog = dialog;
    this.server = server;
    this.chosen = chosen;
    this.list = h('ul', {});
    this.note = h('p', { class: 'note', role: 'status' });
    this.name = h('input', { name: 'name', autocomplete: 'off', maxLength: 100, required: true });
    this.back = h('button', { type: 'button' }, 'Before');
    this.next = h('button', { type: 'button' }, 'Further');
    dialog.append(
      h('h2', { id: 'feeds-title' }, 'Feeds'),
      h('form', { method: 'dialog', onsubmit: (/** @type {Event} */ event) => this.#byName(event) },
        h('label', {}, 'By its name ', this.name), h('button', {}, 'Show')),
      this.note, this.list,
      h('div', { class: 'ways' }, this.back, this.next,
        h('button', { type: 'button', onclick: () => dialog.close() }, 'Close')));
  }

  open() {
    this.dialog.showModal();
    void this.#load('v1/feeds?limit=50');
  }

  /** @param {string} path */
  async #load(path) {
    try {
      const answer = await fetch(new URL(path.replace(/^\//, ''), this.server), { cache: 'no-cache' });
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      const { feeds, total, paging } = await answer.json();
      this.note.textContent = `${count(total)} ${total === 1 ? 'feed' : 'feeds'}`;
      this.list.replaceChildren(...feeds.map((/** @type {any} */ feed) => h('li', {}, h(
        'button', { type: 'button', onclick: () => this.#take(feed.name) },
        h('strong', {}, h('bdi', {}, feed.title ?? feed.name)),
        h('span', {}, feed.title ? h('bdi', {}, feed.name) : null, feed.title ? ', ' : null,
          `${count(feed.total)} items`)))));
      for (const [button, link] of [[this.back, paging.links.prev], [this.next, paging.links.next]]) {
        button.disabled = !link;
        button.onclick = () => void this.#load(link);
      }
    } catch (error) {
      this.note.textContent = `The feeds do not come: ${words(error)}.`;
    }
  }

  /** @param {Event} event */
  async #byName(event) {
    event.preventDefault();
    const name = this.name.value;
    const answer = await fetch(new URL(`v1/feeds/${encodeURIComponent(name)}`, this.server)).catch(() => null);
    if (answer?.ok) this.#take(name);
    else {
      this.note.textContent = answer?.status === 404
        ? `There is no feed “${name}”.` : 'The server does not answer.';
    }
  }

  /** @param {string} name */
  #take(name) {
    this.dialog.close();
    this.chosen(name);
  }
}
