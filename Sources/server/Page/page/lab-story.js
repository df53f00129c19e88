// @ts-check
import { count, h, size, words } from './dom.js';

/**
 * @typedef {{gigabyteCents: number, monthSessions: number}} Rates
 * @typedef {object} Finding
 * @property {string} words
 * @property {'better' | 'worse' | 'equivalent' | 'undecided'} verdict
 * @property {[number, number]} sessions
 * @property {[number, number]} [loadersPer1000]
 * @property {[number, number]} [bytesPerSession]
 * @property {number} [percent]
 * @property {[number, number]} [interval]
 * @property {number} [detectablePercent]
 * @property {string[]} brokenGuards
 * @property {boolean} sharesAreWrong
 * @typedef {{loadersPer1000: [number, number], kilobytesPerItem: [number, number]}} Expected
 * @typedef {{at: string, kind: string, share: number, evidence: {reason?: string, finding?: Finding, expected?: Expected}}} Step
 * @typedef {object} Experiment
 * @property {number} id
 * @property {'trial' | 'holdout'} kind
 * @property {string} [feed]
 * @property {string} [network]
 * @property {{name: string}} policy
 * @property {boolean} running
 * @property {number} days
 * @property {Step[]} steps
 * @property {Finding} [finding]
 */

const DAY_MS = 86_400_000;

/** What was done, as a person says it. */
const DONE = {
  suggested: 'the lab suggested it', kept: 'the lab looked, and found nothing better', started: 'it began',
  ramped: 'more sessions got it', rolledBack: 'it was rolled back', applied: 'it was put in force',
  takenBack: 'what had been put in force was taken back', ended: 'it ended', stopped: 'it was stopped',
  undone: 'what it had put in force was taken back by hand',
};

/** What of a try was worse than it may be, as a person says it; guards are named as the server names them. */
const WORSE = {
  'waiting at loaders an item': 'people waited longer at loaders', 'time to first frames an item': 'pictures and clips showed later',
  'stalls an item': 'clips stood still for longer', 'bytes a session': 'it loads more than it may',
  'items a session, as sessions end early': 'people left earlier',
};

/** @param {string} at */
export const day = (at) => h('time', { dateTime: at, title: new Date(at).toLocaleString() },
  new Date(at).toLocaleDateString(undefined, { day: 'numeric', month: 'short', year: 'numeric' }));

/** @param {Experiment} experiment */
const last = ({ steps }) => steps[steps.length - 1];

/** @param {string} name */
export const named = (name) => h('strong', {}, h('bdi', {}, name));

/** @param {Experiment} experiment */
function where({ feed, network }) {
  return [feed ? h('span', {}, 'feed “', h('bdi', {}, feed), '”') : 'all feeds without a policy of their own', ', ',
    network ? h('bdi', {}, network) : 'all networks'];
}

/**
 * Loaders of two policies: in force, and tried.
 *
 * @param {[number, number] | undefined} pair
 * @param {string} verb
 */
export function loaders(pair, verb) {
  if (!pair) return '';
  // Of two that are nearly the same, the difference is in the tenths.
  const number = (/** @type {number} */ value) => count(Math.abs(pair[0] - pair[1]) < 2 ? value : Math.round(value));
  return `Of 1000 items ${number(pair[1])} ${verb} a loader instead of ${number(pair[0])}.`;
}

/**
 * What bytes a session come to in money: of a person's month.
 *
 * @param {[number, number] | undefined} bytes
 * @param {Rates | undefined} rates
 */
function money(bytes, rates) {
  if (!bytes || !rates) return '';
  const cents = (bytes[1] - bytes[0]) * rates.monthSessions * rates.gigabyteCents / 1e9;
  const size = Math.abs(cents) < 0.01 ? 'as much as before' : `${count(Math.round(Math.abs(cents) * 100) / 100)} cents ${
    cents > 0 ? 'more' : 'less'}`;
  return ` What it sends costs you ${size} for each person and month.`;
}

/**
 * What the figures allow to be said, for somebody who knows no statistics.
 *
 * @param {Finding} finding
 */
function soFar({ verdict, percent, interval, sessions, loadersPer1000, brokenGuards, sharesAreWrong }) {
  if (sharesAreWrong) return 'As many sessions as should have each policy do not have it: nothing can be said.';
  if (brokenGuards.length > 0) return `It is worse: ${worse(brokenGuards)}.`;
  if (percent === undefined || !interval) {
    return `Too few sessions yet to say anything: ${count(sessions[1])} have it, ${count(sessions[0])} do not.`;
  }
  const met = loaders(loadersPer1000, 'had');
  const between = `All that is nearly sure yet: between ${amount(interval[0])} and ${amount(interval[1])} loaders.`;
  const said = {
    better: 'It is better: so much is hardly chance.', worse: 'It is worse: so much is hardly chance.',
    equivalent: 'There is no difference that matters.',
    undecided: 'Too early to tell: so much may be chance.',
  };
  return `${met} ${said[verdict]} ${between}`;
}

/** @param {string[]} guards */
const worse = (guards) => guards.map((one) => WORSE[/** @type {keyof typeof WORSE} */ (one)] ?? `worse in ${one}`).join(', and ');

/**
 * What a session loaded, with both policies.
 *
 * @param {[number, number] | undefined} bytes
 */
const sent = (bytes) => (bytes ? ` A session loaded ${size(bytes[1])} instead of ${size(bytes[0])}.` : '');

/** @param {number} percent of loaders, by which they are more */
function amount(percent) {
  const size = count(Math.round(Math.abs(percent)));
  return Math.abs(percent) < 0.5 ? 'as many' : `${size}\u00a0% ${percent < 0 ? 'fewer' : 'more'}`;
}

/** What is tried, what came of it, and what a person may do about it: in words. */
export class LabStory {
  #token = '';
  /** @type {Rates | undefined} */
  #rates;

  /**
   * @param {URL} server
   * @param {() => void} changed
   */
  constructor(server, changed) {
    this.server = server;
    this.changed = changed;
    this.token = h('input', {
      type: 'password', autocomplete: 'off', oninput: () => { this.#token = this.token.value.trim(); },
    });
    this.said = h('p', { class: 'note', role: 'status' });
    this.now = h('div', { class: 'cards' });
    this.past = h('ul', { class: 'sentences' });
    this.key = h('p', { class: 'note' }, h('label', {}, 'Token with the right ', h('code', {}, 'policies'), ' ', this.token),
      ' It stays in this page’s memory.');
    this.element = h('div', { class: 'story' });
  }

  /**
   * @param {Experiment[]} experiments the newest first
   * @param {Rates | undefined} rates
   */
  show(experiments, rates) {
    this.#rates = rates;
    if (experiments.length === 0) {
      this.element.replaceChildren(h('p', { class: 'note' }, 'There was none yet. ',
        h('code', {}, 'lookahead tune --feed NAME'), ' looks for something to try; ',
        h('code', {}, 'lookahead serve --tune suggest'), ' does so each night.'));
      return;
    }
    const waiting = experiments.filter((one) => last(one).kind === 'suggested');
    const running = experiments.filter((one) => one.running);
    const past = experiments.filter((one) => !one.running && last(one).kind !== 'suggested');
    const cards = [...waiting.map((one) => this.#suggestion(one)),
      ...running.filter(({ kind }) => kind === 'trial').map((one) => this.#trial(one)), ...this.#holdouts(
        running.filter(({ kind }) => kind === 'holdout'))];
    this.now.replaceChildren(...cards);
    this.past.replaceChildren(...past.map((one) => this.#line(one)));
    this.element.replaceChildren(
      h('p', { class: 'note' }, 'A loader is what people see in place of an item that has not come yet. A policy says what is loaded ahead; ',
        'of two called expected-wait, the one with the higher price loads less. ',
        'Whether another one is better is tried on some of the sessions, drawn at random; all others keep the one in force.'),
      ...cards.length > 0 ? [h('h3', {}, 'Now'), this.now] : [],
      h('h3', {}, 'What has happened'),
      past.length > 0 ? this.past : h('p', { class: 'note' }, 'Nothing has been decided yet.'),
      h('h3', {}, 'To use the buttons'), this.key, this.said);
  }

  /** @param {Experiment} one */
  #suggestion(one) {
    const { expected } = last(one).evidence;
    const bytes = expected?.kilobytesPerItem;
    const more = bytes && bytes[0] > 0 ? Math.round(100 * (bytes[1] - bytes[0]) / bytes[0]) : undefined;
    const data = more === undefined ? '' : more === 0 ? ', for as much data' : `, for ${Math.abs(more)}\u00a0% ${more > 0 ? 'more' : 'less'} data`;
    return h('article', { class: 'card' }, h('h4', {}, 'The lab suggests'),
      h('p', {}, 'Try ', named(one.policy.name), ' on ', ...where(one), '. ',
        expected ? `In simulated sessions ${count(Math.round(expected.loadersPer1000[1]))} of 1000 items had a loader instead of ${
          count(Math.round(expected.loadersPer1000[0]))}${data}.` : '', ' Nobody has it yet; whether people meet that is what the try shows.'),
      h('div', { class: 'choices' }, this.#button('Try it', one, 'POST'), this.#button('No', one, 'DELETE')),
      this.#steps(one));
  }

  /** @param {Experiment} one */
  #trial(one) {
    const begun = one.steps.find(({ kind }) => kind === 'started') ?? one.steps[0];
    const end = new Date(Date.parse(begun.at) + one.days * DAY_MS).toISOString();
    const { finding } = one;
    return h('article', { class: 'card' }, h('h4', {}, 'Being tried'),
      h('p', {}, named(one.policy.name), ' on ', ...where(one), `. ${last(one).share}\u00a0% of the sessions have it since `,
        day(last(one).at), '.'),
      finding ? h('p', {}, soFar(finding), money(finding.bytesPerSession, this.#rates)) : null,
      h('p', {}, 'It is decided on ', day(end), ' at the latest. As soon as it is clearly worse in anything that matters, it ends by itself.',
        finding?.detectablePercent === undefined ? '' : ` By then a difference of ${count(finding.detectablePercent)}\u00a0% would show.`),
      h('div', { class: 'choices' }, this.#button('Stop it', one, 'DELETE')), this.#steps(one));
  }

  /**
   * One card for those of a feed: there is one for each network.
   *
   * @param {Experiment[]} holdouts
   */
  #holdouts(holdouts) {
    /** @type {Map<string, Experiment[]>} */
    const byFeed = new Map();
    for (const one of holdouts) byFeed.set(one.feed ?? '', [...byFeed.get(one.feed ?? '') ?? [], one]);
    return [...byFeed.values()].map((all) => h('article', { class: 'card' }, h('h4', {}, 'Being watched'),
      h('p', {}, `${last(all[0]).share}\u00a0% of the sessions keep the policy of before, `, named(all[0].policy.name), ', on ',
        all[0].feed ? h('span', {}, 'feed “', h('bdi', {}, all[0].feed), '”') : 'all feeds without a policy of their own',
        ', to see whether the one in force stays the better one. If these sessions have clearly fewer loaders, all get the policy of before again, by itself.'),
      h('ul', {}, ...all.map((one) => h('li', {}, h('bdi', {}, one.network ?? 'all networks'), ': ',
        one.finding?.percent === undefined ? 'too few sessions yet to say anything'
          : `the one of before has ${amount(one.finding.percent)}${Math.abs(one.finding.percent) < 0.5 ? '' : ' loaders'}${
            one.finding.verdict === 'undecided' ? ', which may be chance' : ''}`)))));
  }

  /**
   * What came of one that is over, in a sentence.
   *
   * @param {Experiment} one
   */
  #line(one) {
    const { at, kind, evidence } = last(one);
    const { finding } = evidence;
    const guards = finding?.brokenGuards ?? [];
    const met = finding ? ` ${loaders(finding.loadersPer1000, 'had')}${money(finding.bytesPerSession, this.#rates)}` : '';
    const why = evidence.reason ? ` (${evidence.reason})` : '';
    const name = named(one.policy.name);
    /** @type {Record<string, any[]>} */
    const said = {
      applied: [name, ' was better, and was put in force.', met, ' ', this.#button('Take it back', one, 'DELETE')],
      // It may have had fewer loaders, and be worse all the same.
      rolledBack: guards.length > 0
        ? [name, ` was tried and given up, whatever its loaders: ${worse(guards)}. All sessions have the policy of before again.`,
          guards.includes('bytes a session') ? sent(finding?.bytesPerSession) : '', met]
        : [name, ' was worse: all sessions have the policy of before again.', met],
      takenBack: ['What had been put in force turned out worse: ', name, ', the policy of before, is in force again.', met],
      undone: [name, ' was put in force, and taken back by hand', why, '.'],
      stopped: finding?.sharesAreWrong
        ? [name, ' was stopped: not as many sessions had it as should, so that nothing can be said. Apps that do not draw, or a cache that drops ',
          h('code', {}, 'arm=b'), ', bring that about.']
        : [name, one.steps.length === 1 || one.steps.every(({ kind: step }) => step === 'suggested' || step === 'stopped')
          ? ' was suggested and declined' : ' was stopped', why, '.'],
      ended: [name, one.kind === 'holdout' ? ` was kept by some sessions, to watch the policy in force${why}.`
        : finding?.verdict === 'equivalent' ? ' was tried, and made no difference that matters: nothing was changed.'
          : finding ? ` was tried for ${one.days} days, and neither was clearly better: nothing was changed.`
            : ` was not tried in the end${why}.`, met],
      kept: ['The lab looked for something better than ', name, `, and found nothing${one.steps.length > 1
        ? `; ${one.steps.length} nights so far` : ''}.`],
    };
    return h('li', {}, day(at), ', ', ...where(one), ': ', ...(said[kind] ?? [name, ` ${kind}`]), this.#steps(one));
  }

  /** @param {Experiment} one */
  #steps({ id, steps }) {
    return h('details', {}, h('summary', {}, `${steps.every(({ kind }) => kind === 'suggested') ? 'How it came about' : 'How it went'} (experiment ${id})`), h('ul', {}, ...steps.map(({ at, kind, share, evidence }) =>
      h('li', {}, h('time', { dateTime: at }, new Date(at).toLocaleString()), ': ',
        DONE[/** @type {keyof typeof DONE} */ (kind)] ?? kind, share > 0 ? `, ${share}\u00a0% of the sessions` : '',
        evidence.reason ? `; ${evidence.reason}` : '', '.'))));
  }

  /**
   * @param {string} text
   * @param {Experiment} one
   * @param {string} method
   */
  #button(text, { id }, method) {
    return h('button', { type: 'button', onclick: () => void this.#act(id, method) }, text);
  }

  /**
   * @param {number} id
   * @param {string} method
   */
  async #act(id, method) {
    if (this.#token === '') {
      this.said.textContent = 'That takes a token with the right policies: write it here.';
      this.token.focus();
      return;
    }
    try {
      const answer = await fetch(new URL(`v1/experiments/${id}`, this.server),
        { method, headers: { Authorization: `Bearer ${this.#token}` } });
      const problem = answer.ok ? null : await answer.json().catch(() => null);
      this.said.textContent = answer.ok ? 'Done.' : `That was refused: ${problem?.detail ?? `status ${answer.status}`}`;
      if (answer.ok) this.changed();
    } catch (error) {
      this.said.textContent = `That did not reach the server: ${words(error)}.`;
    }
  }
}
