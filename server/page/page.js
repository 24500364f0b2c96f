// Code that both pages use.

import {t} from './strings.js';

export const $ = (id) => document.getElementById(id);

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function svg(name, attributes = {}, text) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

export const option = (value, text) => element('option', {value}, text);

export const percent = (share) => `${Math.round(share * 100)} %`;

// "4 ms", "1.3 s".
export function duration(seconds) {
  if (seconds < 0.0995) return `${(seconds * 1000).toFixed(seconds < 0.00995 ? 1 : 0)} ms`;
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
}

export async function copyText(text, button, done = t('Copied')) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = done;
  } catch {
    // Browsers offer the clipboard only to secure origins, so not over plain HTTP from another machine.
    const area = element('textarea', {'aria-hidden': 'true'});
    area.value = text;
    document.body.append(area);
    area.select();
    button.textContent = document.execCommand('copy') ? done : t('Not copied');
    area.remove();
    button.focus();
  }
  setTimeout(() => { button.textContent = before; }, 1500);
}
