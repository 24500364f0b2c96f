// The translation as words: how sure the model is of each, and what it attends to.
//
// The API counts bytes of UTF-8; a page counts in UTF-16.  Numbers that are 0 are left out of the JSON.

import {element, percent} from './page.js';
import {t} from './strings.js';

// Words with at least this probability are not doubtful.
const SURE = 0.7;

// index[byte] for every byte of the text and for its end.
export function byteIndex(text) {
  const index = [];
  for (let at = 0; at < text.length;) {
    const code = text.codePointAt(at);
    const bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (let i = 0; i < bytes; i++) index.push(at);
    at += code < 0x10000 ? 1 : 2;
  }
  index.push(text.length);
  return index;
}

function spans(tokens, text) {
  const index = byteIndex(text);
  const at = (byte) => index[Math.min(byte || 0, index.length - 1)];
  return tokens.map(({piece = '', begin, end}) => ({piece, begin: at(begin), end: at(end)}));
}

// Finds pieces such as "▁Guten" in the text if the server does not return their places.
function guessSpans(pieces, text) {
  let at = 0;
  return pieces.map((piece) => {
    const plain = piece.replaceAll('▁', '');
    const found = plain ? text.indexOf(plain, at) : -1;
    if (found < 0) return {piece, begin: at, end: at};
    at = found + plain.length;
    return {piece, begin: found, end: at};
  });
}

// The words of the text, each with its tokens and the probability of the least likely of them.  At most a tenth of
// the words, the worst, are doubtful.
function wordsOf(text, targetTokens, tokenScores) {
  const order = targetTokens.map((_, token) => token).sort((a, b) => targetTokens[a].begin - targetTokens[b].begin);
  let first = 0;
  const words = [...text.matchAll(/\S+/gu)].map(({0: word, index: begin}) => {
    const end = begin + word.length;
    while (first < order.length && targetTokens[order[first]].end <= begin) first++;
    const tokens = [];
    for (let i = first; i < order.length && targetTokens[order[i]].begin < end; i++) tokens.push(order[i]);
    const sure = tokens.length && tokenScores.length ? Math.exp(Math.min(...tokens.map((token) => tokenScores[token] ?? 0))) : null;
    return {begin, end, tokens, sure, doubtful: false};
  });
  const worst = words.filter(({sure}) => sure !== null && sure < SURE).sort((a, b) => a.sure - b.sure);
  for (const word of worst.slice(0, Math.max(1, Math.floor(words.length / 10)))) word.doubtful = true;
  return words;
}

// A hypothesis with what it attends to: {text, words, sourceTokens, targetTokens, links, blocks}.
export function understand(hypothesis, source) {
  const {text = '', tokens = [], tokenScores = [], alignedText, alignment = []} = hypothesis;
  const targetTokens = alignedText?.targetTokens ? spans(alignedText.targetTokens, text) : guessSpans(tokens, text);
  const sourceTokens = alignedText?.sourceTokens ? spans(alignedText.sourceTokens, source) : [];
  const links = targetTokens.map(() => []);
  for (const {sourceToken = 0, targetToken = 0, probability = 0} of alignment) {
    links[targetToken]?.push({token: sourceToken, share: probability});
  }
  const blocks = (alignedText?.attention || []).map((block) => ({
    sourceBegin: block.sourceBegin || 0, sourceEnd: block.sourceEnd || 0,
    targetBegin: block.targetBegin || 0, targetEnd: block.targetEnd || 0,
    probabilities: block.probabilities || [],
  }));
  return {text, words: wordsOf(text, targetTokens, tokenScores), sourceTokens, targetTokens, links, blocks};
}

// The sentences without the white space around them, as indices: {sourceBegin, sourceEnd, begin, end}, where the last two
// are those of the translation.  A text that has none is one.
export function sentencesOf(sentences, source, text) {
  const [from, to] = [byteIndex(source), byteIndex(text)];
  const inside = (whole, begin, end) => {
    const part = whole.slice(begin, end);
    return [begin + part.length - part.trimStart().length, begin + part.trimEnd().length];
  };
  const spans = sentences.length ? sentences.map(({sourceBegin = 0, sourceEnd = 0, targetBegin = 0, targetEnd = 0}) =>
    [from[sourceBegin] ?? 0, from[sourceEnd] ?? 0, to[targetBegin] ?? 0, to[targetEnd] ?? 0]) : [[0, source.length, 0, text.length]];
  return spans.map(([sourceFrom, sourceTo, targetFrom, targetTo]) => {
    const [sourceBegin, sourceEnd] = inside(source, sourceFrom, sourceTo);
    const [begin, end] = inside(text, targetFrom, targetTo);
    return {sourceBegin, sourceEnd, begin, end};
  }).filter((one) => one.sourceEnd > one.sourceBegin && one.end > one.begin);
}

// The sentences with their translations: {source, target}.
export const pairsOf = ({sentences, source, text}) => sentences.map(({sourceBegin, sourceEnd, begin, end}) =>
  ({source: source.slice(sourceBegin, sourceEnd), target: text.slice(begin, end)}));

// What was understood, with `part` in the place of a sentence: what is understood of that sentence alone.
export function replaceSentence(whole, sentence, part) {
  const {sourceBegin, begin, end} = sentence;
  const shift = part.text.length - (end - begin);
  const moved = (one, by, more = {}) => ({...one, begin: one.begin + by, end: one.end + by, ...more});
  const tokens = whole.targetTokens;
  const inside = (token) => token.begin >= begin && token.end <= end && token.end > token.begin;
  const first = Math.max(0, tokens.findIndex(inside));
  const after = tokens.length - [...tokens].reverse().findIndex(inside); // of the last one inside
  const rest = first + part.targetTokens.length - after;
  // The tokens of the sentence alone, among all of them.
  const sourceAt = whole.sourceTokens.findIndex((token) => token.end > token.begin && token.begin >= sourceBegin);
  const partAt = part.sourceTokens.findIndex((token) => token.end > token.begin);
  const link = ({token, share}) => ({token: token - partAt + sourceAt, share});
  return {
    ...whole,
    text: whole.text.slice(0, begin) + part.text + whole.text.slice(end),
    words: [
      ...whole.words.filter((word) => word.end <= begin),
      ...part.words.map((word) => moved(word, begin, {tokens: word.tokens.map((token) => token + first)})),
      ...whole.words.filter((word) => word.begin >= end).map((word) => moved(word, shift, {tokens: word.tokens.map((token) => token + rest)})),
    ],
    targetTokens: [...tokens.slice(0, first), ...part.targetTokens.map((token) => moved(token, begin)), ...tokens.slice(after).map((token) => moved(token, shift))],
    links: [
      ...whole.links.slice(0, first),
      ...part.links.map((links) => links.map(link).filter(({token}) => whole.sourceTokens[token])),
      ...whole.links.slice(after)],
    sentences: whole.sentences.map((one) => (one === sentence ? {...one, end: end + shift} : one.begin >= end ? moved(one, shift) : one)),
    blocks: [], // whose matrices are those of the translation before
  };
}

// The share of the attention of these target tokens that each source token has; null if unknown.
export function attentionOf(understood, tokens) {
  const shares = new Array(understood.sourceTokens.length).fill(0);
  const found = tokens.flatMap((token) => understood.links[token] || []);
  for (const {token, share} of found) shares[token] += share / tokens.length;
  return found.length ? shares : null;
}

// Draws the words into `output`.  `looked(word or null, its element)` is called when one is pointed at, or moved to by
// the arrow keys, and `opened(word, its element)` when it is clicked, or Enter pressed.
export function drawWords(output, understood, looked, opened) {
  const nodes = [];
  let at = 0;
  const drawn = understood.words.map((word, index) => {
    nodes.push(understood.text.slice(at, word.begin));
    at = word.end;
    const node = element('span', {class: 'word'}, understood.text.slice(word.begin, word.end));
    node.index = index;
    if (word.doubtful) {
      node.classList.add('doubtful');
      node.style.setProperty('--doubt-share', (1 - word.sure / SURE).toFixed(1));
      node.title = t('{0} sure', percent(word.sure));
    }
    nodes.push(node);
    return node;
  });
  nodes.push(understood.text.slice(at));
  output.replaceChildren(...nodes);
  let now = -1;
  const look = (index) => {
    now = index;
    looked(understood.words[index] ?? null, drawn[index]);
  };
  output.onpointerover = (event) => look(event.target.index ?? -1);
  output.onpointerleave = () => look(-1);
  output.onblur = () => look(-1);
  const open = (index) => { if (drawn[index]) opened(understood.words[index], drawn[index]); };
  // A click that ends a selection is none on a word.
  output.onclick = (event) => { if (getSelection().isCollapsed) open(event.target.index); };
  output.onkeydown = (event) => {
    if (event.key === 'Enter') open(now);
    const to = {ArrowRight: now + 1, ArrowLeft: Math.max(0, now - 1), Home: 0, End: drawn.length - 1}[event.key];
    if (!drawn[to] || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    drawn[to].scrollIntoView({block: 'nearest'});
    look(to);
  };
  return drawn;
}

// Marks the source tokens with their shares, in the mirror behind the text.
export function drawMirror(mirror, source, understood, shares) {
  if (!shares) {
    mirror.replaceChildren(source + '\n');
    return;
  }
  const most = Math.max(...shares.filter((_, token) => understood.sourceTokens[token].end > understood.sourceTokens[token].begin));
  const nodes = [];
  let at = 0;
  understood.sourceTokens.forEach(({begin, end}, token) => {
    if (begin < at || end <= begin || shares[token] < 0.04) return;
    const mark = element('mark', {}, source.slice(begin, end));
    mark.style.setProperty('--share', (0.12 + 0.4 * (shares[token] / most)).toFixed(2));
    nodes.push(source.slice(at, begin), mark);
    at = end;
  });
  nodes.push(source.slice(at) + '\n');
  mirror.replaceChildren(...nodes);
}
