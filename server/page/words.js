// The translation as words: how sure the model is of each, and what it attends to.
//
// The API counts bytes of UTF-8; a page counts in UTF-16.  Numbers that are 0 are left out of the JSON.

import {element, percent} from './page.js';

// Words with at least this probability are not tinted.
export const SURE = 0.7;

// index[byte] for every byte of the text and for its end.
function byteIndex(text) {
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

// A hypothesis with what it attends to: {text, words, sourceTokens, targetTokens, blocks}.
export function understand(hypothesis, source) {
  const {text = '', tokens = [], tokenScores = [], alignedText} = hypothesis;
  const targetTokens = alignedText?.targetTokens ? spans(alignedText.targetTokens, text) : guessSpans(tokens, text);
  const sourceTokens = alignedText?.sourceTokens ? spans(alignedText.sourceTokens, source) : [];
  const blocks = (alignedText?.attention || []).map((block) => ({
    sourceBegin: block.sourceBegin || 0, sourceEnd: block.sourceEnd || 0,
    targetBegin: block.targetBegin || 0, targetEnd: block.targetEnd || 0,
    probabilities: block.probabilities || [],
  }));
  const words = [...text.matchAll(/\S+/gu)].map(({0: word, index}) => {
    const own = [];
    targetTokens.forEach(({begin, end}, token) => {
      if (begin < index + word.length && end > index) own.push(token);
    });
    const sure = own.length && tokenScores.length ? Math.exp(Math.min(...own.map((token) => tokenScores[token] ?? 0))) : null;
    return {text: word, begin: index, end: index + word.length, tokens: own, sure};
  });
  return {text, words, sourceTokens, targetTokens, blocks};
}

// The share of the attention of these target tokens that each source token has; null if unknown.
export function attentionOf(understood, tokens) {
  const shares = new Array(understood.sourceTokens.length).fill(0);
  let rows = 0;
  for (const block of understood.blocks) {
    const width = block.sourceEnd - block.sourceBegin;
    for (const token of tokens) {
      if (token < block.targetBegin || token >= block.targetEnd) continue;
      rows++;
      const row = (token - block.targetBegin) * width;
      for (let i = 0; i < width; i++) shares[block.sourceBegin + i] += block.probabilities[row + i] || 0;
    }
  }
  return rows ? shares.map((share) => share / rows) : null;
}

// Draws the words into `output`.  `looked(word or null)` is called when one is pointed at or focused.
export function drawWords(output, understood, looked) {
  const nodes = [];
  let at = 0;
  const buttons = understood.words.map((word, index) => {
    nodes.push(understood.text.slice(at, word.begin));
    at = word.end;
    const button = element('button', {type: 'button', class: 'word', tabindex: index ? -1 : 0}, word.text);
    if (word.sure !== null) {
      const doubt = Math.max(0, (SURE - word.sure) / SURE);
      button.style.setProperty('--doubt-share', (Math.ceil(doubt * 10) / 10).toFixed(1));
      button.title = `${percent(word.sure)} sure`;
      button.setAttribute('aria-description', button.title);
    }
    button.addEventListener('pointerenter', () => looked(word, button));
    button.addEventListener('pointerleave', () => looked(null));
    button.addEventListener('focus', () => looked(word, button));
    button.addEventListener('blur', () => looked(null));
    nodes.push(button);
    return button;
  });
  nodes.push(understood.text.slice(at));
  output.replaceChildren(...nodes);
  output.onkeydown = (event) => moveFocus(event, buttons);
  return buttons;
}

function moveFocus(event, buttons) {
  const now = buttons.indexOf(document.activeElement);
  const to = {ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: buttons.length - 1}[event.key];
  if (now < 0 || to === undefined || !buttons[to]) return;
  event.preventDefault();
  buttons[now].tabIndex = -1;
  buttons[to].tabIndex = 0;
  buttons[to].focus();
}

// Marks the source tokens with their shares, in the mirror behind the text.
export function drawMirror(mirror, source, understood, shares) {
  if (!shares) {
    mirror.replaceChildren(source + '\n');
    return;
  }
  const most = Math.max(...shares);
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
