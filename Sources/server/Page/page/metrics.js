// @ts-check
/**
 * @typedef {{labels: Record<string, string>, value: number}} Sample
 */

/**
 * Figures in Prometheus's text format, by name.
 *
 * @param {string} text
 * @returns {Map<string, Sample[]>}
 */
export function parseMetrics(text) {
  /** @type {Map<string, Sample[]>} */
  const families = new Map();
  for (const line of text.split('\n')) {
    const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line);
    if (!match) continue;
    const [, name, labels = '', value] = match;
    /** @type {Record<string, string>} */
    const named = {};
    for (const [, label, quoted] of labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
      named[label] = quoted.replace(/\\(.)/g, (_, character) => (character === 'n' ? '\n' : character));
    }
    const number = value === '+Inf' ? Infinity : Number(value);
    families.set(name, [...families.get(name) ?? [], { labels: named, value: number }]);
  }
  return families;
}

/**
 * The sum of a figure's samples that have these labels.
 *
 * @param {Map<string, Sample[]>} metrics
 * @param {string} name
 * @param {Record<string, string>} [labels]
 */
export function sum(metrics, name, labels = {}) {
  return (metrics.get(name) ?? []).filter((sample) => Object.entries(labels)
    .every(([label, value]) => sample.labels[label] === value)).reduce((total, { value }) => total + value, 0);
}

/**
 * A quantile of a histogram's samples since another reading, in seconds; null where there were none.
 *
 * @param {Map<string, Sample[]>} now
 * @param {Map<string, Sample[]> | null} before
 * @param {string} name
 * @param {Record<string, string>} labels
 * @param {number} share
 */
export function quantile(now, before, name, labels, share) {
  const bounds = [...new Set((now.get(`${name}_bucket`) ?? []).map(({ labels: { le } }) => le))];
  const buckets = bounds.map((le) => ({
    le: le === '+Inf' ? Infinity : Number(le),
    count: sum(now, `${name}_bucket`, { ...labels, le })
      - (before ? sum(before, `${name}_bucket`, { ...labels, le }) : 0),
  })).sort((left, right) => left.le - right.le);
  const all = buckets.at(-1)?.count ?? 0;
  if (all <= 0) return null;
  let [lower, below] = [0, 0];
  for (const { le, count } of buckets) {
    if (count >= all * share) {
      if (le === Infinity) return lower;
      return lower + (le - lower) * (count === below ? 1 : (all * share - below) / (count - below));
    }
    [lower, below] = [le, count];
  }
  return lower;
}
