// A choice of layer and head for the attention matrix, and the candidates of the step that is looked at.
// The server computes both only for those who ask, so they are asked for when a head is chosen or a row is looked at,
// and never while the matrix is folded up.

import {plain} from './attention.js';
import {$, element, option, percent} from './page.js';
import {inWords} from './problem.js';
import {moreOf} from './request.js';
import {t} from './strings.js';

const KINDS = {
  ATTENTION_KIND_CROSS: {layers: 'crossLayers', heads: 'crossHeads'},
  ATTENTION_KIND_ENCODER: {layers: 'encoderLayers', heads: 'encoderHeads'},
  ATTENTION_KIND_DECODER: {layers: 'decoderLayers', heads: 'decoderHeads'},
};
const ALL = 'all'; // heads, in one picture
const CANDIDATES = 5;

export class Heads {
  // `picture` is drawn again after every choice.
  constructor(picture) {
    this.picture = picture;
    this.model = null;
    this.view = null; // what the picture shows: the translation, or the same with the rows of the chosen head
    $('head-kind').addEventListener('change', () => { this.#fill(); this.#draw(); });
    for (const id of ['head-layer', 'head-number']) $(id).addEventListener('change', () => this.#draw());
    $('attention-section').addEventListener('toggle', () => {
      if ($('attention-section').open && this.view && this.view === this.understood) this.#draw();
    });
  }

  // A translation, and the request for it.
  set(understood, asked) {
    this.asking?.abort();
    this.asking = new AbortController();
    this.understood = understood;
    this.asked = asked;
    this.wanted = null;
    this.steps = null; // with their candidates; asked for when a row is looked at
    this.#show(understood, 0);
  }

  // Offers the heads of the model that made it; null: none.
  offer(model) {
    const kinds = Object.keys(KINDS).filter((kind) => model?.[KINDS[kind].layers] > 0);
    $('head-pick').hidden = kinds.length === 0;
    for (const one of $('head-kind').options) one.hidden = one.value !== '' && !kinds.includes(one.value);
    if (this.model !== model) $('head-kind').value = '';
    this.model = model;
    if ($('head-kind').value) this.#draw();
    else this.#fill();
  }

  // A row of the picture: shows what could have come instead of its token.  null: none.
  async look(token) {
    const {understood, view} = this;
    this.looked = token;
    // The space stays, so that nothing below jumps.
    $('candidates-part').classList.toggle('away', token === null);
    if (token === null || view.targetTokens !== understood.targetTokens) return;
    this.steps ??= this.#ask({candidates: CANDIDATES})
      .then(({steps = []}) => steps.filter(({end}) => !end)).catch(() => []);
    const steps = await this.steps;
    if (this.looked !== token || this.view !== view) return;
    const candidates = steps[token]?.candidates ?? [];
    $('candidates-part').hidden = candidates.length === 0;
    $('candidates').replaceChildren(...candidates.map(({token: piece = '', logProb = 0}) => element('li', {},
      element('span', {}, plain(piece)), element('span', {class: 'sure'}, percent(Math.exp(logProb))))));
  }

  #fill() {
    const kind = KINDS[$('head-kind').value];
    for (const [id, count] of [['head-layer', kind?.layers], ['head-number', kind?.heads]]) {
      const numbers = [...Array(kind ? this.model[count] : 0).keys()];
      const every = id === 'head-number' && numbers.length > 1 ? [option(ALL, t('all'))] : [];
      $(id).replaceChildren(...numbers.map((number) => option(number, number + 1)), ...every);
      $(id).closest('label').hidden = !kind;
    }
    if (kind) $('head-layer').value = this.model[kind.layers] - 1;
  }

  #show(view, number = this.picture.number) {
    this.view = view;
    $('candidates-part').hidden = true;
    const {sourceTokens, targetTokens} = this.understood;
    const [columns, rows] = view.sourceTokens !== sourceTokens ? ['what was translated before', 'the translation']
      : ['the source', view.targetTokens === targetTokens ? 'the translation' : 'the source again'];
    $('map-hint').textContent = t('Columns are {0}, rows {1}; the darker, the more attention. Point at a cell, or move with the arrow keys.',
      t(columns), t(rows));
    this.picture.set(view, number);
  }

  async #draw() {
    const {understood} = this;
    const kind = $('head-kind').value;
    const wanted = this.wanted = {kind, layer: Number($('head-layer').value), heads: this.#chosenHeads(kind)};
    if (!kind) return this.#show(understood);
    if (understood.blocks.length === 0 || !$('attention-section').open) return;
    try {
      const {alignedText} = await this.#ask({alignments: true, attentionHeads: [wanted]});
      if (this.wanted === wanted) this.#show(ofHead(understood, kind, alignedText?.heads ?? []));
    } catch (error) {
      if (this.wanted !== wanted) return;
      $('head-kind').value = '';
      this.#fill();
      this.#show(understood);
      $('map-readout').textContent = inWords(error);
    }
  }

  #chosenHeads(kind) {
    const {value} = $('head-number');
    return value === ALL ? [...Array(this.model[KINDS[kind].heads]).keys()] : [Number(value)];
  }

  async #ask(output) {
    const {text} = this.understood;
    const best = await moreOf(this.asked, output, this.asking.signal);
    // As when the model was replaced in between.
    if ((best.text ?? '') !== text) throw new Error('the server translates this text differently now');
    return best;
  }
}

// What was understood, with the attention of heads in place of that by which words are aligned.  Of several heads a
// block has the mean, and `heads`: {head, probabilities}.
function ofHead(understood, kind, heads) {
  if (heads.length === 0) throw new Error('the server does not return heads for this text');
  const blocks = new Map(); // by where they begin
  for (const {sourceBegin = 0, sourceEnd = 0, queryBegin = 0, queryEnd = 0, head = 0, probabilities = []} of heads) {
    const block = blocks.get(queryBegin) ?? {sourceBegin, sourceEnd, targetBegin: queryBegin, targetEnd: queryEnd, heads: []};
    block.heads.push({head, probabilities});
    blocks.set(queryBegin, block);
  }
  for (const block of blocks.values()) {
    block.probabilities = block.heads[0].probabilities.map((_, i) =>
      block.heads.reduce((sum, {probabilities}) => sum + (probabilities[i] || 0), 0) / block.heads.length);
  }
  const {sourceTokens, targetTokens} = understood;
  const view = {
    sourceTokens: kind === 'ATTENTION_KIND_DECODER' ? tokensBefore(targetTokens, [...blocks.keys()]) : sourceTokens,
    targetTokens: kind === 'ATTENTION_KIND_ENCODER' ? sourceTokens : targetTokens,
  };
  const links = view.targetTokens.map(() => []);
  if (view.sourceTokens === sourceTokens) {
    for (const {sourceBegin, sourceEnd, targetBegin, probabilities} of blocks.values()) {
      const width = sourceEnd - sourceBegin;
      probabilities.forEach((share, i) => {
        if (share >= 0.04) links[targetBegin + Math.floor(i / width)].push({token: sourceBegin + i % width, share});
      });
    }
  }
  return {...understood, ...view, links, blocks: [...blocks.values()]};
}

// What a decoder has read when it makes each token: the token before it, or the start of a sentence at these places.
const tokensBefore = (tokens, starts) => tokens.map((_, i) => (starts.includes(i) ? {piece: '<s>', begin: 0, end: 1} : tokens[i - 1]));
