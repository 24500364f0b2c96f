// The choice of languages and models that the server offers.

import {$, option} from './page.js';

const AUTO = 'auto'; // the server detects it
const names = new Intl.DisplayNames(['en'], {type: 'language', fallback: 'code'});

export function nameOf(tag) {
  if (tag === 'mul') return 'Any language';
  if (tag === AUTO) return 'Detect language';
  try {
    return names.of(tag);
  } catch {
    return tag;
  }
}

export class Languages {
  // `changed` is called after every choice.
  constructor(changed) {
    this.models = [];
    this.source = $('source-language');
    this.target = $('target-language');
    this.model = $('model');
    this.swap = $('swap');
    this.source.addEventListener('change', () => { this.#fillTargets(); changed(); });
    this.target.addEventListener('change', () => { this.#fillModels(); changed(); });
    this.model.addEventListener('change', changed);
    this.swap.addEventListener('click', () => {
      const [source, target] = [this.source.value, this.target.value];
      this.source.value = target;
      this.#fillTargets(source);
      changed();
    });
  }

  set(models) {
    this.models = models;
    const sources = new Set(models.flatMap(sourcesOf));
    const first = models.find((model) => model.isDefault) || models[0];
    if (sources.size > 1) sources.add(AUTO);
    fill(this.source, sources, this.source.value, first && sourcesOf(first)[0]);
    this.#fillTargets(this.target.value);
    for (const select of [this.source, this.target, this.model]) select.disabled = models.length === 0;
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

  #serving() {
    const serving = this.models.filter((model) => targetsOf(model, this.source.value).includes(this.target.value));
    return serving.sort((a, b) => Number(b.isDefault || false) - Number(a.isDefault || false));
  }

  #fillTargets(wanted) {
    const targets = new Set(this.models.flatMap((model) => targetsOf(model, this.source.value)));
    fill(this.target, targets, wanted || this.target.value);
    const back = this.models.some((model) => targetsOf(model, this.target.value).includes(this.source.value));
    this.swap.disabled = !back;
    this.#fillModels();
  }

  #fillModels() {
    const serving = this.#serving();
    const before = this.model.value;
    const all = [option('', serving.length > 1 ? 'the best one' : serving[0]?.name ?? 'none')];
    if (serving.length > 1) all.push(...serving.map(({name}) => option(name, name)));
    this.model.replaceChildren(...all);
    this.model.value = serving.some(({name}) => name === before) && serving.length > 1 ? before : '';
  }
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

function fill(select, tags, wanted, otherwise) {
  const sorted = [...tags].sort((a, b) => (b === AUTO) - (a === AUTO) || nameOf(a).localeCompare(nameOf(b)));
  select.replaceChildren(...sorted.map((tag) => option(tag, nameOf(tag))));
  const value = [wanted, otherwise, sorted[0]].find((tag) => tags.has(tag));
  if (value !== undefined) select.value = value;
}
