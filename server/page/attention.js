// The attention matrix as in papers (Bahdanau, Cho and Bengio 2015, figure 3): source tokens across,
// target tokens down, and the darker a cell, the more of the row's attention the column has.

import {$, element, percent, svg} from './page.js';
import {t} from './strings.js';

const HIGH = 26; // the height of a cell in pixels
const SMALLEST = 20; // its width
const WIDEST = 110;
const FONT = 13;

// A piece of a vocabulary as people read it.
export const plain = (piece) => ({'<s>': t('start'), '</s>': t('end')}[piece] ?? (piece.replaceAll('▁', '') || '␣'));

// The colours of heads that share a picture go once around the wheel.
const hueOf = (index, heads) => Math.round(360 * index / heads.length);

export class AttentionPicture {
  // `looked(target token or null)` is called when a row is selected; of a head that looks at its own side, targets are
  // tokens of the source.
  constructor(looked) {
    this.looked = looked;
    this.map = $('map');
    this.readout = $('map-readout');
    this.map.addEventListener('keydown', (event) => this.#onKey(event));
    this.map.addEventListener('pointermove', (event) => this.#onPointer(event));
    this.map.addEventListener('pointerleave', () => { this.readout.textContent = ''; this.looked(null); });
    $('map-all').addEventListener('change', () => { if (this.understood?.blocks.length) this.show(this.number); });
    addEventListener('resize', () => { if (this.understood?.blocks.length) this.#draw(); });
    $('sentence-back').addEventListener('click', () => this.show(this.number - 1));
    $('sentence-next').addEventListener('click', () => this.show(this.number + 1));
  }

  // Draws the matrix of sentence `number`, or of the last one.
  set(understood, number) {
    const {length} = understood.blocks;
    this.understood = understood;
    $('picture').hidden = length === 0;
    if (length) this.show(Math.min(number, length - 1));
  }

  // The matrix of one sentence.
  show(number) {
    const {blocks, sourceTokens, targetTokens} = this.understood;
    const block = blocks[number];
    this.number = number;
    // The language tag and the end of a sentence stand for no text.
    const places = (tokens, from, to) => [...Array(to - from).keys()].filter((place) =>
      $('map-all').checked || tokens[from + place].end > tokens[from + place].begin);
    const {sourceBegin, sourceEnd, targetBegin, targetEnd} = block;
    this.width = sourceEnd - sourceBegin;
    this.places = places(sourceTokens, sourceBegin, sourceEnd);
    this.rowPlaces = places(targetTokens, targetBegin, targetEnd);
    this.columns = this.places.map((place) => plain(sourceTokens[sourceBegin + place].piece));
    this.rows = this.rowPlaces.map((place) => plain(targetTokens[targetBegin + place].piece));
    this.probabilities = block.probabilities;
    this.heads = block.heads?.length > 1 ? block.heads : [];
    $('map-legend').hidden = this.heads.length === 0;
    $('map-legend').replaceChildren(...this.heads.map(({head}, index) => {
      const name = element('span', {}, element('i'), `${t('Head ')}${head + 1}`);
      name.style.setProperty('--hue', hueOf(index, this.heads));
      return name;
    }));
    this.at = [0, 0];
    $('sentence-pick').hidden = blocks.length < 2;
    $('sentence-name').textContent = t('Sentence {0} of {1}', number + 1, blocks.length);
    $('sentence-back').disabled = number === 0;
    $('sentence-next').disabled = number === blocks.length - 1;
    this.readout.textContent = '';
    this.#draw();
  }

  #draw() {
    const pen = document.createElement('canvas').getContext('2d');
    pen.font = `${FONT}px ${getComputedStyle(this.map).fontFamily}`;
    const wide = (text) => Math.ceil(pen.measureText(cut(text)).width);
    this.left = 16 + Math.max(0, ...this.rows.map(wide));
    const longest = Math.max(0, ...this.columns.map(wide));
    const style = getComputedStyle(this.map);
    const room = this.map.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - this.left;
    const widthIn = (free) => Math.floor(Math.min(WIDEST, Math.max(SMALLEST, free / this.columns.length)));
    // The label of a column stands above it if there is room, and otherwise leans to the right by 55 degrees.
    const lean = widthIn(room) < longest + 8;
    const [up, along] = [Math.sin(55 * Math.PI / 180), Math.cos(55 * Math.PI / 180)];
    this.top = lean ? longest * up + FONT + 6 : FONT + 10;
    const beyond = !lean ? 0 : Math.max(0, ...this.columns.map((text, column) =>
      wide(text) * along + FONT - SMALLEST * (this.columns.length - column - 0.6)));
    this.size = widthIn(room - beyond);
    const right = this.left + this.size * this.columns.length;
    const bottom = this.top + HIGH * this.rows.length;
    const picture = svg('svg', {width: right + beyond, height: bottom + 2, 'aria-hidden': 'true'});
    this.columns.forEach((text, column) => {
      const [x, y] = [this.left + this.size * (column + (lean ? 0.6 : 0.5)), this.top - 6];
      picture.append(svg('text', {x, y, ...(lean ? {transform: `rotate(-55 ${x} ${y})`} : {'text-anchor': 'middle'})}, cut(text)));
    });
    this.rowLine = svg('rect', {class: 'line-now', width: right, height: HIGH, visibility: 'hidden'});
    this.columnLine = svg('rect', {class: 'line-now', width: this.size, height: bottom, visibility: 'hidden'});
    picture.append(this.rowLine, this.columnLine);
    this.rows.forEach((text, row) => {
      const y = this.top + HIGH * row;
      picture.append(svg('text', {x: this.left - 8, y: y + HIGH / 2 + 4, 'text-anchor': 'end'}, cut(text)));
      this.columns.forEach((_, column) => {
        // One head fills a cell; of several each has a strip of its colour.
        const shares = this.heads.length ? this.heads.map((head) => this.#share(row, column, head)) : [this.#share(row, column)];
        const width = (this.size - 2) / shares.length;
        shares.forEach((share, index) => {
          if (share < 0.02) return; // a row sums to 1, so few cells of a long text are drawn
          const strip = svg('rect', {
            x: this.left + this.size * column + 1 + width * index, y: y + 1, width, height: HIGH - 2,
            'fill-opacity': Math.min(1, share ** 0.7).toFixed(2), ...(this.heads.length ? {class: 'strip'} : {rx: 3}),
          });
          strip.style.setProperty('--hue', hueOf(index, shares));
          picture.append(strip);
        });
      });
    });
    this.cell = svg('rect', {class: 'cell-now', width: this.size, height: HIGH, rx: 4, visibility: 'hidden'});
    picture.append(this.cell);
    this.map.replaceChildren(picture);
  }

  #share(row, column, {probabilities} = this) {
    return probabilities[this.rowPlaces[row] * this.width + this.places[column]] || 0;
  }

  #look(row, column) {
    this.at = [row, column];
    const [x, y] = [this.left + this.size * column, this.top + HIGH * row];
    for (const [line, place] of [[this.cell, {x, y}], [this.rowLine, {x: 0, y}], [this.columnLine, {x, y: 0}]]) {
      line.setAttribute('visibility', 'visible');
      for (const [key, value] of Object.entries(place)) line.setAttribute(key, value);
    }
    const parts = this.heads.map((head) => `${head.head + 1}: ${percent(this.#share(row, column, head))}`);
    this.readout.textContent =
      t('“{0}” gives {1} of its attention to “{2}”.', this.rows[row], percent(this.#share(row, column)), this.columns[column]) +
      (parts.length ? t(' Of the heads: {0}.', parts.join(', ')) : '');
    this.looked(this.understood.blocks[this.number].targetBegin + this.rowPlaces[row]);
  }

  #onKey(event) {
    const [row, column] = this.at;
    const to = {
      ArrowUp: [row - 1, column], ArrowDown: [row + 1, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
      Home: [row, 0], End: [row, this.columns.length - 1],
    }[event.key];
    if (!to || !this.rows[to[0]] || !this.columns[to[1]]) return;
    event.preventDefault();
    this.#look(...to);
    this.cell.scrollIntoView({block: 'nearest', inline: 'nearest'});
  }

  #onPointer(event) {
    const picture = this.map.firstElementChild;
    if (!picture) return;
    const box = picture.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - this.left) / this.size);
    const row = Math.floor((event.clientY - box.top - this.top) / HIGH);
    if (this.rows[row] && this.columns[column]) this.#look(row, column);
  }
}

const cut = (text) => ([...text].length > 18 ? [...text].slice(0, 17).join('') + '…' : text);
