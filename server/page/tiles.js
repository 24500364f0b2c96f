// What the status page shows in numbers and lines: one entry a tile.

import {all, grown, quantiles, sum} from './metrics.js';
import {duration, percent} from './page.js';

// The history has no methods: it keeps what translates only.
export const translates = {method: (method) => (method ?? 'Translate').startsWith('Translate')};

export function number(value) {
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value.toFixed(value >= 10 || value === 0 ? 0 : 1);
}
const whole = (value) => value.toLocaleString('en');
export const bytes = (value) => {
  const unit = value >= 2 ** 30 ? [2 ** 30, 'GiB'] : [2 ** 20, 'MiB'];
  return `${(value / unit[0]).toFixed(value > 0 && value / unit[0] < 10 ? 1 : 0)} ${unit[1]}`;
};

const FAILURES = ['INTERNAL', 'UNAVAILABLE', 'DEADLINE_EXCEEDED'];

// Each computes {value (text), detail, at (a number for the line), most (the top of the line), alarm} from the samples of
// a moment, `now`, and of a minute before.
export const TILES = {
  'Requests a second': ({now, rate}) => {
    const calls = rate('requests_total', translates);
    return {value: number(calls), at: calls, detail: `${sum(now, 'requests_in_flight')} in flight`};
  },
  'Tokens a second': ({rate}) => {
    const tokens = rate('target_tokens_total');
    return {value: number(tokens), at: tokens, detail: `${number(rate('source_tokens_total'))} read, ${number(rate('sentences_total'))} sentences`};
  },
  'Latency, median': ({before, now}) => {
    const found = quantiles(before, now, 'request_duration_seconds', [0.5, 0.95, 0.99], translates);
    if (!found) return {value: '–', at: 0, detail: 'no requests'};
    return {value: duration(found[0]), at: found[0], detail: `p95 ${duration(found[1])}, p99 ${duration(found[2])}`};
  },
  'Refused or failed': ({rate}) => {
    const refused = rate('rejected_total');
    const failed = rate('requests_total', {...translates, code: (code) => FAILURES.includes(code)});
    return {
      value: `${number((refused + failed) * 60)}/min`, at: refused + failed, alarm: refused + failed > 0,
      detail: refused + failed > 0 ? `${number(refused * 60)} refused, ${number(failed * 60)} failed` : 'none',
    };
  },
  'Workers busy': ({now, rate}) => {
    const workers = all(now, 'engine_busy_seconds_total').length || 1;
    const busy = Math.min(1, rate('engine_busy_seconds_total') / workers);
    return {value: percent(busy), at: busy, most: 1, detail: `${workers} worker${workers === 1 ? '' : 's'}`};
  },
  'Rows in a batch': ({before, now}) => {
    const decode = {phase: 'decode'};
    const steps = grown(before, now, 'batch_rows_count', decode);
    const rows = steps ? grown(before, now, 'batch_rows_sum', decode) / steps : 0;
    const limit = Math.max(0, ...all(now, 'batch_rows_limit').map(({value}) => value));
    return {value: number(rows), at: rows, most: limit || undefined, detail: limit ? `${percent(rows / limit)} of ${limit}` : 'in a decoder step'};
  },
  'Waiting requests': ({now}) => {
    const interactive = {priority: 'interactive'};
    const [waiting, limit] = [sum(now, 'queue_requests', interactive), sum(now, 'queue_requests_limit')];
    const age = sum(now, 'queue_oldest_age_seconds', interactive);
    const batch = sum(now, 'queue_requests', {priority: 'batch'});
    return {
      value: whole(waiting), at: waiting, alarm: limit > 0 && waiting >= limit * 0.9,
      detail: `of ${whole(limit)}${waiting ? `, the first for ${duration(age)}` : ''}; ${whole(batch)} of batch work`,
    };
  },
  'K/V memory': ({now}) => {
    const [used, most] = [sum(now, 'kv_cache_bytes'), sum(now, 'kv_cache_capacity_bytes')];
    return {
      value: bytes(used), at: used, most: most || undefined, alarm: most > 0 && used > most * 0.95,
      detail: `of ${bytes(most)}; ${bytes(sum(now, 'kv_cache_resident_bytes'))} held`,
    };
  },
  'Memory': ({now}) => {
    const [used, most] = [sum(now, 'process_resident_memory_bytes'), sum(now, 'memory_limit_bytes')];
    return {
      value: bytes(used), at: used, alarm: most > 0 && used > most * 0.95,
      detail: most ? `${percent(used / most)} of ${bytes(most)}` : 'resident',
    };
  },
  'Cores busy': ({now, rate}) => {
    const cores = rate('process_cpu_seconds_total');
    return {value: number(cores), at: cores, detail: `${whole(sum(now, 'process_threads'))} threads`};
  },
  'Found in the cache': ({before, now}) => {
    const looked = grown(before, now, 'cache_lookups_total');
    const found = looked - grown(before, now, 'cache_lookups_total', {result: 'miss'});
    const most = sum(now, 'cache_capacity_bytes');
    const share = looked > 0 ? found / looked : 0;
    return {
      value: looked > 0 ? percent(share) : '–', at: share, most: 1,
      detail: most ? `${whole(sum(now, 'cache_entries'))} sentences, ${bytes(sum(now, 'cache_bytes'))} of ${bytes(most)}` : 'there is no cache',
    };
  },
  'Connections': ({now}) => {
    const [grpc, http] = [sum(now, 'connections'), sum(now, 'http_connections')];
    const limits = ['connections_limit', 'http_connections_limit'].map((name) => sum(now, name));
    return {
      value: whole(grpc + http), at: grpc + http, alarm: (limits[0] > 0 && grpc >= limits[0] * 0.9) || (limits[1] > 0 && http >= limits[1] * 0.9),
      detail: `${whole(grpc)} gRPC of ${whole(limits[0])}, ${whole(http)} HTTP of ${whole(limits[1])}`,
    };
  },
};

// What is computed from a moment and an earlier one, {time, samples} each.
export function between(earlier, later) {
  const passed = (later.time - earlier.time) / 1000;
  const [before, now] = [earlier.samples, later.samples];
  return {before, now, rate: (name, wanted) => (passed > 0 ? grown(before, now, name, wanted) / passed : 0)};
}

// The reasons of rejected_total.
export const REASONS = {
  queue_full: 'too much was waiting', principal_limit: 'the caller had too much waiting', quota: 'the quota was used up',
  message_size: 'the message was too large', cannot_be_met: 'the deadline could not be met', draining: 'the server was shutting down',
  not_loaded: 'the model was not loaded', unauthenticated: 'no valid token was shown', missing_right: 'the caller may not do that',
};
