// The glossary that translations follow, and which of its terms a translation has.

import {json} from './api.js';
import {$, option} from './page.js';
import {t} from './strings.js';
import {attentionOf, byteIndex} from './words.js';

const MOST_ENTRIES = 10_000; // of a glossary whose terms are marked
const WORD = '[\\p{L}\\p{M}\\p{N}]';

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

// Where a text has a phrase as whole words: pairs of indices.
function placesOf(phrase, text, ignoreCase) {
  const pattern = new RegExp(`(?<!${WORD})${escaped(phrase)}(?!${WORD})`, ignoreCase ? 'giu' : 'gu');
  return [...text.matchAll(pattern)].map(({0: found, index}) => [index, index + found.length]);
}

const overlap = ([begin, end], other) => begin < other.end && other.begin < end;

export class Glossary {
  #listed = [];
  #entries = new Map(); // by id and version: a promise of them

  constructor(changed) {
    $('glossary').addEventListener('change', changed);
  }

  get chosen() { return $('glossary').value; }

  // Offers the server's glossaries, if it keeps any; `chosen` is the one that was used last.
  async offer(chosen = this.chosen) {
    const {glossaries = []} = await json('v1/glossaries').catch(() => ({}));
    this.#listed = glossaries;
    $('glossary').replaceChildren(option('', t('none')), ...glossaries.map(({id, name}) => option(id, name || id)));
    $('glossary').value = glossaries.some(({id}) => id === chosen) ? chosen : '';
    $('glossary-label').hidden = glossaries.length === 0;
  }

  // The entries of the chosen one for a translation between these languages.
  async #chosenEntries(source, target) {
    const glossary = this.#listed.find(({id}) => id === this.chosen);
    const count = (glossary?.dictionaries ?? []).reduce((sum, {entryCount = 0}) => sum + entryCount, 0);
    if (count === 0 || count > MOST_ENTRIES) return [];
    const key = `${glossary.id} ${glossary.version}`;
    if (!this.#entries.has(key)) this.#entries.set(key, json(`v1/glossaries/${encodeURIComponent(glossary.id)}/entries`));
    const {dictionaries = []} = await this.#entries.get(key).catch(() => ({}));
    const fits = (tag, wanted) => !tag || !wanted || tag.split('-')[0] === wanted.split('-')[0];
    return dictionaries.filter(({sourceLanguage, targetLanguage}) => fits(sourceLanguage, source) && fits(targetLanguage, target))
      .flatMap(({entries = []}) => entries);
  }

  // Marks the words of a translation that say a term: those that are one of its forms, or else those that attend most
  // to it, as forms with other endings do.  Tells the terms that it does not say.
  async mark(understood, drawn, unmet, languages) {
    const at = byteIndex(understood.source);
    const missing = unmet.map(({sourceBegin = 0, sourceEnd = 0}) => ({begin: at[sourceBegin], end: at[sourceEnd]}));
    $('unmet').hidden = missing.length === 0;
    $('unmet').textContent = missing.length
      ? t('Not as the glossary has it: {0}', missing.map(({begin, end}) => understood.source.slice(begin, end)).join(', ')) : '';
    const entries = await this.#chosenEntries(languages.source, languages.target);
    const taken = [...missing];
    const lower = understood.source.toLowerCase();
    const found = entries.filter(({source = ''}) => source && lower.includes(source.toLowerCase()))
      .sort((a, b) => b.source.length - a.source.length);
    for (const entry of found) {
      for (const [begin, end] of placesOf(entry.source, understood.source, entry.ignoreCase)) {
        if (taken.some((other) => overlap([begin, end], other))) continue;
        taken.push({begin, end});
        for (const node of wordsFor(entry, {begin, end}, understood, drawn)) {
          node.classList.add('term');
          node.title = [t('{0}: from the glossary', entry.source), node.title].filter(Boolean).join('; ');
        }
      }
    }
  }
}

function wordsFor({source, target, targets = [], ignoreCase}, place, understood, drawn) {
  const forms = [target || source, ...targets];
  const said = forms.flatMap((form) => placesOf(form, understood.text, ignoreCase));
  if (said.length) return drawn.filter((_, i) => said.some((one) => overlap(one, understood.words[i])));
  return drawn.filter((_, i) => {
    const shares = attentionOf(understood, understood.words[i].tokens);
    if (!shares) return false;
    return overlap([place.begin, place.end], understood.sourceTokens[shares.indexOf(Math.max(...shares))]);
  });
}
