// A field that finds a language among many, by its name here, in English or in the language itself, or by its tag.

import {nameOf} from './languages.js';
import {$, element} from './page.js';
import {t} from './strings.js';

const MANY = 20; // languages that a list shows without a search
const MOST_FOUND = 8;

const simple = (text) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

// How well a language fits: 0 is best; Infinity: not at all.
function fit(tag, typed) {
  const at = [nameOf(tag), nameOf(tag, ['en']), nameOf(tag, [tag]), tag].map((name) => simple(name).indexOf(typed)).filter((place) => place >= 0);
  return Math.min(Infinity, ...at);
}

export class LanguageSearch {
  // Of the list `select`; its parts are #NAME-search and #NAME-found.
  constructor(select, name) {
    this.select = select;
    this.field = $(`${name}-search`);
    this.list = $(`${name}-found`);
    this.field.addEventListener('input', () => this.#find());
    this.field.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.#close();
      if (event.key === 'Enter' || event.key === 'ArrowDown') event.preventDefault();
      if (event.key === 'Enter') this.list.querySelector('button')?.click();
      if (event.key === 'ArrowDown') this.list.querySelector('button')?.focus();
    });
  }

  // The list was filled anew.
  offer(tags) {
    this.tags = tags;
    this.field.hidden = tags.length <= MANY;
    this.field.placeholder = t('Search {0} languages', tags.length);
    this.#close();
  }

  #close() {
    this.field.value = '';
    this.list.hidden = true;
  }

  #find() {
    const typed = simple(this.field.value.trim());
    const found = typed ? this.tags.map((tag) => [fit(tag, typed), tag]).filter(([place]) => place < Infinity) : [];
    found.sort(([a], [b]) => a - b); // those that fit equally well stay in the order of the list
    this.list.hidden = found.length === 0;
    this.list.replaceChildren(...found.slice(0, MOST_FOUND).map(([, tag]) => {
      const button = element('button', {type: 'button', class: 'quiet'}, nameOf(tag));
      button.addEventListener('click', () => {
        this.#close();
        this.select.value = tag;
        this.select.dispatchEvent(new Event('change'));
        this.select.focus();
      });
      return element('li', {}, button);
    }));
  }
}
