// What the page asks of the API.

import {CODES, events, json} from './api.js';
import {$} from './page.js';

export const LONGEST_PICTURE = 4000; // characters
const ALTERNATIVES = 6; // for a word

let streams = true; // until the server reports that it does not stream
const noAttention = new Set(); // models that do not return it

// A request to translate a text as the page's options say; `fields` are its languages and model.
export function request(text, fields) {
  const hypotheses = Number($('alternatives').value);
  const asked = {contents: [text], ...fields};
  if ($('html').checked) asked.markup = 'MARKUP_HTML';
  if ($('glossary').value) asked.glossaryIds = [$('glossary').value];
  if ($('memory').value) asked.memoryIds = [$('memory').value];
  if (hypotheses > 1) asked.options = {beamSize: Math.max(4, hypotheses), numHypotheses: hypotheses};
  return asked;
}

// Without it, HTML may come back with fewer attributes, and so as another text.
const direction = ({markup}) => (markup ? {setDirection: true} : {});

// What to return besides the text.  The matrix of a long text is large, so it is returned only to be drawn.
function outputs(asked, model) {
  const wanted = {tokens: true, tokenScores: true, sentenceSpans: true, ...direction(asked)};
  if (noAttention.has(model)) return wanted;
  const drawn = $('attention-section').open && asked.contents[0].length <= LONGEST_PICTURE;
  return {...wanted, alignments: true, alignmentThreshold: 0.04, ...(drawn && {attention: true})};
}

// The events of one translation, probably by `model`, whether the server streams or not.
export async function* translation(asked, model, signal) {
  const body = {...asked, output: outputs(asked, model)};
  try {
    if (streams) {
      for await (const {data} of events('v1/translate:stream', body, signal)) yield data;
    } else {
      const {translations, ...summary} = await json('v1/translate', body, signal);
      yield {translation: translations[0]};
      yield {summary};
    }
  } catch (error) {
    if ([CODES.unimplemented, CODES.notFound].includes(error.code) && streams) {
      streams = false;
    } else if ([CODES.failedPrecondition, CODES.unimplemented].includes(error.code) && body.output.alignments) {
      noAttention.add(model);
    } else {
      throw error;
    }
    yield* translation(asked, model, signal);
  }
}

// The best hypothesis of a translation that was made, with what `output` names.
export async function moreOf(asked, output, signal) {
  const {translations} = await json('v1/translate', {...asked, output: {...direction(asked), ...output}}, signal);
  return translations[0].hypotheses[0];
}

// What could stand in a sentence's translation after a beginning of it, likeliest first, each with the rest that
// follows, and aligned if `aligned`.  Neither glossaries nor memories decide what a reader chooses.
export async function alternativesTo({sourceLanguage, targetLanguage, model}, sentence, prefix, aligned, signal) {
  const {translations} = await json('v1/translate', {
    contents: [sentence], sourceLanguage, targetLanguage, model, targetPrefixes: [prefix], sentenceSplitting: 'SENTENCE_SPLITTING_NONE',
    options: {returnAlternatives: true, numHypotheses: ALTERNATIVES},
    output: {tokens: true, tokenScores: true, ...(aligned && {alignments: true, alignmentThreshold: 0.04})},
  }, signal);
  return translations[0].hypotheses;
}
