// @ts-check
/**
 * A slow link within this page: what is asked for through it arrives as late as it would on a link of so many kbit/s
 * and milliseconds. The bytes themselves come from the server at full speed, and wait here. Loss is not imitated.
 */
export class SlowLink {
  /** @type {Set<Flow>} */
  #flows = new Set();
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;
  #last = 0;
  #rest = 0;

  /** @param {{downlink: number, uplink: number, rtt: number}} profile kbit/s, milliseconds */
  constructor({ downlink, uplink, rtt }) {
    this.downlink = downlink;
    this.uplink = uplink;
    this.rtt = rtt;
  }

  /**
   * As `fetch`.
   *
   * @param {string} url
   * @param {RequestInit} [init]
   * @returns {Promise<Response>}
   */
  fetch = async (url, init = {}) => {
    if (this.downlink === 0) throw new TypeError('there is no network');
    const upBytes = 500 + (typeof init.body === 'string' ? init.body.length : 0);
    await pause(this.rtt + upBytes * 8 / Math.max(1, this.uplink), init.signal);
    const answer = await fetch(url, init);
    if (answer.body === null || answer.status === 304) return answer;
    const flow = new Flow(new Uint8Array(await answer.arrayBuffer()), init.signal);
    this.#add(flow);
    return new Response(flow.stream, { status: answer.status, headers: answer.headers });
  };

  /** @param {Flow} flow */
  #add(flow) {
    if (this.#flows.size === 0) {
      this.#last = performance.now();
      this.#timer = setInterval(() => this.#tick(), 15);
    }
    this.#flows.add(flow);
  }

  /** Those that are under way share the link. */
  #tick() {
    const now = performance.now();
    this.#rest += this.downlink / 8 * (now - this.#last);
    this.#last = now;
    for (const flow of this.#flows) if (flow.isOver) this.#flows.delete(flow);
    let left = this.#flows.size;
    for (const flow of this.#flows) {
      this.#rest -= flow.pass(Math.floor(this.#rest / left));
      left -= 1;
      if (flow.isOver) this.#flows.delete(flow);
    }
    if (this.#flows.size > 0) return;
    this.#rest = 0;
    clearInterval(this.#timer);
  }
}

/** The body of an answer on its way. */
class Flow {
  #next = 0;
  isOver = false;

  /**
   * @param {Uint8Array} bytes
   * @param {AbortSignal | null} [signal]
   */
  constructor(bytes, signal) {
    this.bytes = bytes;
    this.stream = new ReadableStream({
      start: (controller) => { this.controller = controller; },
      cancel: () => { this.isOver = true; },
    }, { highWaterMark: Infinity });
    signal?.addEventListener('abort', () => {
      if (this.isOver) return;
      this.isOver = true;
      this.controller?.error(new DOMException('it was cancelled', 'AbortError'));
    });
    if (signal?.aborted) this.isOver = true;
  }

  /**
   * Hands on so many bytes, at the most.
   *
   * @param {number} most
   * @returns {number}
   */
  pass(most) {
    const count = Math.min(most, this.bytes.length - this.#next);
    if (count > 0) this.controller?.enqueue(this.bytes.subarray(this.#next, this.#next + count));
    this.#next += count;
    if (this.#next === this.bytes.length) {
      this.isOver = true;
      this.controller?.close();
    }
    return count;
  }
}

/**
 * @param {number} milliseconds
 * @param {AbortSignal | null} [signal]
 */
function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new DOMException('it was cancelled', 'AbortError'));
    });
  });
}
