// @ts-check
import { duration, h } from './dom.js';
import { Slide } from './slide.js';

/** What one lane shows of an item, and whether the person met a loader there. */
export class Frame {
  /** @type {Slide[]} */
  #slides = [];
  #isActive = false;

  /**
   * @param {import('./lane.js').Lane} lane
   * @param {import('../lookahead.js').Item} item
   */
  constructor(lane, item) {
    this.lane = lane;
    this.item = item;
    this.id = item.id;
    this.strip = h('div', { class: 'strip' });
    this.ring = h('div', { class: 'ring', hidden: true }, h('span', { class: 'spinner', 'aria-hidden': 'true' }),
      h('span', {}, 'Loader'));
    this.chip = h('span', { class: 'chip', hidden: true });
    this.element = h('div', { class: 'frame' }, this.strip, this.ring, this.chip);
    /** @type {HTMLElement | null} where the item is a text */
    this.words = null;
    this.#fill();
  }

  #fill() {
    const { item } = this;
    const media = item.media ?? [];
    this.#slides = media.map((_, index) => new Slide(this.lane.prefetcher, item, index));
    if (media.length === 0) {
      this.words = h('div', { class: 'slide words' }, h('p', { dir: 'auto' }, item.text ?? item.title ?? item.type));
      this.strip.append(this.words);
    }
    this.strip.append(...this.#slides.map((slide) => slide.element));
    if (media.length > 1) {
      this.strip.tabIndex = 0;
      this.strip.setAttribute('role', 'group');
      this.strip.setAttribute('aria-label', `${media.length} pictures, side by side`);
      this.element.append(h('span', { class: 'many', 'aria-hidden': 'true' }, `${media.length} parts`));
    }
  }

  /**
   * Whether the person looks at it.
   *
   * @param {boolean} isActive
   */
  set active(isActive) {
    if (isActive !== this.#isActive) {
      this.#isActive = isActive;
      if (!isActive) this.chip.hidden = true;
      for (const slide of this.#slides) slide.active = isActive;
    }
    this.update();
  }

  /** Shows what there is by now. */
  update() {
    const { prefetcher } = this.lane;
    for (const slide of this.#slides) slide.update();
    this.#letScroll();
    const isHere = prefetcher.feed.items.includes(this.item) || prefetcher.media(this.id).length > 0
      || (this.item.media ?? []).length === 0;
    const waits = this.#isActive && !this.#slides[0]?.isElsewhere && !(isHere && prefetcher.isReady(this.id));
    this.ring.hidden = !waits;
    this.element.classList.toggle('isWaiting', waits);
  }

  /** A text that is longer than its place is scrolled by keyboard, too. */
  #letScroll() {
    const { words } = this;
    if (!words || words.tabIndex === 0 || words.scrollHeight <= words.clientHeight) return;
    words.tabIndex = 0;
    words.setAttribute('role', 'group');
    words.setAttribute('aria-label', `The text of ${this.item.title ?? this.item.type}`);
  }

  /**
   * What the person waited.
   *
   * @param {number} milliseconds
   */
  waited(milliseconds) {
    if ((this.item.media ?? []).length === 0) return;
    this.chip.hidden = false;
    this.chip.classList.toggle('isLate', milliseconds > 0);
    this.chip.textContent = milliseconds > 0 ? `waited ${duration(milliseconds)}` : 'was there';
  }

  toggle() { this.#slides[0]?.toggle(); }

  /** @param {boolean} isOn */
  set sound(isOn) { for (const slide of this.#slides) slide.sound = isOn; }

  end() { for (const slide of this.#slides) slide.end(); }
}
