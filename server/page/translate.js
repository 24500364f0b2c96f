// The page for trying out the server: text is translated while it is typed.

import {ApiError, CODES, events, json, seconds, token} from './api.js';
import {AttentionPicture} from './attention.js';
import {Languages, nameOf} from './languages.js';
import {$, copyText, duration, element, percent} from './page.js';
import {snippets} from './snippets.js';
import {SURE, attentionOf, drawMirror, drawWords, understand} from './words.js';

const TYPING_PAUSE = 250; // milliseconds
const EXAMPLES = ['Good morning! How are you?', 'Where is the nearest train station?', 'I would like a cup of coffee.'];
// Vocabulary sizes: the built-in model has 8,001, models for real texts have 30,000 or more.
const TOY_VOCABULARY = 10_000;
const STAGES = [['tokenize', '#7a6fd0'], ['queue', '#b0843a'], ['encode', '#2f8f9d'], ['decode', '#3c9a5f'], ['detokenize', '#c2607f']];

const source = $('source');
const output = $('output');
const languages = new Languages(() => { showToy(); translate(); });
const picture = new AttentionPicture((targetToken) => lookAtToken(targetToken));

let running = null; // the AbortController of the current translation
let retryTimer = null;
let understood = null;
let buttons = [];
let streams = true; // until the server reports that it does not stream
const noAttention = new Set(); // models that do not return it

source.addEventListener('input', () => {
  onTyped();
  clearTimeout(onTyped.timer);
  onTyped.timer = setTimeout(translate, TYPING_PAUSE);
});
source.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) translate();
});
$('alternatives').addEventListener('change', translate);
$('languages').addEventListener('submit', (event) => event.preventDefault());
$('clear').addEventListener('click', () => { source.value = ''; onTyped(); translate(); source.focus(); });
$('copy').addEventListener('click', () => copyText(understood?.text ?? '', $('copy')));
$('problem-retry').addEventListener('click', () => start());
$('token-form').addEventListener('submit', (event) => {
  event.preventDefault();
  token.set($('token').value.trim());
  $('token-form').hidden = true;
  start();
});

function onTyped() {
  const characters = [...source.value].length;
  $('count').textContent = `${characters.toLocaleString('en')} character${characters === 1 ? '' : 's'}`;
  $('clear').hidden = characters === 0;
  drawMirror($('mirror'), source.value, null, null);
}

function request(text) {
  const hypotheses = Number($('alternatives').value);
  const asked = {contents: [text], ...languages.fields()};
  if (hypotheses > 1) asked.options = {beamSize: Math.max(4, hypotheses), numHypotheses: hypotheses};
  return asked;
}

// The events of one translation, whether the server streams or not.
async function* translation(asked, signal) {
  const model = languages.current()?.name ?? '';
  const output = {tokens: true, tokenScores: true};
  if (!noAttention.has(model)) Object.assign(output, {alignments: true, attention: true});
  const body = {...asked, output};
  try {
    if (streams) {
      for await (const {data} of events('v1/translate:stream', body, signal)) yield data;
    } else {
      const {translations, ...summary} = await json('v1/translate', body, signal);
      yield {translation: translations[0]};
      yield {summary};
    }
  } catch (error) {
    if ([CODES.unimplemented, CODES.notFound].includes(error.code) && streams) {
      streams = false;
    } else if ([CODES.failedPrecondition, CODES.unimplemented].includes(error.code) && output.alignments) {
      noAttention.add(model);
    } else {
      throw error;
    }
    yield* translation(asked, signal);
  }
}

async function translate() {
  running?.abort();
  clearTimeout(retryTimer);
  const text = source.value;
  if (!text.trim()) return showEmpty();
  if (languages.models.length === 0) return;
  const mine = running = new AbortController();
  const began = performance.now();
  const asked = request(text);
  output.classList.add('stale');
  const slow = setTimeout(() => { $('state').textContent = 'Translating…'; }, 300);
  let streamed = '';
  let done = false;
  try {
    for await (const {stableText, translation: whole, summary} of translation(asked, mine.signal)) {
      if (mine.signal.aborted) return;
      if (stableText) showPart(streamed += stableText);
      if (whole) {
        done = true;
        showWhole(whole, text, asked);
      }
      if (summary) showTiming(summary, whole);
    }
    if (!done) throw new ApiError(CODES.unavailable, 'The response ended too early.');
    $('state').textContent = `Translated in ${duration((performance.now() - began) / 1000)}`;
    showProblem(null);
  } catch (error) {
    if (error.name !== 'AbortError' && !mine.signal.aborted) showProblem(error, translate);
  } finally {
    clearTimeout(slow);
    if (running === mine) {
      running = null;
      output.classList.remove('stale');
      output.style.minHeight = '';
    }
  }
}

function showEmpty() {
  understood = null;
  output.replaceChildren();
  output.classList.remove('stale');
  $('state').textContent = '';
  $('copy').hidden = true;
  $('legend').hidden = true;
  $('details').hidden = true;
  $('examples').hidden = false;
  showProblem(null);
}

function showPart(text) {
  $('examples').hidden = true;
  // Keeps the height, so that nothing below jumps while the text grows again.
  output.style.minHeight = `${output.offsetHeight}px`;
  output.classList.remove('stale');
  output.lang = languages.target.value;
  output.replaceChildren(text);
}

function showWhole(whole, text, asked) {
  const [best, ...others] = whole.hypotheses;
  $('examples').hidden = true;
  output.classList.remove('stale');
  output.lang = languages.target.value;
  understood = understand(best, text);
  understood.source = text;
  understood.targetCount = (best.tokens || []).length;
  understood.sourceCount = whole.sourceTokens || 0;
  buttons = drawWords(output, understood, lookAtWord);
  picture.set(understood);
  $('copy').hidden = false;
  $('legend').hidden = !understood.words.some(({sure}) => sure !== null && sure < SURE);
  $('details').hidden = false;
  $('spoken').textContent = understood.text;
  $('alternatives-section').hidden = others.length === 0;
  $('alternatives-list').replaceChildren(...others.map(({text: other = '', score = 0}) =>
    element('li', {}, element('span', {lang: output.lang}, other),
      element('span', {class: 'sure', title: 'probability of a token on average'}, percent(Math.exp(score))))));
  if (whole.detectedLanguage) {
    $('count').textContent = `${nameOf(whole.detectedLanguage)} (${percent(whole.detectionConfidence || 0)} sure)`;
  }
  showSnippets(asked);
}

function lookAtWord(word, button) {
  for (const other of buttons) other.classList.remove('looked-at');
  if (understood?.source !== source.value) return;
  drawMirror($('mirror'), source.value, understood, word && attentionOf(understood, word.tokens));
  if (word) button.classList.add('looked-at');
}

function lookAtToken(token) {
  const index = token === null ? -1 : understood.words.findIndex((word) => word.tokens.includes(token));
  if (index < 0) return lookAtWord(null);
  lookAtWord({tokens: [token]}, buttons[index]);
}

function showTiming({timing, model, modelVersion = '', isa = ''}) {
  if (!timing) return;
  const parts = STAGES.map(([name, colour]) => ({
    name, colour,
    time: seconds(timing[name]) + (timing.steps || []).reduce((sum, step) => sum + seconds(step[name]), 0),
  }));
  const all = parts.reduce((sum, {time}) => sum + time, 0) || 1;
  $('stages').replaceChildren(...parts.map(({colour, time}) => {
    const bar = element('span');
    bar.style.setProperty('--part', (time / all).toFixed(4));
    bar.style.setProperty('--colour', colour);
    return bar;
  }));
  const figure = (name, value, colour) => {
    const dot = colour ? [element('i')] : [];
    if (colour) dot[0].style.setProperty('--colour', colour);
    return element('div', {}, element('dt', {}, ...dot, name), element('dd', {}, value));
  };
  const total = seconds(timing.total);
  const figures = parts.map(({name, colour, time}) => figure(name, duration(time), colour));
  figures.push(figure('in the server', duration(total)));
  if (understood?.targetCount && total) {
    figures.push(figure('tokens', `${understood.sourceCount} → ${understood.targetCount}`),
      figure('tokens a second', Math.round(understood.targetCount / total).toLocaleString('en')));
  }
  figures.push(figure('model', model || ''));
  if (isa) figures.push(figure('arithmetic', isa));
  $('figures').replaceChildren(...figures);
  $('figures').title = modelVersion && `model version ${modelVersion}`;
  $('timing-section').hidden = false;
}

function showSnippets(asked) {
  const texts = snippets(asked, Boolean(token.get()));
  const tabs = ['curl', 'grpcurl', 'python'].map((name) => $(`tab-${name}`));
  const choose = (tab) => {
    for (const other of tabs) {
      other.setAttribute('aria-selected', String(other === tab));
      other.tabIndex = other === tab ? 0 : -1;
    }
    $('snippet').textContent = texts[tab.id.slice(4)];
    $('snippet').setAttribute('aria-labelledby', tab.id);
  };
  tabs.forEach((tab, index) => {
    tab.onclick = () => choose(tab);
    tab.onkeydown = (event) => {
      const to = tabs[(index + {ArrowRight: 1, ArrowLeft: tabs.length - 1}[event.key]) % tabs.length];
      if (!to) return;
      event.preventDefault();
      choose(to);
      to.focus();
    };
  });
  choose(tabs.find((tab) => tab.getAttribute('aria-selected') === 'true'));
  $('copy-snippet').onclick = () => copyText($('snippet').textContent, $('copy-snippet'));
}

// Shows an error; a temporary one is retried with `again`, after the delay that the server names or soon.
function showProblem(error, again) {
  clearTimeout(retryTimer);
  $('problem').hidden = !error || error.code === CODES.unauthenticated;
  if (!error) return;
  $('state').textContent = '';
  if (error.code === CODES.unauthenticated) {
    const wrong = Boolean(token.get());
    $('token-form').querySelector('label').textContent = wrong ? 'The server does not know this token' : 'This server requires a token';
    $('token-form').hidden = false;
    $('token').focus();
    return;
  }
  const passes = ['offline', CODES.resourceExhausted, CODES.unavailable].includes(error.code);
  const what = {
    [CODES.resourceExhausted]: 'The server is busy.', [CODES.deadlineExceeded]: 'It took too long.',
  }[error.code] ?? error.message ?? String(error);
  $('problem-text').textContent = what;
  if (!passes || !again) return;
  showProblem.pause = error.retryAfter ?? Math.min(10, (showProblem.pause ?? 1) * 2);
  const until = Date.now() + showProblem.pause * 1000;
  const tick = () => {
    const left = Math.ceil((until - Date.now()) / 1000);
    if (left <= 0) return again();
    $('problem-text').textContent = `${what} Trying again in ${left} s.`;
    retryTimer = setTimeout(tick, 250);
  };
  tick();
}

function showToy() {
  const {name, vocabularySize = Infinity} = languages.current() ?? {};
  $('toy').hidden = vocabularySize >= TOY_VOCABULARY;
  if ($('toy').hidden) return;
  $('toy').replaceChildren(`${name} is a toy: a small model of ${vocabularySize.toLocaleString('en')} tokens for short everyday ` +
    'sentences. It shows the server at work. For real texts fetch a real model by ', element('code', {}, 'dragoman pull'), '.');
}

function showExamples() {
  if (languages.source.value !== 'en') return $('examples').replaceChildren();
  $('examples').replaceChildren(...EXAMPLES.map((text) => {
    const button = element('button', {type: 'button'}, text);
    button.addEventListener('click', () => { source.value = text; onTyped(); translate(); source.focus(); });
    return button;
  }));
}

async function start() {
  try {
    const {models = []} = await json('v1/models');
    languages.set(models);
    showProblem(models.length ? null : new ApiError(CODES.notFound, 'This server has no models.'));
    showToy();
    showExamples();
    translate();
  } catch (error) {
    showProblem(error, start);
  }
}

onTyped();
start();
