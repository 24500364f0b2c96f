// Prints the API as TypeScript, with the comments of the proto: node generate-types.js >types.d.ts
//
// Messages of requests have optional fields; in responses every field is set.

'use strict';

const path = require('node:path');
const protobuf = require('protobufjs');

const SCALARS = {
  bool: 'boolean', bytes: 'Uint8Array', double: 'number', fixed32: 'number', fixed64: 'number',
  float: 'number', int32: 'number', int64: 'number', string: 'string', uint32: 'number',
  uint64: 'number | string',
};

const root = new protobuf.Root();
root.resolvePath = (_, target) => path.join(__dirname, 'proto', target);
root.loadSync('dragoman/v1/translation.proto', {alternateCommentMode: true, preferTrailingComment: true});
const api = root.lookup('dragoman.v1');

// A message and all messages that it contains.
function reachable(type, into) {
  if (into.has(type)) return into;
  into.add(type);
  for (const field of type.fieldsArray) {
    if (field.resolve().resolvedType instanceof protobuf.Type) reachable(field.resolvedType, into);
  }
  return into;
}

function comment(object, indent) {
  if (!object.comment) return '';
  const lines = object.comment.split('\n');
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

const nameOf = (type) =>
  type.parent === api ? type.name : type.parent.name === 'protobuf' ? type.name : type.parent.name + type.name;

function typeOf(field) {
  const one = field.resolvedType ? nameOf(field.resolvedType) : SCALARS[field.type];
  return field.repeated ? (one.includes('|') ? `Array<${one}>` : `${one}[]`) : one;
}

function message(type, inRequests) {
  const fields = type.fieldsArray.map((field) => {
    const absent = field.resolvedType instanceof protobuf.Type && !field.repeated || field.partOf;
    const mark = inRequests || field.partOf ? '?' : '';
    const value = typeOf(field) + (absent && !inRequests && !field.partOf ? ' | null' : '');
    return `${comment(field, '  ')}  ${field.name}${mark}: ${value};\n`;
  });
  const oneofs = inRequests ? [] : type.oneofsArray.filter((oneof) => oneof.fieldsArray.length > 1);
  for (const oneof of oneofs) {
    const names = oneof.fieldsArray.map(({name}) => `'${name}'`).join(' | ');
    fields.push(`  /** Which of them it is. */\n  ${oneof.name}?: ${names};\n`);
  }
  return `${comment(type, '')}export interface ${nameOf(type)} {\n${fields.join('')}}\n`;
}

function enumeration(type) {
  const values = Object.keys(type.values).map((name) => {
    const text = type.comments[name];
    return (text ? `  /** ${text.split('\n').join(' ')} */\n` : '') + `  | '${name}'`;
  });
  return `${comment(type, '')}export type ${nameOf(type)} =\n${values.join('\n')};\n`;
}

const requests = new Set();
for (const service of api.nestedArray.filter((object) => object instanceof protobuf.Service)) {
  for (const method of service.methodsArray) reachable(method.resolve().resolvedRequestType, requests);
}
const parts = [];
function visit(object) {
  if (object instanceof protobuf.Type) parts.push(message(object, requests.has(object)));
  if (object instanceof protobuf.Enum) parts.push(enumeration(object));
  for (const child of object.nestedArray || []) visit(child);
}
visit(api);
console.log('// Generated from translation.proto by clients/generate.sh: do not edit.\n');
console.log('/** A span of time. */\nexport interface Duration {\n  seconds: number;\n  nanos: number;\n}\n');
console.log('/** A moment, since 1970. */\nexport interface Timestamp {\n  seconds: number;\n  nanos: number;\n}\n');
console.log(parts.join('\n').trimEnd());
