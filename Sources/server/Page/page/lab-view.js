// @ts-check
import { h, words } from './dom.js';

/** What happened, as a person says it. */
const HAPPENED = {
  started: 'It began', ramped: 'More sessions have it', rolledBack: 'It was rolled back: all have the policy of before',
  applied: 'It was better, and is in force', takenBack: 'It was taken back: this policy of before is in force again',
  ended: 'It ended', stopped: 'It was stopped', undone: 'What it applied was taken back by hand',
};

/** The policies in force on each network and what they rest on, the experiments on them, and the lab's last report. */
export class LabView {
  /**
   * @param {HTMLElement} place
   * @param {URL} server
   * @param {() => string} feed the feed that is shown
   */
  constructor(place, server, feed) {
    this.place = place;
    this.server = server;
    this.feed = feed;
    this.policies = h('div');
    this.experiments = h('div');
    this.report = h('div');
    place.append(h('h2', {}, 'Policies in force'), this.policies, h('h2', {}, 'Experiments'), this.experiments,
      h('h2', {}, 'The lab’s last report'), this.report);
  }

  async show() {
    await Promise.all([this.#showPolicies(), this.#showExperiments(), this.#showReport()]);
  }

  hide() {}

  async #showPolicies() {
    const feed = this.feed();
    const url = new URL('v1/networks', this.server);
    if (feed) url.searchParams.set('feed', feed);
    try {
      const answer = await fetch(url, { cache: 'no-cache' });
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      this.#draw(await answer.json());
    } catch (error) {
      this.policies.replaceChildren(h('p', { class: 'note' }, `The policies do not come: ${words(error)}.`));
    }
  }

  async #showExperiments() {
    try {
      const answer = await fetch(new URL('v1/experiments', this.server), { cache: 'no-cache' });
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      const { experiments } = await answer.json();
      this.experiments.replaceChildren(experiments.length === 0
        ? h('p', { class: 'note' }, 'There was none yet. ',
          h('code', {}, 'lookahead tune --feed NAME'), ' looks for something to try.')
        : h('div', { class: 'cards' }, ...experiments.map((/** @type {any} */ one) => this.#story(one))));
    } catch (error) {
      this.experiments.replaceChildren(h('p', { class: 'note' }, `The experiments do not come: ${words(error)}.`));
    }
  }

  /** @param {any} experiment */
  #story({ id, kind, feed, network, policy, running, steps, finding, days }) {
    const where = `${feed ? `feed “${feed}”` : 'feeds without a policy of their own'}, ${network ?? 'all networks'}`;
    const what = kind === 'trial' ? 'is tried' : 'stays with a few sessions, beside the policy that was applied';
    const end = kind === 'trial' ? ` It is decided after ${days} days at the latest.` : '';
    const seen = finding?.detectablePercent === undefined
      ? '' : ` By then a difference of ${finding.detectablePercent.toFixed(1)} % would be found.`;
    return h('article', { class: 'card' },
      h('h3', {}, h('bdi', {}, policy.name), ` ${what} `, h('small', {}, h('bdi', {}, where), `, experiment ${id}`)),
      running && finding ? h('p', {}, `So far: ${finding.words}.${end}${seen}`) : null,
      h('ul', {}, ...steps.map((/** @type {any} */ { at, kind: step, share, evidence }) => h('li', {},
        h('time', { dateTime: at }, new Date(at).toLocaleString()), ' ',
        `${HAPPENED[/** @type {keyof typeof HAPPENED} */ (step)] ?? step}`,
        share > 0 ? ` (${share} % of the sessions)` : '', evidence.reason ? `: ${evidence.reason}.` : '.'))));
  }

  /** It runs no script and leads nowhere: it is shown in a frame that may do nothing. */
  async #showReport() {
    try {
      const answer = await fetch(this.server, { headers: { Accept: 'application/json' }, cache: 'no-cache' });
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      const { links } = await answer.json();
      const address = new URL(links.labReport?.replace(/^\//, '') ?? 'page/sample-report.html', this.server).href;
      if (this.report.querySelector('iframe')?.src === address) return;
      this.report.replaceChildren(
        ...(links.labReport ? [] : [h('p', { class: 'note' }, 'There is none. ',
          h('code', {}, 'lookahead lab report --output lab.html'), ' makes one, ',
          h('code', {}, 'lookahead serve --lab-report lab.html'), ' shows it here.'),
        h('h3', {}, 'A sample'), h('p', { class: 'note' }, 'Not of this server: the examples that come with the program, ',
          'simulated on 3G with five strategies.')]),
        h('p', { class: 'note' }, h('a', { href: address, target: '_blank', rel: 'noopener' }, 'On a page of its own')),
        h('iframe', { class: 'report', src: address, title: links.labReport ? 'The lab’s last report' : 'A sample of a report', sandbox: '', loading: 'lazy' }));
    } catch (error) {
      this.report.replaceChildren(h('p', { class: 'note' }, `The report does not come: ${words(error)}.`));
    }
  }

  /** @param {any} document */
  #draw({ feed, networks, feedsWithPolicies, problem }) {
    const own = (feedsWithPolicies ?? []).includes(feed);
    this.policies.replaceChildren(
      h('p', { class: 'note' },
        ...feed ? ['Of the feed “', h('bdi', {}, feed), `”${own ? ', which has its own' : ': those of all feeds'}.`]
          : ['Of all feeds.'],
        ' A policy says what a page’s plan loads ahead, and what items cost.'),
      ...(problem
        ? [h('p', { class: 'problem' }, `A policy is not understood: ${problem.detail}`)] : []),
      h('div', { class: 'cards' }, ...networks.map((/** @type {any} */ network) => this.#card(network))));
  }

  /** @param {any} network */
  #card({ title, name, downlink, rtt, lossPercent, policy, default: isDefault, evidence = policy.evidence }) {
    const parameters = Object.entries(policy.parameters ?? {}).map(([key, value]) => `${key} ${value}`).join(', ');
    /** @type {[string, string][]} */
    const facts = [
      ['link', `${downlink} kbit/s, ${rtt} ms${lossPercent ? `, ${lossPercent} % lost` : ''}`],
      ['policy', policy.name], ['strategy', policy.strategy], ['with', parameters || 'nothing to tune'],
      ['items a minute', String(policy.itemsPerMinute)], ['next page', `after ${policy.nextPagePercent} %`],
    ];
    const small = h('small', {}, h('bdi', {}, name), isDefault ? ', where nothing is known' : null);
    return h('article', { class: 'card' }, h('h3', {}, h('bdi', {}, title), ' ', small),
      h('dl', { class: 'facts' }, ...facts.map(
        ([key, value]) => h('div', {}, h('dt', {}, key), h('dd', {}, h('bdi', {}, value))))),
      h('h4', {}, 'Evidence'), evidence ? tree(evidence) : h('p', { class: 'note' }, policy.evidence === undefined
        ? 'None is kept: it is the first policy, or was written by hand.' : 'None.'));
  }
}

/**
 * Whatever was found out, as it stands: names and values.
 *
 * @param {any} value
 * @returns {Node}
 */
function tree(value) {
  if (Array.isArray(value)) return h('ul', {}, ...value.map((one) => h('li', {}, tree(one))));
  if (value === null || typeof value !== 'object') return h('span', {}, String(value));
  return h('dl', { class: 'facts' }, ...Object.entries(value).map(
    ([key, one]) => h('div', {}, h('dt', {}, key), h('dd', {}, tree(one)))));
}
