// @ts-check
import { count, duration, h, size, svg, words } from './dom.js';

const INTERVAL_MS = 10_000;
/** Columns of the distribution of waits. */
const COLUMNS = 24;
const HOUR_MS = 3_600_000;
/** Why bytes are never seen, in the order of the bill. */
const REASONS = {
  neverReached: 'never reached', left: 'left early', otherVariant: 'variant replaced', cancelled: 'cancelled',
};

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
 * @property {Unseen} [unseen]
 * @property {Avoided} [avoided]
 * @typedef {{cents: number, monthMB: number, monthCents: number, monthMBByReason: Record<string, number>}} Unseen
 * @typedef {object} Avoided
 * @property {{policy?: string, arm?: string}} baseline
 * @property {boolean} [computed] beside what loads nothing ahead, as computed
 * @property {number} per1000
 * @property {[number, number]} [interval]
 * @property {number} [bytesPerLoader]
 * @property {number} [centsPer1000]
 * @typedef {{small: number, groups: Group[]}} List
 * @typedef {{url: string, network?: string, views: number, late: number, state: 'holds' | 'broken' | 'confirmed'}} LiveFile
 * @typedef {{kind: string, aboveMs?: number, toMs?: number, views: number, survival: [number, number][]}} Clips
 * @typedef {{gigabyteCents: number, monthSessions: number}} Rates
 * @typedef {{feed?: string, network: string, policy: string, outcome: {words: string, verdict?: string}}} Prediction
 * @typedef {object} Live
 * @property {string} since
 * @property {number} leastSessions
 * @property {Rates} rates
 * @property {Group} [total]
 * @property {List} policies
 * @property {List} feeds
 * @property {List} hours
 * @property {Prediction[]} [predictions]
 * @property {LiveFile[]} files
 * @property {Clips[]} watching
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
    this.feed = h('select', { onchange: () => void this.#read() }, h('option', { value: '' }, 'all feeds'));
    this.body = h('div');
    place.append(h('p', { class: 'note choices' }, h('label', {}, 'The last ', this.hours), h('label', {}, 'of ', this.feed)),
      this.note, this.body);
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
      if (this.feed.value) url.searchParams.set('feed', this.feed.value);
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
  #draw({ since, leastSessions, rates, total, policies, feeds, hours, files, watching, predictions = [] }) {
    // A choice stays: of one feed, the others are not told.
    for (const { feed } of feeds.groups) {
      if (feed && ![...this.feed.options].some(({ value }) => value === feed)) this.feed.append(h('option', { value: feed }, feed));
    }
    const policyName = (/** @type {Group} */ { network, policy, arm }) => [
      network || 'network not said', policy || 'policy not said', arm].filter(Boolean).join(' · ');
    const from = new Date(since).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
    if (!total) {
      this.note.textContent = `Fewer than ${leastSessions} sessions have reported since ${from}: of so few nothing is `
        + 'shown, so that nobody is recognized. This page reports its own sessions, too: scroll the feed.';
      return this.body.replaceChildren();
    }
    this.note.textContent = `Of ${count(total.sessions)} sessions since ${from}. ${suspicion(total)}`;
    this.body.replaceChildren(
      h('dl', { class: 'tiles' }, ...tiles(total).map(
        ([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value)))),
      h('h2', {}, 'Loaders of 1000 items, by network and policy'),
      h('p', { class: 'note' }, 'The line at the end of a bar is where 95 % of such sessions would come to lie.'),
      bars(policies, policyName, leastSessions),
      ...predictions.length === 0 ? [] : [
        h('h2', {}, 'What the lab predicted, and what was met'),
        h('ul', { class: 'sentences' }, ...predictions.map(({ feed, network, policy, outcome }) => h('li', {},
          h('strong', {}, network), ' · ', h('bdi', {}, policy), ' of ', h('bdi', {}, feed || 'all feeds without a policy of their own'),
          `: ${outcome.words}`, outcome.verdict === 'more' && h('strong', { class: 'problem' }, ' – more than predicted'),
          outcome.verdict === 'fewer' && ' – fewer than predicted'))),
      ],
      ...total.waitMs ? [
        h('h2', {}, 'How long loaders stood'),
        h('p', { class: 'note' }, `Half of them up to ${duration(total.waitMs.p50)}, nine of ten up to `
          + `${duration(total.waitMs.p90)}, 99 of 100 up to ${duration(total.waitMs.p99)}.`),
        distribution(total.waitMs),
      ] : [],
      h('h2', {}, 'Loaders of 1000 items, over time'), timeline(hours),
      h('details', {}, h('summary', {}, 'Hour by hour'), bars(hours, ({ hour = '' }) => moment(hour), leastSessions)),
      h('h2', {}, 'The bill: loaded and never seen'),
      ...bill(total, policies, feeds, rates, policyName, from, this.feed.value !== ''),
      h('h2', {}, 'What became of the bytes'), bytes(total),
      h('h2', {}, 'By feed'), bars(feeds, ({ feed }) => feed || 'feed not said', leastSessions),
      ...watching.length > 0 ? [
        h('h2', {}, 'How far clips are watched'),
        h('p', { class: 'note' }, 'Learned from views of all time, those of a week ago counting half.'), clips(watching),
      ] : [],
      h('h2', {}, 'Files whose start came late'),
      ...files.length > 0 ? [
        h('p', { class: 'note' }, 'What starts them was there, and the first frame did not come within a decoder’s time.'),
        ledger(files),
      ] : [h('p', { class: 'note' }, 'There are none.')]);
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

/** @param {string} hour */
const moment = (hour) => new Date(hour).toLocaleString([], { weekday: 'short', hour: '2-digit', minute: '2-digit' });

/**
 * Loaders of 1000 items by hour: a line with the interval around it, broken where hours are not told, and what it shows
 * in words.
 *
 * @param {List} list
 */
function timeline({ groups }) {
  const points = groups.flatMap(({ hour, loadersPer1000, interval }) => (hour && loadersPer1000 !== undefined
    ? [{ hour, at: Date.parse(hour) / HOUR_MS, value: loadersPer1000, low: interval?.[0] ?? loadersPer1000,
      high: interval?.[1] ?? loadersPer1000 }] : []));
  if (points.length === 0) return h('p', { class: 'note' }, 'No hour has enough sessions.');
  const [first, last] = [points[0].at, points[points.length - 1].at];
  const most = Math.max(1, ...points.map(({ high }) => high)) * 1.05;
  const x = (/** @type {number} */ at) => (first === last ? 50 : (at - first) * 98 / (last - first) + 1).toFixed(2);
  const y = (/** @type {number} */ value) => (100 - value * 100 / most).toFixed(2);
  /** @type {(typeof points)[]} hours that follow each other */
  const runs = [];
  for (const point of points) {
    const run = runs[runs.length - 1];
    if (run && run[run.length - 1].at === point.at - 1) run.push(point);
    else runs.push([point]);
  }
  const drawing = svg('svg', { viewBox: '0 0 100 100', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    svg('path', { class: 'grid', d: 'M0 0h100M0 50h100M0 100h100' }),
    ...runs.flatMap((run) => [
      svg('path', { class: 'band', d: `M${run.map(({ at, high }) => `${x(at)} ${y(high)}`).join('L')}L${
        [...run].reverse().map(({ at, low }) => `${x(at)} ${y(low)}`).join('L')}Z` }),
      svg('path', { class: 'line', d: `M${run.map(({ at, value }) => `${x(at)} ${y(value)}`).join('L')}` }),
    ]),
    ...points.length > 72 ? [] : points.flatMap(({ at, value, low, high }) => [
      svg('path', { class: 'range', d: `M${x(at)} ${y(low)}V${y(high)}` }),
      svg('path', { class: 'dot', d: `M${x(at)} ${y(value)}h0` }),
    ]));
  const least = points.reduce((left, right) => (right.value < left.value ? right : left));
  const worst = points.reduce((left, right) => (right.value > left.value ? right : left));
  const newest = points[points.length - 1];
  const said = `${moment(newest.hour)}: ${count(newest.value)} (${count(newest.low)} to ${count(newest.high)}). `
    + (points.length < 2 ? '' : `Fewest: ${count(least.value)}, ${moment(least.hour)}. Most: ${count(worst.value)}, ${moment(worst.hour)}.`);
  return h('div', {}, h('div', { class: 'timeline', role: 'img', 'aria-label': `Loaders of 1000 items, hour by hour. ${said}` },
    h('span', { class: 'most' }, count(Math.round(most))), h('span', { class: 'least' }, '0'), drawing),
  h('p', { class: 'axis note', 'aria-hidden': 'true' }, h('span', {}, moment(points[0].hour)),
    points.length > 1 && h('span', {}, moment(newest.hour))),
  h('p', { class: 'note' }, `${said} The shade is where 95 % of such sessions would come to lie; hours with too few sessions are left out.`));
}

/** @param {number} number */
const cents = (number) => count(number < 100 ? number : Math.round(number));

/** @param {number} number */
const money = (number) => `${cents(number)} cents`;

/**
 * What was never seen, a person and month, by reason; and what a loader avoided costs.
 *
 * @param {Group} total
 * @param {List} policies
 * @param {List} feeds
 * @param {Rates} rates
 * @param {(group: Group) => string} policyName
 * @param {string} from
 * @param {boolean} isOfOneFeed
 */
function bill({ unseen }, policies, feeds, rates, policyName, from, isOfOneFeed) {
  if (!unseen) return [];
  const groups = [...policies.groups, ...feeds.groups];
  const most = Math.max(0.001, ...groups.map(({ unseen }) => unseen?.monthMB ?? 0));
  const rows = (/** @type {List} */ list, /** @type {(group: Group) => string} */ name) => list.groups.flatMap((group) => {
    if (!group.unseen) return [];
    const { monthMB, monthCents, monthMBByReason } = group.unseen;
    const bar = h('div', { class: 'meter stack', 'aria-hidden': 'true' }, ...Object.keys(REASONS).map((reason) => {
      const piece = h('i', { class: reason });
      piece.style.width = `${monthMBByReason[reason] * 100 / most}%`;
      return piece;
    }));
    return [h('tr', {}, h('th', { scope: 'row' }, h('bdi', {}, group.isRest ? 'too few to be shown apart' : name(group))),
      h('td', { class: 'wide' }, bar), h('td', {}, h('strong', {}, count(monthMB))), h('td', {}, cents(monthCents)))];
  });
  const table = (/** @type {string} */ title, /** @type {any[]} */ lines) => lines.length > 0
    && h('div', { class: 'table bill', tabIndex: 0, role: 'region', 'aria-label': `The bill by ${title}` }, h('table', {},
      h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, `by ${title}`), h('td', { class: 'wide' }), h('th', { scope: 'col' }, 'MB'),
        h('th', { scope: 'col' }, 'cents'))), h('tbody', {}, ...lines)));
  const reasons = Object.entries(REASONS).map(([reason, words]) => h('li', { class: reason },
    `${words} ${unseen.monthMB > 0 ? count(Math.round(unseen.monthMBByReason[reason] * 100 / unseen.monthMB)) : 0} %`));
  const avoided = policies.groups.flatMap((group) => sentence(group, rates));
  return [
    h('p', {}, 'A person loads ', h('strong', {}, `${count(unseen.monthMB)} MB a month`), ' that are never seen: ',
      h('strong', {}, money(unseen.monthCents)), `. All of it since ${from} cost ${money(unseen.cents)}.`),
    h('p', { class: 'note' }, `Nobody knows how many sessions a person has: ${count(rates.monthSessions)} a month (`,
      h('code', {}, '--month-sessions'), `), and a gigabyte costs ${count(rates.gigabyteCents)} cents (`,
      h('code', {}, '--gigabyte-cents'), ').'),
    h('ul', { class: 'legend' }, ...reasons),
    table('network and policy', rows(policies, policyName)), table('feed', rows(feeds, ({ feed }) => feed || 'feed not said')),
    h('h3', {}, 'What a loader avoided costs'), h('ul', { class: 'sentences' }, ...avoided),
    policies.groups.every(({ avoided }) => !avoided || avoided.computed) && h('p', { class: 'note' },
      isOfOneFeed || feeds.groups.length < 2
        ? 'Policies are compared with each other where two have enough sessions on one network.'
        : 'Choose a feed above to compare policies with each other: those of different feeds cannot be compared.'),
  ];
}

/**
 * @param {Group} group
 * @param {Rates} rates
 */
function sentence({ network, policy, arm, avoided }, rates) {
  if (!avoided) return [];
  const names = (/** @type {{policy?: string, arm?: string}} */ { policy, arm }) => [policy || 'policy not said', arm].filter(Boolean).join(' · ');
  const head = [h('strong', {}, network || 'network not said'), ': ', h('bdi', {}, names({ policy, arm })), ' beside ',
    avoided.computed ? 'nothing loaded ahead (computed)' : h('bdi', {}, names(avoided.baseline))];
  const { interval, bytesPerLoader, centsPer1000 = 0 } = avoided;
  if (!interval || bytesPerLoader === undefined) return [h('li', {}, ...head, ' avoided no loader for certain.')];
  return [h('li', {}, ...head, ` avoids ${avoided.computed ? 'up to ' : ''}${count(avoided.per1000)} loaders of 1000 items (${count(interval[0])} to ${count(interval[1])}), `
    + `each for ${size(Math.round(bytesPerLoader))} that are never seen; a thousand of them cost ${money(centsPer1000)} at ${
      count(rates.gigabyteCents)} cents a gigabyte.`)];
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
      h('td', {}, low === undefined || high === undefined ? '–' : `${count(low)}–${count(high)}`),
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

/** @param {Clips[]} watching */
function clips(watching) {
  return h('div', { class: 'table', tabIndex: 0, role: 'region', 'aria-label': 'How far clips are watched' }, h('table', {},
    h('thead', {}, h('tr', {}, h('td', {}), h('td', {}), ...['half way', 'to the end', 'views'].map(
      (title) => h('th', { scope: 'col' }, title)))),
    h('tbody', {}, ...watching.map(({ kind, aboveMs, toMs, views, survival }) => {
      const name = toMs === undefined ? `over ${duration(aboveMs ?? 0)}` : `up to ${duration(toMs)}`;
      const bar = h('div', { class: 'meter', 'aria-hidden': 'true' }, h('i', { class: 'value' }));
      bar.firstChild.style.width = `${still(survival, 500) / 10}%`;
      return h('tr', {}, h('th', { scope: 'row' }, `${kind === 'audio' ? 'sound ' : ''}${name}`),
        h('td', { class: 'wide' }, bar), h('td', {}, h('strong', {}, `${count(still(survival, 500) / 10)} %`)),
        h('td', {}, `${count(still(survival, 1000) / 10)} %`), h('td', {}, count(views)));
    }))));
}

/**
 * How many of a thousand still watch then: straight between the points, from all at 0.
 *
 * @param {[number, number][]} survival
 * @param {number} time
 */
function still(survival, time) {
  let [before, share] = [0, 1000];
  for (const [at, permille] of survival) {
    if (at >= time) return share + (permille - share) * (time - before) / Math.max(1, at - before);
    [before, share] = [at, permille];
  }
  return share;
}

/** @param {LiveFile[]} files */
function ledger(files) {
  const states = {
    holds: '', broken: 'its hint is withdrawn until it was looked into', confirmed: 'looked into again: it is what it was',
  };
  return h('div', { class: 'table', tabIndex: 0, role: 'region', 'aria-label': 'Files whose start came late' }, h('table', {},
    h('thead', {}, h('tr', {}, h('td', {}), ...['late', 'views', 'network', ''].map(
      (title) => (title ? h('th', { scope: 'col' }, title) : h('td', {}))))),
    h('tbody', {}, ...files.map(({ url, network, views, late, state }) => h('tr', {},
      h('th', { scope: 'row' }, h('bdi', {}, url)), h('td', {}, h('strong', {}, `${count(late * 100 / views)} %`)),
      h('td', {}, count(views)), h('td', {}, network ?? 'not said'), h('td', {}, states[state]))))));
}
