// @ts-check
import { count, duration, h, size, words } from './dom.js';
import { parseMetrics, quantile, sum } from './metrics.js';

const INTERVAL_MS = 2000;
const REQUESTS = 'lookahead_http_requests_total';
const SECONDS = 'lookahead_http_request_duration_seconds';

/** Figures of the server: `/metrics` in small. */
export class ServerView {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {{at: number, metrics: Map<string, import('./metrics.js').Sample[]>} | null} */
  #before = null;
  /** @type {number[]} requests a second */
  #rates = [];
  #isShown = false;

  /**
   * @param {HTMLElement} place
   * @param {URL} server
   */
  constructor(place, server) {
    this.server = server;
    this.note = h('p', { class: 'note', role: 'status' });
    this.tiles = h('dl', { class: 'tiles' });
    this.chart = h('canvas', { class: 'chart', role: 'img', 'aria-label': 'Requests a second, lately' });
    this.routes = h('div', { class: 'table', tabIndex: 0, role: 'region', 'aria-label': 'By route' });
    place.append(this.note, this.tiles, this.chart, h('h2', {}, 'By route'), this.routes);
  }

  show() {
    this.#isShown = true;
    void this.#read();
  }

  hide() {
    this.#isShown = false;
    clearTimeout(this.#timer);
  }

  async #read() {
    try {
      const answer = await fetch(new URL('metrics', this.server), { cache: 'no-store' });
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      this.#draw(parseMetrics(await answer.text()));
      this.note.textContent = 'Since the server started; read every two seconds from /metrics.';
    } catch (error) {
      this.note.textContent = `The figures do not come: ${words(error)}. A proxy in front may keep /metrics in.`;
    }
    clearTimeout(this.#timer);
    if (this.#isShown) this.#timer = setTimeout(() => void this.#read(), INTERVAL_MS);
  }

  /** @param {Map<string, import('./metrics.js').Sample[]>} metrics */
  #draw(metrics) {
    const at = performance.now();
    const before = this.#before;
    const rate = before
      ? Math.max(0, sum(metrics, REQUESTS) - sum(before.metrics, REQUESTS)) / (at - before.at) * 1000 : 0;
    this.#before = { at, metrics };
    if (before) this.#rates = [...this.#rates.slice(-59), rate];
    const get = (/** @type {string} */ name, labels = {}) => sum(metrics, name, labels);
    const hits = get('lookahead_pages_hits_total');
    const asked = hits + get('lookahead_pages_misses_total');
    const [build] = metrics.get('lookahead_build_info') ?? [];
    const started = get('process_start_time_seconds');
    /** @type {[string, string][]} */
    const tiles = [
      ['requests a second', count(rate)], ['requests', count(get(REQUESTS))],
      ['connections', count(get('lookahead_http_connections'))],
      ['pages at hand', asked ? `${count(hits * 100 / asked)} %` : '–'],
      ['pages kept', size(get('lookahead_pages_bytes'))],
      ['sent', size(get('lookahead_http_sent_bytes_total'))],
      ['feeds', count(get('lookahead_feeds'))],
      ['media files known', count(get('lookahead_media_files', { state: 'known' }))],
      ['memory', size(get('process_resident_memory_bytes'))],
      ['processor', `${count(get('process_cpu_seconds_total'))} s`],
      ['runs for', started ? duration(Math.max(0, Date.now() - started * 1000)) : '–'],
      ['loaders of plans', loaders(metrics)],
      ['version', build ? `${build.labels.version} (${build.labels.commit.slice(0, 7)})` : '–'],
    ];
    this.tiles.replaceChildren(...tiles.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))));
    this.#drawRoutes(metrics, before?.metrics ?? null);
    this.#drawChart();
  }

  /**
   * @param {Map<string, import('./metrics.js').Sample[]>} metrics
   * @param {Map<string, import('./metrics.js').Sample[]> | null} before
   */
  #drawRoutes(metrics, before) {
    const routes = [...new Set((metrics.get(REQUESTS) ?? []).map(({ labels }) => labels.route))].sort();
    this.routes.replaceChildren(h('table', {},
      h('thead', {}, h('tr', {}, ...['route', 'requests', 'refused', 'median', '99 %', 'sent'].map(
        (name) => h('th', { scope: 'col' }, name)))),
      h('tbody', {}, ...routes.map((route) => {
        const samples = (metrics.get(REQUESTS) ?? []).filter(({ labels }) => labels.route === route);
        const refused = samples.filter(({ labels }) => Number(labels.status) >= 400)
          .reduce((total, { value }) => total + value, 0);
        const seconds = (/** @type {number} */ share) => {
          const value = quantile(metrics, before, SECONDS, { route }, share)
            ?? quantile(metrics, null, SECONDS, { route }, share);
          return value === null ? '–' : duration(value * 1000);
        };
        return h('tr', {}, h('th', { scope: 'row' }, route), h('td', {}, count(sum(metrics, REQUESTS, { route }))),
          h('td', {}, count(refused)), h('td', {}, seconds(0.5)), h('td', {}, seconds(0.99)),
          h('td', {}, size(sum(metrics, 'lookahead_http_sent_bytes_total', { route }))));
      }))));
  }

  #drawChart() {
    const { chart } = this;
    const scale = devicePixelRatio || 1;
    const [width, height] = [chart.clientWidth, chart.clientHeight];
    if (width === 0) return;
    [chart.width, chart.height] = [width * scale, height * scale];
    const context = chart.getContext('2d');
    const most = Math.max(1, ...this.#rates);
    context.scale(scale, scale);
    context.fillStyle = getComputedStyle(chart).color;
    const step = width / 60;
    for (const [index, rate] of this.#rates.entries()) {
      const tall = Math.max(1, rate / most * (height - 2));
      context.fillRect((60 - this.#rates.length + index) * step, height - tall, Math.max(1, step - 1.5), tall);
    }
    const now = count(this.#rates.at(-1) ?? 0);
    chart.setAttribute('aria-label', `Requests a second, lately: ${now} now, ${count(most)} at the most`);
  }
}

/**
 * Loaders per 1000 items that thin clients looked at.
 *
 * @param {Map<string, import('./metrics.js').Sample[]>} metrics
 */
function loaders(metrics) {
  const items = sum(metrics, 'lookahead_plan_items_total');
  return items === 0 ? '–'
    : `${count(sum(metrics, 'lookahead_plan_loaders_total') * 1000 / items)} of 1000`;
}
