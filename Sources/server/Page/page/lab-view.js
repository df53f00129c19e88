// @ts-check
import { h, words } from './dom.js';
import { day, LabStory, loaders, named } from './lab-story.js';

/** What is tried and what came of it, the policies in force and what they rest on, and the lab's last report. */
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
    this.inForce = h('div');
    this.policies = h('div');
    this.experiments = h('div');
    this.story = new LabStory(server, () => void this.show());
    this.report = h('div');
    place.append(h('h2', {}, 'In force'), this.inForce, h('h2', {}, 'Experiments'), this.experiments,
      h('h2', {}, 'Networks, and their policies'), this.policies,
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
      const networks = await answer.json();
      // Meanwhile another feed was chosen, whose answer follows.
      if (feed === this.feed()) this.#draw(networks);
    } catch (error) {
      this.inForce.replaceChildren(h('p', { class: 'note' }, `The policies do not come: ${words(error)}.`));
    }
  }

  async #showExperiments() {
    try {
      const answer = await fetch(new URL('v1/experiments', this.server), { cache: 'no-cache' });
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      const { experiments } = await answer.json();
      this.story.show(experiments, await this.#rates());
      this.experiments.replaceChildren(this.story.element);
    } catch (error) {
      this.experiments.replaceChildren(h('p', { class: 'note' }, `The experiments do not come: ${words(error)}.`));
    }
  }

  /** What a gigabyte costs, and how many sessions a person has in a month; undefined where reports are off. */
  async #rates() {
    try {
      const answer = await fetch(new URL('v1/live?hours=1', this.server), { cache: 'no-cache' });
      return answer.ok ? (await answer.json()).rates : undefined;
    } catch {
      return undefined;
    }
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
    this.inForce.replaceChildren(
      h('p', { class: 'note' },
        ...feed ? ['Of the feed “', h('bdi', {}, feed), `”${own ? ', which has its own' : ': those of all feeds'}.`]
          : ['Of all feeds.'],
        ' A policy says what a page’s plan loads ahead, and what items cost.'),
      ...(problem
        ? [h('p', { class: 'problem' }, `A policy is not understood: ${problem.detail}`)] : []),
      h('ul', { class: 'sentences' }, ...sentences(networks)));
    this.policies.replaceChildren(
      h('div', { class: 'cards' }, ...networks.map((/** @type {any} */ network) => this.#card(network))));
  }

  /** @param {any} network */
  #card({ title, name, downlink, rtt, lossPercent, policy, default: isDefault, evidence }) {
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
      evidence ? h('details', {}, h('summary', {}, 'Evidence'), tree(evidence))
        : h('p', { class: 'note' }, 'No evidence is kept: it is the first policy, or was written by hand.'));
  }
}

/**
 * What is in force and why: a sentence for those networks that have the same policy for the same reason.
 *
 * @param {any[]} networks
 * @returns {HTMLElement[]}
 */
function sentences(networks) {
  /** @type {Map<string, any[]>} */
  const groups = new Map();
  for (const one of networks) {
    const key = JSON.stringify([one.policy.name, one.evidence?.lab]);
    groups.set(key, [...groups.get(key) ?? [], one]);
  }
  return [...groups.values()].map((all) => {
    const [{ policy, evidence }] = all;
    return h('li', {}, ...all.flatMap((/** @type {any} */ { title }, index) => [
      index === 0 ? 'On ' : index < all.length - 1 ? ', ' : ' and ', h('bdi', {}, title)]), ': ', named(policy.name),
    ...evidence ? [', since ', day(evidence.appliedAt), '. ', why(evidence.lab)]
      : ['. It is the policy that was there first, or somebody wrote it by hand.']);
  });
}

/** @param {any} found what the experiment, or the lab, found */
function why(found) {
  if (found.finding) return `As it was tried (experiment ${found.experiment}), it was better. ${loaders(found.finding.loadersPer1000, 'had')}`;
  const simulated = found.judged?.map((/** @type {any} */ one) => one.loaders);
  return simulated?.length === 2 ? `The lab found it, in simulated sessions. ${loaders(simulated, 'had')}` : '';
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
