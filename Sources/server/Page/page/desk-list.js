// @ts-check
import { item, placed, placeIn, Refusal } from './desk-client.js';
import { facts, placeholder } from './desk-files.js';
import { count, h, lessMotion, words } from './dom.js';

/** @typedef {import('./desk-client.js').PostRecord} PostRecord */
/** @typedef {{id: string, record: PostRecord, tag: string, element: HTMLElement}} Row */

const PAGE = 30;
/** How long after the last key a move is written: who goes five places up makes one change. */
const SETTLE_MS = 600;
/** How often a move is tried again after somebody else changed the post. */
const TRIES = 4;
/** Near the edge of what is seen, a drag scrolls. */
const EDGE = 60;

/**
 * The posts of a feed, or of all feeds, page by page, and their order: by dragging, or by Alt and the arrows. A place
 * is told to the server in words (below which post), so that two people who move posts do not undo each other.
 */
export class PostList {
  /** @type {Row[]} */
  rows = [];
  #feed = '';
  /** @type {string | null} */
  #next = null;
  #number = 0;
  /** @type {{row: Row, from: number, timer: ReturnType<typeof setTimeout>} | null} a move that is not written yet */
  #moving = null;
  #filter = new URLSearchParams();
  /** Looks at a row once it is seen: what the server knows of its files. */
  #seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      this.#seen.unobserve(target);
      const row = this.rows.find(({ element }) => element === target);
      if (row) void this.#look(row);
    }
  });

  /**
   * @param {import('./desk-client.js').DeskClient} client
   * @param {{edit: (id: string) => void, remove: (row: Row) => void, moved: (row: Row, back: () => Promise<void>) => void,
   *   say: (text: string) => void, failed: (error: unknown) => void}} actions
   */
  constructor(client, actions) {
    this.client = client;
    this.actions = actions;
    this.list = h('ol', { class: 'posts', 'aria-label': 'Posts' });
    this.note = h('p', { class: 'note', role: 'status' });
    /** Nothing is here, and nothing was left out. */
    this.isEmpty = false;
    this.more = h('button', { type: 'button', hidden: true, onclick: () => void this.#load() }, 'Show more');
    this.element = h('div', {}, this.note, this.list, this.more);
  }

  /** Whether the list is the feed's own order, without gaps. */
  get isWhole() { return this.#feed !== '' && [...this.#filter].length === 0; }

  /**
   * @param {string} feed empty: all posts
   * @param {URLSearchParams} filter
   */
  async show(feed, filter) {
    await this.settle();
    [this.#feed, this.#filter, this.#next] = [feed, filter, null];
    this.#number += 1;
    this.rows = [];
    this.list.replaceChildren();
    this.note.textContent = '';
    await this.#load();
  }

  async #load() {
    const number = this.#number;
    const query = new URLSearchParams({ limit: String(PAGE), ...(this.#feed ? { feed: this.#feed } : {}), ...Object.fromEntries(this.#filter) });
    try {
      this.more.disabled = true;
      let page = await this.client.get(this.#next ?? `v1/items?${query}`);
      // A page looks at some thousand posts: of a rare kind it may have none, where others follow.
      for (let empty = 0; page.items.length === 0 && page.paging.links.next && empty < 20; empty += 1) {
        page = await this.client.get(page.paging.links.next);
      }
      if (number !== this.#number) return;
      this.#next = page.paging.links.next ?? null;
      const known = new Set(this.rows.map(({ id }) => id));
      for (const { etag, record } of page.items) if (!known.has(record.id)) this.#add(record, etag);
      this.isEmpty = this.rows.length === 0 && [...this.#filter].length === 0;
      this.note.classList.toggle('drop', this.isEmpty && this.#feed !== '');
      this.note.textContent = this.rows.length > 0 ? ''
        : !this.isEmpty ? 'No post is like that.' : this.#feed ? 'Drop pictures and clips here: they become posts. Or press New post.' : 'There is no post yet.';
    } catch (error) {
      if (number === this.#number) this.note.textContent = `The posts do not come: ${words(error)}.`;
    } finally {
      this.more.disabled = false;
      this.more.hidden = this.#next === null;
    }
  }

  /**
   * @param {PostRecord} record
   * @param {string} tag
   */
  #add(record, tag) {
    const row = /** @type {Row} */ ({ id: record.id, record, tag });
    row.element = this.#draw(row);
    this.rows.push(row);
    this.list.append(row.element);
    this.#seen.observe(row.element);
  }

  /** @param {Row} row */
  #draw(row) {
    const { record } = row;
    const name = title(record);
    const canMove = this.isWhole;
    const handle = canMove ? h('button', {
      type: 'button', class: 'handle', 'aria-label': `Move ${name}: Alt and the arrow keys`, title: 'Drag it, or press Alt and an arrow key',
      onpointerdown: (/** @type {PointerEvent} */ event) => this.#drag(event, row),
    }, '⠿') : null;
    const place = placeIn(record, this.#feed);
    return h('li', {
      'data-id': row.id, onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event, row),
    }, handle, h('div', { class: 'thumb' }),
    h('button', { type: 'button', class: 'open', onclick: () => this.actions.edit(row.id) },
      h('strong', { dir: 'auto' }, name), h('span', { class: 'note' }, h('span', { class: 'kind' }, record.type),
        canMove && place && place.rank === undefined ? ', by its time' : null, moments(record),
        record.author?.name ? ', ' : null, record.author?.name ? h('bdi', {}, record.author.name) : null)),
    h('button', { type: 'button', class: 'small', 'aria-label': `Delete ${name}`, title: 'Delete', onclick: () => this.actions.remove(row) }, '×'));
  }

  /**
   * What the server knows of its files.
   *
   * @param {Row} row
   */
  async #look(row) {
    if ((row.record.media ?? []).length === 0 && !row.record.visibleFrom) return;
    try {
      const { media = [] } = await this.client.get(item(row.id));
      const [first] = media;
      if (!first) return;
      row.element.querySelector('.thumb')?.replaceChildren(placeholder(first.placeholder));
      const kind = row.element.querySelector('.kind');
      const many = media.length > 1 ? `${media.length} files, the first ` : '';
      if (kind) kind.textContent = `${row.record.type}: ${many}${facts(first, first)}`;
      row.element.classList.toggle('isBroken', media.some((/** @type {any} */ one) => one.unavailable));
    } catch {
      // It was deleted meanwhile: the list shows what was read.
    }
  }

  /**
   * A post as it is now; a new one is where the feed has it.
   *
   * @param {string} id
   */
  async update(id) {
    const row = this.rows.find((one) => one.id === id);
    const now = await this.client.record(id).catch(() => null);
    // What decides whether it is in this list, and where.
    const place = (/** @type {PostRecord} */ record) => JSON.stringify([placeIn(record, this.#feed), record.visibleFrom, record.visibleUntil]);
    const moved = !row || !now || place(row.record) !== place(now.record);
    if (moved) return this.show(this.#feed, this.#filter);
    [row.record, row.tag] = [{ ...now.record, id }, now.tag];
    const element = this.#draw(row);
    row.element.replaceWith(element);
    row.element = element;
    return this.#seen.observe(element);
  }

  /**
   * Takes it out of what is shown.
   *
   * @param {Row} row
   */
  take(row) {
    const index = this.rows.indexOf(row);
    if (index < 0) return;
    this.rows.splice(index, 1);
    row.element.remove();
    const near = this.rows[index] ?? this.rows[index - 1];
    /** @type {HTMLElement | null | undefined} */ (near?.element.querySelector('.open'))?.focus();
  }

  // The order.

  /**
   * @param {KeyboardEvent} event
   * @param {Row} row
   */
  #key(event, row) {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (step === undefined) return;
    const index = this.rows.indexOf(row);
    if (!event.altKey) {
      // The arrows alone go from post to post.
      const other = this.rows[index + step]?.element;
      const same = document.activeElement?.className ?? '';
      const target = /** @type {HTMLElement | null | undefined} */ (same ? other?.querySelector(`.${same.split(' ')[0]}`) : null);
      if (!target || document.activeElement?.tagName !== 'BUTTON') return;
      event.preventDefault();
      target.focus();
      return;
    }
    event.preventDefault();
    if (!this.isWhole) return this.actions.say('Posts are moved in a feed, without a filter.');
    const to = index + step;
    if (!this.rows[to]) return this.actions.say(step < 0 ? 'It is the first.' : this.#next ? 'Show more to move it further.' : 'It is the last.');
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    this.#begin(row);
    this.#place(row, to);
    focused?.focus();
    row.element.scrollIntoView({ block: 'nearest', behavior: lessMotion() ? 'auto' : 'smooth' });
    this.actions.say(`${title(row.record)}: ${count(to + 1)} of ${count(this.rows.length)}.`);
    if (this.#moving) this.#moving.timer = setTimeout(() => void this.settle(), SETTLE_MS);
  }

  /**
   * @param {PointerEvent} event
   * @param {Row} row
   */
  #drag(event, row) {
    if (event.button !== 0) return;
    event.preventDefault();
    const handle = /** @type {HTMLElement} */ (event.currentTarget);
    handle.focus();
    handle.setPointerCapture(event.pointerId);
    this.#begin(row);
    row.element.classList.add('isMoving');
    const over = new AbortController();
    const { signal } = over;
    const scroller = /** @type {HTMLElement} */ (this.element.closest('[role=tabpanel]') ?? document.body);
    let y = event.clientY;
    const follow = () => {
      const [index, at] = [this.rows.indexOf(row), row.element.getBoundingClientRect()];
      const above = this.rows[index - 1]?.element.getBoundingClientRect();
      const below = this.rows[index + 1]?.element.getBoundingClientRect();
      if (above && y < above.top + Math.min(above.height, at.height) / 2) this.#place(row, index - 1);
      else if (below && y > below.bottom - Math.min(below.height, at.height) / 2) this.#place(row, index + 1);
      else return;
      follow();
    };
    const edges = setInterval(() => {
      const { top, bottom } = scroller.getBoundingClientRect();
      const step = y < top + EDGE ? -12 : y > bottom - EDGE ? 12 : 0;
      if (step === 0) return;
      scroller.scrollBy(0, step);
      follow();
    }, 16);
    const end = (/** @type {boolean} */ isMeant) => {
      over.abort();
      clearInterval(edges);
      row.element.classList.remove('isMoving');
      if (!isMeant && this.#moving) this.#place(row, this.#moving.from);
      this.actions.say(`${title(row.record)}: ${count(this.rows.indexOf(row) + 1)} of ${count(this.rows.length)}.`);
      void this.settle();
    };
    handle.addEventListener('pointermove', (moved) => {
      y = moved.clientY;
      follow();
    }, { signal });
    handle.addEventListener('pointerup', () => end(true), { signal });
    handle.addEventListener('pointercancel', () => end(false), { signal });
    // Where the handle left the page while it was moved, the pointer is lost.
    document.addEventListener('keydown', ({ key }) => { if (key === 'Escape') end(false); }, { signal });
  }

  /** @param {Row} row */
  #begin(row) {
    if (this.#moving?.row === row) {
      clearTimeout(this.#moving.timer);
      return;
    }
    void this.settle();
    this.#moving = { row, from: this.rows.indexOf(row), timer: setTimeout(() => undefined) };
  }

  /**
   * @param {Row} row
   * @param {number} to
   */
  #place(row, to) {
    const from = this.rows.indexOf(row);
    if (from === to) return;
    this.rows.splice(from, 1);
    this.rows.splice(to, 0, row);
    // The others go around it: what is moved in the page would lose the pointer and the focus.
    if (to < from) for (const other of this.rows.slice(to + 1, from + 1).reverse()) row.element.after(other.element);
    else for (const other of this.rows.slice(from, to)) row.element.before(other.element);
  }

  /** Writes the move that the person has made, and waits for all that are under way. */
  async settle() {
    const moving = this.#moving;
    this.#moving = null;
    if (moving) {
      clearTimeout(moving.timer);
      const to = this.rows.indexOf(moving.row);
      if (to !== moving.from && to >= 0) {
        const before = this.#words(this.rows.filter((row) => row !== moving.row), moving.from);
        const place = this.#words(this.rows.filter((row) => row !== moving.row), to);
        this.#writes = this.#writes.then(() => this.#write(moving.row, moving.from, place, before));
      }
    }
    await this.#writes;
  }

  #writes = Promise.resolve();

  /**
   * The place at this index among these others, in words; null: only a time can be there.
   *
   * @param {Row[]} others
   * @param {number} index
   * @returns {import('./desk-client.js').Placement | null}
   */
  #words(others, index) {
    const hasRank = (/** @type {Row | undefined} */ row) => row && placeIn(row.record, this.#feed)?.rank !== undefined;
    const name = this.#feed;
    if (index === 0) return { name, rank: 'top' };
    if (hasRank(others[index - 1])) return { name, after: others[index - 1].id };
    return null;
  }

  /**
   * @param {Row} row
   * @param {number} from
   * @param {import('./desk-client.js').Placement | null} place
   * @param {import('./desk-client.js').Placement | null} before
   */
  async #write(row, from, place, before) {
    if (!place) {
      this.#place(row, from);
      return this.actions.say('The posts there are in the order of their times. Move it among those with a place, or to the top.');
    }
    const number = this.#number;
    const hadRank = placeIn(row.record, place.name)?.rank !== undefined;
    try {
      await this.#move(row, place);
      this.actions.moved(row, async () => {
        await this.#move(row, hadRank && before ? before : { name: place.name });
        await this.show(this.#feed, this.#filter);
      });
    } catch (error) {
      this.actions.failed(error);
      // It waits for this write.
      if (number === this.#number) void this.show(this.#feed, this.#filter);
    }
    return undefined;
  }

  /**
   * @param {Row} row
   * @param {import('./desk-client.js').Placement} place
   */
  async #move(row, place) {
    for (let tries = 1; ; tries += 1) {
      try {
        await this.client.patch(row.id, { feeds: placed(row.record, place) }, row.tag);
        break;
      } catch (error) {
        if (!(error instanceof Refusal) || error.status !== 412 || tries === TRIES) throw error;
      }
      // Somebody changed something else of it: its place is ours still.
      await this.#read(row);
    }
    await this.#read(row);
  }

  /** @param {Row} row */
  async #read(row) {
    const { record, tag } = await this.client.record(row.id);
    [row.record, row.tag] = [{ ...record, id: row.id }, tag];
  }
}

/**
 * When it comes or goes by itself, in words.
 *
 * @param {PostRecord} record
 */
function moments({ visibleFrom, visibleUntil }) {
  const at = (/** @type {string} */ time) => new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  const now = Date.now();
  const isOver = visibleUntil && Date.parse(visibleUntil) <= now;
  const parts = isOver ? [`gone since ${at(visibleUntil)}`] : [
    visibleFrom && Date.parse(visibleFrom) > now ? `appears ${at(visibleFrom)}` : '', visibleUntil ? `goes ${at(visibleUntil)}` : ''].filter(Boolean);
  return parts.length > 0 ? h('span', { class: 'moments' }, `, ${parts.join(', ')}`) : null;
}

/**
 * What a post is called in a few words.
 *
 * @param {PostRecord} record
 */
export function title(record) {
  const [file] = record.media ?? [];
  const name = [...(record.title || record.text || file?.alt || (file ? `Untitled ${record.type}` : record.id || record.type))];
  return name.length > 80 ? `${name.slice(0, 79).join('')}…` : name.join('');
}
