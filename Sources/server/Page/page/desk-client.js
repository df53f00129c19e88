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
 * @typedef {{location?: string}} Upload where an upload that was begun is continued
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

/** How often in a row a file is sent on that comes no further; then the person is asked. */
const TRIES = 12;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
/** After so long without a byte that leaves, the connection counts as lost. */
const STALLED_MS = 30_000;

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
   * @param {Record<string, string>} [options.more] other fields
   * @param {AbortSignal} [options.signal]
   * @returns {Promise<Response>}
   */
  async ask(path, { method = 'GET', body, type = 'application/json', tag, isNew, more, signal } = {}) {
    /** @type {Record<string, string>} */
    const headers = { ...more };
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    if (body !== undefined) headers['Content-Type'] = type;
    if (tag) headers['If-Match'] = tag;
    if (isNew) headers['If-None-Match'] = '*';
    const answer = await fetch(this.url(path), { method, body, headers, cache: 'no-store', signal });
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
   * Puts a file into the media root, named by its content. Where the network fails, or the server does, it goes on from
   * what is there, as draft-ietf-httpbis-resumable-upload-12 has it.
   *
   * @param {Blob} file
   * @param {{isFaststart?: boolean, signal: AbortSignal, upload: Upload, onProgress: (bytes: number) => void,
   *   onPause: (isPaused: boolean) => void}} options `upload` has what was begun before
   * @returns {Promise<any>} what the server knows of it
   */
  async upload(file, { isFaststart = false, signal, upload, onProgress, onPause }) {
    let [failures, furthest] = [0, 0];
    for (;;) {
      try {
        const { offset, at } = upload.location ? await this.#state(upload.location, signal) : { offset: 0, at: null };
        // Its answer was lost.
        if (at !== null) return { path: at, url: at, bytes: file.size, media: {}, isNew: true };
        upload.location ??= await this.#begin(file, isFaststart, signal);
        if (offset > furthest) [failures, furthest] = [0, offset];
        onPause(false);
        onProgress(offset);
        return await this.#append(upload.location, file, offset, signal, (bytes) => {
          [failures, furthest] = [0, Math.max(furthest, bytes)];
          onProgress(bytes);
        });
      } catch (error) {
        if (signal.aborted) {
          this.giveUp(upload);
          throw error;
        }
        if (error instanceof Refusal) {
          const isGone = error.status === 404 && upload.location !== undefined;
          // 409: the server has another part of it than we thought.
          const isAskedAgain = isGone || error.status >= 500 || [408, 409, 429].includes(error.status);
          if (isGone || !isAskedAgain) delete upload.location;
          if (!isAskedAgain) throw error;
        }
        failures += 1;
        if (failures > TRIES) throw error;
        onPause(true);
        await pause(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)), signal);
      }
    }
  }

  /**
   * What was begun is not continued.
   *
   * @param {Upload | undefined} upload
   */
  giveUp(upload) {
    if (upload?.location) void this.ask(upload.location, { method: 'DELETE' }).catch(() => undefined);
    if (upload) delete upload.location;
  }

  /**
   * @param {Blob} file
   * @param {boolean} isFaststart
   * @param {AbortSignal} signal
   * @returns {Promise<string>} where it is continued
   */
  async #begin(file, isFaststart, signal) {
    const answer = await this.ask(`v1/media${isFaststart ? '?faststart=1' : ''}`, {
      method: 'POST', type: file.type || 'application/octet-stream', body: '', signal,
      more: { 'Upload-Complete': '?0', 'Upload-Length': String(file.size) },
    });
    const location = answer.headers.get('Location');
    if (!location) throw new Refusal(answer.status, { detail: 'The server does not say where the file goes' });
    return location;
  }

  /**
   * @param {string} location
   * @param {AbortSignal} signal
   * @returns {Promise<{offset: number, at: string | null}>} how far it is; and where, once it is complete
   */
  async #state(location, signal) {
    const { headers } = await this.ask(location, { method: 'HEAD', signal });
    return {
      offset: Number(headers.get('Upload-Offset') ?? 0),
      at: headers.get('Upload-Complete') === '?1' ? headers.get('Content-Location') : null,
    };
  }

  /**
   * @param {string} location
   * @param {Blob} file
   * @param {number} offset
   * @param {AbortSignal} signal
   * @param {(bytes: number) => void} onProgress
   * @returns {Promise<any>}
   */
  #append(location, file, offset, signal, onProgress) {
    // fetch does not say how much of a body has left.
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      /** @type {ReturnType<typeof setTimeout> | undefined} */
      let stalled;
      const watch = () => {
        clearTimeout(stalled);
        stalled = setTimeout(() => request.abort(), STALLED_MS);
      };
      const stop = () => request.abort();
      const end = (/** @type {() => void} */ tell) => {
        clearTimeout(stalled);
        signal.removeEventListener('abort', stop);
        tell();
      };
      request.open('PATCH', this.url(location));
      request.setRequestHeader('Authorization', `Bearer ${this.token}`);
      request.setRequestHeader('Content-Type', 'application/partial-upload');
      request.setRequestHeader('Upload-Offset', String(offset));
      request.setRequestHeader('Upload-Complete', '?1');
      request.upload.addEventListener('progress', ({ loaded }) => {
        watch();
        onProgress(offset + loaded);
      });
      // From here on the server looks at the file.
      request.upload.addEventListener('load', () => clearTimeout(stalled));
      request.addEventListener('load', () => end(() => {
        let answer = {};
        try {
          answer = JSON.parse(request.responseText);
        } catch {
          // A proxy in front says it in HTML.
        }
        if (request.status < 300) resolve({ ...answer, isNew: request.status === 201 });
        else reject(new Refusal(request.status, answer));
      }));
      request.addEventListener('error', () => end(() => reject(new TypeError('the connection is lost'))));
      request.addEventListener('abort', () => end(() => reject(signal.aborted
        ? new DOMException('it was cancelled', 'AbortError') : new TypeError('nothing of it arrives'))));
      signal.addEventListener('abort', stop);
      watch();
      request.send(file.slice(offset));
    });
  }
}

/**
 * Waits, until the network is back at the most.
 *
 * @param {number} milliseconds
 * @param {AbortSignal} signal
 */
function pause(milliseconds, signal) {
  return new Promise((resolve) => {
    const over = new AbortController();
    const end = () => {
      clearTimeout(timer);
      over.abort();
      resolve(undefined);
    };
    const timer = setTimeout(end, milliseconds);
    globalThis.addEventListener('online', end, { signal: over.signal });
    signal.addEventListener('abort', end, { signal: over.signal });
  });
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
