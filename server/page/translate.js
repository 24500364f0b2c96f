// The page for trying out the server: text is translated while it is typed.

import {ApiError, CODES, json, token} from './api.js';
import {AttentionPicture} from './attention.js';
import {showSnippets, showTiming} from './experts.js';
import {Choices} from './choices.js';
import {Corrections} from './correct.js';
import {Files} from './file.js';
import {Glossary} from './glossary.js';
import {Heads} from './heads.js';
import {AUTO, Languages, nameOf} from './languages.js';
import {addressed, remember, remembered} from './memory.js';
import {$, copyText, duration, element, percent} from './page.js';
import {Problem} from './problem.js';
import {LONGEST_PICTURE, request, translation} from './request.js';
import {LinkedScroll} from './scroll.js';
import {count, localize, t} from './strings.js';
import {attentionOf, drawMirror, drawWords, pairsOf, replaceSentence, sentencesOf, understand} from './words.js';

localize();

const TYPING_PAUSE = 250; // milliseconds
const EXAMPLES = ['Good morning! How are you?', 'Where is the nearest train station?', 'I would like a cup of coffee.'];
const EXAMPLES_IN = {
  en: EXAMPLES, de: ['Kannst du mir helfen, diesen Satz zu übersetzen?'],
  es: ['Me gustaría una taza de café.', 'De nada'], fr: ['Je suis étudiant.', 'Merci.'],
};
// Vocabulary sizes: the built-in model has 8,004, models for real texts have 30,000 or more.
const TOY_VOCABULARY = 10_000;
const FOLDS = ['options', 'attention-section', 'timing-section', 'program-section'];

const source = $('source');
const output = $('output');
const languages = new Languages(() => { showToy(); showExamples(); translate(); }, exchange);
const heads = new Heads(new AttentionPicture((token) => lookAtToken(token)));
const glossary = new Glossary(translate);
const corrections = new Corrections(translate, () => (understood?.source === source.value && !lastAsked.markup ? pairsOf(understood) : null));
const choices = new Choices(follow);
const files = new Files(() => languages.fields());
const problem = new Problem();
const linked = new LinkedScroll([$('source-scroller'), $('target-scroller')], [$('mirror'), output]);

let running = null; // the AbortController of the current translation
let understood = null;
let drawn = []; // the elements of its words
let lastAsked = {}; // the request for what is understood, with the language that was detected
let limit = Infinity; // characters that the server translates at once
let grpcPort = '50051';

source.addEventListener('input', () => {
  onTyped();
  clearTimeout(onTyped.timer);
  onTyped.timer = setTimeout(translate, TYPING_PAUSE);
});
source.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) translate();
});
for (const id of ['alternatives', 'html']) $(id).addEventListener('change', translate);
$('doubts').addEventListener('change', () => { showDoubts(); keep(); });
$('languages').addEventListener('submit', (event) => event.preventDefault());
$('clear').addEventListener('click', () => { write(''); source.focus(); });
$('copy').addEventListener('click', () => copyText(understood?.text ?? '', $('copy')));
$('share').addEventListener('click', share);
$('save').addEventListener('click', () => {
  URL.revokeObjectURL($('save').href);
  $('save').href = URL.createObjectURL(new Blob([understood?.text ?? ''], {type: 'text/plain'}));
  $('save').download = ['translation', languages.target.value, lastAsked.markup ? 'html' : 'txt'].filter(Boolean).join('.');
});
$('problem-retry').addEventListener('click', () => start());
$('token-form').addEventListener('submit', (event) => {
  event.preventDefault();
  token.set($('token').value.trim());
  $('token-form').hidden = true;
  start();
});
addEventListener('hashchange', ({newURL}) => {
  // The address itself may have been replaced since.
  const said = addressed(new URL(newURL).hash);
  languages.choose(said);
  if (said.html !== undefined) $('html').checked = said.html;
  write(said.text ?? source.value);
});

// Sets the text and translates it.
function write(text) {
  source.value = text;
  onTyped();
  translate();
}

// After the languages have changed places, the texts do.
function exchange() {
  const before = source.value;
  const after = understood && understood.source === before ? understood.text : before;
  source.value = after;
  onTyped();
  if (after !== before) showPart(before);
  showToy();
  translate();
}

const charactersOf = (text) => [...text].length;

function onTyped() {
  const characters = charactersOf(source.value);
  const shown = limit < Infinity ? t('{0} of {1}', count(characters), count(limit)) : count(characters);
  $('count').replaceChildren(shown, element('span', {class: 'unit'}, t(' characters')));
  $('count').classList.toggle('over', characters > limit);
  $('clear').hidden = characters === 0;
  for (const id of ['examples', 'formats']) $(id).hidden = characters > 0;
  choices.close();
  drawMirror($('mirror'), source.value, null, null);
}

async function translate() {
  running?.abort();
  clearTimeout(onTyped.timer);
  const text = source.value;
  keep();
  if (!text.trim()) return showNothing();
  if (charactersOf(text) > limit) return showNothing(new ApiError(CODES.invalidArgument, `more than ${limit} characters`));
  if (languages.models.length === 0) return;
  const mine = running = new AbortController();
  const began = performance.now();
  const asked = request(text, languages.fields());
  output.classList.add('stale');
  const slow = setTimeout(() => { $('state').textContent = t('Translating…'); }, 300);
  let streamed = '';
  let done = null;
  try {
    for await (const {stableText, translation: whole, summary} of translation(asked, languages.current()?.name ?? '', mine.signal)) {
      if (mine.signal.aborted) return;
      if (stableText) showPart(streamed += stableText);
      if (whole) showWhole(done = whole, text, asked);
      if (summary) showSummary(summary);
    }
    if (!done) throw new ApiError(CODES.unavailable, 'The response ended too early.');
    showOutcome(done, text, duration((performance.now() - began) / 1000));
    problem.show(null);
  } catch (error) {
    if (error.name !== 'AbortError' && !mine.signal.aborted) {
      $('state').textContent = '';
      problem.show(error, translate);
    }
  } finally {
    clearTimeout(slow);
    if (running === mine) {
      running = null;
      output.classList.remove('stale');
      output.style.minHeight = '';
    }
  }
}

// Without a text to translate, or with an error about it.
function showNothing(error = null) {
  understood = null;
  output.replaceChildren();
  output.classList.remove('stale');
  output.style.minHeight = '';
  $('state').textContent = '';
  for (const id of ['remark', 'unmet', 'correct', 'correct-form', 'copy', 'share', 'save', 'doubts-label', 'details', 'alternatives-section']) $(id).hidden = true;
  languages.setDetected(null);
  showExamples();
  problem.show(error);
}

function showPart(text) {
  // Keeps the height, so that nothing below jumps while the text grows again.
  output.style.minHeight = `${output.offsetHeight}px`;
  output.classList.remove('stale');
  output.lang = languages.target.value;
  output.replaceChildren(text);
}

function showWhole(whole, text, asked) {
  const [best, ...others] = whole.hypotheses;
  output.classList.remove('stale');
  output.lang = languages.target.value;
  languages.setDetected(whole.detectedLanguage || null, whole.detectionConfidence);
  source.lang = asked.sourceLanguage === AUTO ? whole.detectedLanguage || '' : asked.sourceLanguage || '';
  lastAsked = asked.sourceLanguage === AUTO ? {...asked, sourceLanguage: whole.detectedLanguage} : asked;
  understood = understand(best, text);
  understood.source = text;
  understood.sentences = sentencesOf(whole.sentences ?? [], text, understood.text);
  understood.targetCount = (best.tokens || []).length;
  understood.sourceCount = whole.sourceTokens || 0;
  showWords();
  heads.set(understood, asked);
  $('attention-section').hidden = understood.links.every((links) => links.length === 0);
  $('attention-hint').hidden = text.length <= LONGEST_PICTURE;
  for (const id of ['copy', 'share', 'save', 'details']) $(id).hidden = false;
  $('alternatives-section').hidden = others.length === 0;
  $('alternatives-list').replaceChildren(...others.map(({text: other = '', score = 0}) =>
    element('li', {}, element('span', {lang: output.lang, dir: 'auto'}, other),
      element('span', {class: 'sure', title: t('probability of a token on average')}, percent(Math.exp(score))))));
  glossary.mark(understood, drawn, whole.glossaryUnmet ?? [], {source: lastAsked.sourceLanguage, target: lastAsked.targetLanguage});
  showSnippets(asked, grpcPort);
}

function showWords() {
  drawn = drawWords(output, understood, lookAtWord, (word, node) => choices.open(understood, word, node, lastAsked));
  linked.set(understood.sentences.map(({sourceBegin, begin}) => [sourceBegin, begin]));
  $('spoken').textContent = understood.text;
  showDoubts();
  corrections.close();
}

// After a word was chosen: its sentence is another one.
function follow(sentence, part) {
  understood = replaceSentence(understood, sentence, part);
  showWords();
  heads.set(understood, lastAsked);
  glossary.mark(understood, drawn, [], {source: lastAsked.sourceLanguage, target: lastAsked.targetLanguage});
  $('state').textContent = t('As you chose');
  for (const id of ['alternatives-section', 'attention-section']) $(id).hidden = true;
}

// The address of this page has the languages and the text.
async function share() {
  try {
    if (navigator.share) await navigator.share({url: location.href});
    else await copyText(location.href, $('share'), t('Link copied'));
  } catch {
    // It was called off.
  }
}

function showSummary(summary) {
  showTiming(summary, understood);
  heads.offer(languages.models.find(({name}) => name === summary.model) ?? null);
}

// What the reader is told when all is done: also that nothing was.
function showOutcome({detectedLanguage: detected}, text, took) {
  const target = languages.target.value;
  const same = understood.text.trim() === text.trim();
  const already = same && detected === target;
  const nothing = understood.text.trim() ? t('Nothing in this text was translated') : t('The model found no words for this text');
  $('state').textContent = already ? '' : same || !understood.text.trim() ? nothing : t('Translated in {0}', took);
  $('remark').hidden = !already;
  if (!already) return;
  const others = [...languages.targets(detected)].filter((tag) => tag !== target).slice(0, 6);
  $('remark').replaceChildren(t('This is {0} already. ', nameOf(target)), ...(others.length ? [t('Translate it into ')] : []),
    ...others.map((tag) => {
      const button = element('button', {type: 'button', class: 'quiet'}, nameOf(tag));
      button.addEventListener('click', () => { languages.choose({target: tag}); translate(); source.focus(); });
      return button;
    }));
}

function showDoubts() {
  $('doubts-label').hidden = !understood?.words.some(({doubtful}) => doubtful);
  output.classList.toggle('plain', !$('doubts').checked);
}

function lookAtWord(word, node) {
  for (const other of drawn) other.classList.remove('looked-at');
  if (understood?.source !== source.value) return;
  drawMirror($('mirror'), source.value, understood, word && attentionOf(understood, word.tokens));
  if (!word) return;
  node.classList.add('looked-at');
  if (document.activeElement === output) $('spoken').textContent = node.textContent + (word.sure === null ? '' : `, ${t('{0} sure', percent(word.sure))}`);
}

// A row of the picture: a token of the translation, or of the source, which looks at the source.
function lookAtToken(token) {
  const {view} = heads;
  heads.look(token);
  lookAtWord(null);
  if (token === null || understood?.source !== source.value) return;
  drawMirror($('mirror'), source.value, view, attentionOf(view, [token]));
  if (view.targetTokens !== understood.targetTokens) return;
  drawn[understood.words.findIndex((word) => word.tokens.includes(token))]?.classList.add('looked-at');
}

function showToy() {
  const {name, vocabularySize = Infinity} = languages.current() ?? {};
  $('toy').hidden = vocabularySize >= TOY_VOCABULARY;
  if ($('toy').hidden) return;
  $('toy').replaceChildren(t('{0} is a toy: a small model of {1} tokens for short everyday sentences. It shows the server at work. ' +
    'For real texts fetch a real model by ', name, count(vocabularySize)), element('code', {}, 'dragoman pull'), '.');
}

// Examples in the chosen language, or in one that can be translated; never over a text.
function showExamples() {
  $('examples').hidden = source.value !== '';
  const [from, to] = [languages.source.value, languages.target.value];
  const tag = Object.keys(EXAMPLES_IN).find((one) => [one, AUTO].includes(from) && languages.targets(one).has(to));
  $('examples').replaceChildren(...(EXAMPLES_IN[tag] || []).map((text) => {
    const button = element('button', {type: 'button', lang: tag, dir: 'auto'}, text);
    button.addEventListener('click', () => { write(text); source.focus(); });
    return button;
  }));
}

function keep() {
  if (languages.models.length === 0) return;
  remember({
    source: languages.source.value, target: languages.target.value, recent: languages.recent, model: languages.model.value,
    alternatives: $('alternatives').value, glossary: glossary.chosen, memory: corrections.chosen, html: $('html').checked, doubts: $('doubts').checked,
    open: FOLDS.filter((id) => $(id).open), text: source.value,
  });
}

// Takes up what was chosen when the page was last open.
function takeUp({text, alternatives, html = false, doubts = true, open = []}) {
  if (alternatives) $('alternatives').value = alternatives;
  $('html').checked = html;
  $('doubts').checked = doubts;
  for (const id of FOLDS) {
    $(id).open = open.includes(id);
    $(id).addEventListener('toggle', () => {
      keep();
      if (id === 'attention-section' && $(id).open && understood?.blocks.length === 0 && source.value.length <= LONGEST_PICTURE) translate();
    });
  }
  if (!source.value && text) source.value = text;
}

async function start() {
  try {
    const [{models = []}, settings] = await Promise.all([json('v1/models'), json('page/settings.json').catch(() => ({}))]);
    limit = settings.maxCharacters ?? Infinity;
    grpcPort = settings.grpcPort ?? grpcPort;
    files.offer(settings.suffixes ?? []);
    $('version').textContent = t('Version {0}, Apache License 2.0', settings.version ?? '');
    const first = languages.models.length === 0;
    const kept = first ? remembered() : {};
    languages.set(models, settings.pivot ?? '', kept);
    if (first && models.length) takeUp(kept);
    await corrections.offer(kept.memory);
    await glossary.offer(kept.glossary);
    problem.show(models.length ? null : new ApiError(CODES.notFound, t('This server has no models.')));
    onTyped();
    showToy();
    showExamples();
    translate();
  } catch (error) {
    problem.show(error, start);
  }
}

onTyped();
start();
