// @ts-check
import { RangeStore, startOf } from '../lookahead.js';
import { feedPath, item as itemPath } from './desk-client.js';
import { count, duration, h, size, words } from './dom.js';
import { Frame } from './frame.js';
import { SlowLink } from './link.js';

/** @typedef {{name: string, title: string, downlink: number, uplink: number, rtt: number}} Network */

/**
 * A viewer who comes upon one post with nothing of it loaded: what starts it arrives first, exactly those bytes, and
 * then the rest. It stands where a `Prefetcher` stands for a feed; the post need not be saved.
 */
class Rehearsal extends EventTarget {
  /**
   * @param {any} post
   * @param {Network} network
   */
  constructor(post, network) {
    super();
    this.network = network;
    this.feed = { items: [post] };
    const link = new SlowLink(network);
    // A file that was just put has a weak tag, under which a store keeps nothing; here it is the same as long as it is shown.
    /** @type {import('../lookahead.js').Fetch} */
    const load = async (url, init = {}) => {
      const { 'If-Range': _, ...asked } = /** @type {Record<string, string>} */ (init.headers ?? {});
      const answer = await link.fetch(String(url), { ...init, headers: asked });
      const headers = new Headers(answer.headers);
      headers.set('ETag', '"shown"');
      return new Response(answer.body, { status: answer.status, headers });
    };
    this.store = new RangeStore({ fetch: load, limitBytes: 96 << 20 });
    this.files = (post.media ?? []).map((/** @type {any} */ medium) => [{
      ...medium, key: medium.id, kind: medium.kind, url: new URL(medium.url, document.baseURI).href,
    }]);
    this.over = new AbortController();
    this.bytesToStart = 0;
  }

  media() { return this.files; }
  /** @param {any[]} files */
  best(files) { return files[0]; }
  isReady() { return this.files.length === 0 || this.#starts(this.files[0][0]); }
  frameShown() {}
  stalled() {}
  play() {}

  /** @param {any} file */
  #starts(file) {
    const ranges = startOf({ ...file, bytes: file.bytes ?? this.store.size(file.url) ?? undefined }, this.network.downlink);
    return ranges !== null && ranges.every(([from, to]) => this.store.held(file.url).has(from, to));
  }

  /** @param {(waitMs: number) => void} ready what starts the first file is here */
  async run(ready) {
    const began = performance.now();
    const onBytes = () => this.dispatchEvent(new Event('bytes'));
    // The page asks its own server alone; the slide says so.
    const files = this.files.filter((/** @type {any[]} */ [{ url }]) => new URL(url).origin === location.origin);
    for (const [index, [file]] of files.entries()) {
      const options = { signal: this.over.signal, onBytes };
      for (const [from, to] of startOf(file, this.network.downlink) ?? [[0, null]]) await this.store.load(file.url, from, to, options);
      if (index === 0) {
        this.bytesToStart = this.store.held(file.url).count;
        ready(performance.now() - began);
      }
    }
    for (const [file] of files) await this.store.load(file.url, 0, null, { signal: this.over.signal, onBytes });
  }
}

/** A post as a phone on a network shows it, and what it costs there. */
export class Preview {
  /** @type {Network[]} */
  #networks = [];
  /** @type {Rehearsal | null} */
  #rehearsal = null;
  /** @type {Frame | null} */
  #frame = null;
  /** @type {any} */
  #post = { type: 'text' };
  #number = 0;

  /**
   * @param {import('./desk-client.js').DeskClient} client
   * @param {() => string} feed
   */
  constructor(client, feed) {
    this.client = client;
    this.feed = feed;
    this.network = h('select', { onchange: () => void this.play() });
    this.screen = h('div', { class: 'frames' });
    this.title = h('h3', { dir: 'auto' });
    this.by = h('p', { class: 'by' });
    this.text = h('p', { class: 'text', dir: 'auto' });
    this.costs = h('dl', { class: 'facts' });
    this.note = h('p', { class: 'note', role: 'status' });
    this.element = h('section', { class: 'preview', 'aria-label': 'Preview' },
      h('div', { class: 'ways' }, h('label', {}, 'On a phone on ', this.network),
        h('button', { type: 'button', onclick: () => void this.play() }, 'Load it again')),
      h('div', { class: 'phone' }, this.screen, h('div', { class: 'caption' }, this.title, this.by, this.text)),
      this.note, this.costs);
  }

  /** The networks that can be chosen; the one that usually counts first. */
  async begin() {
    if (this.#networks.length > 0) return;
    const { networks } = await this.client.get('v1/networks');
    this.#networks = networks.filter((/** @type {Network} */ { downlink }) => downlink > 0);
    this.network.replaceChildren(...this.#networks.map(({ name, title }) => h('option', { value: name }, title)));
    this.network.value = (networks.find((/** @type {any} */ one) => one.default) ?? this.#networks[0])?.name ?? '';
  }

  get #chosen() { return this.#networks.find(({ name }) => name === this.network.value); }

  /**
   * Another text at once; other files are loaded again.
   *
   * @param {any} post with what is known of its files
   * @param {string | null} id of the post as it is saved
   */
  show(post, id) {
    const urls = (/** @type {any} */ one) => JSON.stringify([one.type, (one.media ?? []).map(
      (/** @type {any} */ medium) => [medium.url, medium.kind, medium.bytes])]);
    const isOther = this.#frame === null || urls(post) !== urls(this.#post);
    this.#post = post;
    this.id = id;
    this.title.textContent = post.title ?? '';
    this.by.replaceChildren(h('bdi', {}, post.author?.name ?? ''));
    this.text.textContent = (post.media ?? []).length > 0 ? post.text ?? '' : '';
    if (isOther) void this.play();
    const words = this.#frame?.words?.querySelector('p');
    if (words) words.textContent = post.text ?? post.title ?? 'What you write is shown here.';
  }

  async play() {
    const number = this.#number += 1;
    this.end();
    const network = this.#chosen;
    if (!network) return;
    const media = (this.#post.media ?? []).filter((/** @type {any} */ { url }) => isURL(url))
      .map((/** @type {any} */ medium, /** @type {number} */ index) => ({ ...medium, id: `preview.${index}` }));
    const post = { id: 'preview', ...this.#post, media };
    const rehearsal = new Rehearsal(post, network);
    const frame = new Frame(/** @type {any} */ ({ prefetcher: rehearsal }), post);
    [this.#rehearsal, this.#frame] = [rehearsal, frame];
    this.screen.replaceChildren(frame.element);
    rehearsal.addEventListener('bytes', () => frame.update());
    frame.active = true;
    this.#drawCosts(network, media);
    void this.#drawPlan(network, number);
    this.note.textContent = '';
    try {
      await rehearsal.run((waitMs) => {
        frame.update();
        frame.waited(Math.round(waitMs));
        this.note.textContent = `It started after ${duration(waitMs)}, with ${size(rehearsal.bytesToStart)}.`;
      });
      frame.update();
    } catch (error) {
      if (!rehearsal.over.signal.aborted) this.note.textContent = `A file does not come: ${words(error)}.`;
    }
  }

  end() {
    this.#rehearsal?.over.abort();
    this.#frame?.end();
    [this.#rehearsal, this.#frame] = [null, null];
  }

  /**
   * What follows from the files alone.
   *
   * @param {Network} network
   * @param {any[]} media
   */
  #drawCosts(network, media) {
    const { downlink, rtt } = network;
    const takes = (/** @type {number} */ bytes) => duration(rtt + bytes * 8 / downlink);
    /** @type {[string, string][]} */
    const facts = [];
    if (media.length === 0) facts.push(['To load', 'nothing: it is text alone']);
    else {
      const start = startOf(media[0], downlink)?.reduce((sum, [from, to]) => sum + to - from, 0);
      if (start !== undefined && Number.isFinite(start)) facts.push(['Starts with', `${size(start)}, about ${takes(start)}`]);
      const all = media.reduce((sum, { bytes }) => sum + (bytes ?? NaN), 0);
      facts.push(['All of it', Number.isNaN(all) ? 'not known yet' : `${size(all)}, about ${takes(all)}`]);
    }
    this.costs.replaceChildren(...facts.map(([name, value]) => fact(name, value)));
  }

  /**
   * What the server tells clients of the saved post.
   *
   * @param {Network} network
   * @param {number} number
   */
  async #drawPlan(network, number) {
    const { id } = this;
    if (id === null || id === undefined) return;
    const feed = this.feed();
    const query = new URLSearchParams({ network: network.name, ...(feed ? { feed } : {}) });
    try {
      const { prefetch } = await this.client.get(`${itemPath(id)}?${query}`);
      const about = prefetch.estimated ? ' (estimated)' : '';
      const facts = [fact('Loaded ahead', `${size(prefetch.minimumBytes)}${about}`)];
      const page = feed ? await this.client.get(
        `${feedPath(feed)}/items?${new URLSearchParams({ network: network.name, around: id, leading: '20', trailing: '0' })}`) : null;
      if (page) {
        const { plan, planBytes, policy } = page.prefetch;
        const others = new Set(plan.map((/** @type {any} */ part) => part.item)).size - 1;
        facts.push(fact('Planned from here', `${size(planBytes)}: this ${others > 0 ? `and ${count(others)} more` : 'alone'}`),
          fact('By the policy', policy));
      }
      if (number === this.#number) this.costs.append(...facts);
    } catch {
      // It is not saved yet, or in no feed: what its files say stands there.
    }
  }
}

/**
 * @param {string} name
 * @param {string} value
 */
const fact = (name, value) => h('div', {}, h('dt', {}, name), h('dd', {}, value));

/** @param {string} text */
function isURL(text) {
  try {
    return Boolean(text && new URL(text, document.baseURI));
  } catch {
    return false;
  }
}
