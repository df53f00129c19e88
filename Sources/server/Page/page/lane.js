// @ts-check
import { Feed, Prefetcher, RangeStore } from '../lookahead.js';
import { SlowLink } from './link.js';

/** A strategy with a viewer of its own: its pages, its ranges, its link. Nothing is shared with another lane. */
export class Lane {
  /**
   * @param {string} feed
   * @param {{title: string, strategy?: import('../lookahead.js').Strategy}} choice
   * @param {{downlink: number, uplink: number, rtt: number} | null} profile null: the network as it is
   */
  constructor(feed, { title, strategy }, profile) {
    this.title = title;
    const link = profile ? new SlowLink(profile) : null;
    // Pages, too: what one lane has in the browser's cache is no help to another.
    /** @type {import('../lookahead.js').Fetch} */
    const load = (url, init) => {
      if (new URL(url).origin !== location.origin) {
        const detail = 'it lies on another host, which this page does not ask';
        return Promise.resolve(new Response(JSON.stringify({ detail }), { status: 404 }));
      }
      return (link ? link.fetch : fetch)(url, { ...init, cache: 'no-store' });
    };
    this.prefetcher = new Prefetcher(
      new Feed(feed, { server: new URL('.', document.baseURI), fetch: load, limit: 30 }),
      {
        strategy, fetch: load, store: new RangeStore({ fetch: load, limitBytes: 96 << 20 }),
        network: profile ? { downlink: profile.downlink, rtt: profile.rtt } : undefined,
      });
    /**
     * What was done and why, newest first.
     *
     * @type {{at: number, text: string, why: string, kind: string}[]}
     */
    this.history = [];
    this.began = performance.now();
    this.#listen();
  }

  #listen() {
    const { prefetcher } = this;
    prefetcher.addEventListener('transfer', (event) => {
      const { transfer, state } = /** @type {CustomEvent} */ (event).detail;
      const range = `${transfer.next}–${transfer.to === null ? '' : transfer.to - 1}`;
      if (state === 'begun') this.#note('fetch', `${transfer.file.key} ${range}`, transfer.why);
      else if (state !== 'ended') this.#note('stop', transfer.file.key, state);
    });
    prefetcher.addEventListener('loader', (event) => {
      this.#note('loader', /** @type {CustomEvent} */ (event).detail.item, 'looked at before its start was here');
    });
    prefetcher.addEventListener('plan', (event) => {
      for (const action of /** @type {CustomEvent} */ (event).detail.actions) {
        if (action.do === 'askForPage') this.#note('page', `page ${action.place}`, action.why);
        if (action.do === 'cancel' || action.do === 'pause') this.#note('stop', `a transfer: ${action.do}`, action.why);
      }
    });
  }

  /**
   * @param {string} kind
   * @param {string} text
   * @param {string} why
   */
  #note(kind, text, why) {
    this.history.unshift({ at: performance.now() - this.began, kind, text, why });
    if (this.history.length > 200) this.history.pop();
  }
}
