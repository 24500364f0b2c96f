// What went wrong, in plain words next to the text.

import {CODES, token} from './api.js';
import {nameOf} from './languages.js';
import {$} from './page.js';
import {count, t} from './strings.js';

const PLAIN = [
  [/more than (\d+) characters/, (limit) =>
    t('The text is too long: at most {0} characters are translated at once. Shorten it, or translate it in parts.', count(limit))],
  [/a sentence has (\d+) tokens, the most(?: with attention)? is (\d+)/, (has, most) =>
    t('A sentence is too long for this model ({0} tokens, at most {1}). Divide it by a full stop or a line break.', has, most)],
  [/the text is in "([^"]*)" \(detected/, (tag) =>
    t('The text seems to be in {0}, which this server does not translate. If it is not, choose its language.', nameOf(tag))],
  [/no model translates from "([^"]*)"/, (from) => t('This server does not translate from {0}.', nameOf(from))],
  [/no model translates into "([^"]*)"/, (to) => t('This server does not translate into {0}.', nameOf(to))],
  [/no model translates "([^"]*)" to "([^"]*)"/, (from, to) => t('This server does not translate {0} into {1}.', nameOf(from), nameOf(to))],
];

// What to tell a reader who knows nothing of the API.
export function inWords(error) {
  if (error.code === CODES.resourceExhausted) return t('The server is busy.');
  if (error.code === CODES.deadlineExceeded) return t('It took too long.');
  const message = error.message ?? String(error);
  for (const [pattern, words] of PLAIN) {
    const found = pattern.exec(message);
    if (found) return words(...found.slice(1));
  }
  // "contents[0]: is not valid UTF-8" is about the only text that there is.
  const about = message.replace(/^contents(\[\d+\])?: /, 'The text ').replace(/^[a-z_.]+(\[\d+\])?(\.\w+)*: /, '');
  return t(about.charAt(0).toUpperCase() + about.slice(1));
}

const passes = (error) => ['offline', CODES.resourceExhausted, CODES.unavailable].includes(error.code);

export class Problem {
  constructor() {
    this.timer = null;
    this.pause = 1;
  }

  // Shows an error, or none.  A temporary one is retried by `again`, after the delay that the server names or soon.
  show(error, again = null) {
    clearTimeout(this.timer);
    const wantsToken = error?.code === CODES.unauthenticated;
    $('problem').hidden = !error || wantsToken;
    $('source').setAttribute('aria-invalid', String(Boolean(error) && !wantsToken && !passes(error)));
    if (!error) {
      this.pause = 1;
      $('problem-text').textContent = '';
      return;
    }
    if (wantsToken) return this.#askForToken();
    const what = inWords(error);
    $('problem-text').textContent = what;
    $('problem-retry').hidden = !again || !passes(error);
    if (!$('problem-retry').hidden) this.#countDown(error, what, again);
  }

  #countDown(error, what, again) {
    this.pause = error.retryAfter ?? Math.min(10, this.pause * 2);
    const until = Date.now() + this.pause * 1000;
    const tick = () => {
      const left = Math.ceil((until - Date.now()) / 1000);
      if (left <= 0) return again();
      $('problem-text').textContent = t('{0} Trying again in {1} s.', what, left);
      this.timer = setTimeout(tick, 250);
    };
    tick();
  }

  #askForToken() {
    const wrong = Boolean(token.get());
    $('token-form').querySelector('label').textContent = t(wrong ? 'The server does not know this token' : 'This server requires a token');
    $('token-form').hidden = false;
    $('token').focus();
  }
}
