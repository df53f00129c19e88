// @ts-check
import { strategies } from '../lookahead.js';
import { byId, count, h, lessMotion, words } from './dom.js';
import { DeskView } from './desk-view.js';
import { FeedChoice } from './feed-choice.js';
import { FeedView } from './feed-view.js';
import { Inspector } from './inspector.js';
import { LabView } from './lab-view.js';
import { Lane } from './lane.js';
import { LiveView } from './live-view.js';
import { ServerView } from './server-view.js';
import { Tabs } from './tabs.js';

/** What can be chosen, by the name that stands in the page's address. */
const CHOICES = new Map(Object.entries({
  none: { title: 'No prefetch', strategy: strategies.endless },
  plain: { title: 'Plain five', strategy: strategies.plain },
  weighted: { title: 'Weighted', strategy: strategies.weighted },
  standard: { title: 'As platforms do', strategy: strategies.standard },
  stages: { title: 'Stages', strategy: strategies.stages },
  ours: { title: 'Ours', strategy: strategies.expectedWait },
  policy: { title: 'Policy in force', strategy: undefined },
}));
/** How long an item is looked at when nobody scrolls by hand. */
const PACE_MS = 1000;
/** How far the page scrolls by itself, once, before anybody has touched it: so that the difference stands there. */
const SHOWN_ITEMS = 10;
/** What stops that. */
const HANDS = ['wheel', 'touchstart', 'pointerdown', 'keydown', 'click'];
/** How often an empty database is looked at. */
const EMPTY_MS = 3000;

/** The page: what is chosen, and the lanes and views that follow from it. */
class Page {
  /** @type {FeedView | null} */
  view = null;
  /** @type {Inspector | null} */
  #inspector = null;
  /** @type {{name: string, title: string, downlink: number, uplink: number, rtt: number}[]} */
  #networks = [];
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #scrolling;
  #begun = 0;
  /** Whether the page is yet to scroll by itself: nobody has chosen anything, or moved. */
  #isUntouched = location.hash === '' && !lessMotion();
  /** Whether somebody changed at the desk what the feed shows. */
  #isStale = false;
  /** Ends the listening for what is newer. */
  #listening = new AbortController();
  chosen = { feed: '', network: '3g', strategy: 'none', beside: 'ours' };

  constructor() {
    const address = new URLSearchParams(location.hash.slice(1));
    for (const name of /** @type {(keyof Page['chosen'])[]} */ (Object.keys(this.chosen))) {
      this.chosen[name] = address.get(name) ?? this.chosen[name];
    }
    this.server = new URL('.', document.baseURI);
    this.desk = new DeskView(byId('view-desk'), this.server, {
      feed: () => this.chosen.feed,
      show: (feed) => {
        this.#isStale = true;
        this.chosen.feed = feed;
        this.tabs.open('feed');
      },
      changed: (feed, id) => this.#changed(feed, id),
      deleted: (feed) => {
        if (feed === this.chosen.feed) [this.chosen.feed, this.#isStale] = ['', true];
      },
    });
    this.lab = new LabView(byId('view-lab'), this.server, () => this.chosen.feed);
    this.tabs = new Tabs({
      feed: { show: () => this.#renew(), hide: () => this.#stopScrolling() },
      desk: this.desk,
      server: new ServerView(byId('view-server'), this.server),
      live: new LiveView(byId('view-live'), this.server),
      lab: this.lab,
    });
    this.feeds = new FeedChoice(byId('feeds'), this.server, (name) => this.choose({ feed: name }));
    byId('choose-feed').addEventListener('click', () => this.feeds.open());
    byId('scroll').addEventListener('click', () => this.#toggleScrolling());
    byId('sound').addEventListener('click', () => this.#toggleSound());
    byId('fresh').addEventListener('click', () => this.#showFresh());
    byId('show-inspector').addEventListener('click', () => this.#toggleInspector());
    for (const name of ['network', 'strategy', 'beside']) {
      byId(name).addEventListener('change', (/** @type {any} */ event) => this.choose({ [name]: event.target.value }));
    }
    document.addEventListener('keydown', (event) => this.#key(event));
    for (const hand of HANDS) {
      addEventListener(hand, (event) => {
        // The page's own button has its own way.
        if (this.#isUntouched && event.target !== byId('scroll')) this.#stopScrolling();
        this.#isUntouched = false;
      }, { capture: true, passive: true });
    }
    document.addEventListener('visibilitychange', () => {
      for (const lane of this.view?.lanes ?? []) lane.prefetcher.tell({ background: document.hidden });
      this.#listen();
    });
  }

  async begin() {
    try {
      const [networks, feeds] = await Promise.all([this.#get('v1/networks'), this.#get('v1/feeds?limit=100')]);
      this.#networks = networks.networks;
      if (feeds.total === 0) return this.#showEmpty();
      this.chosen.feed ||= await this.#firstFeed(feeds);
      this.#fillChoices();
      // It may have been opened before its feed was known.
      if (!byId('view-lab').hidden) void this.lab.show();
      await this.#show();
    } catch (error) {
      this.#say(`Nothing can be shown: ${words(error)}.`);
      setTimeout(() => void this.begin(), EMPTY_MS);
    }
  }

  /**
   * The fixtures' first feed, where there is one of that name; else the first one.
   *
   * @param {{feeds: {name: string}[], total: number}} list its beginning
   */
  async #firstFeed({ feeds, total }) {
    const otherwise = feeds[0].name;
    if (feeds.some(({ name }) => name === 'featured')) return 'featured';
    if (total <= feeds.length) return otherwise;
    const answer = await fetch(new URL('v1/feeds/featured', this.server));
    return answer.ok ? 'featured' : otherwise;
  }

  /** @param {string} path */
  async #get(path) {
    const answer = await fetch(new URL(path, this.server), { cache: 'no-cache' });
    if (!answer.ok) throw new Error(`${path}: status ${answer.status}`);
    return answer.json();
  }

  #showEmpty() {
    const seed = 'lookahead seed --database lookahead.sqlite';
    document.body.classList.add('isEmpty');
    if (byId('open-desk')) return void setTimeout(() => void this.begin(), EMPTY_MS);
    this.#say(h('div', {}, h('strong', {}, 'The database has no feed yet.'),
      h('p', {}, 'Make one by hand, with your own pictures and clips: ',
        h('button', { type: 'button', id: 'open-desk', class: 'main', onclick: () => this.tabs.open('desk') }, 'Open the desk')),
      h('p', {}, 'Or load the examples, or posts of your own, into the file that the server was given:'),
      h('pre', { tabIndex: 0 }, `${seed}\n${seed} posts.ndjson`),
      h('p', {}, 'This page shows them as soon as they are there.')));
    setTimeout(() => void this.begin(), EMPTY_MS);
  }

  #fillChoices() {
    document.body.classList.remove('isEmpty');
    const slow = this.#networks.map(({ name, title, downlink, rtt }) => h(
      'option', { value: name }, `${title}: ${downlink} kbit/s, ${rtt} ms`));
    byId('network').replaceChildren(
      h('option', { value: 'as-is' }, 'as it is'), h('optgroup', { label: 'slowed down in this page' }, ...slow));
    const options = () => [...CHOICES].map(([value, { title }]) => h('option', { value }, title));
    byId('strategy').replaceChildren(...options());
    byId('beside').replaceChildren(h('option', { value: 'nothing' }, 'nothing'), ...options());
  }

  /** @param {Partial<Page['chosen']>} change */
  choose(change) {
    Object.assign(this.chosen, change);
    void this.#show();
  }

  /** Lanes of what is chosen, from the feed's top. */
  async #show() {
    const { chosen } = this;
    const profile = this.#networks.find(({ name }) => name === chosen.network) ?? null;
    if (!profile) chosen.network = 'as-is';
    if (!CHOICES.has(chosen.strategy)) chosen.strategy = 'none';
    if (!CHOICES.has(chosen.beside)) chosen.beside = 'nothing';
    const address = new URLSearchParams(chosen);
    history.replaceState(null, '', `#${address}`);
    byId('choose-feed').replaceChildren(h('bdi', {}, chosen.feed));
    for (const name of /** @type {const} */ (['network', 'strategy', 'beside'])) byId(name).value = chosen[name];
    this.#end();
    const lanes = [chosen.strategy, chosen.beside].filter((name) => CHOICES.has(name)).map((name) => new Lane(
      chosen.feed, CHOICES.get(name) ?? { title: name }, profile));
    const names = lanes.map((lane) => ({ lane, met: h('small', {}) }));
    byId('names').replaceChildren(...names.map(({ lane, met }) => h('span', {}, lane.title, ' ', met)));
    this.#say('');
    byId('fresh').hidden = true;
    const view = new FeedView(byId('feed'), lanes);
    this.view = view;
    this.#inspector = new Inspector(byId('inspector'), view, (id) => void this.#edit(id));
    for (const lane of lanes) {
      lane.prefetcher.addEventListener(
        'problem', (event) => this.#trouble(/** @type {CustomEvent} */ (event).detail.error));
    }
    const drawMet = () => {
      for (const { lane, met } of names) {
        const { items, imageLoaders, videoLoaders } = lane.prefetcher.figures;
        met.textContent = items === 0 ? '' : `a loader at ${count(imageLoaders + videoLoaders)} of ${count(items)} posts`;
      }
    };
    view.addEventListener('look', drawMet);
    for (const { prefetcher } of lanes) for (const type of ['loader', 'ready']) prefetcher.addEventListener(type, drawMet);
    view.addEventListener('change', () => {
      if (view.lanes[0].prefetcher.feed.items.length > 0) byId('message').hidden = true;
    });
    const number = this.#begun += 1;
    byId('feed').setAttribute('aria-busy', 'true');
    try {
      await Promise.all(lanes.map((lane) => lane.prefetcher.begin()));
      if (lanes[0].prefetcher.feed.total === 0) {
        this.#say(h('div', {}, `The feed “${chosen.feed}” has no posts yet. `,
          h('button', { type: 'button', onclick: () => this.tabs.open('desk') }, 'Make one at the desk')));
      }
    } catch (error) {
      if (number === this.#begun) this.#say(`The feed “${chosen.feed}” cannot be shown: ${words(error)}.`);
    }
    byId('feed').setAttribute('aria-busy', 'false');
    if (number !== this.#begun) return;
    this.#listen();
    if (this.#isUntouched && lanes.length > 1) this.#scrollFor(SHOWN_ITEMS);
  }

  #end() {
    this.#listening.abort();
    this.#stopScrolling();
    this.#inspector?.end();
    for (const lane of this.view?.lanes ?? []) lane.prefetcher.end();
    this.view?.end();
    this.view = null;
  }

  /** @param {string | Node} what */
  #say(what) {
    byId('message').hidden = what === '';
    byId('message').replaceChildren(what);
  }

  /** @param {unknown} error */
  #trouble(error) {
    // One file that does not come is for the list of what was done.
    if (!(error instanceof TypeError)) return;
    this.#say(`The server cannot be reached. ${navigator.onLine ? '' : 'You are offline.'}`);
  }

  // What came since.

  /** As long as somebody looks: a browser has six connections to a server, for all its tabs together. */
  #listen() {
    this.#listening.abort();
    const { view } = this;
    if (!view || document.hidden) return;
    this.#listening = new AbortController();
    const { signal } = this.#listening;
    view.lanes[0].prefetcher.feed.watch(() => {
      byId('fresh').textContent = 'Something newer is there';
      byId('fresh').hidden = false;
    }, { signal });
  }

  async #showFresh() {
    byId('fresh').hidden = true;
    const { view } = this;
    try {
      const found = await Promise.all(view?.lanes.map((lane) => lane.prefetcher.newer()) ?? []);
      // Of a feed that was ranked anew nothing may be newer, and all is elsewhere.
      if (found[0]?.length === 0) await Promise.all(view?.lanes.map((lane) => lane.prefetcher.refresh()) ?? []);
      view?.go(0, false);
    } catch (error) {
      this.#say(`What is newer does not come: ${words(error)}.`);
    }
  }

  // The desk.

  /**
   * Somebody changed something at the desk: what is shown is read again when somebody looks.
   *
   * @param {string} feed
   * @param {string | null} id
   */
  #changed(feed, id) {
    const isShown = this.view?.lanes.some((lane) => lane.prefetcher.feed.items.some((one) => one.id === id));
    if (feed === this.chosen.feed || isShown) this.#isStale = true;
  }

  #renew() {
    if (!this.#isStale) return;
    this.#isStale = false;
    void this.begin();
  }

  /** @param {string} id */
  async #edit(id) {
    this.tabs.open('desk');
    await this.desk.edit(id);
  }

  // Buttons and keys.

  #toggleScrolling() {
    if (this.#scrolling !== undefined) return this.#stopScrolling();
    return this.#scrollFor(Infinity);
  }

  /** @param {number} items */
  #scrollFor(items) {
    byId('scroll').setAttribute('aria-pressed', 'true');
    byId('scroll').textContent = 'Stop';
    let left = items;
    clearInterval(this.#scrolling);
    this.#scrolling = setInterval(() => {
      left -= 1;
      if (left < 0 || this.view?.isAtEnd) this.#stopScrolling();
      else this.view?.move(1);
    }, PACE_MS);
  }

  #stopScrolling() {
    clearInterval(this.#scrolling);
    this.#scrolling = undefined;
    byId('scroll').setAttribute('aria-pressed', 'false');
    byId('scroll').textContent = 'Scroll for me';
  }

  #toggleSound() {
    const isOn = byId('sound').getAttribute('aria-pressed') !== 'true';
    byId('sound').setAttribute('aria-pressed', String(isOn));
    if (this.view) this.view.sound = isOn;
  }

  #toggleInspector() {
    const isOpen = document.body.classList.toggle('inspecting');
    byId('show-inspector').setAttribute('aria-expanded', String(isOpen));
    byId('show-inspector').textContent = isOpen ? 'Back to the feed' : 'What you cannot see';
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.altKey || event.ctrlKey || event.metaKey || byId('view-feed').hidden || byId('feeds').open
      || target.closest('input, select, textarea, dialog, aside')) return;
    const isButton = target.closest('button, a, [role=tab]') !== null;
    /** @type {Record<string, () => void>} */
    const keys = {
      j: () => this.view?.move(1), k: () => this.view?.move(-1),
      ...(isButton ? {} : {
        ArrowDown: () => this.view?.move(1), ArrowUp: () => this.view?.move(-1),
        PageDown: () => this.view?.move(1), PageUp: () => this.view?.move(-1),
        Home: () => this.view?.go(0), End: () => this.view?.go(Infinity), ' ': () => this.view?.toggle(),
      }),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }
}

const page = new Page();
// For whoever looks at it in the console, and for script/check-page.
/** @type {any} */ (globalThis).lookaheadPage = page;
void page.begin();
