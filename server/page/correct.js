// Corrections: sentences of a translation as somebody wants them, which a translation memory of the server learns.

import {json} from './api.js';
import {$, element, option} from './page.js';
import {t} from './strings.js';

export class Corrections {
  #sentences = []; // {source, target, box}
  #translated;

  // `changed` is called when another memory was chosen, or has learned.
  constructor(changed, translated) {
    this.#translated = translated;
    $('memory').addEventListener('change', () => { this.close(); changed(); });
    $('correct').addEventListener('click', () => this.#open());
    $('correct-cancel').addEventListener('click', () => { this.close(); $('correct').focus(); });
    $('correct-form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#learn().then((done) => { if (done) changed(); });
    });
  }

  get chosen() { return $('memory').value; }

  // Offers the memories that may learn; `chosen` is the one that was used last.
  async offer(chosen = this.chosen) {
    const {memories = []} = await json('v1/memories').catch(() => ({}));
    const own = memories.filter(({readOnly}) => !readOnly);
    $('memory').replaceChildren(option('', t('none')), ...own.map(({id, name}) => option(id, name || id)));
    $('memory').value = own.some(({id}) => id === chosen) ? chosen : '';
    $('memory-label').hidden = own.length === 0;
  }

  close() {
    $('correct-form').hidden = true;
    $('correct').hidden = !this.chosen || !this.#translated();
  }

  #open() {
    this.#sentences = this.#translated().map(({source, target}) => {
      const box = element('textarea', {dir: 'auto', rows: '2', 'aria-label': t('Translation of: {0}', source)});
      box.value = target;
      return {source, target, box};
    });
    $('correct-sentences').replaceChildren(...this.#sentences.map(({source, box}) =>
      element('label', {}, element('span', {dir: 'auto'}, source), box)));
    $('correct-state').textContent = '';
    $('correct-form').hidden = false;
    this.#sentences[0].box.focus();
  }

  // Whether there was anything to learn, and it is learned.
  async #learn() {
    const sourceAt = (i) => this.#sentences[i]?.source ?? '';
    const segments = this.#sentences.map(({source, target, box}, i) => ({
      source, target: box.value.trim(), previousSource: sourceAt(i - 1), nextSource: sourceAt(i + 1), changed: box.value.trim() !== target,
    })).filter(({target, changed}) => target && changed).map(({changed, ...segment}) => segment);
    if (segments.length === 0) {
      $('correct-state').textContent = t('Nothing was changed.');
      return false;
    }
    try {
      await json(`v1/memories/${encodeURIComponent(this.chosen)}/segments`, {segments});
    } catch (error) {
      $('correct-state').textContent = t('Not learned: {0}', error.message);
      return false;
    }
    this.close();
    return true;
  }
}
