// @ts-check
import { count, h, lessMotion } from './dom.js';
import { Frame } from './frame.js';

/** @typedef {import('./lane.js').Lane} Lane */

/** Rows above and below the screen that are there, too. */
const MARGIN = 2;
/** At once, whatever the style says. */
const INSTANT = /** @type {ScrollBehavior} */ ('instant');

/**
 * A feed that scrolls without end: one row for an item, in it a frame for each lane. All rows are equally high, and
 * only those near the screen exist.
 */
export class FeedView extends EventTarget {
  /** @type {Map<string, {row: HTMLElement, frames: Frame[]}>} */
  #rows = new Map();
  /** @type {import('../lookahead.js').Item[]} */
  #items = [];
  #height = 600;
  #active = -1;
  #target = -1;
  #isDue = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #settle;
  #last = { top: 0, at: 0 };
  #sound = false;

  /**
   * @param {HTMLElement} scroller
   * @param {Lane[]} lanes
   */
  constructor(scroller, lanes) {
    super();
    this.scroller = scroller;
    this.lanes = lanes;
    this.list = h('div', { class: 'rows' });
    scroller.replaceChildren(this.list);
    scroller.style.setProperty('--lanes', String(lanes.length));
    this.over = new AbortController();
    const { signal } = this.over;
    scroller.addEventListener('scroll', () => this.#scrolled(), { passive: true, signal });
    // A hand on it: where the keys were going does not count any more.
    for (const hand of ['wheel', 'touchstart', 'pointerdown']) {
      scroller.addEventListener(hand, () => { this.#target = -1; }, { passive: true, signal });
    }
    this.resizing = new ResizeObserver(() => this.#measure());
    this.resizing.observe(scroller);
    for (const lane of lanes) this.#listen(lane, signal);
  }

  /**
   * @param {Lane} lane
   * @param {AbortSignal} signal
   */
  #listen({ prefetcher }, signal) {
    const index = this.lanes.findIndex((lane) => lane.prefetcher === prefetcher);
    prefetcher.addEventListener('page', () => this.#paged(), { signal });
    for (const type of ['bytes', 'transfer', 'plan']) prefetcher.addEventListener(type, () => this.#soon(), { signal });
    prefetcher.addEventListener('ready', (event) => {
      const { item, waitMs } = /** @type {CustomEvent} */ (event).detail;
      const frame = this.#rows.get(item)?.frames[index];
      frame?.update();
      frame?.waited(waitMs);
    }, { signal });
  }

  /** The item that is looked at. */
  get active() { return this.#items[this.#active]; }
  get index() { return this.#active; }
  get isAtEnd() { return this.#active === this.#items.length - 1 && !this.lanes[0].prefetcher.feed.hasOlder; }

  /** @param {number} steps */
  move(steps) {
    const from = this.#target >= 0 ? this.#target : this.#active;
    this.go(from + steps);
  }

  /**
   * To the item at this place of the list.
   *
   * @param {number} index
   * @param {boolean} [smoothly]
   */
  go(index, smoothly = true) {
    const place = Math.max(0, Math.min(this.#items.length - 1, index));
    if (place < 0) return;
    this.#target = place;
    // Where the list was at rest before does not count any more.
    clearTimeout(this.#settle);
    const isFar = Math.abs(place - this.#active) > 3;
    this.scroller.scrollTo({
      top: place * this.#height, behavior: smoothly && !isFar && !lessMotion() ? 'smooth' : INSTANT,
    });
    this.#look(place);
    if (this.scroller.contains(document.activeElement)) {
      this.#rows.get(this.#items[place].id)?.row.focus({ preventScroll: true });
    }
  }

  /** Plays the active clip, or lets it rest. */
  toggle() { for (const frame of this.#frames()) frame.toggle(); }

  /** @param {boolean} isOn */
  set sound(isOn) {
    this.#sound = isOn;
    for (const frame of this.#frames()) frame.sound = isOn;
  }

  #frames() { return this.#rows.get(this.active?.id ?? '')?.frames ?? []; }

  /** A page has come: the longest list of the lanes is the one to scroll. */
  #paged() {
    const before = this.active?.id;
    const lists = this.lanes.map((lane) => lane.prefetcher.feed.items);
    this.#items = lists.reduce((longest, list) => (list.length > longest.length ? list : longest), lists[0]);
    this.#measure();
    if (this.#items.length === 0) return;
    const index = before === undefined ? -1 : this.#items.findIndex((item) => item.id === before);
    if (index >= 0 && index !== this.#active) {
      // Something came above: what is looked at stays where it is.
      this.scroller.scrollTop += (index - this.#active) * this.#height;
      this.#active = index;
      this.#target = -1;
    }
    if (index < 0) this.#look(Math.min(Math.max(0, this.#at()), this.#items.length - 1));
    // A lane whose page came only now looks at what the person looks at.
    for (const lane of this.lanes) if (this.active) lane.prefetcher.look(this.active.id);
    this.#render();
    this.dispatchEvent(new Event('change'));
  }

  #measure() {
    const { clientWidth, clientHeight } = this.scroller;
    if (clientWidth === 0) return;
    const styles = getComputedStyle(this.scroller);
    const em = parseFloat(styles.fontSize);
    const lane = Math.min(clientWidth / this.lanes.length, 34 * em);
    const height = Math.round(Math.max(16 * em, Math.min(clientHeight, lane * 1.3 + 6.5 * em)));
    const place = this.#active;
    this.list.style.height = `${this.#items.length * height + Math.max(0, clientHeight - height)}px`;
    if (height === this.#height) return;
    this.#height = height;
    this.scroller.style.setProperty('--row', `${height}px`);
    for (const { row } of this.#rows.values()) row.style.top = `${Number(row.dataset.index) * height}px`;
    if (place >= 0) this.scroller.scrollTo({ top: place * height, behavior: INSTANT });
    this.#render();
  }

  #at() { return Math.round(this.scroller.scrollTop / this.#height); }

  #scrolled() {
    const now = performance.now();
    const { scrollTop } = this.scroller;
    const speed = (scrollTop - this.#last.top) / this.#height / Math.max(1, now - this.#last.at) * 1000;
    this.#last = { top: scrollTop, at: now };
    this.#render();
    if (this.#target >= 0) {
      if (Math.abs(scrollTop - this.#target * this.#height) < 2) this.#target = -1;
      return;
    }
    clearTimeout(this.#settle);
    const index = this.#at();
    // In a fling nothing is looked at; what is at rest, or passes slowly, is.
    if (Math.abs(speed) < 3) this.#look(index);
    this.#settle = setTimeout(() => this.#look(this.#at()), 100);
  }

  /** @param {number} index */
  #look(index) {
    const item = this.#items[index];
    if (!item || index === this.#active && this.lanes.every((lane) => lane.prefetcher.active === item.id)) return;
    for (const frame of this.#frames()) frame.active = false;
    this.#active = index;
    this.#render();
    // The frames first, so that they hear how long the person waited.
    for (const lane of this.lanes) lane.prefetcher.look(item.id);
    for (const frame of this.#frames()) frame.active = true;
    this.sound = this.#sound;
    for (const [id, { row }] of this.#rows) row.classList.toggle('isActive', id === item.id);
    this.dispatchEvent(new Event('look'));
  }

  #soon() {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      for (const { frames } of this.#rows.values()) for (const frame of frames) frame.update();
    });
  }

  /** Makes the rows near the screen, and lets go of the others. */
  #render() {
    const { clientHeight, scrollTop } = this.scroller;
    const first = Math.max(0, Math.floor(scrollTop / this.#height) - MARGIN);
    const last = Math.min(
      this.#items.length - 1, Math.floor((scrollTop + clientHeight) / this.#height) + MARGIN);
    const kept = new Set();
    for (let index = first; index <= last; index += 1) {
      const item = this.#items[index];
      kept.add(item.id);
      const known = this.#rows.get(item.id);
      if (known && known.frames[0].item === item) this.#place(known.row, index);
      else this.#make(item, index, known);
    }
    if (this.active) kept.add(this.active.id);
    for (const [id, { row, frames }] of this.#rows) {
      if (kept.has(id)) continue;
      for (const frame of frames) frame.end();
      row.remove();
      this.#rows.delete(id);
    }
  }

  /**
   * @param {HTMLElement} row
   * @param {number} index
   */
  #place(row, index) {
    if (row.dataset.index === String(index)) return;
    const { feed } = this.lanes[0].prefetcher;
    row.dataset.index = String(index);
    row.style.top = `${index * this.#height}px`;
    row.setAttribute('aria-posinset', String(feed.offset + index + 1));
    row.setAttribute('aria-setsize', String(feed.total ?? -1));
  }

  /**
   * @param {import('../lookahead.js').Item} item
   * @param {number} index
   * @param {{row: HTMLElement, frames: Frame[]} | undefined} before
   */
  #make(item, index, before) {
    for (const frame of before?.frames ?? []) frame.end();
    const frames = this.lanes.map((lane) => new Frame(lane, item));
    const title = h('h2', { id: `title-${index}`, dir: 'auto' }, item.title ?? item.type);
    const row = h('article', { class: 'row', tabIndex: -1, 'aria-labelledby': `title-${index}` },
      h('div', { class: 'frames' }, ...frames.map((frame) => frame.element)),
      h('div', { class: 'caption' }, title, h('p', { class: 'by' }, ...byline(item)),
        item.text && item.media?.length ? h('p', { class: 'text', dir: 'auto' }, item.text) : null,
        link(item)));
    this.#place(row, index);
    // In the order of the feed, for those who read it one after the other.
    const next = [...this.list.children].find((other) => Number(other.dataset.index) > index);
    this.list.insertBefore(row, next ?? null);
    before?.row.remove();
    this.#rows.set(item.id, { row, frames });
    const isActive = this.active?.id === item.id;
    row.classList.toggle('isActive', isActive);
    if (isActive) for (const frame of frames) frame.active = true;
  }

  end() {
    this.over.abort();
    this.resizing.disconnect();
    clearTimeout(this.#settle);
    for (const { frames } of this.#rows.values()) for (const frame of frames) frame.end();
    this.list.remove();
  }
}

/**
 * Who, what, when: each by itself, so that a name from right to left orders nothing but itself.
 *
 * @param {import('../lookahead.js').Item} item
 */
function byline({ author, publishedAt, counters = {}, type }) {
  const time = publishedAt ? new Date(publishedAt) : null;
  const date = time && !Number.isNaN(time.getTime())
    ? time.toLocaleDateString(undefined, { year: 'numeric', month: 'short', day: 'numeric' }) : null;
  const likes = counters.likes === undefined ? null : `${count(counters.likes)} likes`;
  return [author?.name ?? author?.id, type, date, likes].filter(Boolean)
    .flatMap((part, index) => [index > 0 ? ' · ' : null, h('bdi', {}, part)]);
}

/**
 * A web app's or an ad's own page, where it is one that a browser opens.
 *
 * @param {import('../lookahead.js').Item} item
 */
function link({ url, type }) {
  if (!url || type === 'image' || type === 'video') return null;
  let target;
  try {
    target = new URL(url, document.baseURI);
  } catch {
    return null;
  }
  if (target.protocol !== 'https:' && target.protocol !== 'http:') return null;
  return h('a', { class: 'out', href: target.href, target: '_blank', rel: 'noopener noreferrer' }, target.hostname);
}
