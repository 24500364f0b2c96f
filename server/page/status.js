// The page for people without Grafana: reads /metrics every two seconds and draws it.

import {json, text} from './api.js';
import {grown, parse, quantiles, sum} from './metrics.js';
import {$, duration, element, percent, svg} from './page.js';

const EVERY = 2000; // milliseconds
const KEPT = 150; // samples: five minutes
const WINDOW = 30; // samples: one minute

const translates = {method: (method) => (method ?? '').startsWith('Translate')};
const looks = []; // {time, samples}
const lines = new Map(); // a tile's values over time
let models = [];
let paused = false;

const number = (value) => (value >= 100 ? Math.round(value).toLocaleString('en') : value >= 10 || value === 0 ? value.toFixed(0) : value.toFixed(1));
const bytes = (value) => {
  const unit = value >= 2 ** 30 ? [2 ** 30, 'GiB'] : [2 ** 20, 'MiB'];
  return `${(value / unit[0]).toFixed(value > 0 && value / unit[0] < 10 ? 1 : 0)} ${unit[1]}`;
};

// Each computes {value (text), detail, at (a number for the chart), alarm} from two samples.
const TILES = {
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
    const failed = rate('requests_total', {...translates, code: (code) => ['INTERNAL', 'UNAVAILABLE', 'DEADLINE_EXCEEDED'].includes(code)});
    return {
      value: `${number((refused + failed) * 60)}/min`, at: refused + failed, alarm: refused + failed > 0,
      detail: refused + failed > 0 ? `${number(refused * 60)} refused, ${number(failed * 60)} failed` : 'none',
    };
  },
  'Workers busy': ({now, rate}) => {
    const workers = (now.get('dragoman_engine_busy_seconds_total') || []).length || 1;
    const busy = Math.min(1, rate('engine_busy_seconds_total') / workers);
    return {value: percent(busy), at: busy, most: 1, detail: `${workers} worker${workers === 1 ? '' : 's'}`};
  },
  'Rows in a batch': ({before, now}) => {
    const decode = {phase: 'decode'};
    const steps = grown(before, now, 'batch_rows_count', decode);
    const rows = steps ? grown(before, now, 'batch_rows_sum', decode) / steps : 0;
    const limit = Math.max(0, ...(now.get('dragoman_batch_rows_limit') || []).map(({value}) => value));
    return {value: number(rows), at: rows, most: limit || undefined, detail: limit ? `${percent(rows / limit)} of ${limit}` : 'in a decoder step'};
  },
  'Waiting requests': ({now}) => {
    const interactive = {priority: 'interactive'};
    const [waiting, limit] = [sum(now, 'queue_requests', interactive), sum(now, 'queue_requests_limit')];
    const age = sum(now, 'queue_oldest_age_seconds', interactive);
    const batch = sum(now, 'queue_requests', {priority: 'batch'});
    return {
      value: number(waiting).replace('.0', ''), at: waiting, most: undefined, alarm: limit > 0 && waiting >= limit * 0.9,
      detail: `of ${limit.toLocaleString('en')}${waiting ? `, the first for ${duration(age)}` : ''}; ${batch.toLocaleString('en')} of batch work`,
    };
  },
  'K/V memory': ({now}) => {
    const [used, most] = [sum(now, 'kv_cache_bytes'), sum(now, 'kv_cache_capacity_bytes')];
    return {value: bytes(used), at: used, most: most || undefined, alarm: most > 0 && used > most * 0.95, detail: `of ${bytes(most)}; ${bytes(sum(now, 'kv_cache_resident_bytes'))} held`};
  },
};

function makeTiles() {
  for (const name of Object.keys(TILES)) {
    const picture = svg('svg', {viewBox: `0 0 ${KEPT - 1} 40`, preserveAspectRatio: 'none', 'aria-hidden': 'true'});
    picture.append(svg('path', {class: 'area'}), svg('path', {class: 'line'}));
    const tile = element('section', {class: 'tile', 'data-name': name},
      element('h2', {}, name), element('div', {class: 'value'}, '–'), element('div', {class: 'detail'}), picture);
    $('tiles').append(tile);
    lines.set(name, []);
  }
}

function drawTile(name, {value, detail, at, most, alarm = false}) {
  const tile = document.querySelector(`[data-name="${name}"]`);
  tile.querySelector('.value').textContent = value;
  tile.querySelector('.detail').textContent = detail;
  tile.classList.toggle('alarm', alarm);
  const line = lines.get(name);
  if (looks.length > 1) line.push(at); // a single sample has no rates
  if (line.length > KEPT) line.shift();
  if (line.length < 2) return;
  const top = most ?? (Math.max(...line) * 1.15 || 1);
  const points = line.map((y, i) => `${KEPT - line.length + i} ${(38 - 36 * Math.min(1, y / top)).toFixed(1)}`);
  const [area, stroke] = tile.querySelectorAll('path');
  stroke.setAttribute('d', `M${points.join('L')}`);
  area.setAttribute('d', `M${KEPT - line.length} 40L${points.join('L')}L${KEPT - 1} 40Z`);
}

function draw() {
  const last = looks[looks.length - 1];
  const first = looks[Math.max(0, looks.length - 1 - WINDOW)];
  const passed = (last.time - first.time) / 1000;
  const [before, now] = [first.samples, last.samples];
  const rate = (name, wanted) => (passed > 0 ? grown(before, now, name, wanted) / passed : 0);
  for (const [name, look] of Object.entries(TILES)) drawTile(name, look({before, now, rate}));
  drawModels(before, now, rate);
  const build = (now.get('dragoman_build_info') || [])[0];
  $('version').textContent = build ? `version ${build.labels.version}` : '';
}

function drawModels(before, now, rate) {
  const infos = new Map((now.get('dragoman_model_info') || []).map(({labels}) => [labels.model, labels]));
  const known = new Map(models.map((model) => [model.name, model]));
  const rows = [...new Set([...known.keys(), ...infos.keys()])].map((name) => {
    const model = known.get(name) || {};
    const info = infos.get(name) || {};
    const ofModel = {...translates, model: name};
    const times = quantiles(before, now, 'request_duration_seconds', [0.5, 0.99], ofModel);
    const pairs = model.languagePairs || [];
    const languages = pairs.length === 1 ? `${pairs[0].source} → ${pairs[0].target}`
      : `${(model.sourceLanguages || []).length || '–'} → ${(model.targetLanguages || []).length || '–'}`;
    const cells = [name, (model.version || '–').slice(0, 12), model.architecture || '–', languages,
      [info.precision, info.isa].filter(Boolean).join(', ') || '–'];
    const numbers = [number(rate('requests_total', ofModel)), times ? duration(times[0]) : '–', times ? duration(times[1]) : '–'];
    return element('tr', {}, ...cells.map((cell) => element('td', {}, cell)),
      ...numbers.map((cell) => element('td', {class: 'number'}, cell)));
  });
  $('models').replaceChildren(...rows);
}

function show(state, words) {
  if ($('state-text').textContent !== words) {
    $('state-text').textContent = words;
    $('spoken').textContent = words;
  }
  $('light').dataset.state = state;
  document.body.classList.toggle('unreachable', state === 'down');
}

async function look() {
  const signal = AbortSignal.timeout(5000);
  try {
    const samples = parse(await text('metrics', signal));
    looks.push({time: performance.now(), samples});
    if (looks.length > KEPT) looks.shift();
    draw();
    const [ready, why] = await text('readyz', signal).then(() => [true, ''], (error) => [false, error.message]);
    show(ready ? 'ready' : 'waiting', ready ? 'Ready' : why.startsWith('not ready') ? why : 'Not ready: loading or draining');
    if (ready && (models.length === 0 || looks.length % 15 === 0)) models = (await json('v1/models', undefined, signal)).models || [];
  } catch (error) {
    if (error.code === 16) return; // only the list of models needs a token
    show('down', 'The server cannot be reached');
  }
}

$('pause').addEventListener('click', () => {
  paused = !paused;
  $('pause').textContent = paused ? 'Resume' : 'Pause';
  $('pause').setAttribute('aria-pressed', String(paused));
});

makeTiles();
(async () => {
  for (;;) {
    if (!paused && !document.hidden) await look();
    // The first rate needs two samples, so take the second one soon.
    await new Promise((done) => setTimeout(done, looks.length < 2 ? 700 : EVERY));
  }
})();
