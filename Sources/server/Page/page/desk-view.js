// @ts-check
import { DeskClient, feedPath, Refusal } from './desk-client.js';
import { DropTarget } from './desk-files.js';
import { PostList, title } from './desk-list.js';
import { PostDialog } from './desk-post.js';
import { count, duration, h, size, words } from './dom.js';
import { parseMetrics, sum } from './metrics.js';

const FEEDS = 50;
/** How many changes can be taken back, the last one first. */
const UNDO = 20;

/** The desk: feeds, their posts, and what goes out, behind the token. A client of the public API like any other. */
export class DeskView {
  /** @type {{words: string, back: () => Promise<void>}[]} */
  #undo = [];
  #feed = '';
  /** Whether no feed is at hand because the posts of all feeds are asked for. */
  #showsAll = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #typing;
  #isOpen = false;
  #hasFeeds = true;
  /** @type {string | null} the post to open once there is a token */
  #wanted = null;
  /** @type {any} */
  #api = null;

  /**
   * @param {HTMLElement} place
   * @param {URL} server
   * @param {{feed: () => string, show: (feed: string) => void, changed: (feed: string, id: string | null) => void,
   *   deleted: (feed: string) => void}} page
   */
  constructor(place, server, page) {
    this.page = page;
    this.client = new DeskClient(server);
    this.token = h('input', { type: 'password', autocomplete: 'off', required: true, name: 'token' });
    this.keep = h('input', { type: 'checkbox' });
    this.gateNote = h('p', { class: 'problem', role: 'alert' });
    this.gate = h('form', { class: 'gate', onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      this.client.use(this.token.value.trim(), this.keep.checked);
      void this.#enter();
    } }, h('h2', {}, 'The desk'), h('p', {}, 'Make feeds and posts, put pictures and clips into them, and order them.'),
    h('label', {}, 'Write token', this.token), h('label', { class: 'check' }, this.keep, ' Keep it until this tab is closed'),
    h('div', { class: 'ways' }, h('button', { class: 'main' }, 'Open the desk')), this.gateNote,
    h('p', { class: 'note' }, 'The token is what the server was started with: the variable ', h('code', {}, 'LOOKAHEAD_WRITE_TOKEN'), ', or the file of ',
      h('code', {}, '--write-token-file'), '. It stays in this page’s memory.'));

    this.status = h('span', { role: 'status' });
    this.undo = h('button', { type: 'button', hidden: true, onclick: () => void this.#takeBack() }, 'Undo');
    this.list = new PostList(this.client, {
      edit: (id) => void this.edit(id), remove: (row) => void this.#remove(row), say: (text) => this.#say(text),
      failed: (error) => this.#failed(error),
      moved: (row, back) => this.#did(`Moved “${title(row.record)}”.`, row.id, back),
    });
    this.post = new PostDialog(this.client, () => this.#feed, () => this.list.rows.map(({ id, record }) => ({
      id, title: title(record), hasRank: record.feeds?.find(({ name }) => name === this.#feed)?.rank !== undefined,
    })), (ids, before) => void this.#saved(ids, before));
    this.dialog = h('dialog', { 'aria-labelledby': 'ask-title' });
    this.bench = h('div', { class: 'bench', hidden: true }, this.#makeFeeds(), this.#makePosts());
    this.bar = h('div', { class: 'bar-of-desk', hidden: true }, this.status, this.undo);
    place.append(this.gate, this.bench, this.bar, this.dialog, this.post.element);
    // What is dropped beside all of them must not take the page's place.
    new DropTarget(place, () => undefined);
    new DropTarget(this.bench, (files) => {
      if (this.#feed) void this.post.make(files);
      else this.#say('Choose a feed: the files become a post of it.');
    });
  }

  #makeFeeds() {
    this.feeds = h('ul', { class: 'feeds' });
    this.feedsNote = h('p', { class: 'note', role: 'status' });
    this.back = h('button', { type: 'button' }, 'Before');
    this.further = h('button', { type: 'button' }, 'Further');
    this.feedsPaging = h('div', { class: 'ways' }, this.back, this.further);
    this.name = h('input', { required: true, maxLength: 100, placeholder: 'Name', 'aria-label': 'Name of the new feed' });
    this.makeFeed = h('button', {}, 'Make a feed');
    this.outside = h('div', { class: 'outside' });
    return h('div', { class: 'side' }, h('h2', {}, 'Feeds'), this.feeds, this.feedsNote, this.feedsPaging,
      h('form', { class: 'ways', onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        void this.#makeFeed();
      } }, this.name, this.makeFeed), this.outside,
      h('button', { type: 'button', class: 'leave', onclick: () => this.#leave('') }, 'Forget the token'));
  }

  #makePosts() {
    this.heading = h('h2', { dir: 'auto' });
    this.make = h('button', { type: 'button', class: 'main', onclick: () => void this.post.make() }, 'New post');
    this.feedWays = h('span', { class: 'ways' },
      h('button', { type: 'button', onclick: () => this.page.show(this.#feed) }, 'Show it'),
      h('button', { type: 'button', onclick: () => this.#nameFeed() }, 'Title…'),
      h('button', { type: 'button', onclick: () => void this.#deleteFeed() }, 'Delete…'));
    const filter = () => {
      clearTimeout(this.#typing);
      this.#typing = setTimeout(() => void this.#showPosts(), 300);
    };
    this.search = h('input', { type: 'search', 'aria-label': 'Search the posts', placeholder: 'Search', hidden: true, oninput: filter });
    this.type = h('select', { 'aria-label': 'Type', onchange: filter }, h('option', { value: '' }, 'all types'),
      ...['image', 'video', 'carousel', 'text', 'audio', 'webapp', 'ad'].map((type) => h('option', { value: type }, type)));
    this.shown = h('select', { 'aria-label': 'Which posts', hidden: true, onchange: filter }, h('option', { value: '' }, 'in the feed'),
      h('option', { value: 'scheduled' }, 'to come'), h('option', { value: 'ended' }, 'gone'));
    this.from = h('input', { type: 'date', onchange: filter });
    this.until = h('input', { type: 'date', onchange: filter });
    this.filter = h('div', { class: 'ways filter' }, this.search, this.shown, this.type,
      h('label', {}, 'published from ', this.from), h('label', {}, 'to ', this.until));
    this.work = h('div', { class: 'work' }, h('div', { class: 'ways head' }, this.heading, this.make, this.feedWays), this.filter, this.list.element);
    this.first = h('ol', { class: 'first', hidden: true },
      h('li', {}, h('strong', {}, 'Make a feed: '), 'a name is enough, such as harbour. Apps ask for the feed by it.'),
      h('li', {}, h('strong', {}, 'Drop pictures and clips '), 'onto it: they become posts. What loads slowly is told, and mended.'),
      h('li', {}, h('strong', {}, 'Show it: '), 'see how it scrolls on a slow network, as readers will.'));
    return h('div', {}, this.first, this.work);
  }

  show() {
    if (!this.#isOpen) return void (this.client.token && this.#enter());
    // Others may have written meanwhile.
    void this.#readFeeds();
    return void this.#showPosts();
  }

  hide() { void this.list.settle(); }

  // The token.

  async #enter() {
    this.gateNote.textContent = '';
    try {
      await this.client.get('v1/items?limit=1');
      this.#api ??= await this.client.get('openapi.json').catch(() => ({}));
    } catch (error) {
      return this.#leave(error instanceof Refusal && error.status === 401 ? 'This is not the server’s token.'
        : `${error instanceof Refusal ? '' : 'The desk cannot be opened: '}${words(error)}.`);
    }
    this.token.value = '';
    this.#isOpen = true;
    this.gate.hidden = true;
    this.bench.hidden = false;
    const parameters = this.#api.paths?.['/v1/items']?.get?.parameters ?? [];
    const takes = (/** @type {string} */ asked) => parameters.some((/** @type {any} */ { name }) => name === asked);
    this.search.hidden = !takes('q');
    this.shown.hidden = !takes('visibility');
    this.post.fields = new Set(Object.keys(this.#api.components?.schemas?.Record?.properties ?? {}));
    this.#feed = this.page.feed();
    await this.#readFeeds();
    await this.#showPosts();
    if (this.#wanted !== null) await this.edit(this.#wanted);
    return undefined;
  }

  /** @param {string} why */
  #leave(why) {
    this.client.use('', false);
    this.#isOpen = false;
    this.#undo = [];
    this.bench.hidden = true;
    this.bar.hidden = true;
    this.gate.hidden = false;
    this.gateNote.textContent = why;
    this.token.focus();
  }

  // Feeds.

  #path = `v1/feeds?limit=${FEEDS}`;

  /** @param {string} [path] */
  async #readFeeds(path = this.#path) {
    try {
      const { feeds, total, paging } = await this.client.get(path);
      this.#path = path;
      if (!this.#feed && !this.#showsAll && feeds.length > 0) this.#feed = feeds[0].name;
      const choose = (/** @type {string} */ name, /** @type {Node | string} */ words, /** @type {string} */ more) => h('li', {}, h('button', {
        type: 'button', 'aria-current': name === this.#feed ? 'true' : null, onclick: () => this.#choose(name),
      }, h('strong', { dir: 'auto' }, words), h('span', { class: 'note' }, more)));
      this.feeds.replaceChildren(...feeds.map((/** @type {any} */ feed) => choose(
        feed.name, feed.title ?? feed.name, `${feed.title ? `${feed.name}, ` : ''}${posts(feed.total)}`)),
      total > 0 ? choose('', 'All posts', 'the newest first') : '');
      this.#drawHeading();
      this.#hasFeeds = total > 0;
      this.#drawFirst();
      this.feedsNote.textContent = total === 0 ? 'There is no feed yet: make the first one.' : total > feeds.length ? `${count(total)} feeds` : '';
      this.feedsPaging.hidden = !paging.links.prev && !paging.links.next;
      for (const [button, link] of [[this.back, paging.links.prev], [this.further, paging.links.next]]) {
        button.disabled = !link;
        button.onclick = () => void this.#readFeeds(link);
      }
    } catch (error) {
      this.feedsNote.textContent = `The feeds do not come: ${words(error)}.`;
    }
    void this.#readOutside();
  }

  /** @param {string} name */
  #choose(name) {
    this.#feed = name;
    this.#showsAll = name === '';
    void this.#readFeeds();
    void this.#showPosts();
  }

  async #makeFeed() {
    const name = this.name.value.trim();
    if (!name) return;
    try {
      await this.client.ask(feedPath(name), { method: 'PUT', body: JSON.stringify({ feed: { name } }), isNew: true });
      this.name.value = '';
      this.#say(`The feed “${name}” is there.`);
      this.page.changed(name, null);
      this.#choose(name);
    } catch (error) {
      this.#failed(error instanceof Refusal && error.status === 412 ? new Error(`There is a feed “${name}” already`) : error);
    }
  }

  #nameFeed() {
    const feed = this.#feed;
    const input = h('input', { maxLength: 4096, dir: 'auto' });
    this.client.ask(feedPath(feed)).then(async (answer) => {
      const tag = answer.headers.get('ETag') ?? '*';
      input.value = (await answer.json()).title ?? '';
      this.#ask(`What readers see as the name of “${feed}”`, h('label', {}, 'Title', input), 'Save', async () => {
        const title = input.value.trim();
        await this.client.ask(feedPath(feed), { method: 'PUT', body: JSON.stringify({ feed: { name: feed, ...(title ? { title } : {}) } }), tag });
        this.page.changed(feed, null);
        await this.#readFeeds();
        this.#drawHeading();
        this.#say(title ? `It is called “${title}”.` : 'It has no title.');
      });
    }, (error) => this.#failed(error));
  }

  async #deleteFeed() {
    const feed = this.#feed;
    try {
      const { total, title: name } = await this.client.get(feedPath(feed));
      this.#ask(`Delete the feed “${name ?? feed}”?`, h('p', {}, total === 0 ? 'It has no posts. ' : total === 1 ? 'Its one post leaves it. '
        : `Its ${count(total)} posts leave it. `, 'The posts themselves stay (under All posts). Readers of the feed start again. This cannot be undone.'),
      total > 0 ? `Delete it, with ${posts(total)} in it` : 'Delete it', async () => {
        await this.client.ask(feedPath(feed), { method: 'DELETE' });
        this.#feed = '';
        this.page.deleted(feed);
        this.#say(`The feed “${name ?? feed}” is deleted.`);
        await this.#readFeeds();
        await this.#showPosts();
      });
    } catch (error) {
      this.#failed(error);
    }
  }

  /**
   * @param {string} question
   * @param {Node} body
   * @param {string} yes
   * @param {() => Promise<void>} act
   */
  #ask(question, body, yes, act) {
    const note = h('p', { class: 'problem', role: 'alert' });
    this.dialog.replaceChildren(h('h2', { id: 'ask-title' }, question), h('form', { onsubmit: async (/** @type {Event} */ event) => {
      event.preventDefault();
      try {
        await act();
        this.dialog.close();
      } catch (error) {
        note.textContent = error instanceof Refusal && error.status === 412 ? 'Somebody else changed it meanwhile. Close this, and look again.' : words(error);
      }
    } }, body, h('div', { class: 'ways' }, h('button', { class: 'main' }, yes),
      h('button', { type: 'button', onclick: () => this.dialog.close() }, 'Cancel'))), note);
    this.dialog.showModal();
  }

  // Posts.

  #drawHeading() {
    const feed = this.#feed;
    const chosen = /** @type {HTMLElement | null} */ (this.feeds.querySelector('[aria-current] strong'));
    this.heading.replaceChildren(feed ? chosen?.textContent ?? feed : 'All posts');
    this.feedWays.hidden = !feed;
    this.make.hidden = !feed;
  }

  async #showPosts() {
    this.#drawHeading();
    const filter = new URLSearchParams();
    if (this.search.value.trim()) filter.set('q', this.search.value.trim());
    if (this.shown.value) filter.set('visibility', this.shown.value);
    this.shown.options[0].textContent = this.#feed ? 'in the feed' : 'all of them';
    if (this.type.value) filter.set('type', this.type.value);
    if (this.from.value) filter.set('publishedFrom', new Date(`${this.from.value}T00:00`).toISOString());
    if (this.until.value) {
      const end = new Date(`${this.until.value}T00:00`);
      end.setDate(end.getDate() + 1);
      filter.set('publishedBefore', end.toISOString());
    }
    await this.list.show(this.#feed, filter);
    this.#drawFirst();
  }

  /** On an empty database: what to do first. */
  #drawFirst() {
    // Nothing is there to be looked for.
    this.filter.hidden = this.list.isEmpty;
    this.first.hidden = this.#hasFeeds || !this.list.isEmpty;
    this.work.hidden = !this.first.hidden;
    this.makeFeed.classList.toggle('main', !this.#hasFeeds);
  }

  /**
   * Opens one post, from here or from the page.
   *
   * @param {string} id
   */
  async edit(id) {
    this.#wanted = id;
    // The token comes first.
    if (!this.#isOpen) return;
    this.#wanted = null;
    try {
      await this.list.settle();
      await this.post.edit(id);
    } catch (error) {
      this.#failed(error);
      // It was deleted meanwhile.
      if (error instanceof Refusal && error.status === 404) await this.#showPosts();
    }
  }

  /**
   * @param {string[]} ids
   * @param {import('./desk-client.js').Version | null} before
   */
  async #saved(ids, before) {
    const [id] = ids;
    this.page.changed(this.#feed, id);
    const now = await Promise.all(ids.map((one) => this.client.record(one).catch(() => null)));
    const name = title(now[0]?.record ?? before?.record ?? { type: id });
    const words = before ? `Saved “${name}”.` : ids.length > 1 ? `${posts(ids.length)} are made.` : `“${name}” is made.`;
    this.#did(words, id, async () => {
      // Where it could not be read nobody knows what is there: no tag holds.
      const tag = (/** @type {number} */ index) => now[index]?.tag ?? '""';
      if (before) await this.client.put(id, before.text, { tag: tag(0) });
      else for (const [index, one] of ids.entries()) await this.client.delete(one, tag(index));
    });
    await this.list.update(id);
    await this.#readFeeds();
    this.#drawHeading();
  }

  /** @param {import('./desk-list.js').Row} row */
  async #remove(row) {
    try {
      await this.list.settle();
      const { text, tag } = await this.client.record(row.id);
      await this.client.delete(row.id, tag);
      this.list.take(row);
      this.#did(`Deleted “${title(row.record)}”.`, row.id, async () => this.client.put(row.id, text, { isNew: true }));
      await this.#readFeeds();
    } catch (error) {
      this.#failed(error);
    }
  }

  // What was done, and back.

  /** @param {string} text */
  #say(text) {
    this.bar.hidden = false;
    this.status.textContent = text;
    this.bar.classList.remove('isProblem');
  }

  /** @param {unknown} error */
  #failed(error) {
    if (error instanceof Refusal && error.status === 401) return this.#leave('The token does not count any more.');
    this.#say(error instanceof Refusal ? error.message : `It is not done: ${words(error)}.`);
    return this.bar.classList.add('isProblem');
  }

  /**
   * @param {string} text
   * @param {string} id
   * @param {() => Promise<void>} back
   */
  #did(text, id, back) {
    this.#say(text);
    this.#undo = [...this.#undo.slice(1 - UNDO), { words: text, back: async () => {
      await back();
      await this.list.update(id);
      this.page.changed(this.#feed, id);
    } }];
    this.undo.hidden = false;
    this.page.changed(this.#feed, id);
  }

  async #takeBack() {
    await this.list.settle();
    const last = this.#undo.pop();
    this.undo.hidden = this.#undo.length === 0;
    if (!last) return;
    try {
      await last.back();
      this.#say(`Undone: ${last.words}`);
      await this.#readFeeds();
    } catch (error) {
      // What did not reach the server can be taken back still.
      if (!(error instanceof Refusal) || error.status >= 500) this.#undo.push(last);
      this.undo.hidden = this.#undo.length === 0;
      this.#failed(error instanceof Refusal && error.status === 412
        ? new Error('somebody else changed it since, and nothing of theirs is overwritten') : error);
    }
  }

  // What goes out of the door.

  async #readOutside() {
    /** @type {Node[]} */
    const parts = [];
    try {
      const answer = await fetch(this.client.url('metrics'), { cache: 'no-store' });
      if (answer.ok) parts.push(h('h2', {}, 'Backups'), backups(parseMetrics(await answer.text())));
    } catch {
      // A proxy in front may keep /metrics in.
    }
    if (this.#api?.paths?.['/v1/webhooks']) {
      parts.push(h('h2', {}, 'Webhooks'), await this.client.get('v1/webhooks').then(
        ({ webhooks = [] }) => targets(webhooks), (error) => h('p', { class: 'note' }, `They do not come: ${words(error)}.`)));
    }
    this.outside.replaceChildren(...parts);
  }
}

/** @param {number} total */
const posts = (total) => (total === 1 ? '1 post' : `${count(total)} posts`);

/** @param {Map<string, import('./metrics.js').Sample[]>} metrics */
function backups(metrics) {
  const at = sum(metrics, 'lookahead_backup_timestamp_seconds');
  const failed = sum(metrics, 'lookahead_backups_total', { outcome: 'failed' });
  if (!at && !failed && !metrics.has('lookahead_backups_total')) {
    return h('p', { class: 'note' }, 'The server makes none by itself (', h('code', {}, '--backup-folder'), ').');
  }
  return h('p', { class: failed && !at ? 'problem' : 'note' }, at
    ? `The newest is ${duration(Math.max(0, Date.now() - at * 1000))} old and has ${size(sum(metrics, 'lookahead_backup_bytes'))}.` : 'There is none yet.',
  failed ? ` ${count(failed)} failed: the log says why.` : '');
}

/**
 * How far each webhook has been told what changed.
 *
 * @param {{name: string, origin: string, position?: string, behindSince?: string, lastSuccess?: string, lastFailure?: string,
 *   lastProblem?: string, failures?: number, nextAttempt?: string}[]} webhooks
 */
function targets(webhooks) {
  if (webhooks.length === 0) return h('p', { class: 'note' }, 'There is none.');
  const at = (/** @type {string} */ time) => new Date(time).toLocaleString();
  return h('ul', {}, ...webhooks.map(({ name, origin, position, behindSince, lastSuccess, lastFailure, lastProblem, failures, nextAttempt }) => {
    const state = behindSince ? `Behind since ${at(behindSince)}.` : position === undefined ? 'Not looked at yet.' : 'Told all that changed.';
    return h('li', {}, h('strong', {}, h('bdi', {}, name)), ' ', h('span', { class: 'note' }, h('bdi', {}, origin)),
      h('p', { class: failures ? 'problem' : 'note' }, state, lastSuccess ? ` It last took a message ${at(lastSuccess)}.` : ''),
      failures && lastFailure ? h('p', { class: 'problem' }, `Failed ${count(failures)} ${failures === 1 ? 'time' : 'times'}, last ${at(lastFailure)}`,
        lastProblem ? `: ${words(lastProblem)}` : '', '.', nextAttempt ? ` The next try is at ${at(nextAttempt)}.` : '') : null);
  }));
}
