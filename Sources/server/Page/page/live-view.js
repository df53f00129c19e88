// @ts-check
import { count, duration, h, size, words } from './dom.js';

const INTERVAL_MS = 10_000;
/** Columns of the distribution of waits. */
const COLUMNS = 24;

/**
 * @typedef {{p50: number, p90: number, p99: number, bins: [number, number][]}} Durations
 * @typedef {object} Group
 * @property {string} [feed]
 * @property {string} [policy]
 * @property {string} [arm]
 * @property {string} [network]
 * @property {string} [hour]
 * @property {boolean} [isRest]
 * @property {number} sessions
 * @property {number} sessionsOfOneAddress
 * @property {number} items
 * @property {number} [loadersPer1000]
 * @property {[number, number]} [interval]
 * @property {Durations} [waitMs]
 * @property {Durations} [frameMs]
 * @property {number} stalls
 * @property {Record<string, number>} bytes
 * @typedef {{small: number, groups: Group[]}} List
 * @typedef {{since: string, leastSessions: number, total?: Group, policies: List, feeds: List, hours: List}} Live
 */

/** What clients met of late, as they reported it. */
export class LiveView {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #isShown = false;

  /**
   * @param {HTMLElement} place
   * @param {URL} server
   */
  constructor(place, server) {
    this.server = server;
    this.note = h('p', { class: 'note', role: 'status' });
    this.hours = h('select', { onchange: () => void this.#read() }, ...[[24, 'a day'], [168, 'a week'], [720, '30 days']].map(
      ([hours, words]) => h('option', { value: String(hours) }, words)));
    this.body = h('div');
    place.append(h('p', { class: 'note' }, h('label', {}, 'The last ', this.hours)), this.note, this.body);
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
    clearTimeout(this.#timer);
    try {
      const url = new URL('v1/live', this.server);
      url.searchParams.set('hours', this.hours.value);
      const answer = await fetch(url, { cache: 'no-store' });
      if (answer.status === 400) throw new Error('the server keeps reports for a shorter time (--report-days)');
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      this.#draw(await answer.json());
    } catch (error) {
      this.note.textContent = `What clients met does not come: ${words(error)}.`;
    }
    if (this.#isShown) this.#timer = setTimeout(() => void this.#read(), INTERVAL_MS);
  }

  /** @param {Live} live */
  #draw({ since, leastSessions, total, policies, feeds, hours }) {
    const from = new Date(since).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
    if (!total) {
      this.note.textContent = `Fewer than ${leastSessions} sessions have reported since ${from}: nothing is shown, `
        + 'so that none can be told.';
      return this.body.replaceChildren();
    }
    this.note.textContent = `Of ${count(total.sessions)} sessions since ${from}. ${suspicion(total)}`;
    this.body.replaceChildren(
      h('dl', { class: 'tiles' }, ...tiles(total).map(
        ([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value)))),
      h('h2', {}, 'Loaders of 1000 items, by network and policy'),
      h('p', { class: 'note' }, 'The line at the end of a bar is where 95 % of such sessions would come to lie.'),
      bars(policies, ({ network, policy, arm }) => [network || 'network not said', policy || 'policy not said', arm]
        .filter(Boolean).join(' · '), leastSessions),
      ...total.waitMs ? [
        h('h2', {}, 'How long loaders stood'),
        h('p', { class: 'note' }, `Half of them up to ${duration(total.waitMs.p50)}, nine of ten up to `
          + `${duration(total.waitMs.p90)}, 99 of 100 up to ${duration(total.waitMs.p99)}.`),
        distribution(total.waitMs),
      ] : [],
      h('h2', {}, 'Loaders of 1000 items, by hour'),
      bars(hours, ({ hour = '' }) => new Date(hour).toLocaleString([], {
        weekday: 'short', hour: '2-digit', minute: '2-digit' }), leastSessions),
      h('h2', {}, 'What became of the bytes'), bytes(total),
      h('h2', {}, 'By feed'), bars(feeds, ({ feed }) => feed || 'feed not said', leastSessions));
  }
}

/** @param {Group} total */
function suspicion({ sessions, sessionsOfOneAddress }) {
  return sessionsOfOneAddress * 2 <= sessions ? ''
    : `Up to ${count(sessionsOfOneAddress)} began at one address: one client’s, or a proxy’s that --trusted-proxies does not name.`;
}

/**
 * @param {Group} total
 * @returns {[string, string][]}
 */
function tiles(total) {
  const all = sum(total.bytes);
  const [low, high] = total.interval ?? [0, 0];
  return [
    ['loaders of 1000 items', count(total.loadersPer1000 ?? 0)],
    ['of which 95 % would lie in', total.interval ? `${count(low)} to ${count(high)}` : '–'],
    ['half wait up to', total.waitMs ? duration(total.waitMs.p50) : '–'],
    ['nine of ten wait up to', total.waitMs ? duration(total.waitMs.p90) : '–'],
    ['half see a frame within', total.frameMs ? duration(total.frameMs.p50) : '–'],
    ['stops of 1000 items', total.items ? count(total.stalls * 1000 / total.items) : '–'],
    ['an item loads', total.items ? size(Math.round(all / total.items)) : '–'],
    ['never seen', all ? `${count((all - total.bytes.seen) * 100 / all)} %` : '–'],
    ['items', count(total.items)],
    ['sessions', count(total.sessions)],
  ];
}

/** @param {Record<string, number>} numbers */
const sum = (numbers) => Object.values(numbers).reduce((total, number) => total + number, 0);

/**
 * A bar for each group, with its interval, and its figures in words.
 *
 * @param {List} list
 * @param {(group: Group) => string} name
 * @param {number} leastSessions
 */
function bars({ groups, small }, name, leastSessions) {
  const most = Math.max(1, ...groups.map(({ loadersPer1000 = 0, interval }) => interval?.[1] ?? loadersPer1000));
  const rows = groups.map((group) => {
    const value = group.loadersPer1000 ?? 0;
    const bar = h('div', { class: 'meter', 'aria-hidden': 'true' }, h('i', { class: 'value' }));
    bar.firstChild.style.width = `${value * 100 / most}%`;
    if (group.interval) {
      const whisker = h('i', { class: 'whisker' });
      whisker.style.left = `${group.interval[0] * 100 / most}%`;
      whisker.style.width = `${(group.interval[1] - group.interval[0]) * 100 / most}%`;
      bar.append(whisker);
    }
    const [low, high] = group.interval ?? [];
    return h('tr', {}, h('th', { scope: 'row' }, h('bdi', {}, group.isRest ? 'too few to be shown apart' : name(group))),
      h('td', { class: 'wide' }, bar), h('td', {}, h('strong', {}, count(value))),
      h('td', {}, low === undefined || high === undefined ? '–' : `${count(low)} to ${count(high)}`),
      h('td', {}, count(group.sessions)));
  });
  const note = small === 0 ? null : h('p', { class: 'note' },
    `${count(small)} with fewer than ${leastSessions} sessions ${groups.some(({ isRest }) => isRest) ? 'are in the last line' : 'are left out'}.`);
  return h('div', {}, h('div', { class: 'table', tabIndex: 0, role: 'region', 'aria-label': 'Loaders of 1000 items' },
    h('table', {}, h('thead', {}, h('tr', {}, ...['', '', 'of 1000', '95 %', 'sessions'].map(
      (title) => (title ? h('th', { scope: 'col' }, title) : h('td', {}))))), h('tbody', {}, ...rows))), note);
}

/** @param {Durations} durations */
function distribution({ bins }) {
  const first = bins[0][0];
  const width = Math.max(1, Math.ceil((bins[bins.length - 1][0] - first + 1) / COLUMNS));
  const numbers = Array.from({ length: COLUMNS }, () => 0);
  for (const [bin, number] of bins) numbers[Math.floor((bin - first) / width)] += number;
  while (numbers.length > 1 && numbers[numbers.length - 1] === 0) numbers.pop();
  const most = Math.max(...numbers);
  const bound = (/** @type {number} */ bin) => (bin <= 0 ? 0 : 1.1 ** (bin - 1));
  const chart = h('div', { class: 'columns', role: 'img', 'aria-label': `Waits from ${duration(bound(first) || 0.001)} to ${
    duration(bound(first + numbers.length * width))}` }, ...numbers.map((number, index) => {
    const column = h('i', { title: `${count(number)} from ${duration(bound(first + index * width) || 0.001)} to ${
      duration(bound(first + (index + 1) * width))}` });
    column.style.height = `${Math.max(number > 0 ? 2 : 0, number * 100 / most)}%`;
    return column;
  }));
  return h('div', {}, chart, h('p', { class: 'axis note', 'aria-hidden': 'true' },
    h('span', {}, duration(bound(first) || 0.001)), h('span', {}, duration(bound(first + numbers.length * width)))));
}

/** @param {Group} total */
function bytes({ bytes, sessions }) {
  const names = {
    seen: 'seen', left: 'of items that were left early', neverReached: 'of items that were never reached',
    otherVariant: 'replaced by another variant', cancelled: 'stopped before they were of use',
  };
  const all = Math.max(1, sum(bytes));
  return h('div', { class: 'table', tabIndex: 0, role: 'region', 'aria-label': 'What became of the bytes' }, h('table', {},
    h('thead', {}, h('tr', {}, h('td', {}), h('td', {}), ...['share', 'all', 'a session'].map(
      (title) => h('th', { scope: 'col' }, title)))),
    h('tbody', {}, ...Object.entries(names).map(([key, name]) => {
      const bar = h('div', { class: 'meter', 'aria-hidden': 'true' }, h('i', { class: key === 'seen' ? 'value' : 'value isWaste' }));
      bar.firstChild.style.width = `${bytes[key] * 100 / all}%`;
      return h('tr', {}, h('th', { scope: 'row' }, name), h('td', { class: 'wide' }, bar),
        h('td', {}, `${count(bytes[key] * 100 / all)} %`), h('td', {}, size(bytes[key])),
        h('td', {}, size(Math.round(bytes[key] / Math.max(1, sessions)))));
    }))));
}
