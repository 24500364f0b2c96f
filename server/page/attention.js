// The attention matrix as in papers (Bahdanau, Cho and Bengio 2015, figure 3): source tokens across,
// target tokens down, and the darker a cell, the more of the row's attention the column has.

import {$, percent, svg} from './page.js';

const CELL = 22;

const plain = (piece) => (/^<\/s>$/.test(piece) ? 'end' : piece.replaceAll('▁', '') || '␣');

export class AttentionPicture {
  // `looked(target token or null)` is called when a row is selected.
  constructor(looked) {
    this.looked = looked;
    this.map = $('map');
    this.readout = $('map-readout');
    this.map.addEventListener('keydown', (event) => this.#onKey(event));
    this.map.addEventListener('pointermove', (event) => this.#onPointer(event));
    this.map.addEventListener('pointerleave', () => { this.readout.textContent = ''; this.looked(null); });
    $('sentence-back').addEventListener('click', () => this.show(this.number - 1));
    $('sentence-next').addEventListener('click', () => this.show(this.number + 1));
  }

  set(understood) {
    this.understood = understood;
    $('attention-section').hidden = understood.blocks.length === 0;
    if (understood.blocks.length) this.show(0);
  }

  // The matrix of one sentence.
  show(number) {
    const {blocks, sourceTokens, targetTokens} = this.understood;
    const block = blocks[number];
    this.number = number;
    this.columns = sourceTokens.slice(block.sourceBegin, block.sourceEnd).map(({piece}) => plain(piece));
    this.rows = targetTokens.slice(block.targetBegin, block.targetEnd).map(({piece}) => plain(piece));
    this.probabilities = block.probabilities;
    this.at = [0, 0];
    $('sentence-pick').hidden = blocks.length < 2;
    $('sentence-name').textContent = `Sentence ${number + 1} of ${blocks.length}`;
    $('sentence-back').disabled = number === 0;
    $('sentence-next').disabled = number === blocks.length - 1;
    this.readout.textContent = '';
    this.#draw();
  }

  #draw() {
    const width = (texts) => 12 + 7.5 * Math.min(18, Math.max(1, ...texts.map((text) => [...text].length)));
    this.left = width(this.rows);
    this.top = width(this.columns) * 0.82 + 6;
    const right = this.left + CELL * this.columns.length;
    const bottom = this.top + CELL * this.rows.length;
    const picture = svg('svg', {width: right + this.top * 0.6, height: bottom + 2, 'aria-hidden': 'true'});
    this.columns.forEach((text, column) => {
      const x = this.left + CELL * (column + 0.6);
      picture.append(svg('text', {x, y: this.top - 6, transform: `rotate(-55 ${x} ${this.top - 6})`}, cut(text)));
    });
    this.rowLine = svg('rect', {class: 'line-now', width: right, height: CELL, visibility: 'hidden'});
    this.columnLine = svg('rect', {class: 'line-now', width: CELL, height: bottom, visibility: 'hidden'});
    picture.append(this.rowLine, this.columnLine);
    this.rows.forEach((text, row) => {
      const y = this.top + CELL * row;
      picture.append(svg('text', {x: this.left - 8, y: y + 15, 'text-anchor': 'end'}, cut(text)));
      this.columns.forEach((_, column) => {
        const share = this.#share(row, column);
        if (share < 0.02) return; // a row sums to 1, so few cells of a long text are drawn
        picture.append(svg('rect', {
          x: this.left + CELL * column + 1, y: y + 1, width: CELL - 2, height: CELL - 2, rx: 3,
          'fill-opacity': Math.min(1, share ** 0.7).toFixed(2),
        }));
      });
    });
    this.cell = svg('rect', {class: 'cell-now', width: CELL, height: CELL, rx: 4, visibility: 'hidden'});
    picture.append(this.cell);
    this.map.replaceChildren(picture);
  }

  #share(row, column) {
    return this.probabilities[row * this.columns.length + column] || 0;
  }

  #look(row, column) {
    this.at = [row, column];
    const [x, y] = [this.left + CELL * column, this.top + CELL * row];
    for (const [line, place] of [[this.cell, {x, y}], [this.rowLine, {x: 0, y}], [this.columnLine, {x, y: 0}]]) {
      line.setAttribute('visibility', 'visible');
      for (const [key, value] of Object.entries(place)) line.setAttribute(key, value);
    }
    this.readout.textContent =
      `“${this.rows[row]}” gives ${percent(this.#share(row, column))} of its attention to “${this.columns[column]}”.`;
    this.looked(this.understood.blocks[this.number].targetBegin + row);
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
    const column = Math.floor((event.clientX - box.left - this.left) / CELL);
    const row = Math.floor((event.clientY - box.top - this.top) / CELL);
    if (this.rows[row] && this.columns[column]) this.#look(row, column);
  }
}

const cut = (text) => ([...text].length > 18 ? [...text].slice(0, 17).join('') + '…' : text);
