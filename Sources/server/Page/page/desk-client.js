// @ts-check
/**
 * The desk's way to the public API: writes with a token, records as they were written, uploads with their progress.
 */

/**
 * @typedef {{name: string, rank?: number | string, after?: string, before?: string}} Placement
 * @typedef {{kind: string, url: string, alt?: string} & Record<string, any>} RecordMedium
 * @typedef {{type: string, title?: string, text?: string, url?: string, tags?: string[], publishedAt?: string,
 *   author?: Record<string, any>, media?: RecordMedium[], feeds?: Placement[]} & Record<string, any>} PostRecord
 * @typedef {{id: string, text: string, record: PostRecord, tag: string}} Version a record, and the tag that writes name
 */

/** What the server refused, in its words. */
export class Refusal extends Error {
  /**
   * @param {number} status
   * @param {any} problem
   */
  constructor(status, problem) {
    super(problem.detail ?? problem.title ?? `the server answered ${status}`);
    this.status = status;
    this.type = String(problem.type ?? '').split(':').at(-1);
    /** @type {string | undefined} the part of a record that is wrong: `media[0].url` */
    this.field = problem.field;
  }
}

/** Where the token is kept if the person asks for it: as long as the tab. */
const KEPT = 'lookahead.token';

export class DeskClient {
  /** @param {URL} server */
  constructor(server) {
    this.server = server;
    this.token = '';
    try {
      this.token = sessionStorage.getItem(KEPT) ?? '';
    } catch {
      // Without storage the token is in memory only.
    }
  }

  /**
   * @param {string} token
   * @param {boolean} isKept
   */
  use(token, isKept) {
    this.token = token;
    try {
      if (isKept && token) sessionStorage.setItem(KEPT, token);
      else sessionStorage.removeItem(KEPT);
    } catch {
      // Without storage the token is in memory only.
    }
  }

  /**
   * @param {string} path relative, or a link that the server made
   * @param {object} options
   * @param {string} [options.method]
   * @param {string} [options.body]
   * @param {string} [options.type] of the body
   * @param {string} [options.tag] only if this is what is there
   * @param {boolean} [options.isNew] only if nothing is there
   * @returns {Promise<Response>}
   */
  async ask(path, { method = 'GET', body, type = 'application/json', tag, isNew } = {}) {
    /** @type {Record<string, string>} */
    const headers = {};
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    if (body !== undefined) headers['Content-Type'] = type;
    if (tag) headers['If-Match'] = tag;
    if (isNew) headers['If-None-Match'] = '*';
    const answer = await fetch(this.url(path), { method, body, headers, cache: 'no-store' });
    if (!answer.ok) throw new Refusal(answer.status, await answer.json().catch(() => ({})));
    return answer;
  }

  /** @param {string} path */
  url(path) { return new URL(path.replace(/^\//, ''), this.server); }

  /** @param {string} path */
  async get(path) { return (await this.ask(path)).json(); }

  /**
   * A post as its writer said it, and the tag that a write of it names.
   *
   * @param {string} id
   * @returns {Promise<Version>}
   */
  async record(id) {
    const answer = await this.ask(`${item(id)}/record`);
    const text = await answer.text();
    return { id, text, record: parseRecord(text), tag: answer.headers.get('ETag') ?? '*' };
  }

  /**
   * @param {string} id
   * @param {object} patch RFC 7396
   * @param {string} [tag]
   */
  async patch(id, patch, tag) {
    await this.ask(item(id), {
      method: 'PATCH', body: JSON.stringify(patch), type: 'application/merge-patch+json', tag,
    });
  }

  /**
   * @param {string} id
   * @param {string} text the record, as it is to be
   * @param {{tag?: string, isNew?: boolean}} condition
   */
  async put(id, text, condition) { await this.ask(item(id), { method: 'PUT', body: text, ...condition }); }

  /**
   * @param {string} id
   * @param {string} [tag]
   */
  async delete(id, tag) { await this.ask(item(id), { method: 'DELETE', tag }); }

  /**
   * Puts a file into the media root, named by its content.
   *
   * @param {Blob} file
   * @param {{isFaststart?: boolean, signal: AbortSignal, onProgress: (bytes: number) => void}} options
   * @returns {Promise<any>} what the server knows of it
   */
  upload(file, { isFaststart = false, signal, onProgress }) {
    // fetch does not say how much of a body has left.
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open('POST', this.url(`v1/media${isFaststart ? '?faststart=1' : ''}`));
      request.setRequestHeader('Authorization', `Bearer ${this.token}`);
      request.setRequestHeader('Content-Type', file.type || 'application/octet-stream');
      request.upload.addEventListener('progress', ({ loaded }) => onProgress(loaded));
      request.addEventListener('load', () => {
        let answer = {};
        try {
          answer = JSON.parse(request.responseText);
        } catch {
          // A proxy in front says it in HTML.
        }
        if (request.status < 300) resolve({ ...answer, isNew: request.status === 201 });
        else reject(new Refusal(request.status, answer));
      });
      request.addEventListener('error', () => reject(new TypeError('the connection is lost')));
      request.addEventListener('abort', () => reject(new DOMException('it was cancelled', 'AbortError')));
      signal.addEventListener('abort', () => request.abort());
      request.send(file);
    });
  }
}

/** @param {string} id */
export const item = (id) => `v1/items/${encodeURIComponent(id)}`;

/** @param {string} feed */
export const feedPath = (feed) => `v1/feeds/${encodeURIComponent(feed)}`;

/**
 * A record whose numbers are written back as they were, where the browser knows how (`JSON.rawJSON`).
 *
 * @param {string} text
 * @returns {PostRecord}
 */
export function parseRecord(text) {
  const raw = /** @type {any} */ (JSON).rawJSON;
  return JSON.parse(text, raw ? /** @type {any} */ ((/** @type {string} */ _, /** @type {any} */ value, /** @type {any} */ context) => (
    typeof value === 'number' && String(value) !== context.source ? raw(context.source) : value)) : undefined);
}

/**
 * Whether two values say the same; the order of members says nothing.
 *
 * @param {any} one
 * @param {any} other
 * @returns {boolean}
 */
export function same(one, other) {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => name in other && same(one[name], other[name]));
}

/**
 * The merge patch (RFC 7396) that makes one record of another.
 *
 * @param {Record<string, any>} from
 * @param {Record<string, any>} to
 * @returns {Record<string, any>}
 */
export function difference(from, to) {
  /** @type {Record<string, any>} */
  const patch = {};
  const isObject = (/** @type {any} */ value) => typeof value === 'object' && value !== null && !Array.isArray(value)
    && !(/** @type {any} */ (JSON).isRawJSON?.(value));
  for (const name of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const [before, after] = [from[name], to[name]];
    if (same(before, after)) continue;
    if (after === undefined) patch[name] = null;
    else patch[name] = isObject(before) && isObject(after) ? difference(before, after) : after;
  }
  return patch;
}

/**
 * Where in a feed a post is.
 *
 * @param {PostRecord} record
 * @param {string} feed
 */
export const placeIn = (record, feed) => record.feeds?.find(({ name }) => name === feed);

/**
 * The record's feeds, with this place in this one.
 *
 * @param {PostRecord} record
 * @param {Placement} place
 * @returns {Placement[]}
 */
export function placed(record, place) {
  const feeds = record.feeds ?? [];
  return feeds.some(({ name }) => name === place.name)
    ? feeds.map((one) => (one.name === place.name ? place : one)) : [...feeds, place];
}
