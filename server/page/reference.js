// The page for those who write programs: the paths and messages of /openapi.json, and what this server serves.

import {json} from './api.js';
import {nameOf} from './languages.js';
import {$, element} from './page.js';

const english = (tag) => nameOf(tag, ['en']);
const nameOfSchema = ({$ref}) => $ref.split('/').pop();

// A type as nodes, with a link to the message that it is.
function typeOf(schema = {}) {
  if (schema.$ref) return [element('a', {href: `#${nameOfSchema(schema)}`}, nameOfSchema(schema))];
  if (schema.type === 'array') return ['list of ', ...typeOf(schema.items)];
  if (schema.allOf) return typeOf(schema.allOf[0]);
  return [schema.enum ? 'one of' : schema.format && schema.type !== 'string' ? `${schema.type} (${schema.format})` : schema.type || 'any'];
}

function fieldsOf({properties = {}}) {
  return element('dl', {class: 'fields'}, ...Object.entries(properties).flatMap(([name, schema]) => {
    const values = (schema.enum || schema.items?.enum || []).filter((value) => !value.endsWith('_UNSPECIFIED'));
    return [
      element('dt', {}, element('code', {}, name), element('span', {}, ...typeOf(schema))),
      element('dd', {}, schema.description || '', ...values.flatMap((value, i) => [i ? ', ' : ' ', element('code', {}, value)])),
    ];
  }));
}

function folded(id, title, ...content) {
  return element('details', {class: 'fold', ...(id && {id})}, element('summary', {}, ...title), ...content);
}

function pathOf([path, methods]) {
  return Object.entries(methods).map(([method, {summary = '', requestBody, responses, parameters = []}]) => {
    const inputs = parameters.filter((parameter) => parameter.in);
    const [{schema: body} = {}] = Object.values(requestBody?.content || {});
    const [answer] = Object.values(responses?.['200']?.content || {});
    return folded('', [element('code', {}, `${method.toUpperCase()} ${path}`)], element('p', {}, summary),
      ...(body?.properties ? [element('p', {}, 'Send a form with'), fieldsOf(body)]
        : body ? [element('p', {}, 'Send ', ...typeOf(body))] : []),
      ...(answer ? [element('p', {}, 'The answer is ', ...typeOf(answer.schema))] : []),
      fieldsOf({properties: Object.fromEntries(inputs.map(({name, schema, description, in: place}) =>
        [name, {...schema, description: description || `in the ${place}`}]))}));
  });
}

// A link to a message opens it.
function openTarget() {
  const target = location.hash && $(location.hash.slice(1));
  if (target?.tagName !== 'DETAILS') return;
  target.open = true;
  target.scrollIntoView();
}

// "English to German, French and Spanish".
function pairsOf(models) {
  const targets = new Map();
  for (const {languagePairs = []} of models) {
    for (const {source, target} of languagePairs) targets.set(source, (targets.get(source) || new Set()).add(target));
  }
  const list = new Intl.ListFormat('en', {type: 'conjunction'});
  return [...targets].slice(0, 50).map(([source, found]) => {
    const names = [...found].map(english).sort();
    return `${english(source)} to ${names.length > 20 ? `${names.length} languages` : list.format(names)}`;
  });
}

for (const node of document.querySelectorAll('.origin')) node.textContent = location.origin;
addEventListener('hashchange', openTarget);

json('openapi.json').then(({paths, components}) => {
  $('paths').append(...Object.entries(paths).flatMap(pathOf));
  $('messages').append(...Object.entries(components.schemas).map(([name, schema]) =>
    folded(name, [element('code', {}, name)], element('p', {}, schema.description || ''), fieldsOf(schema))));
  openTarget();
}, (error) => {
  $('problem').hidden = false;
  $('problem').textContent = error.message;
});
json('page/settings.json').then(({maxCharacters}) => { $('limit').textContent = maxCharacters.toLocaleString('en'); }, () => {});
json('v1/models').then(({models = []}) => {
  const pairs = pairsOf(models);
  if (pairs.length) $('pairs').before(element('ul', {}, ...pairs.map((pair) => element('li', {}, pair))));
}, () => {}); // without a token the list stays closed
