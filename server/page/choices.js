// What could stand in the place of a word: a list next to it; the rest of the sentence follows the choice.

import {inWords} from './problem.js';
import {$, element} from './page.js';
import {alternativesTo} from './request.js';
import {t} from './strings.js';
import {understand} from './words.js';

const SHOWN = 5; // words of an alternative

// The first words of a text.
function beginning(text) {
  const words = text.trim().split(/\s+/u);
  return words.slice(0, SHOWN).join(' ') + (words.length > SHOWN ? ' …' : '');
}

export class Choices {
  #asking = null;

  // `chosen(sentence, part)` is called with a sentence of the translation and what is understood of its new one.
  constructor(chosen) {
    this.chosen = chosen;
    this.list = $('choices');
    addEventListener('keydown', (event) => {
      if (event.key === 'Escape' && !this.list.hidden) this.close(true);
    });
    addEventListener('resize', () => { if (!this.list.hidden) this.#place(); });
    addEventListener('pointerdown', (event) => { if (!this.list.contains(event.target)) this.close(); });
    this.list.addEventListener('keydown', (event) => {
      const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
      const buttons = [...this.list.querySelectorAll('button')];
      if (!step || !buttons.length) return;
      event.preventDefault();
      buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length].focus();
    });
  }

  // Of a word of `understood`, whose element is `node`, as `asked` was translated.
  async open(understood, word, node, asked) {
    const sentence = understood.sentences.find(({begin, end}) => begin <= word.begin && word.begin < end);
    if (!sentence || asked.markup) return;
    this.close();
    const mine = this.#asking = new AbortController();
    const source = understood.source.slice(sentence.sourceBegin, sentence.sourceEnd);
    const prefix = understood.text.slice(sentence.begin, word.begin);
    const aligned = understood.links.some(({length}) => length > 0);
    this.#show(node, element('p', {class: 'pending'}, '…'));
    let shown;
    try {
      const seen = new Set([understood.text.slice(sentence.begin, sentence.end)]);
      // Another piece of a vocabulary may spell the same, or go on with the word before.
      const others = (await alternativesTo(asked, source, prefix, aligned, mine.signal)).filter(({text = ''}) =>
        text.startsWith(prefix) && text !== prefix && !seen.has(text) && seen.add(text));
      shown = others.map((other) => {
        const button = element('button', {type: 'button', class: 'quiet', dir: 'auto', lang: asked.targetLanguage ?? ''},
          beginning(other.text.slice(prefix.length)));
        button.addEventListener('click', () => {
          this.close(true);
          this.chosen(sentence, understand(other, source));
        });
        return button;
      });
      if (!shown.length) shown = [element('p', {}, t('Nothing else fits here.'))];
    } catch (error) {
      if (error.name === 'AbortError') return;
      shown = [element('p', {}, inWords(error))];
    }
    if (this.#asking !== mine) return;
    this.#show(node, ...shown);
    (this.list.querySelector('button') ?? this.list).focus();
  }

  close(back = false) {
    this.#asking?.abort();
    this.#asking = null;
    this.list.hidden = true;
    if (back) $('output').focus();
  }

  #show(node, ...children) {
    this.node = node;
    this.list.setAttribute('aria-label', t('Instead of “{0}”', node.textContent));
    this.list.replaceChildren(...children);
    this.list.hidden = false;
    this.#place();
  }

  // Below the word, within the window.
  #place() {
    const [at, around] = [this.node.getClientRects()[0], this.list.offsetParent.getBoundingClientRect()];
    this.list.style.top = `${at.bottom - around.top + 4}px`;
    this.list.style.left = '0'; // where it is as wide as it wants to be
    this.list.style.left = `${Math.max(8, Math.min(at.left, document.documentElement.clientWidth - this.list.offsetWidth - 8)) - around.left}px`;
  }
}
