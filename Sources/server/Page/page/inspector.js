// @ts-check
import { count, duration, h, size } from './dom.js';
import { startOf } from '../lookahead.js';

/** @typedef {import('./lane.js').Lane} Lane */
/** @typedef {import('./feed-view.js').FeedView} FeedView */

/** What cannot be seen in an app: what is here, what is under way and why, and what it came to. */
export class Inspector {
  #isDue = false;
  /** @type {ReturnType<typeof setInterval>} */
  #timer;

  /**
   * @param {HTMLElement} place
   * @param {FeedView} view
   * @param {(id: string) => void} edit
   */
  constructor(place, view, edit) {
    this.view = view;
    this.figures = h('div', { class: 'table', tabIndex: 0, role: 'region', 'aria-label': 'What it came to' });
    this.hint = h('dl', { class: 'facts' });
    this.window = h('div', { class: 'window' });
    this.history = h('div', { class: 'history', tabIndex: 0, role: 'region', 'aria-label': 'What was done, and why' });
    const part = (/** @type {string} */ title, /** @type {string} */ help, /** @type {Node} */ body) => h('section', {},
      h('h3', {}, title), h('p', { class: 'help' }, help), body);
    place.replaceChildren(
      part('What it came to', 'A loader is a post that is looked at before its start is loaded. Delay is waiting for it, and '
        + 'clips that stand because their bytes ran out. Wasted are bytes of posts that were passed without a look, and of '
        + 'clips beyond what was watched when they were left. The post at hand and those after it are still to be seen.', this.figures),
      part('What is loaded', 'The files of the posts around you: what is loaded, what is on its way, and the mark up to '
        + 'which a file has to be loaded to start.', this.window),
      part('This item', 'What the server knows of it, and a client cannot.', h('div', {}, this.hint, h('button', {
        type: 'button', class: 'change', onclick: () => { if (view.active) edit(view.active.id); } }, 'Change it at the desk'))),
      part('What was done, and why', 'The newest first, as POST /v1/plan says it.', this.history));
    const soon = () => this.#soon();
    for (const { prefetcher } of view.lanes) {
      for (const type of ['bytes', 'transfer', 'plan', 'loader', 'ready']) prefetcher.addEventListener(type, soon);
    }
    view.addEventListener('look', () => {
      this.#drawHint();
      soon();
    });
    this.#timer = setInterval(soon, 500);
    this.#draw();
  }

  end() { clearInterval(this.#timer); }

  #soon() {
    if (this.#isDue) return;
    this.#isDue = true;
    // No more often than an eye can follow.
    setTimeout(() => {
      this.#isDue = false;
      this.#draw();
    }, 150);
  }

  #draw() {
    this.#drawFigures();
    if (this.figures.checkVisibility?.() === false) return;
    this.#drawWindow();
    this.#drawHistory();
  }

  #drawFigures() {
    const figures = this.view.lanes.map((lane) => lane.prefetcher.figures);
    /** @type {[string, (figures: any) => string | number][]} */
    const rows = [
      ['posts looked at', (one) => count(one.items)],
      ['loaders', (one) => `${count(one.imageLoaders + one.videoLoaders)}`],
      ['loaders per 1000', (one) => count(one.perThousand)],
      ['delay a post', (one) => (one.items ? duration(one.delayMs / one.items) : '–')],
      ['of that waiting', (one) => (one.items ? duration(one.waitMs / one.items) : '–')],
      ['loaded', (one) => size(one.bytes)],
      ['of that wasted', (one) => size(one.wastedBytes - one.aheadBytes)],
      ['still to be seen', (one) => size(one.aheadBytes)],
      ['in memory', (one) => size(one.heldBytes)],
      ['requests for files and pages', (one) => count(one.requests)],
      ['plans from the server', (one) => count(one.plans)],
      ['bytes of plans', (one) => size(one.planBytes)],
    ];
    this.figures.replaceChildren(h('table', {},
      h('thead', {}, h('tr', {}, h('td'), ...this.view.lanes.map((lane) => h('th', { scope: 'col' }, lane.title)))),
      h('tbody', {}, ...rows.map(([name, value]) => h('tr', {}, h('th', { scope: 'row' }, name),
        ...figures.map((one) => h('td', {}, value(one))))))));
  }

  #drawHint() {
    const item = this.view.active;
    if (!item) return;
    const { prefetch } = item;
    const about = prefetch.estimated ? ' (estimated)' : '';
    /** @type {[string, string][]} */
    const facts = [
      ['id', item.id], ['type', item.type], ['weight', String(prefetch.weight)],
      ['to load ahead', size(prefetch.minimumBytes) + about], ['all of it', size(prefetch.entireBytes) + about],
    ];
    for (const medium of (item.media ?? []).slice(0, 3)) {
      const { start, bytes, width, height, mimeType, durationMs, variants } = medium;
      const parts = [mimeType, width && height ? `${width} × ${height}` : '', durationMs ? duration(durationMs) : '',
        bytes === undefined ? '' : size(bytes)];
      facts.push([medium.id, parts.filter(Boolean).join(', ') || 'nothing is known']);
      if (start) {
        facts.push(['first frame', start.startable === false
          ? 'its beginning alone shows nothing: its tables lie behind' : `after ${size(start.headBytes)}`]);
      }
      for (const [kbps, lead] of start?.lead ?? []) {
        facts.push([`never stalls at ${kbps} kbit/s`, `after ${size(lead)}`]);
      }
      if (variants) facts.push(['smaller files', variants.map((one) => size(one.bytes)).join(', ')]);
    }
    this.hint.replaceChildren(...facts.map(([name, value]) => h('div', {}, h('dt', {}, h('bdi', {}, name)), h('dd', {}, h('bdi', {}, value)))));
  }

  #drawWindow() {
    const { view } = this;
    this.window.replaceChildren(...view.lanes.map((lane) => {
      const { items } = lane.prefetcher.feed;
      const active = items.findIndex((item) => item.id === lane.prefetcher.active);
      const near = items.slice(Math.max(0, active - 2), active + 11);
      return h('div', { class: 'lane' }, h('h4', {}, lane.title), h('ol', {}, ...near.map((item) => {
        const distance = items.indexOf(item) - active;
        const files = lane.prefetcher.media(item.id);
        const isActive = distance === 0;
        return h('li', { class: isActive ? 'isActive' : '', 'aria-current': isActive ? 'true' : null },
          h('span', { class: 'distance' }, distance > 0 ? `+${distance}` : String(distance)),
          h('span', { class: 'bars' }, ...files.slice(0, 6).map((many) => bar(lane, many))),
          h('span', { class: 'type' }, item.type));
      })));
    }));
  }

  #drawHistory() {
    this.history.replaceChildren(...this.view.lanes.map((lane) => h('div', { class: 'lane' },
      h('h4', {}, lane.title), h('ol', {}, ...lane.history.slice(0, 40).map(
        ({ at, kind, text, why }) => h('li', { class: kind }, h('span', { class: 'at' }, `${(at / 1000).toFixed(1)} s`),
          h('span', { class: 'what' }, `${kind} `, h('bdi', {}, text)), h('span', { class: 'why', dir: 'auto' }, why)))))));
  }
}

/**
 * A file as a bar: its length by its size, filled where its bytes are here.
 *
 * @param {Lane} lane
 * @param {import('../lookahead.js').File[]} files
 */
function bar({ prefetcher }, files) {
  const file = prefetcher.best(files);
  const held = prefetcher.store.held(file.url);
  const bytes = file.bytes ?? prefetcher.store.size(file.url) ?? Math.max(held.count, 1);
  const percent = (/** @type {number} */ count) => `${Math.max(0, Math.min(100, count * 100 / Math.max(1, bytes)))}%`;
  const element = h('span', {
    class: `bar ${file.kind}`, role: 'img', title: `${file.key}: ${size(held.count)} of ${size(bytes)}`,
    'aria-label': `${size(held.count)} of ${size(bytes)}`,
  });
  // From 10 KB to 10 MB, by the logarithm: what is twice as long has a hundred times the bytes.
  element.style.flexGrow = String(Math.max(1, Math.min(4, Math.log10(Math.max(bytes, 1)) - 3)));
  const add = (/** @type {string} */ name, /** @type {number} */ from, /** @type {number} */ to) => {
    const piece = h('i', { class: name });
    piece.style.left = percent(from);
    piece.style.width = percent(to - from);
    element.append(piece);
  };
  for (const transfer of prefetcher.transfers) {
    if (transfer.file.key === file.key) add('under', transfer.next, transfer.to ?? bytes);
  }
  for (const [from, to] of held.list) add('held', from, to);
  const start = startOf({ ...file, bytes }, prefetcher.network.downlink ?? 780);
  if (file.kind !== 'image' && start?.length) add('mark', start[start.length - 1][1], start[start.length - 1][1]);
  return element;
}
