// Files: chosen or dropped, translated by the server, and saved by the reader.

import {events} from './api.js';
import {$, duration} from './page.js';
import {inWords} from './problem.js';
import {count, t} from './strings.js';

// The formats that most people know, of those that the server reads.
const KNOWN = ['.docx', '.pptx', '.xlsx', '.odt', '.epub', '.html', '.md', '.srt', '.po', '.xlf', '.json'];

const bytesOf = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

// "line 3: is not UTF-8" of "letter.txt, line 3: is not UTF-8": the name stands in front of it already.
const withoutName = ({message = ''}, name) => (message.startsWith(`${name}, `) ? message.slice(name.length + 2) : message);

export class Files {
  // `fields` returns the languages and the model of a request.
  constructor(fields) {
    this.fields = fields;
    this.running = null; // the AbortController of the current translation
    $('choose-file').addEventListener('click', () => $('file-input').click());
    $('file-input').addEventListener('change', () => {
      this.translate($('file-input').files[0]);
      $('file-input').value = ''; // so that the same file can be chosen again
    });
    $('file-stop').addEventListener('click', () => {
      this.running?.abort();
      $('file').hidden = true;
    });
    addEventListener('dragover', (event) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      $('drop').hidden = false;
    });
    // Out of the window: over to no other element.
    addEventListener('dragleave', (event) => { if (!event.relatedTarget) $('drop').hidden = true; });
    addEventListener('drop', (event) => {
      $('drop').hidden = true;
      if (!event.dataTransfer?.files.length) return;
      event.preventDefault();
      this.translate(event.dataTransfer.files[0]);
    });
  }

  // Names the suffixes of the files that the server reads.
  offer(suffixes) {
    $('file-input').accept = suffixes.map((one) => one.slice(one.lastIndexOf('.'))).join(); // "strings.xml" is one, too
    $('choose-file').title = t('Translate a file, which may also be dropped on the page: {0}', suffixes.join(' '));
    $('formats').textContent = t('Files, too, chosen or dropped here: {0} and others', KNOWN.filter((one) => suffixes.includes(one)).join(' '));
  }

  async translate(file) {
    if (!file) return;
    this.running?.abort();
    const mine = this.running = new AbortController();
    this.#show(file.name, '');
    const form = new FormData();
    form.append('request', JSON.stringify(this.fields()));
    form.append('file', file, file.name);
    const began = performance.now();
    const parts = [];
    try {
      for await (const {data: {progress, chunk, report}} of events('v1/translate_file', form, mine.signal)) {
        if (mine.signal.aborted) return;
        if (progress) this.#showProgress(progress, (performance.now() - began) / 1000);
        if (chunk) parts.push(bytesOf(chunk));
        if (report) this.#showResult(new Blob(parts, {type: report.mediaType}), report);
      }
    } catch (error) {
      if (error.name === 'AbortError' || mine.signal.aborted) return;
      $('file-progress').hidden = true;
      $('file-state').textContent = inWords({code: error.code, message: withoutName(error, file.name)});
      $('file').classList.add('failed');
    } finally {
      if (this.running === mine) $('file-stop').textContent = t('Close');
    }
  }

  #show(name, state) {
    $('file').hidden = false;
    $('file').classList.remove('failed');
    $('file-name').textContent = name;
    $('file-state').textContent = state;
    $('file-progress').hidden = false;
    $('file-progress').removeAttribute('value');
    $('file-save').hidden = true;
    $('file-stop').textContent = t('Cancel');
  }

  #showProgress({passagesDone = 0, passagesKnown = 0, part = ''}, seconds) {
    const [done, known] = [Number(passagesDone), Number(passagesKnown)];
    $('file-progress').value = known ? done / known : 0;
    const left = done > 0 && done < known ? `, ${t('{0} left', duration(seconds * (known - done) / done))}` : '';
    $('file-state').textContent = `${part ? `${part}: ` : ''}${t('{0} of {1}', count(done), count(known))}${left}`;
  }

  #showResult(blob, {fileName, passages = 0, warnings = []}) {
    URL.revokeObjectURL($('file-save').href);
    $('file-save').href = URL.createObjectURL(blob);
    $('file-save').download = fileName;
    $('file-save').textContent = t('Save {0}', fileName);
    $('file-save').hidden = false;
    $('file-progress').hidden = true;
    const doubts = warnings.length ? `, ${t('{0} of them doubtful', count(warnings.length))}` : '';
    $('file-state').textContent = t('{0} passages translated', count(passages)) + doubts;
    $('file-state').title = warnings.join('\n');
  }
}
