// Prometheus' text format, and what a page computes from two samples of it.

const LINE = /^([a-z_:][\w:]*)(?:\{(.*)\})? (\S+)/i;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

// Parses one response: the values by name, as {labels, value}.
export function parse(text) {
  const samples = new Map();
  for (const line of text.split('\n')) {
    const match = LINE.exec(line);
    if (!match || line.startsWith('#')) continue;
    const labels = {};
    for (const [, name, value] of (match[2] || '').matchAll(LABEL)) labels[name] = value.replace(/\\(.)/g, '$1');
    const value = match[3] === '+Inf' ? Infinity : Number(match[3]);
    if (!samples.has(match[1])) samples.set(match[1], []);
    samples.get(match[1]).push({labels, value});
  }
  return samples;
}

// The moments of /metrics/history, in the same form: [{time (in milliseconds), samples}].
export function moments({times, series}) {
  return times.map((time, moment) => {
    const samples = new Map();
    for (const {name, labels, values} of series) {
      if (!samples.has(name)) samples.set(name, []);
      samples.get(name).push({labels, value: values[moment]});
    }
    return {time: time * 1000, samples};
  });
}

const fits = (labels, wanted) => Object.entries(wanted).every(([name, value]) =>
  (typeof value === 'function' ? value(labels[name]) : labels[name] === value));

const full = (name) => (name.startsWith('process_') ? name : `dragoman_${name}`);

// The values of a metric: [{labels, value}].
export const all = (samples, name) => samples.get(full(name)) || [];

// The sum of a metric over the samples with these labels.
export function sum(samples, name, wanted = {}) {
  let total = 0;
  for (const {labels, value} of all(samples, name)) if (fits(labels, wanted)) total += value;
  return total;
}

// How much a counter grew between two samples; after a restart of the server it started at zero.
export function grown(before, after, name, wanted) {
  const [first, last] = [sum(before, name, wanted), sum(after, name, wanted)];
  return last >= first ? last - first : last;
}

// The quantiles of what a histogram counted between two samples, by Prometheus' rule: linear within a
// bucket.  Null if it counted nothing.
export function quantiles(before, after, name, shares, wanted = {}) {
  const buckets = new Map();
  const add = (samples, sign) => {
    for (const {labels, value} of all(samples, `${name}_bucket`)) {
      if (!fits(labels, wanted)) continue;
      const bound = labels.le === '+Inf' ? Infinity : Number(labels.le);
      buckets.set(bound, (buckets.get(bound) || 0) + sign * value);
    }
  };
  add(after, 1);
  if (sum(before, `${name}_count`, wanted) <= sum(after, `${name}_count`, wanted)) add(before, -1);
  const sorted = [...buckets].sort(([a], [b]) => a - b);
  const count = sorted.length ? sorted[sorted.length - 1][1] : 0;
  if (count <= 0) return null;
  return shares.map((share) => {
    const rank = share * count;
    let [low, below] = [0, 0];
    for (const [bound, upTo] of sorted) {
      if (upTo >= rank) {
        if (bound === Infinity) return low;
        return upTo === below ? bound : low + (bound - low) * ((rank - below) / (upTo - below));
      }
      [low, below] = [bound, upTo];
    }
    return low;
  });
}
