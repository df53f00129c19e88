// @ts-check
import { h, words } from './dom.js';

/** The policies in force on each network, and what they rest on. */
export class PoliciesView {
  /**
   * @param {HTMLElement} place
   * @param {URL} server
   * @param {() => string} feed the feed that is shown
   */
  constructor(place, server, feed) {
    this.place = place;
    this.server = server;
    this.feed = feed;
  }

  async show() {
    const feed = this.feed();
    const url = new URL('v1/networks', this.server);
    if (feed) url.searchParams.set('feed', feed);
    try {
      const answer = await fetch(url, { cache: 'no-cache' });
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      this.#draw(await answer.json());
    } catch (error) {
      this.place.replaceChildren(h('p', { class: 'note' }, `The policies do not come: ${words(error)}.`));
    }
  }

  hide() {}

  /** @param {any} document */
  #draw({ feed, networks, feedsWithPolicies, problem }) {
    const own = (feedsWithPolicies ?? []).includes(feed);
    this.place.replaceChildren(
      h('p', { class: 'note' },
        feed ? `Of the feed “${feed}”${own ? ', which has its own' : ': those of all feeds'}.` : 'Of all feeds.',
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
    const small = h('small', {}, isDefault ? `${name}, where nothing is known` : name);
    return h('article', { class: 'card' }, h('h3', {}, `${title} `, small),
      h('dl', { class: 'facts' }, ...facts.map(([key, value]) => h('div', {}, h('dt', {}, key), h('dd', {}, value)))),
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
