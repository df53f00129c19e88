// @ts-check
/**
 * Lookahead for browsers: a feed by pages, ranges of its files in memory, and what to load next as the server's
 * engine says (`POST /v1/plan`). One module without dependencies; docs/client.md has a sample.
 *
 * `Feed` holds a run of pages, `RangeStore` holds bytes, and `Prefetcher` asks for a plan whenever something
 * happens and does what it says. What a person waits for is asked for at once, without asking for a plan first.
 */

/**
 * @typedef {object} Start What starts a file: `start` of a page's media.
 * @property {number} headBytes
 * @property {boolean} [startable]
 * @property {[number, number][]} [needed] first and last bytes
 * @property {[number, number][]} [curve] milliseconds, bytes
 * @property {[number, number][]} [lead] kbit/s, bytes
 *
 * @typedef {{url: string, version?: string, mimeType: string, bytes: number, width?: number, height?: number,
 *   start?: Start}} Variant
 *
 * @typedef {object} Media
 * @property {string} id
 * @property {string} kind
 * @property {string} url
 * @property {string} [version] tells the version that is meant from others
 * @property {string} [mimeType]
 * @property {number} [width]
 * @property {number} [height]
 * @property {number} [durationMs]
 * @property {number} [bytes]
 * @property {boolean} [hasSound]
 * @property {string} [alt]
 * @property {{thumbhash?: string, color?: string}} [placeholder]
 * @property {Start} [start]
 * @property {Variant[]} [variants]
 * @property {boolean} [unavailable] known to be gone or broken: nothing of it is loaded
 *
 * @typedef {object} Item An item of a page.
 * @property {string} id
 * @property {string} type
 * @property {string} [title]
 * @property {string} [text]
 * @property {string} [publishedAt]
 * @property {string} [url]
 * @property {{id?: string, name?: string}} [author]
 * @property {Record<string, number>} [counters]
 * @property {Media[]} [media]
 * @property {{weight: number, minimumBytes: number, entireBytes: number, estimated?: boolean}} prefetch
 *
 * @typedef {object} Page
 * @property {{name: string, title?: string, total: number, ranking?: number}} feed
 * @property {Item[]} items
 * @property {{offset: number, ranking?: number, next: string | null, prev: string | null, newer: string}} paging
 * @property {{network: string, policy: string, experiment?: Experiment, nextPageAt: number | null, plan: object[], planBytes: number}} prefetch
 *
 * @typedef {object} File One file that shows a medium: the original or a variant.
 * @property {string} key as a plan names it
 * @property {string} url
 * @property {string} kind
 * @property {string} mimeType
 * @property {string} [version]
 * @property {number} [bytes]
 * @property {number} [durationMs]
 * @property {Start} [start]
 *
 * @typedef {object} Network What is known of the network, as far as it is.
 * @property {number} [downlink] kbit/s
 * @property {number} [rtt] milliseconds
 * @property {boolean} [online]
 * @property {boolean} [metered]
 *
 * @typedef {{name: string, parameters?: Record<string, number>}} Strategy
 *
 * @typedef {object} Action What a plan says is to be done, and why.
 * @property {string} do
 * @property {string} why
 * @property {string} [item]
 * @property {string} [key]
 * @property {number} [transfer]
 * @property {[number, number]} [range]
 * @property {number} [from]
 * @property {string} [place]
 * @property {number} [distance]
 * @property {string} [priority]
 * @property {number} [at]
 *
 * @typedef {object} Seen What a report says of an item.
 * @property {string} id
 * @property {number} [variant] its index among the variants of the first medium; none for the original
 * @property {string} [version] of the file, as the page says
 * @property {number} heldBytes
 * @property {number} neededBytes
 * @property {number} [readyMs]
 * @property {number} [frameMs]
 * @property {number} watchedMs
 * @property {boolean} [leftWaiting]
 *
 * @typedef {{id: number, arm?: string, salt: string, shares: number[]}} Experiment What a client draws its arm by.
 *
 * @typedef {'high' | 'low' | 'auto'} Priority
 * @typedef {(url: string, init?: RequestInit & {priority?: Priority}) => Promise<Response>} Fetch
 */

/**
 * The arm that a client has: FNV-1a over the salt and the number's four bytes, mixed as MurmurHash3 ends.
 *
 * @param {Experiment} experiment
 * @param {number} number a whole number of 32 bits, picked at random for the session
 */
export function armOf({ salt, shares }, number) {
  let hash = 2166136261;
  const bytes = [...new TextEncoder().encode(salt), number & 255, number >>> 8 & 255, number >>> 16 & 255, number >>> 24];
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 16777619);
  hash = Math.imul(hash ^ hash >>> 16, 0x85ebca6b);
  hash = Math.imul(hash ^ hash >>> 13, 0xc2b2ae35);
  hash = (hash ^ hash >>> 16) >>> 0;
  const total = shares.reduce((sum, share) => sum + Math.max(0, share), 0);
  return shares.length > 1 && total > 0 && Math.floor(hash * total / 2 ** 32) >= shares[0] ? 'b' : 'a';
}

/** Strategies of the server's engine; a parameter that is left out has its usual value. */
export const strategies = {
  endless: { name: 'endless' },
  plain: { name: 'plain' },
  weighted: { name: 'weighted' },
  standard: { name: 'standard' },
  stages: { name: 'stages' },
  expectedWait: { name: 'expected-wait' },
};

/** An answer that is not what was asked for; `type` is the problem's, such as `unknown-feed`. */
export class LookaheadError extends Error {
  /**
   * @param {string} message
   * @param {{status?: number, type?: string, retryAfterMs?: number}} facts
   */
  constructor(message, { status = 0, type = '', retryAfterMs } = {}) {
    super(message);
    this.name = 'LookaheadError';
    this.status = status;
    this.type = type;
    this.retryAfterMs = retryAfterMs;
  }

  /** @param {Response} answer */
  static async from(answer) {
    /** @type {{detail?: string, title?: string, type?: string}} */
    let problem = {};
    try {
      problem = await answer.json();
    } catch {
      // Not every server in between answers with a problem in JSON.
    }
    const seconds = Number(answer.headers.get('Retry-After'));
    return new LookaheadError(problem.detail ?? problem.title ?? `status ${answer.status}`, {
      status: answer.status,
      type: (problem.type ?? '').replace(/^urn:lookahead:problem:/, ''),
      retryAfterMs: seconds > 0 ? seconds * 1000 : undefined,
    });
  }
}

/**
 * What the browser says of its network. Firefox and Safari say nothing: then nothing is known.
 *
 * @returns {Network & {saveData?: boolean}}
 */
export function networkNow() {
  /** @type {any} */
  const connection = globalThis.navigator && /** @type {any} */ (navigator).connection;
  /** @type {Network & {saveData?: boolean}} */
  const network = {};
  // Megabits; rounded and capped by browsers, so that it tells people apart less.
  if (connection?.downlink > 0) network.downlink = Math.round(connection.downlink * 1000);
  if (connection?.rtt > 0) network.rtt = Math.round(connection.rtt);
  if (connection?.type === 'cellular') network.metered = true;
  if (connection?.saveData) network.saveData = true;
  if (globalThis.navigator?.onLine === false) network.online = false;
  return network;
}

/** A run of a feed's pages that touch, which grows at both ends. */
export class Feed {
  /** @type {{page: Page, items: Item[], offset: number, next: string | null, prev: string | null}[]} */
  #pages = [];
  /** @type {Set<string>} */
  #ids = new Set();
  /** @type {string | null} */
  #newer = null;
  #run = 0;
  #hasPage = false;

  /**
   * @param {string} name
   * @param {object} options
   * @param {string | URL} [options.server] where the server is; that of this module unless told
   * @param {number} [options.limit] items of a page, 1 to 100
   * @param {Record<string, string | number>} [options.parameters] of every page: `network`, `width`, …
   * @param {number} [options.heldPages] of more pages, those at the other end are let go
   * @param {Fetch} [options.fetch]
   */
  constructor(name, { server, limit = 30, parameters = {}, heldPages = 100, fetch } = {}) {
    this.name = name;
    this.server = new URL(server ?? new URL('.', import.meta.url));
    this.limit = limit;
    this.parameters = parameters;
    this.heldPages = Math.max(2, heldPages);
    /** @type {Fetch} */
    this.fetch = fetch ?? ((url, init) => globalThis.fetch(url, init));
    /** The policy in force, as the last page says. */
    this.policy = '';
    /**
     * What the last page handed out for reports.
     *
     * @type {string | undefined}
     */
    this.reportToken = undefined;
    /** Of a thousand sessions, how many the last page asks to share what they were. */
    this.recordShare = 0;
    /**
     * The experiment that its first page names: it keeps it.
     *
     * @type {Experiment | undefined}
     */
    this.experiment = undefined;
    /** The arm of it, drawn by a number that nobody else knows. */
    this.arm = 'a';
    /** What asking for pages has cost. */
    this.traffic = { requests: 0, bytes: 0 };
    /**
     * The items of the run, in the feed's order, each once.
     *
     * @type {Item[]}
     */
    this.items = [];
  }

  /**
   * How many items the feed has, as the last page says.
   *
   * @returns {number | undefined}
   */
  get total() { return this.#pages.at(-1)?.page.feed.total; }
  /**
   * The last page that came, with its own plan.
   *
   * @returns {Page | undefined}
   */
  get lastPage() { return this.#pages.at(-1)?.page; }
  get hasOlder() { return this.#pages.at(-1)?.next != null; }
  get hasPrevious() { return this.#pages[0]?.prev != null; }
  /** The place in the feed of the run's first item. */
  get offset() { return this.#pages[0]?.offset ?? 0; }

  /** The feed's first page, past all caches: the run from now on. */
  async refresh() { return this.#begin(await this.#page({}, true)); }

  /**
   * The page below the run.
   *
   * @returns {Promise<Item[]>} what is new; nothing at the end of the feed
   */
  async older() {
    const [last, run] = [this.#pages.at(-1), this.#run];
    if (!last?.next) return [];
    const cursor = last.next;
    const page = await this.#orElse(() => this.#page({ after: cursor }), () => this.#below(last));
    // Somebody else may have asked for the same meanwhile, or for another run.
    if (this.#run !== run || this.#pages.at(-1)?.next !== cursor) return [];
    return this.#add(page, false);
  }

  /** The page above the run, in its ranking: what a window left out. */
  async previous() {
    const [first, run] = [this.#pages[0], this.#run];
    if (!first?.prev) return [];
    const cursor = first.prev;
    const page = await this.#orElse(
      () => this.#page({ before: cursor }),
      () => this.#page({ around: this.items[0].id, leading: 0, trailing: this.limit - 1 }, true));
    if (this.#run !== run || this.#pages[0]?.prev !== cursor) return [];
    return this.#add(page, true);
  }

  /**
   * What was put above the run since, put above it now.
   *
   * @returns {Promise<Item[] | null>} what is new, in the feed's order; null where the ranking is over, and the
   *   feed begins anew
   */
  async newer() {
    /** @type {Item[]} */
    let found = [];
    for (let round = 0; this.#newer && round < this.heldPages; round += 1) {
      const [cursor, run] = [this.#newer, this.#run];
      let page;
      try {
        page = await this.#page({ before: cursor }, true);
      } catch (error) {
        if (!(error instanceof LookaheadError) || error.status !== 410) throw error;
        await this.refresh();
        return null;
      }
      if (this.#run !== run || this.#newer !== cursor) break;
      this.#newer = page.paging.newer;
      if (page.items.length === 0) break;
      found = [...this.#add(page, true), ...found];
    }
    return found;
  }

  /**
   * Says when something newer than the run is there, for as long as `signal` lets it: by server-sent events, and by
   * asking now and then for as long as these do not come. Each who listens has one of the connections of the browser,
   * of which there are six to a server.
   *
   * @param {() => void} heard called each time that something came; `newer()` fetches it
   * @param {object} options
   * @param {AbortSignal} [options.signal]
   * @param {number} [options.pollMs]
   */
  watch(heard, { signal, pollMs = 20_000 } = {}) {
    if (signal?.aborted) return;
    const url = new URL(`v1/feeds/${encodeURIComponent(this.name)}/events`, this.server);
    if (this.#newer) url.searchParams.set('before', this.#newer);
    const source = 'EventSource' in globalThis ? new EventSource(url.href) : null;
    source?.addEventListener('newer', () => heard());
    const poll = setInterval(async () => {
      if (source?.readyState !== 1 && await this.#hasNewer() && !signal?.aborted) heard();
    }, pollMs);
    signal?.addEventListener('abort', () => {
      source?.close();
      clearInterval(poll);
    }, { once: true });
  }

  /** Asks for a page, for what it hands out for reports; the run stays as it is. */
  async renewReportToken() { await this.#page({ limit: 1 }, true); }

  /** A ranking that is over has something newer; a server that does not answer has nothing. */
  async #hasNewer() {
    try {
      if (!this.#newer) return false;
      return (await this.#page({ before: this.#newer, limit: 1 }, true)).items.length > 0;
    } catch (error) {
      return error instanceof LookaheadError && error.status === 410;
    }
  }

  /**
   * A window around an item's id or `offset:12`, a place that is restored: the run from now on.
   *
   * @param {string} place
   */
  async around(place) { return this.#begin(await this.#page({ around: place })); }

  /**
   * One item, as it is now; the run has it from then on.
   *
   * @param {string} id
   */
  async item(id) {
    const url = new URL(`v1/items/${encodeURIComponent(id)}`, this.server);
    url.searchParams.set('feed', this.name);
    const answer = await this.fetch(url.href, { cache: 'no-cache' });
    if (!answer.ok) throw await LookaheadError.from(answer);
    /** @type {Item} */
    const item = await answer.json();
    for (const page of this.#pages) {
      page.items = page.items.map((known) => (known.id === id ? item : known));
    }
    this.#list();
    return item;
  }

  /**
   * A page, from caches or past them.
   *
   * @param {Record<string, string | number>} place
   * @param {boolean} [anew]
   * @returns {Promise<Page>}
   */
  async #page(place, anew = false) {
    const url = new URL(`v1/feeds/${encodeURIComponent(this.name)}/items`, this.server);
    // `around` splits the limit itself where it is not told how.
    const sized = 'leading' in place ? {} : { limit: this.limit };
    // Pages of the arm a are those that all others have.
    const arm = this.arm === 'a' ? {} : { arm: this.arm };
    for (const [name, value] of Object.entries({ ...sized, ...this.parameters, ...arm, ...place })) {
      url.searchParams.set(name, String(value));
    }
    this.traffic.requests += 1;
    const answer = await this.fetch(url.href, { cache: anew ? 'no-cache' : 'default' });
    if (!answer.ok) throw await LookaheadError.from(answer);
    this.reportToken = answer.headers.get('Report-Token') ?? this.reportToken;
    this.recordShare = Number(answer.headers.get('Record-Share')) || 0;
    const text = await answer.text();
    this.traffic.bytes += text.length;
    /** @type {Page} */
    const page = JSON.parse(text);
    if (!this.#hasPage) {
      this.#hasPage = true;
      this.experiment = page.prefetch.experiment;
      if (this.experiment) this.arm = armOf(this.experiment, crypto.getRandomValues(new Uint32Array(1))[0]);
    }
    return page;
  }

  /**
   * A cursor whose ranking the server no longer keeps (410) costs one further request.
   *
   * @param {() => Promise<Page>} usual
   * @param {() => Promise<Page>} otherwise
   */
  async #orElse(usual, otherwise) {
    try {
      return await usual();
    } catch (error) {
      if (error instanceof LookaheadError && error.status === 410) return otherwise();
      throw error;
    }
  }

  /**
   * What lies below a page whose cursor is over: below its last item in the ranking of now.
   *
   * @param {{items: Item[], offset: number, page: Page}} last
   */
  async #below(last) {
    const id = this.items.at(-1)?.id;
    const offset = last.offset + last.page.items.length;
    if (id === undefined) return this.#page({}, true);
    try {
      return await this.#page({ around: id, leading: this.limit - 1, trailing: 0 }, true);
    } catch (error) {
      if (!(error instanceof LookaheadError) || error.status !== 404) throw error;
      return this.#page({ offset }, true);
    }
  }

  /** @param {Page} page */
  #begin(page) {
    this.#run += 1;
    this.#pages = [];
    this.#ids = new Set();
    this.#newer = page.paging.newer;
    return this.#add(page, false);
  }

  /**
   * @param {Page} page
   * @param {boolean} above
   */
  #add(page, above) {
    this.policy = page.prefetch.policy;
    const items = page.items.filter((item) => !this.#ids.has(item.id));
    for (const item of items) this.#ids.add(item.id);
    const { offset, next, prev } = page.paging;
    const entry = { page, items, offset, next, prev };
    if (above) this.#pages.unshift(entry);
    else this.#pages.push(entry);
    while (this.#pages.length > this.heldPages) {
      const gone = above ? this.#pages.pop() : this.#pages.shift();
      for (const item of gone?.items ?? []) this.#ids.delete(item.id);
    }
    this.#list();
    return items;
  }

  #list() { this.items = this.#pages.flatMap((page) => page.items); }
}

/** Ranges of bytes, apart from each other, in ascending order; the end is behind the last byte. */
export class Ranges {
  /** @type {[number, number][]} */
  list = [];

  /**
   * @param {number} from
   * @param {number} to
   */
  add(from, to) {
    if (to <= from) return;
    /** @type {[number, number][]} */
    const list = [];
    for (const [start, end] of this.list) {
      if (end < from || start > to) list.push([start, end]);
      else [from, to] = [Math.min(from, start), Math.max(to, end)];
    }
    list.push([from, to]);
    this.list = list.sort((left, right) => left[0] - right[0]);
  }

  /**
   * What of the range is not here.
   *
   * @param {number} from
   * @param {number} to
   * @returns {[number, number][]}
   */
  gaps(from, to) {
    /** @type {[number, number][]} */
    const gaps = [];
    for (const [start, end] of this.list) {
      if (end <= from || start >= to) continue;
      if (start > from) gaps.push([from, start]);
      from = end;
    }
    if (from < to) gaps.push([from, to]);
    return gaps;
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  has(from, to) { return this.gaps(from, to).length === 0; }

  /** How many bytes. */
  get count() { return this.list.reduce((sum, [from, to]) => sum + to - from, 0); }
}

/**
 * @typedef {object} StoredFile
 * @property {string | null} validator a strong entity tag
 * @property {number | null} bytes how many the file has
 * @property {{from: number, bytes: Uint8Array}[]} pieces
 * @property {Ranges} ranges
 * @property {number} used
 * @property {number} readers
 */

/**
 * Bytes of files in memory, kept under the validator of the answers that brought them; of more than `limitBytes`,
 * files that were used longest ago go first. It stands in place of the browser's own cache, which keeps no 206.
 */
export class RangeStore {
  /** @type {Map<string, StoredFile>} */
  #files = new Map();
  #clock = 0;

  /**
   * @param {object} options
   * @param {number} [options.limitBytes]
   * @param {Fetch} [options.fetch]
   */
  constructor({ limitBytes = 128 << 20, fetch } = {}) {
    this.limitBytes = limitBytes;
    /** @type {Fetch} */
    this.fetch = fetch ?? ((url, init) => globalThis.fetch(url, init));
    this.heldBytes = 0;
  }

  /**
   * What is here of a file.
   *
   * @param {string} url
   */
  held(url) { return this.#files.get(url)?.ranges ?? new Ranges(); }

  /**
   * How many bytes the file has, where an answer said so.
   *
   * @param {string} url
   */
  size(url) { return this.#files.get(url)?.bytes ?? null; }

  /**
   * Bytes of a file as a blob; null where some of them are not here.
   *
   * @param {string} url
   * @param {number} from
   * @param {number} to
   * @param {string} [type]
   */
  blob(url, from, to, type = '') {
    const file = this.#files.get(url);
    if (!file || !file.ranges.has(from, to)) return null;
    file.used = this.#clock += 1;
    /** @type {BlobPart[]} */
    const parts = [];
    for (const piece of file.pieces) {
      const end = piece.from + piece.bytes.length;
      if (end <= from || piece.from >= to) continue;
      parts.push(/** @type {BlobPart} */ (
        piece.bytes.subarray(Math.max(0, from - piece.from), Math.min(end, to) - piece.from)));
    }
    return new Blob(parts, { type });
  }

  /**
   * Forgets what is here of a file.
   *
   * @param {string} url
   */
  discard(url) {
    const file = this.#files.get(url);
    if (!file) return;
    this.heldBytes -= file.ranges.count;
    this.#files.delete(url);
  }

  /**
   * Loads bytes of a file and keeps them; those that are here are not asked for again.
   *
   * @param {string} url
   * @param {number} from
   * @param {number | null} to behind the last byte; null: to the file's end
   * @param {object} options
   * @param {AbortSignal} [options.signal] what came before it stays
   * @param {(from: number, to: number) => void} [options.onBytes]
   * @param {(milliseconds: number) => void} [options.onAnswer]
   * @param {Priority} [options.priority]
   */
  async load(url, from, to, options = {}) {
    for (const [start, end] of this.held(url).gaps(from, to ?? Infinity)) {
      const size = this.size(url);
      if (size !== null && start >= size) return;
      await this.#load(url, start, end === Infinity ? null : end, options);
    }
  }

  /**
   * @param {string} url
   * @param {number} from
   * @param {number | null} to
   * @param {{signal?: AbortSignal, onBytes?: (from: number, to: number) => void,
   *   onAnswer?: (milliseconds: number) => void, priority?: Priority}} options
   */
  async #load(url, from, to, { signal, onBytes, onAnswer, priority = 'auto' }) {
    const known = this.#files.get(url);
    /** @type {Record<string, string>} */
    const headers = { Range: `bytes=${from}-${to === null ? '' : to - 1}` };
    if (known?.validator) headers['If-Range'] = known.validator;
    const begun = performance.now();
    // Past the browser's cache: it keeps no parts, and lets one request for a URL wait for the other.
    const answer = await this.fetch(url, { headers, signal, priority, cache: 'no-store' });
    onAnswer?.(performance.now() - begun);
    if (answer.status !== 206 && answer.status !== 200) {
      if (answer.status === 416) this.discard(url);
      throw await LookaheadError.from(answer);
    }
    const place = answer.status === 200
      ? { from: 0, to: null, bytes: null } : contentRange(answer.headers.get('Content-Range'));
    if (!place || place.from > from) {
      await answer.body?.cancel();
      throw new LookaheadError('the answer has other bytes than were asked for', { status: answer.status });
    }
    const file = this.#file(url, answer, place.bytes);
    let next = place.from;
    const reader = answer.body?.getReader();
    file.readers += 1;
    try {
      for (;;) {
        const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
        if (done || !value) break;
        if (place.to !== null && next + value.length > place.to) {
          throw new LookaheadError('the answer has more bytes than it says', { status: answer.status });
        }
        this.#keep(url, file, next, value);
        next += value.length;
        onBytes?.(next - value.length, next);
      }
    } finally {
      file.readers -= 1;
      this.#makeRoom();
    }
    if (place.to !== null && next < place.to) {
      throw new LookaheadError('the answer ended early', { status: answer.status });
    }
    if (answer.status === 200) file.bytes = next;
  }

  /**
   * The file that the answer is of: another one where its validator is another, or there is none.
   *
   * @param {string} url
   * @param {Response} answer
   * @param {number | null} bytes
   */
  #file(url, answer, bytes) {
    const tag = answer.headers.get('ETag');
    const validator = tag && !tag.startsWith('W/') ? tag : null;
    let file = this.#files.get(url);
    if (!file || file.validator !== validator || (file.bytes !== null && bytes !== null && file.bytes !== bytes)
      || (validator === null && file.readers === 0)) {
      this.discard(url);
      file = { validator, bytes, pieces: [], ranges: new Ranges(), used: 0, readers: 0 };
      this.#files.set(url, file);
    }
    file.bytes ??= bytes;
    file.used = this.#clock += 1;
    return file;
  }

  /**
   * @param {string} url
   * @param {StoredFile} file
   * @param {number} from
   * @param {Uint8Array} bytes
   */
  #keep(url, file, from, bytes) {
    // A file that was replaced meanwhile: nobody reads these bytes any more.
    if (this.#files.get(url) !== file) return;
    for (const [start, end] of file.ranges.gaps(from, from + bytes.length)) {
      file.pieces.push({ from: start, bytes: bytes.subarray(start - from, end - from) });
      file.ranges.add(start, end);
      this.heldBytes += end - start;
    }
    file.pieces.sort((left, right) => left.from - right.from);
  }

  #makeRoom() {
    if (this.heldBytes <= this.limitBytes) return;
    const files = [...this.#files].sort((left, right) => left[1].used - right[1].used);
    for (const [url, file] of files) {
      if (this.heldBytes <= this.limitBytes) return;
      if (file.readers === 0) this.discard(url);
    }
  }
}

/**
 * `Content-Range` (RFC 9110 section 14.4); null where it is none.
 *
 * @param {string | null} field
 */
function contentRange(field) {
  const match = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(field ?? '');
  if (!match) return null;
  const [from, last] = [Number(match[1]), Number(match[2])];
  return last < from
    ? null : { from, to: last + 1, bytes: match[3] === '*' ? null : Number(match[3]) };
}

/**
 * What starts a file on a link of so many kbit/s, as ranges; null where its end is not known and all of it is.
 * The same rule as the server's.
 *
 * @param {File} file
 * @param {number} downlink
 * @param {number} [unknownStartBytes] of a clip of which nobody knows what starts it
 * @returns {[number, number][] | null}
 */
export function startOf({ kind, bytes, start }, downlink, unknownStartBytes = 204_800) {
  if (bytes === 0) return [];
  if (kind === 'image') return bytes === undefined ? null : [[0, bytes]];
  const end = bytes ?? Infinity;
  if (!start || bytes === undefined) return [[0, Math.min(unknownStartBytes, end)]];
  if (start.startable === false) return (start.needed ?? []).map(([first, last]) => [first, last + 1]);
  const lead = start.lead?.length
    ? start.lead.filter(([kbps]) => kbps <= downlink).at(-1)?.[1] ?? end
    : Math.max(start.headBytes, unknownStartBytes);
  return [[0, Math.min(Math.max(lead, start.headBytes), end)]];
}

/** Measures a link by what crosses it; only time in which something is on its way counts. */
class LinkMeter {
  #receiving = 0;
  #since = 0;
  #bytes = 0;
  /** @type {number[]} */
  #waits = [];
  /** @type {number[]} */
  #speeds = [];

  /** @param {number} wait */
  answered(wait) {
    this.#waits = [...this.#waits.slice(-7), wait];
    if (this.#receiving === 0) [this.#since, this.#bytes] = [performance.now(), 0];
    this.#receiving += 1;
  }

  /** @param {number} bytes */
  arrived(bytes) {
    this.#bytes += bytes;
    if (performance.now() - this.#since >= 250) this.#measure();
  }

  ended() {
    this.#receiving = Math.max(0, this.#receiving - 1);
    if (this.#receiving === 0) this.#measure();
  }

  #measure() {
    const milliseconds = performance.now() - this.#since;
    if (this.#bytes < 16_384 || milliseconds <= 0) return;
    this.#speeds = [...this.#speeds.slice(-7), this.#bytes * 8 / milliseconds];
    [this.#since, this.#bytes] = [performance.now(), 0];
  }

  /**
   * A low quartile of what was measured lately: what one can count on.
   *
   * @returns {Network}
   */
  get network() {
    /** @type {Network} */
    const network = {};
    if (this.#speeds.length > 0) {
      const sorted = [...this.#speeds].sort((left, right) => left - right);
      network.downlink = Math.min(1e9, Math.max(1, Math.round(sorted[sorted.length >> 2])));
    }
    if (this.#waits.length > 0) network.rtt = Math.min(600_000, Math.round(Math.min(...this.#waits)));
    return network;
  }
}

/** Counts of durations in bins whose bounds are 1.1 times apart, as reports have them. */
class DurationBins {
  /** @type {Map<number, number>} */
  #counts = new Map();

  /** @param {number} ms */
  add(ms) {
    const bin = ms < 1 ? 0 : Math.min(159, Math.floor(Math.log(ms) / Math.log(1.1)) + 1);
    this.#counts.set(bin, (this.#counts.get(bin) ?? 0) + 1);
  }

  /** Pairs of a bin and a count; undefined if there is none. */
  get pairs() { return this.#counts.size === 0 ? undefined : [...this.#counts]; }
}

/**
 * Reports what a session met (`POST /v1/reports`): counts and bins, no ids. An item counts when it is left; a part goes
 * every 30 seconds while items are looked at, and at the end. One that is not answered waits in `localStorage` and goes
 * with the next one: the server counts it once.
 */
class Reporter {
  static #key = 'lookahead.reports.';
  static #intervalMs = 30_000;
  /** How many parts wait at the most: the oldest go. */
  static #limit = 100;
  static #dayMs = 86_400_000;
  /** What becomes of bytes that are not seen: known at the end. */
  static #unseen = Object.keys(noFates()).filter((fate) => fate !== 'seen');
  /** Of so many items of a part more is told. */
  static #seenLimit = 200;

  static #random() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  }

  #url;
  #feed;
  #session;
  /** Under which its parts wait. */
  #name = Reporter.#random();
  #part = 0;
  #since = 0;
  #origin = performance.now();
  #items = 0;
  /** @type {Record<string, number>} */
  #loaders = {};
  #waits = new DurationBins();
  #frames = new DurationBins();
  #stalls = { count: 0, ms: 0 };
  /** How long loaders stood, and first frames took, since the part before. */
  #times = { waitMs: 0, frameMs: 0 };
  /** What the session's parts have told. */
  #met = noTotals();
  /** @type {Seen[]} */
  #seen = [];
  /** @type {Record<string, number>} what was told before, of what is counted elsewhere */
  #told = {};
  /** @type {{at: number, part: Record<string, unknown>}[]} */
  #waiting = [];
  #isSending = false;
  #isOff = false;
  #notBefore = 0;
  /** @type {Map<string, Feed>} other feeds than its own, of which earlier sessions left parts */
  #others = new Map();

  /**
   * @param {Feed} feed
   * @param {{arm?: string, client?: string}} options
   */
  constructor(feed, { arm, client = 'lookahead.js' }) {
    this.#url = new URL('v1/reports', feed.server).href;
    this.#feed = feed;
    this.arm = arm;
    this.client = client;
    this.#session = Reporter.#random();
    this.#adopt();
  }

  /**
   * An item was left.
   *
   * @param {{loader?: string, waitMs: number, frameMs?: number, seen?: Seen}} look `loader`: what was missing, if
   *   anything was
   */
  left({ loader, waitMs, frameMs, seen }) {
    this.#items += 1;
    if (seen && this.#seen.length < Reporter.#seenLimit) this.#seen.push(seen);
    if (loader !== undefined) {
      this.#loaders[loader] = (this.#loaders[loader] ?? 0) + 1;
      this.#waits.add(waitMs);
      this.#times.waitMs += waitMs;
    }
    if (frameMs !== undefined) {
      this.#frames.add(frameMs);
      this.#times.frameMs += frameMs;
    }
  }

  /** @param {number} ms how long a clip stood that had started */
  stalled(ms) {
    this.#stalls.count += 1;
    this.#stalls.ms += ms;
  }

  get isDue() {
    return this.#items >= 900
      || (this.#items > 0 && performance.now() - this.#origin - this.#since >= Reporter.#intervalMs);
  }

  /**
   * Whether there is something to send.
   *
   * @param {boolean} isLast
   */
  tells(isLast) { return !this.#isOff && (this.#items > 0 || (isLast && this.#part > 0)); }

  /**
   * Sends what was met since the part before.
   *
   * @param {object} totals of the session
   * @param {string} totals.policy
   * @param {string} [totals.arm]
   * @param {Network} totals.network
   * @param {Record<string, number>} totals.counts requests, plans, and bytes by what became of them
   * @param {string} [totals.record] what the session was, if the server asked for that
   * @param {boolean} isLast what was not seen never will be
   */
  send({ policy, arm, network, counts, record }, isLast) {
    if (!this.tells(isLast)) return;
    // A session is a day long at the most: a page that is open for longer begins another one.
    if (performance.now() - this.#origin > Reporter.#dayMs || this.#part >= 2880) {
      this.#session = Reporter.#random();
      this.#part = 0;
      this.#met = noTotals();
      this.#origin += this.#since;
      this.#since = 0;
    }
    const until = Math.min(Reporter.#dayMs, Math.round(performance.now() - this.#origin));
    const since = /** @param {string} name */ (name) => Math.max(0, counts[name] - (this.#told[name] ?? 0));
    const part = {
      session: this.#session, part: this.#part, feed: this.#feed.name, policy, arm: this.arm ?? arm,
      client: this.client, network: { downlink: network.downlink, rtt: network.rtt },
      since: this.#since, until, items: this.#items, loaders: this.#loaders, waitMs: this.#waits.pairs,
      frameMs: this.#frames.pairs, stalls: this.#stalls.count,
      stalledMs: Math.min(Math.round(this.#stalls.ms), until - this.#since),
      bytes: {
        seen: since('seen'),
        ...Object.fromEntries(Reporter.#unseen.map((fate) => [fate, isLast ? since(fate) : 0])),
      },
      requests: since('requests'), plans: since('plans'),
      before: this.#part > 0
        ? Object.fromEntries(Object.entries(this.#met).map(([name, value]) => [name, Math.round(value)])) : undefined,
      // Without what was looked at since the session before.
      seen: this.#seen.filter(({ readyMs = 0, frameMs = 0, watchedMs }) => Math.max(readyMs, frameMs, watchedMs) <= until),
      record,
    };
    const sum = /** @param {Record<string, number>} counts */ (counts) => Object.values(counts).reduce((a, b) => a + b, 0);
    this.#met.items += part.items;
    this.#met.loaders += sum(part.loaders);
    this.#met.waitMs += this.#times.waitMs;
    this.#met.frameMs += this.#times.frameMs;
    this.#met.stalledMs += part.stalledMs;
    this.#met.bytes += sum(part.bytes);
    this.#times = { waitMs: 0, frameMs: 0 };
    const told = this.#told;
    this.#told = isLast
      ? counts : { ...counts, ...Object.fromEntries(Reporter.#unseen.map((fate) => [fate, told[fate] ?? 0])) };
    this.#part += 1;
    this.#since = until;
    this.#items = 0;
    this.#loaders = {};
    this.#waits = new DurationBins();
    this.#frames = new DurationBins();
    this.#stalls = { count: 0, ms: 0 };
    this.#seen = [];
    this.#waiting.push({ at: Date.now(), part });
    this.#waiting.splice(0, this.#waiting.length - Reporter.#limit);
    this.#keep();
    this.#sendAll();
  }

  async #sendAll() {
    if (this.#isSending || Date.now() < this.#notBefore) return;
    this.#isSending = true;
    /** @type {unknown} the part for which a new token was asked for */
    let renewed;
    while (this.#waiting.length > 0) {
      const first = this.#waiting[0];
      const { at, part } = first;
      const ageMs = Math.max(0, Date.now() - at);
      let status = 0;
      let wait = 0;
      if (ageMs <= 86_400_000) {
        try {
          // No preflight for text, and it outlives the page.
          const answer = await globalThis.fetch(this.#url, {
            method: 'POST', keepalive: true, body: JSON.stringify({ ...part, ageMs, token: this.#feedOf(part).reportToken }),
            headers: { 'Content-Type': 'text/plain' }, credentials: 'omit',
          });
          status = answer.status;
          wait = Number(answer.headers.get('Retry-After')) || 0;
        } catch {
          // No network: with the next part.
        }
        if (status === 403 && renewed !== first) {
          // The token is over, or of a session long ago. A server that refuses a new one refuses the part.
          renewed = first;
          try {
            await this.#feedOf(part).renewReportToken();
            continue;
          } catch (error) {
            if (!(error instanceof LookaheadError) || error.status >= 500) status = 0;
          }
        }
        if (status === 410) {
          this.#isOff = true;
          this.#waiting = [];
          break;
        }
        if (status === 0 || status === 408 || status === 429 || status >= 500) {
          this.#notBefore = Date.now() + Math.min(wait, 3600) * 1000;
          break;
        }
      }
      // It may have gone meanwhile, where too many wait.
      this.#waiting = this.#waiting.filter((other) => other !== first);
    }
    this.#isSending = false;
    this.#keep();
  }

  /** @param {Record<string, unknown>} part */
  #feedOf({ feed }) {
    const name = String(feed);
    if (name === this.#feed.name) return this.#feed;
    const { server, fetch } = this.#feed;
    const other = this.#others.get(name) ?? new Feed(name, { server, fetch });
    this.#others.set(name, other);
    return other;
  }

  #keep() {
    try {
      const key = Reporter.#key + this.#name;
      if (this.#waiting.length === 0) localStorage.removeItem(key);
      else localStorage.setItem(key, JSON.stringify(this.#waiting));
    } catch {
      // Without storage parts wait as long as the page.
    }
  }

  /** Takes what earlier sessions left. */
  #adopt() {
    try {
      for (const key of Object.keys(localStorage).filter((key) => key.startsWith(Reporter.#key))) {
        const waiting = JSON.parse(localStorage.getItem(key) ?? '[]');
        localStorage.removeItem(key);
        this.#waiting.push(...waiting.filter(
          /** @param {any} entry */ (entry) => typeof entry?.at === 'number' && entry.part));
      }
    } catch {
      // What cannot be read is not reported.
    }
    this.#waiting.splice(0, this.#waiting.length - Reporter.#limit);
    this.#keep();
  }
}

/**
 * A session as it is shared with the server that asked for it (docs/reports.md#shared-sessions): lines of a log of what came
 * when and what was looked at, with numbers in place of ids and addresses, within a limit.
 */
class Recording {
  static #limit = 40_000;
  static #pieceMs = 250;

  lines = '';
  isFull = false;
  #origin = performance.now();
  /** @type {Map<string, string>} */
  #items = new Map();
  /** @type {Map<string, string>} */
  #files = new Map();
  /** @type {Set<number>} transfers of which something came */
  #begun = new Set();
  /** @type {Map<number, {since: number, at: number, key: string, from: number, to: number}>} what is not written yet */
  #pieces = new Map();
  #bandwidthAt = -Infinity;

  get #now() { return Math.round(performance.now() - this.#origin); }

  /**
   * The list of items is this: those that are new are told.
   *
   * @param {Item[]} items
   * @param {(id: string) => File[][]} media
   */
  list(items, media) {
    const first = items.findIndex(({ id }) => this.#items.has(id));
    const above = items.slice(0, Math.max(0, first)).filter(({ id }) => !this.#items.has(id));
    const others = items.slice(Math.max(0, first)).filter(({ id }) => !this.#items.has(id));
    for (const [place, list] of /** @type {[string, Item[]][]} */ ([['above', above], [first < 0 ? 'anew' : 'below', others]])) {
      if (list.length === 0) continue;
      this.#write({ at: this.#now, event: 'pageArrived', place, items: list.map((item) => this.#anonymous(item, media(item.id))) });
    }
  }

  /**
   * A transfer begins.
   *
   * @param {number} transfer
   */
  asked(transfer) { this.#write({ at: this.#now, actions: [{ do: 'fetch', transfer }] }); }

  /**
   * Bytes of a transfer came.
   *
   * @param {number} transfer
   * @param {string} file
   * @param {number} from
   * @param {number} to
   * @param {Network} network
   */
  came(transfer, file, from, to, { downlink, rtt }) {
    const at = this.#now;
    this.#flush(at - Recording.#pieceMs);
    const key = this.#number(this.#files, file);
    const piece = this.#pieces.get(transfer);
    if (piece && piece.to === from) {
      piece.to = to;
      piece.at = at;
    } else {
      if (piece) this.#piece(transfer, piece);
      const begins = { since: at, at, key, from, to };
      // By the first one it is told how long a request takes.
      if (this.#begun.has(transfer)) this.#pieces.set(transfer, begins);
      else this.#piece(transfer, begins);
      this.#begun.add(transfer);
    }
    if (downlink === undefined || at - this.#bandwidthAt < 1000) return;
    this.#bandwidthAt = at;
    this.#write({ at, event: 'bandwidthMeasured', downlink: Math.round(downlink), rtt: rtt === undefined ? undefined : Math.round(rtt) });
  }

  /**
   * The person looks at an item.
   *
   * @param {string} id
   * @param {boolean} ready
   * @param {string} direction
   */
  look(id, ready, direction) { this.#write({ at: this.#now, seen: this.#number(this.#items, id), ready, direction }); }

  /**
   * The person has looked at an item.
   *
   * @param {string} id
   * @param {number} dwellMs
   * @param {number} waitMs
   */
  left(id, dwellMs, waitMs) {
    this.#flush(Infinity);
    this.#write({
      at: this.#now, left: this.#number(this.#items, id), dwellMs: Math.round(dwellMs), waitMs: Math.round(waitMs),
    });
  }

  /** @param {number} time */
  #flush(time) {
    const due = [...this.#pieces].filter(([, { since }]) => since <= time).sort(([, left], [, right]) => left.at - right.at);
    for (const [transfer, piece] of due) {
      this.#pieces.delete(transfer);
      this.#piece(transfer, piece);
    }
  }

  /**
   * @param {number} transfer
   * @param {{at: number, key: string, from: number, to: number}} piece
   */
  #piece(transfer, { at, key, from, to }) { this.#write({ at, event: 'bytesArrived', transfer, key, range: [from, to - 1] }); }

  /**
   * @param {Item} item
   * @param {File[][]} media
   */
  #anonymous(item, media) {
    const files = media.map((files) => files.slice(0, 16).map(({ key, kind, bytes, durationMs, start }) => ({
      key: this.#number(this.#files, key), kind, bytes, durationMs, start: bytes && start ? startMembers(start) : undefined,
    })));
    const { survival } = /** @type {{survival?: [number, number][]}} */ (/** @type {unknown} */ (item));
    return {
      id: this.#number(this.#items, item.id), type: item.type, media: files.map((files) => (files.length === 1 ? files[0] : files)), survival,
    };
  }

  /**
   * @param {Map<string, string>} numbers
   * @param {string} name
   */
  #number(numbers, name) {
    const number = numbers.get(name) ?? String(numbers.size + 1);
    numbers.set(name, number);
    return number;
  }

  /** @param {object} line */
  #write(line) {
    if (this.isFull) return;
    const text = JSON.stringify(line) + '\n';
    // Nothing in it takes more than a byte.
    if (this.lines.length + text.length > Recording.#limit) {
      this.isFull = true;
      this.#pieces.clear();
    } else {
      this.lines += text;
    }
  }
}

/**
 * What a log says of what starts a file.
 *
 * @param {Start & {scans?: number[]}} start
 */
function startMembers({ startable, needed, headBytes, scans, curve, lead }) {
  return { startable, needed, headBytes, scans, curve, lead };
}

/**
 * @typedef {object} Transfer
 * @property {number} id
 * @property {string} item
 * @property {File} file
 * @property {number} next the first byte that has not arrived
 * @property {number | null} to
 * @property {string} why
 * @property {AbortController} controller
 */

/**
 * Loads a feed ahead of a person. Tell it what they do (`look`, `scroll`, `play`), draw what it says: it
 * dispatches `page` (the feed has other items), `bytes` (a file has more), `ready` (what starts the active item
 * is there), `loader` (it was not), `plan` (`detail` has the answer's actions), `transfer` (one has begun or
 * ended) and `problem`.
 */
export class Prefetcher extends EventTarget {
  /** @type {Map<string, {item: string, files: File[]}>} by the key of each file */
  #files = new Map();
  /** @type {Map<string, File[][]>} by item: the files of each of its media, the original first */
  #media = new Map();
  /** @type {Map<number, Transfer>} */
  #transfers = new Map();
  #lastTransfer = 0;
  #meter = new LinkMeter();
  /** @type {Map<string, {attempts: number, at: number}>} files that failed, and when they may be tried again */
  #failed = new Map();
  /** @type {Map<string, {fetched: number, used: number, isReplaced?: boolean, isCancelled?: boolean}>} */
  #ledger = new Map();
  /** @type {Set<string>} pages that are under way, by their place */
  #asking = new Set();
  #origin = performance.now();
  #activeSince = 0;
  /** @type {number | null} when what starts the active item was there */
  #readySince = null;
  #direction = 'down';
  #plans = { sent: 0, applied: 0, running: 0, isDue: false };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #isOver = false;
  #waitMs = 0;
  #closed = noFates();
  /** @type {Reporter | null} */
  #reporter;
  /** @type {Recording | undefined} what is shared of the session, if the server asked for that */
  #recording;
  #isDrawn = false;
  /** @type {string | undefined} what was missing when the active item became that */
  #loader;
  /** @type {number | undefined} when its first frame was shown */
  #frameAt;
  /** @type {{file: string, version?: string, held: number, needed: number} | undefined} what started it when it became that */
  #start;
  /** How long it stood still since. */
  #stalledMs = 0;
  /** How long all items stood still together. */
  #allStalledMs = 0;
  #sendLast = () => this.#report(true);
  #lastRenewal = -Infinity;
  /**
   * How long the last items were looked at.
   *
   * @type {number[]}
   */
  #looks = [];

  /**
   * @param {Feed} feed
   * @param {object} options
   * @param {Strategy} [options.strategy] in place of the policy in force for the feed
   * @param {Network} [options.network] in place of what is measured
   * @param {RangeStore} [options.store]
   * @param {Record<string, number>} [options.settings] of the engine, docs/engine.md
   * @param {boolean | {arm?: string, client?: string, shares?: boolean}} [options.reports] whether the server is told
   *   what was met (docs/reports.md), and as whom; `shares: false`: never what the session was
   * @param {Fetch} [options.fetch]
   */
  constructor(feed, { strategy, network, store, settings, reports = true, fetch } = {}) {
    super();
    this.#reporter = reports ? new Reporter(feed, reports === true ? {} : reports) : null;
    this.#isDrawn = !reports || (reports !== true && reports.shares === false);
    if (reports) globalThis.addEventListener?.('pagehide', this.#sendLast);
    this.feed = feed;
    this.strategy = strategy;
    this.fixedNetwork = network;
    /** @type {Fetch} */
    this.fetch = fetch ?? feed.fetch;
    this.store = store ?? new RangeStore({ fetch: this.fetch });
    this.settings = settings;
    /**
     * The item that the person looks at.
     *
     * @type {string | null}
     */
    this.active = null;
    /**
     * What holds now, beside the network.
     *
     * @type {Record<string, unknown>}
     */
    this.conditions = networkNow().saveData ? { saveData: true } : {};
    this.counts = {
      items: 0, imageLoaders: 0, videoLoaders: 0, mediaBytes: 0, mediaRequests: 0, plans: 0, planBytes: 0,
    };
  }

  /**
   * Loads the first page, or a window around a place.
   *
   * @param {string} [place]
   */
  async begin(place) {
    await (place === undefined ? this.feed.refresh() : this.feed.around(place));
    this.#arrived();
  }

  /** Ends all that is under way; what came is kept in the store. */
  end() {
    this.#leave();
    this.active = null;
    this.#report(true);
    globalThis.removeEventListener?.('pagehide', this.#sendLast);
    this.#isOver = true;
    clearTimeout(this.#timer);
    for (const id of [...this.#transfers.keys()]) this.#cancel(id);
  }

  // What the person does.

  /**
   * The person looks at this item now.
   *
   * @param {string} id
   */
  look(id) {
    if (id === this.active || this.#isOver) return;
    const items = this.feed.items;
    const [before, now] = [this.#index(this.active), this.#index(id)];
    if (now < 0) return;
    this.#leave();
    if (before >= 0) this.#direction = now < before ? 'up' : 'down';
    this.active = id;
    this.#activeSince = performance.now();
    this.counts.items += 1;
    delete this.conditions.playback;
    const isReady = this.isReady(id);
    this.#readySince = isReady ? this.#activeSince : null;
    this.#frameAt = undefined;
    this.#start = this.#startOf(id);
    this.#stalledMs = 0;
    this.#recording?.look(id, isReady, this.#direction);
    this.#loader = isReady
      ? undefined : this.#media.get(id)?.[0]?.[0]?.kind === 'image' ? 'image' : 'video';
    // Before what is urgent begins: the server counts by the same state.
    const state = this.#state(0);
    if (!isReady) {
      const files = this.#media.get(id)?.[0] ?? [];
      if (files[0]?.kind === 'image') this.counts.imageLoaders += 1;
      else this.counts.videoLoaders += 1;
      this.#loadStart(items[now]);
      this.#tell('loader', { item: id });
    } else {
      this.#tell('ready', { item: id, waitMs: 0 });
    }
    this.#send(state);
  }

  /**
   * How fast the list scrolls, in items a second (below zero: up), and where it will stop, if that is known.
   *
   * @param {number} itemsPerSecond
   * @param {number} [stopDistance] in items from the active one
   */
  scroll(itemsPerSecond, stopDistance) {
    const speed = Math.round(Math.max(-1e6, Math.min(1e6, itemsPerSecond)) * 1000);
    if (speed === 0) delete this.conditions.scroll;
    else this.conditions.scroll = { milliitemsPerSecond: speed, stopDistance };
    this.plan();
  }

  /**
   * The active clip stands at this time of it.
   *
   * @param {number} ms
   * @param {'playing' | 'paused' | 'ended'} state
   */
  play(ms, state) {
    this.conditions.playback = { ms: Math.max(0, Math.round(ms)), state };
    this.plan();
  }

  /** The active item's first frame is on the screen: how long that took is reported. */
  frameShown() { this.#frameAt ??= performance.now(); }

  /**
   * The active clip goes on after it stopped within, since its bytes had run out: it is reported.
   *
   * @param {number} ms how long it stood
   */
  stalled(ms) {
    this.#stalledMs += ms;
    this.#allStalledMs += ms;
    this.#reporter?.stalled(ms);
  }

  /**
   * What the device says.
   *
   * @param {{saveData?: boolean, stress?: boolean, background?: boolean}} conditions
   */
  tell(conditions) {
    Object.assign(this.conditions, conditions);
    this.plan();
  }

  /** The feed from its top, past all caches. */
  async refresh() {
    await this.feed.refresh();
    this.#arrived();
  }

  /** Puts what is new above the list; as `Feed.newer`. */
  async newer() {
    const found = await this.feed.newer();
    if (found === null || found.length > 0) this.#arrived();
    return found;
  }

  // What there is.

  /**
   * What of the network is known: as told, measured, or as the browser says.
   *
   * @returns {Network}
   */
  get network() {
    if (this.fixedNetwork) return this.fixedNetwork;
    const { saveData, ...said } = networkNow();
    return { ...said, ...this.#meter.network };
  }

  /**
   * The files that show each medium of an item, the original first.
   *
   * @param {string} id
   */
  media(id) { return this.#media.get(id) ?? []; }

  /**
   * The best file of a medium of which all is here, or else of which something is; else the original.
   *
   * @param {File[]} files
   */
  best(files) {
    return files.find((file) => this.#starts(file))
      ?? files.find((file) => this.store.held(file.url).count > 0) ?? files[0];
  }

  /**
   * Whether what starts the item is here: of a carousel, its first medium.
   *
   * @param {string} id
   */
  isReady(id) {
    const files = this.#media.get(id)?.[0];
    return !files || files.some((file) => this.#starts(file));
  }

  /**
   * Resolves once what starts the item is here.
   *
   * @param {string} id
   */
  whenReady(id) {
    return new Promise((resolve) => {
      const look = () => {
        if (!this.isReady(id)) return;
        this.removeEventListener('bytes', look);
        resolve(undefined);
      };
      this.addEventListener('bytes', look);
      look();
    });
  }

  /** What is under way. */
  get transfers() { return [...this.#transfers.values()]; }

  /** What the viewing came to: the statistics of a measuring stand. */
  get figures() {
    const { items, imageLoaders, videoLoaders, mediaBytes, mediaRequests, plans, planBytes } = this.counts;
    const { requests, bytes } = this.feed.traffic;
    const waiting = this.active === null
      ? 0 : (this.#readySince ?? performance.now()) - this.#activeSince;
    const { seen, ...unseen } = this.#fates;
    const wasted = Object.values(unseen).reduce((sum, bytes) => sum + bytes, 0);
    return {
      items, imageLoaders, videoLoaders,
      perThousand: items === 0 ? 0 : (imageLoaders + videoLoaders) * 1000 / items,
      waitMs: Math.round(this.#waitMs + waiting),
      delayMs: Math.round(this.#waitMs + waiting + this.#allStalledMs),
      bytes: mediaBytes + bytes, wastedBytes: wasted, aheadBytes: this.#aheadBytes, heldBytes: this.store.heldBytes,
      requests: mediaRequests + requests, plans, planBytes,
    };
  }

  /** Of the wasted bytes, those that may still be seen: of the active item and of those after it. */
  get #aheadBytes() {
    let bytes = 0;
    for (const { id } of this.feed.items.slice(Math.max(0, this.#index(this.active)))) {
      for (const { key } of this.media(id).flat()) {
        const entry = this.#ledger.get(key);
        if (entry) bytes += Math.max(0, entry.fetched - entry.used);
      }
    }
    return bytes;
  }

  // Plans.

  /** Asks for a plan, if none is being asked for; else as soon as that one is here. */
  plan() {
    if (this.active === null || this.#isOver) return;
    if (this.#plans.running > 0) {
      this.#plans.isDue = true;
      return;
    }
    this.#send(this.#state(Math.round(performance.now() - this.#activeSince) || 1));
  }

  /** @param {number} activeForMs 0: the person has just come to it */
  #state(activeForMs) {
    const { items } = this.feed;
    const index = this.#index(this.active);
    const from = Math.max(0, index - 10);
    const near = items.slice(from, index + 51);
    const held = [];
    for (const item of near) {
      for (const file of this.media(item.id).flat()) {
        const { list } = this.store.held(file.url);
        if (list.length > 0) {
          held.push({ key: file.key, ranges: list.slice(0, 64).map(([start, end]) => [start, end - 1]) });
        }
      }
    }
    const ids = new Set(near.map((item) => item.id));
    const transfers = this.transfers.filter(({ item, next, to }) => ids.has(item) && (to === null || next < to))
      .map(({ id, item, file, next, to }) => ({
        id, item, key: file.key, ...(to === null ? { from: next } : { range: [next, to - 1] }),
      }));
    const { downlink, rtt, online, metered } = this.network;
    return {
      at: Math.round(performance.now() - this.#origin), feed: this.feed.name,
      items: near.map((item) => item.id), active: this.active, activeForMs, direction: this.#direction,
      hasPrevious: from > 0 || this.feed.hasPrevious,
      hasNext: index + 51 < items.length || this.feed.hasOlder,
      held, transfers, network: { downlink, rtt, online, metered }, ...this.conditions,
      itemsPerMinute: this.#pace, arm: this.feed.arm === 'a' ? undefined : this.feed.arm, strategy: this.strategy, settings: this.settings,
    };
  }

  /** How fast the person goes on, as lately; undefined before they have. */
  get #pace() {
    if (this.#looks.length < 2) return undefined;
    const sorted = [...this.#looks].sort((left, right) => left - right);
    return Math.max(1, Math.min(60_000, Math.round(60_000 / Math.max(1, sorted[sorted.length >> 1]))));
  }

  /** @param {object} state */
  async #send(state) {
    const number = this.#plans.sent += 1;
    this.#plans.running += 1;
    this.#plans.isDue = false;
    this.counts.plans += 1;
    try {
      const answer = await this.fetch(new URL('v1/plan', this.feed.server).href, {
        method: 'POST', body: JSON.stringify(state), headers: { 'Content-Type': 'application/json' },
        priority: 'high',
      });
      if (!answer.ok) throw await LookaheadError.from(answer);
      const text = await answer.text();
      this.counts.planBytes += text.length;
      // Of two answers that overtake each other the later question counts.
      if (number > this.#plans.applied && !this.#isOver) {
        this.#plans.applied = number;
        /** @type {Action[]} */
        const actions = JSON.parse(text).actions;
        for (const action of actions) this.#perform(action);
        this.#tell('plan', { actions });
      }
    } catch (error) {
      this.#trouble(error);
      this.#planAgainAfter(error);
    } finally {
      this.#plans.running -= 1;
      if (this.#plans.isDue && this.#plans.running === 0) this.plan();
    }
  }

  /** @param {unknown} error */
  #planAgainAfter(error) {
    if (error instanceof LookaheadError && error.type === 'unknown-item') {
      // One of the list was deleted: the list is asked for again, but not over and over.
      const now = performance.now();
      if (now - this.#lastRenewal < 5000) return this.#wake(5000);
      this.#lastRenewal = now;
      return void this.#ask({ do: 'askForPage', why: 'an item is gone', place: 'around' });
    }
    // A state that is refused would be refused again.
    if (error instanceof LookaheadError && error.status >= 400 && error.status < 429) return;
    const wait = error instanceof LookaheadError ? error.retryAfterMs : undefined;
    this.#wake(wait ?? 2000);
  }

  /** @param {Action} action */
  #perform(action) {
    switch (action.do) {
      case 'fetch': return this.#fetch(action);
      // What rests here is what came: going on is another request.
      case 'cancel':
      case 'pause': return this.#cancel(action.transfer ?? 0);
      case 'askForPage': return void this.#ask(action);
      case 'evict': {
        const url = this.#file(action.key)?.url;
        return url === undefined ? undefined : this.store.discard(url);
      }
      case 'waitUntil':
        return this.#wake((action.at ?? 0) - (performance.now() - this.#origin));
      default: return undefined;
    }
  }

  /** @param {number} milliseconds */
  #wake(milliseconds) {
    clearTimeout(this.#timer);
    if (this.#isOver) return;
    this.#timer = setTimeout(() => this.plan(), Math.min(Math.max(milliseconds, 10), 1e9));
  }

  // Pages.

  /** @param {Action} action */
  async #ask({ place = 'below', distance = 0 }) {
    if (this.#asking.has(place)) return;
    this.#asking.add(place);
    try {
      switch (place) {
        case 'below': await this.feed.older(); break;
        case 'above': await this.feed.previous(); break;
        case 'anew': await this.feed.refresh(); break;
        default: {
          const offset = Math.max(0, this.feed.offset + this.#index(this.active) + distance);
          await this.feed.around(`offset:${offset}`);
        }
      }
      this.#asking.delete(place);
      this.#arrived();
    } catch (error) {
      this.#trouble(error);
      const wait = error instanceof LookaheadError ? error.retryAfterMs : undefined;
      setTimeout(() => {
        this.#asking.delete(place);
        this.plan();
      }, wait ?? 2000);
    }
  }

  #arrived() {
    for (const item of this.feed.items) if (!this.#media.has(item.id)) this.#note(item);
    if (!this.#isDrawn) {
      this.#isDrawn = true;
      const { recordShare } = this.feed;
      if (crypto.getRandomValues(new Uint32Array(1))[0] / 2 ** 32 * 1000 < recordShare) this.#recording = new Recording();
    }
    this.#recording?.list(this.feed.items, (id) => this.media(id));
    // Of very many items those that have left the list are forgotten.
    if (this.#media.size > 4 * this.feed.items.length + 1000) {
      const known = new Set(this.feed.items.map((item) => item.id));
      for (const [id, media] of this.#media) {
        if (known.has(id)) continue;
        this.#media.delete(id);
        for (const file of media.flat()) this.#files.delete(file.key);
      }
    }
    this.#tell('page', {});
    this.plan();
  }

  /**
   * Where a file lies; what is no URL lies nowhere.
   *
   * @param {string} url
   */
  #href(url) {
    try {
      return new URL(url, this.feed.server).href;
    } catch {
      return 'about:invalid';
    }
  }

  /**
   * What is to be known of an item's files.
   *
   * @param {Item} item
   */
  #note(item) {
    const media = (item.media ?? []).map((one) => {
      const common = { kind: one.kind, durationMs: one.durationMs };
      const original = {
        ...common, key: one.id, url: this.#href(one.url), mimeType: one.mimeType ?? '', version: one.version,
        bytes: one.unavailable ? 0 : one.bytes, start: one.start,
      };
      const variants = (one.variants ?? []).map((variant, index) => ({
        ...common, key: `${one.id}:${index}`, url: this.#href(variant.url),
        mimeType: variant.mimeType, version: variant.version, bytes: variant.bytes, start: variant.start,
      }));
      // From the best down.
      return [original, ...variants.reverse()];
    });
    this.#media.set(item.id, media);
    for (const files of media) {
      for (const file of files) this.#files.set(file.key, { item: item.id, files });
    }
  }

  /**
   * An item as it is now, for one whose files are elsewhere or have changed.
   *
   * @param {string} id
   */
  async again(id) {
    const item = await this.feed.item(id);
    for (const file of this.media(id).flat()) this.store.discard(file.url);
    this.#note(item);
    this.#tell('page', {});
    this.plan();
    return item;
  }

  // Transfers.

  /** @param {string | undefined} key */
  #file(key) {
    const known = this.#files.get(key ?? '');
    return known?.files.find((file) => file.key === key);
  }

  /** @param {File} file */
  #starts(file) {
    const held = this.store.held(file.url);
    const bytes = file.bytes ?? this.store.size(file.url) ?? undefined;
    const ranges = startOf({ ...file, bytes }, this.network.downlink ?? 780);
    return ranges !== null && ranges.every(([from, to]) => held.has(from, to));
  }

  /**
   * What the person waits for, at once.
   *
   * @param {Item} item
   */
  #loadStart(item) {
    const files = this.media(item.id)[0];
    if (!files || this.transfers.some((transfer) => transfer.item === item.id)) return;
    const file = this.best(files);
    const ranges = startOf(file, this.network.downlink ?? 780) ?? [[0, null]];
    for (const [from, to] of ranges) {
      this.#begin(item.id, file, from, to, 'what starts the item that is looked at', 'high');
    }
  }

  /** @param {Action} action */
  #fetch({ key, item = '', range, from, why, priority }) {
    const file = this.#file(key);
    if (!file) return;
    const [start, end] = range ? [range[0], range[1] + 1] : [from ?? 0, null];
    this.#begin(item, file, start, end, why, priority === 'ahead' ? 'auto' : 'high');
  }

  /**
   * Asks for what of it is neither here nor under way: a plan is of a moment that has passed.
   *
   * @param {string} item
   * @param {File} file
   * @param {number} from
   * @param {number | null} to
   * @param {string} why
   * @param {Priority} priority
   */
  #begin(item, file, from, to, why, priority) {
    const failed = this.#failed.get(file.key);
    if (failed && failed.at > performance.now()) return;
    const known = new Ranges();
    for (const [start, end] of this.store.held(file.url).list) known.add(start, end);
    for (const transfer of this.#transfers.values()) {
      if (transfer.file.key === file.key) known.add(transfer.next, transfer.to ?? Infinity);
    }
    const size = this.store.size(file.url) ?? Infinity;
    for (const [start, end] of known.gaps(from, to ?? Infinity)) {
      // Of a file without a known end: the store knows by now that this is it.
      if (start >= size) continue;
      void this.#run({
        id: (this.#lastTransfer += 1), item, file, next: start, to: end === Infinity ? null : end, why,
        controller: new AbortController(),
      }, priority);
    }
  }

  /**
   * @param {Transfer} transfer
   * @param {Priority} priority
   */
  async #run(transfer, priority) {
    const { id, file, next, to, controller } = transfer;
    this.#transfers.set(id, transfer);
    this.counts.mediaRequests += 1;
    this.#recording?.asked(id);
    let hasAnswer = false;
    this.#tell('transfer', { transfer, state: 'begun' });
    /** @type {unknown} */
    let failure = null;
    try {
      await this.store.load(file.url, next, to, {
        signal: controller.signal, priority,
        onAnswer: (wait) => {
          hasAnswer = true;
          this.#meter.answered(wait);
        },
        onBytes: (from, end) => {
          transfer.next = end;
          this.#count(file, end - from);
          this.#meter.arrived(end - from);
          this.#recording?.came(id, file.key, from, end, this.network);
          this.#noteReady();
          this.#tell('bytes', { item: transfer.item, key: file.key });
        },
      });
    } catch (error) {
      failure = error;
    }
    if (hasAnswer) this.#meter.ended();
    const wasCancelled = controller.signal.aborted;
    this.#transfers.delete(id);
    if (failure && !wasCancelled) this.#fail(file, transfer.item, failure);
    if (!failure) this.#failed.delete(file.key);
    this.#tell('transfer', {
      transfer, state: wasCancelled ? 'cancelled' : failure ? 'failed' : 'ended', error: failure,
    });
    if (!wasCancelled) this.plan();
  }

  /** @param {number} id */
  #cancel(id) {
    const transfer = this.#transfers.get(id);
    this.#transfers.delete(id);
    transfer?.controller.abort();
    const entry = transfer && this.#ledger.get(transfer.file.key);
    if (entry) entry.isCancelled = true;
  }

  /**
   * @param {File} file
   * @param {string} item
   * @param {unknown} error
   */
  #fail(file, item, error) {
    const attempts = (this.#failed.get(file.key)?.attempts ?? 0) + 1;
    const status = error instanceof LookaheadError ? error.status : 0;
    const isGone = status >= 400 && status < 500 && status !== 408 && status !== 429;
    const wait = error instanceof LookaheadError ? error.retryAfterMs : undefined;
    // What was answered that it is not there is asked for no more; what failed, after ever longer times.
    const delay = isGone ? Infinity : wait ?? Math.min(30_000, 500 * 2 ** Math.min(attempts, 10));
    this.#failed.set(file.key, { attempts, at: performance.now() + delay });
    if (this.#failed.size > 4096) this.#failed.delete([...this.#failed.keys()][0]);
    this.#trouble(error);
    // An address that is over: the item has another one now.
    if (isGone && attempts === 1) {
      this.again(item).then(() => this.#failed.set(file.key, { attempts, at: 0 }), () => undefined);
    } else if (!isGone) {
      setTimeout(() => this.plan(), delay);
    }
  }

  #noteReady() {
    if (this.active === null || this.#readySince !== null || !this.isReady(this.active)) return;
    this.#readySince = performance.now();
    this.#tell('ready', { item: this.active, waitMs: this.#readySince - this.#activeSince });
    this.plan();
  }

  // The ledger.

  /**
   * @param {File} file
   * @param {number} bytes
   */
  #count(file, bytes) {
    this.counts.mediaBytes += bytes;
    const entry = this.#ledger.get(file.key) ?? { fetched: 0, used: 0 };
    entry.fetched += bytes;
    entry.isCancelled = false;
    this.#ledger.set(file.key, entry);
    if (this.#ledger.size <= 4096) return;
    for (const [key, entry] of [...this.#ledger].slice(0, 2048)) {
      addFate(this.#closed, entry);
      this.#ledger.delete(key);
    }
  }

  /** What became of the bytes that came, as of now. */
  get #fates() {
    const fates = { ...this.#closed };
    for (const entry of this.#ledger.values()) addFate(fates, entry);
    return fates;
  }

  /** What reports say of the arm: nothing where the session has a strategy of its own. */
  get #armName() {
    const { experiment, arm } = this.feed;
    return experiment && !this.strategy ? `${experiment.id}.${arm}` : undefined;
  }

  /** @param {boolean} isLast */
  #report(isLast) {
    const { mediaRequests, plans } = this.counts;
    const record = this.#recording && this.#reporter?.tells(isLast) && (isLast || this.#recording.isFull)
      ? this.#recording.lines : undefined;
    if (record !== undefined) this.#recording = undefined;
    this.#reporter?.send({
      record: record || undefined, policy: this.strategy?.name ?? this.feed.policy, network: this.network, arm: this.#armName,
      counts: { ...this.#fates, requests: mediaRequests, plans: plans + this.feed.traffic.requests },
    }, isLast);
  }

  /**
   * Of the file that shows an item's first medium: how many of the bytes that start it are here, and how many there are.
   *
   * @param {string} id
   */
  #startOf(id) {
    const files = this.media(id)[0];
    if (!files) return undefined;
    const file = this.best(files);
    const size = file.bytes ?? this.store.size(file.url) ?? undefined;
    const ranges = startOf({ ...file, bytes: size }, this.network.downlink ?? 780);
    if (!ranges) return undefined;
    const needed = ranges.reduce((sum, [from, to]) => sum + to - from, 0);
    const { list } = this.store.held(file.url);
    let held = 0;
    for (const [from, to] of ranges) {
      for (const [start, end] of list) held += Math.max(0, Math.min(end, to) - Math.max(start, from));
    }
    return { file: file.key, version: file.version, held, needed };
  }

  /**
   * What is told of the item that is left; nothing of one without files.
   *
   * @param {string} id
   * @param {number} now
   * @returns {Seen | undefined}
   */
  #seen(id, now) {
    const files = this.media(id)[0];
    const start = this.#startOf(id);
    if (!files || !start) return undefined;
    const ready = this.#readySince;
    // Another variant may have been chosen since.
    const { held, needed, version } = this.#start?.file === start.file ? this.#start : { ...start, held: 0 };
    const place = files.findIndex((file) => file.key === start.file);
    return {
      id, variant: place > 0 ? files.length - 1 - place : undefined, version, heldBytes: held, neededBytes: needed,
      readyMs: ready === null ? undefined : Math.round(ready - this.#activeSince),
      frameMs: this.#frameAt === undefined ? undefined : Math.round(this.#frameAt - this.#activeSince),
      watchedMs: Math.round(Math.max(0, now - (ready ?? now) - this.#stalledMs)),
      leftWaiting: ready === null ? true : undefined,
    };
  }

  /** The active item is left: what it waited, and what of it was watched. */
  #leave() {
    if (this.active === null) return;
    const now = performance.now();
    const since = this.#readySince ?? now;
    this.#looks = [...this.#looks.slice(-8), now - this.#activeSince];
    this.#waitMs += since - this.#activeSince;
    for (const files of this.media(this.active)) {
      const shown = this.best(files);
      for (const file of files) {
        const entry = this.#ledger.get(file.key);
        if (entry && file === shown) entry.used = Math.max(entry.used, played(file, now - since));
        else if (entry) entry.isReplaced = true;
      }
    }
    this.#recording?.left(this.active, now - this.#activeSince, since - this.#activeSince);
    this.#reporter?.left({
      loader: this.#loader, waitMs: since - this.#activeSince,
      frameMs: this.#frameAt === undefined ? undefined : this.#frameAt - this.#activeSince,
      seen: this.#seen(this.active, now),
    });
    if (this.#reporter?.isDue) this.#report(false);
  }

  /** @param {string | null} id */
  #index(id) { return id === null ? -1 : this.feed.items.findIndex((item) => item.id === id); }

  /** @param {unknown} error */
  #trouble(error) {
    if (!this.#isOver) this.#tell('problem', { error });
  }

  /**
   * @param {string} type
   * @param {object} detail
   */
  #tell(type, detail) { this.dispatchEvent(new CustomEvent(type, { detail })); }
}

/** What a session has met, as `before` of a part says it: nothing yet. */
function noTotals() {
  return { items: 0, loaders: 0, waitMs: 0, frameMs: 0, stalledMs: 0, bytes: 0 };
}

/** What becomes of bytes: nothing yet. */
function noFates() {
  return { seen: 0, left: 0, neverReached: 0, otherVariant: 0, cancelled: 0 };
}

/**
 * @param {ReturnType<typeof noFates>} fates
 * @param {{fetched: number, used: number, isReplaced?: boolean, isCancelled?: boolean}} entry a file's bytes
 */
function addFate(fates, { fetched, used, isReplaced, isCancelled }) {
  fates.seen += Math.min(fetched, used);
  const fate = used > 0 ? 'left' : isReplaced ? 'otherVariant' : isCancelled ? 'cancelled' : 'neverReached';
  fates[fate] += Math.max(0, fetched - used);
}

/**
 * How many bytes were of use to somebody who looked for so long: of a picture all, of a clip as many as its curve
 * says, or where that is not known its share of the time.
 *
 * @param {File} file
 * @param {number} milliseconds
 */
function played({ kind, bytes, durationMs, start }, milliseconds) {
  if (kind === 'image') return Infinity;
  const point = start?.curve?.find(([ms]) => ms >= milliseconds);
  if (point) return point[1];
  if (bytes === undefined || !durationMs || durationMs <= milliseconds || start?.curve?.length) return Infinity;
  return Math.max(bytes * milliseconds / durationMs, start?.headBytes ?? 0);
}
