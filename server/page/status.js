// The page for people without Grafana: what the server remembers of the last hour, and then /metrics every two seconds.

import {json, text} from './api.js';
import {all, moments, parse, quantiles, sum} from './metrics.js';
import {$, duration, element, svg} from './page.js';
import {REASONS, TILES, between, number, translates} from './tiles.js';

const EVERY = 2000; // milliseconds
const WINDOW = 60_000; // of rates
const HOUR = 3_600_000;
const SHORTEST = 300_000; // that lines show, however new the server is
const STEP = 10_000; // between the points of a line

const looks = []; // {time, samples, live} of the last hour; those of /metrics have more than those of the history
const lines = new Map(); // a tile's [{time, at}]
let ahead = 0; // of this clock, the server's
let models = [];
let live = true; // until /metrics turns out to be served elsewhere
let paused = false;

function makeTiles() {
  for (const name of Object.keys(TILES)) {
    const picture = svg('svg', {viewBox: '0 0 360 40', preserveAspectRatio: 'none', 'aria-hidden': 'true'});
    picture.append(svg('path', {class: 'area'}), svg('path', {class: 'line'}));
    $('tiles').append(element('section', {class: 'tile', 'data-name': name},
      element('h2', {}, name), element('div', {class: 'value'}, '–'), element('div', {class: 'detail'}), picture));
    lines.set(name, []);
  }
}

// The moment with which the one at `place` is compared: a minute earlier, or the first one.
function earlier(place, fits = () => true) {
  const {time} = looks[place];
  let found = place;
  for (let i = place - 1; i >= 0 && fits(looks[i]); i--) {
    found = i;
    if (time - looks[i].time >= WINDOW) break;
  }
  return looks[found];
}

// Adds a moment to the lines; between two points of a line there are STEP milliseconds, but the last one is always now.
function addLook(look) {
  const last = looks.length - 1;
  if (last > 0 && looks[last].live && look.time - looks[last - 1].time < STEP && look.time - looks[last].time < STEP) {
    looks.pop();
    for (const line of lines.values()) line.pop();
  }
  looks.push(look);
  while (look.time - looks[0].time > HOUR) {
    looks.shift();
    for (const line of lines.values()) line.shift();
  }
  const compared = between(earlier(looks.length - 1), look);
  for (const [name, tile] of Object.entries(TILES)) lines.get(name).push({time: look.time, at: tile(compared).at});
}

function drawTile(name, {value, detail, most, alarm = false}) {
  const tile = document.querySelector(`[data-name="${name}"]`);
  tile.querySelector('.value').textContent = value;
  tile.querySelector('.detail').textContent = detail;
  tile.classList.toggle('alarm', alarm);
  const line = lines.get(name);
  if (line.length < 2) return;
  const top = most ?? (Math.max(...line.map(({at}) => at)) * 1.15 || 1);
  const end = line[line.length - 1].time;
  const span = Math.max(SHORTEST, end - line[0].time);
  const x = (time) => (360 * (1 - (end - time) / span)).toFixed(2);
  const points = line.map(({time, at}) => `${x(time)} ${(38 - 36 * Math.min(1, at / top)).toFixed(1)}`);
  const [area, stroke] = tile.querySelectorAll('path');
  stroke.setAttribute('d', `M${points.join('L')}`);
  area.setAttribute('d', `M${x(line[0].time)} 40L${points.join('L')}L360 40Z`);
}

// "3 min", "5 h 12 min", "3 days".
function age(seconds) {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1) return `${Math.max(0, Math.round(seconds))} s`;
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.floor(minutes / 1440)} days`;
}

const ageOf = (timestamp) => age((Date.now() + ahead) / 1000 - timestamp);

function draw() {
  const place = looks.length - 1;
  const now = looks[place].samples;
  const compared = between(earlier(place), looks[place]);
  for (const [name, look] of Object.entries(TILES)) drawTile(name, look(compared));
  drawRefused(compared);
  if (!looks[place].live) return;
  drawModels(between(earlier(place, (look) => look.live), looks[place]));
  const [build] = all(now, 'build_info');
  const started = sum(now, 'process_start_time_seconds');
  $('version').textContent = [build && `version ${build.labels.version}`, started && `up for ${ageOf(started)}`].filter(Boolean).join(', ');
  if (started) $('version').title = `since ${new Date(started * 1000 - ahead).toLocaleString()}`;
}

function drawRefused({now, rate}) {
  const [first, last] = [looks[0], looks[looks.length - 1]];
  const hour = between(first, last);
  const passed = (last.time - first.time) / 1000;
  const rows = all(now, 'rejected_total').filter(({value}) => value > 0).sort((a, b) => b.value - a.value).map(({labels, value}) => {
    const same = {reason: labels.reason};
    const counts = [rate('rejected_total', same) * Math.min(60, passed), hour.rate('rejected_total', same) * passed, value];
    return element('tr', {}, element('td', {}, REASONS[labels.reason] ?? labels.reason),
      ...counts.map((count) => element('td', {class: 'number'}, Math.round(count).toLocaleString('en'))));
  });
  $('refused-none').hidden = rows.length > 0;
  $('refused-scroll').hidden = rows.length === 0;
  $('refused').replaceChildren(...rows);
}

function drawModels({before, now, rate}) {
  const infos = new Map(all(now, 'model_info').map(({labels}) => [labels.model, labels]));
  const loaded = new Map(all(now, 'model_loaded_timestamp_seconds').map(({labels, value}) => [`${labels.model} ${labels.version}`, value]));
  const known = new Map(models.map((model) => [model.name, model]));
  const rows = [...new Set([...known.keys(), ...infos.keys()])].map((name) => {
    const model = known.get(name) || {};
    const info = infos.get(name) || {};
    const ofModel = {...translates, model: name};
    const times = quantiles(before, now, 'request_duration_seconds', [0.5, 0.99], ofModel);
    const pairs = model.languagePairs || [];
    const languages = pairs.length === 1 ? `${pairs[0].source} → ${pairs[0].target}`
      : `${(model.sourceLanguages || []).length || '–'} → ${(model.targetLanguages || []).length || '–'}`;
    const cells = [versions(model, loaded), model.architecture || '–', languages, [info.precision, info.isa].filter(Boolean).join(', ') || '–'];
    const numbers = [number(rate('requests_total', ofModel)), times ? duration(times[0]) : '–', times ? duration(times[1]) : '–'];
    const labels = [...document.querySelectorAll('#models-head th')].map(({textContent}) => textContent);
    return element('tr', {}, element('th', {scope: 'row'}, name), ...[...cells, ...numbers].map((cell, i) =>
      element('td', {'data-label': labels[i + 1], class: i < cells.length ? '' : 'number'}, cell)));
  });
  $('models').replaceChildren(...rows);
}

// "9b2cea498546, 3 h 12 min old"; also those that are tried out, are loading, or could not be loaded.
function versions({name, version, versions: listed = []}, loaded) {
  const all = listed.length ? listed : [{version, label: 'stable', state: 'STATE_READY'}];
  return element('span', {class: 'versions'}, ...all.map(({label, version: id = '', state, percent: share, failure}) => {
    const since = loaded.get(`${name} ${id}`);
    const words = [id.slice(0, 12) || '–', since && `loaded ${ageOf(since)} ago`, label !== 'stable' && `${label} ${share ?? 0} %`,
      state !== 'STATE_READY' && (state ?? '').replace('STATE_', '').toLowerCase(), failure];
    return element('span', {}, words.filter(Boolean).join(', '));
  }));
}

function show(state, words) {
  if ($('state-text').textContent !== words) {
    $('state-text').textContent = words;
    $('spoken').textContent = words;
  }
  $('light').dataset.state = state;
  document.body.classList.toggle('unreachable', state === 'down');
}

// What the server remembers.
async function lookBack(signal) {
  const history = await json('metrics/history', undefined, signal);
  ahead = history.now * 1000 - Date.now();
  looks.length = 0;
  for (const line of lines.values()) line.length = 0;
  for (const moment of moments(history)) addLook(moment);
}

async function look() {
  const signal = AbortSignal.timeout(5000);
  try {
    const last = looks[looks.length - 1];
    // Also after a pause, and if only the history is served here.
    if (!last || !live || Date.now() + ahead - last.time > 3 * STEP) {
      await lookBack(signal).catch((error) => { if (!error.code || error.code === 'offline') throw error; });
    }
    if (live) {
      const samples = await text('metrics', signal).then(parse, (error) => { if (error.code === 'offline') throw error; });
      live = Boolean(samples);
      if (samples) addLook({time: Date.now() + ahead, samples, live});
    }
    if (looks.length) draw();
    const [ready, why] = await text('readyz', signal).then(() => [true, ''], (error) => [false, error.message]);
    show(ready ? 'ready' : 'waiting', ready ? 'Ready' : why.startsWith('not ready') ? why : 'Not ready: loading or draining');
    if (ready && (models.length === 0 || look.count++ % 15 === 0)) models = (await json('v1/models', undefined, signal)).models || [];
  } catch (error) {
    if (error.code === 16) return; // only the list of models needs a token
    show('down', 'The server cannot be reached');
  }
}
look.count = 0;

$('pause').addEventListener('click', () => {
  paused = !paused;
  $('pause').textContent = paused ? 'Resume' : 'Pause';
  $('pause').setAttribute('aria-pressed', String(paused));
});

makeTiles();
(async () => {
  for (let first = true; ; first = false) {
    if (!paused && !document.hidden) await look();
    // The first rate needs two samples, so take the second one soon.
    await new Promise((done) => setTimeout(done, first ? 700 : live ? EVERY : STEP));
  }
})();
