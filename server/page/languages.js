// The choice of languages and models that the server offers.

import {$, element, option} from './page.js';
import {LanguageSearch} from './search.js';
import {locale, t} from './strings.js';

export const AUTO = 'auto'; // the server detects it
const FEW = 8; // languages of a list that needs no others in front of it
const RECENT = 4;

// The name of a language, in that of the page or in others.
export function nameOf(tag, locales = [locale]) {
  if (tag === 'mul') return t('Any language');
  if (tag === AUTO) return t('Detect');
  try {
    return new Intl.DisplayNames(locales, {type: 'language', fallback: 'code'}).of(tag);
  } catch {
    return tag;
  }
}

const base = (tag) => tag.split('-')[0];

export class Languages {
  // `changed` is called after every choice, `swapped` when languages change places: the texts follow.
  constructor(changed, swapped) {
    this.models = [];
    this.pivot = '';
    this.detected = null; // the language of the text, if the server detected it
    this.source = $('source-language');
    this.target = $('target-language');
    this.recent = []; // languages that were chosen, the last one first
    this.searches = new Map([[this.source, new LanguageSearch(this.source, 'source')], [this.target, new LanguageSearch(this.target, 'target')]]);
    this.model = $('model');
    this.swap = $('swap');
    this.source.addEventListener('change', () => { this.#note(this.source); this.setDetected(null); this.#fillTargets(); changed(); });
    this.target.addEventListener('change', () => { this.#note(this.target); this.#fillModels(); changed(); });
    this.model.addEventListener('change', changed);
    this.swap.addEventListener('click', () => {
      const [from, to] = [this.#from(), this.target.value];
      this.setDetected(null);
      this.choose({source: to, target: from});
      swapped();
    });
  }

  // What is served, and what was chosen before: {source, target, recent, model}, each of which may be missing.
  // Without a choice the language is detected and translated into the browser's.
  set(models, pivot, {source, target, recent = this.recent, model} = {}) {
    this.models = models;
    this.recent = recent;
    this.pivot = pivot;
    const sources = new Set(models.flatMap(sourcesOf));
    if (sources.size > 1) sources.add(AUTO);
    this.#fill(this.source, sources, [source, this.source.value, AUTO]);
    this.#fillTargets(target);
    this.#fillModels(model);
    for (const select of [this.source, this.target, this.model]) select.disabled = models.length === 0;
  }

  choose({source, target, model}) {
    if (source) this.#fill(this.source, tagsOf(this.source), [source, this.source.value]);
    this.#fillTargets(target);
    this.#fillModels(model);
  }

  // What the server found the text to be in, and how sure it is (0 to 1); null: unknown.
  setDetected(tag, confidence = 0) {
    this.detected = tag;
    const auto = [...this.source.options].find(({value}) => value === AUTO);
    if (auto) auto.textContent = tag ? t(confidence < 0.5 ? '{0} (a guess)' : '{0} (detected)', nameOf(tag)) : nameOf(AUTO);
    this.#enableSwap();
  }

  // The fields of a request.
  fields() {
    const fields = {};
    if (this.source.value) fields.sourceLanguage = this.source.value;
    if (this.target.value) fields.targetLanguage = this.target.value;
    if (this.model.value) fields.model = this.model.value;
    return fields;
  }

  // The model that is likely to translate.
  current() {
    return this.models.find(({name}) => name === this.model.value) || this.#serving()[0] || null;
  }

  // What a text in this language can be translated into, by one model or by two.
  targets(source) {
    const direct = (from) => this.models.flatMap((model) => targetsOf(model, from));
    const found = new Set(direct(source));
    if (this.pivot && source !== AUTO && found.has(this.pivot)) {
      for (const target of direct(this.pivot)) if (target !== source) found.add(target);
    }
    return found;
  }

  #from() {
    return this.source.value === AUTO ? this.detected : this.source.value;
  }

  #enableSwap() {
    const from = this.#from();
    this.swap.disabled = !from || from === this.target.value || !this.targets(this.target.value).has(from);
  }

  #serving() {
    const serving = this.models.filter((model) => targetsOf(model, this.source.value).includes(this.target.value));
    return serving.sort((a, b) => Number(b.isDefault || false) - Number(a.isDefault || false));
  }

  // Remembers a choice.
  #note({value}) {
    if (value !== AUTO) this.recent = [value, ...this.recent.filter((tag) => tag !== value)].slice(0, RECENT);
  }

  // Offers these languages, of many those that were chosen last first, and chooses the first of `wanted` among them.
  #fill(select, tags, wanted) {
    const names = new Map([...tags].map((tag) => [tag, nameOf(tag)]));
    const sorted = [...tags].sort((a, b) => (b === AUTO) - (a === AUTO) || names.get(a).localeCompare(names.get(b), locale));
    const options = (some) => some.map((tag) => option(tag, names.get(tag)));
    const group = (label, some) => element('optgroup', {label}, ...options(some));
    const recent = tags.size > FEW ? this.recent.filter((tag) => tags.has(tag)) : [];
    select.replaceChildren(...(recent.length === 0 ? options(sorted) : [
      ...options(sorted.filter((tag) => tag === AUTO)), group(t('Recent'), recent),
      group(t('All'), sorted.filter((tag) => tag !== AUTO))]));
    const value = [...wanted, sorted[0]].find((tag) => tags.has(tag));
    if (value !== undefined) select.value = value;
    this.searches.get(select).offer(sorted);
  }

  #fillTargets(wanted) {
    const targets = this.targets(this.source.value);
    const first = this.models.find((model) => model.isDefault) || this.models[0];
    this.#fill(this.target, targets, [wanted, this.target.value, ...browsers(targets), ...(first?.targetLanguages || [])]);
    this.#fillModels();
  }

  #fillModels(wanted) {
    const serving = this.#serving();
    const two = this.models.length > 0 && serving.length === 0;
    const all = [option('', serving.length > 1 ? t('the best one') : serving[0]?.name ?? (two ? t('two, through {0}', nameOf(this.pivot)) : t('none')))];
    if (serving.length > 1) all.push(...serving.map(({name}) => option(name, name)));
    const chosen = [wanted, this.model.value].find((name) => serving.some((model) => model.name === name));
    this.model.replaceChildren(...all);
    this.model.value = serving.length > 1 ? chosen ?? '' : '';
    this.#enableSwap();
  }
}

// The languages of the browser among these, most wanted first.
function browsers(tags) {
  return navigator.languages.flatMap((wanted) =>
    [wanted, ...[...tags].filter((tag) => base(tag) === base(wanted))].filter((tag) => tags.has(tag)));
}

function sourcesOf(model) {
  if (model.sourceLanguages?.length) return model.sourceLanguages;
  return [...new Set((model.languagePairs || []).map(({source}) => source))];
}

function targetsOf(model, source) {
  if (source === AUTO) return model.targetLanguages || [];
  if (model.languagePairs?.length) {
    return model.languagePairs.filter((pair) => pair.source === source).map(({target}) => target);
  }
  return sourcesOf(model).includes(source) ? model.targetLanguages || [] : [];
}

const tagsOf = (select) => new Set([...select.options].map(({value}) => value));
