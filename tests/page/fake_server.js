// Serves the files of server/page and imitates the API, so that every state of the pages can be tested:
// the text of a request chooses the response.

'use strict';

const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const {setTimeout: sleep} = require('node:timers/promises');

const PAGE = path.join(__dirname, '..', '..', 'server', 'page');
const TYPES = {'.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml'};
const SECURITY = {
  'content-security-policy': "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};
const MODEL = {
  name: 'en-de', version: '8e35c0690ec94de8', architecture: 'MarianMTModel', precision: 'int8', isDefault: true, state: 'STATE_READY',
  languagePairs: [{source: 'en', target: 'de'}], sourceLanguages: ['en'], targetLanguages: ['de'], maxSourceTokens: 512, vocabularySize: 8001,
  encoderLayers: 4, encoderHeads: 8, crossLayers: 2, crossHeads: 8, decoderLayers: 2, decoderHeads: 8,
};
const BACK = {...MODEL, name: 'de-en', isDefault: false, vocabularySize: 32000, languagePairs: [{source: 'de', target: 'en'}], sourceLanguages: ['de'], targetLanguages: ['en']};
const WORDS = {
  source: ['▁Where', '▁is', '▁the', '▁nearest', '▁train', '▁station', '?', '</s>'],
  target: ['▁Wo', '▁ist', '▁der', '▁nächste', '▁Bahn', 'hof', '?'],
  scores: [-0.02, -0.01, -0.3, -0.9, -1.9, -0.05, -0.01],
  peak: [0, 1, 2, 3, 4, 5, 6],
};

// Of a head: each token looks at the one before it.
function headOf(kind, layer, head) {
  const width = kind === 'ATTENTION_KIND_DECODER' ? WORDS.target.length : WORDS.source.length;
  const rows = kind === 'ATTENTION_KIND_ENCODER' ? width : WORDS.target.length;
  const probabilities = [];
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < width; column++) probabilities.push(column === Math.max(0, row - 1) ? 0.86 : 0.02);
  }
  return {kind, layer, head, sourceEnd: width, queryEnd: rows, probabilities};
}

function translation({contents: [text], options = {}, output = {}, sourceLanguage, targetLanguage, glossaryIds = [], targetPrefixes = []}) {
  const detected = sourceLanguage === 'auto' && {detectedLanguage: 'en', detectionConfidence: 0.93};
  if (detected && targetLanguage === 'en') return {hypotheses: [{text, score: 0}], ...detected};
  const source = 'Where is the nearest train station?';
  const target = 'Wo ist der nächste Bahnhof?';
  const spans = (pieces, whole) => {
    let at = 0;
    return pieces.map((piece) => {
      const plain = piece.replace('▁', '');
      const found = Buffer.from(whole).indexOf(plain, at);
      if (found < 0) return {piece};
      at = found + Buffer.byteLength(plain);
      return {piece, ...(found && {begin: found}), end: at};
    });
  };
  const alignment = WORDS.peak.map((sourceToken, targetToken) => ({sourceToken, targetToken, probability: 0.72, link: true}));
  const probabilities = WORDS.target.flatMap((_, row) =>
    WORDS.source.map((__, column) => (column === WORDS.peak[row] ? 0.72 : 0.04)));
  const best = {
    text: target, score: -0.35, tokens: WORDS.target, tokenScores: WORDS.scores, finishReason: 'FINISH_REASON_EOS', alignment,
    alignedText: {
      sourceTokens: spans(WORDS.source, source), targetTokens: spans(WORDS.target, target),
      ...(output.attention && {attention: [{sourceEnd: WORDS.source.length, targetEnd: WORDS.target.length, probabilities}]}),
    },
  };
  if (output.attentionHeads) {
    best.alignedText.heads = output.attentionHeads.flatMap(({kind, layer = 0, heads}) => heads.map((head) => headOf(kind, layer, head)));
  }
  if (options.returnAlternatives) {
    const [prefix] = targetPrefixes;
    return {hypotheses: [best, ...['gleich nebenan?', 'weit von hier?', 'gleich nebenan?'].map((rest) => ({text: prefix + rest, score: -1})),
      {text: `${prefix.trim()}art`, score: -3}], sourceTokens: 8};
  }
  if (output.candidates) {
    best.steps = [...WORDS.target.map((token, i) => ({candidates: [{token, logProb: WORDS.scores[i]}, {token: '▁Zug', logProb: -2.3}]})),
      {end: true, candidates: [{token: '</s>', logProb: -0.01}]}];
  }
  const others = ['Wo ist der nächste Zug?', 'Wo ist die nächste Station?'];
  return {
    hypotheses: [best, ...others.slice(0, (options.numHypotheses ?? 1) - 1).map((other, i) => ({text: other, score: -0.6 - i}))],
    sourceTokens: 8, ...detected,
    ...(glossaryIds.length && {glossaryUnmet: [{glossaryId: 'g1', source: 'is', sourceBegin: 6, sourceEnd: 8}]}),
  };
}

const OPENAPI = {
  paths: {'/v1/translate': {post: {
    summary: 'Translates.', requestBody: {content: {'application/json': {schema: {$ref: '#/components/schemas/TranslateRequest'}}}},
    responses: {200: {content: {'application/json': {schema: {type: 'object'}}}}},
  }}},
  components: {schemas: {TranslateRequest: {properties: {
    contents: {type: 'array', items: {type: 'string'}, description: 'The texts.'},
    markup: {type: 'string', enum: ['MARKUP_UNSPECIFIED', 'MARKUP_HTML']},
  }}}},
};

const GLOSSARY = {id: 'g1', name: 'Railway', version: '3', dictionaries: [{sourceLanguage: 'en', targetLanguage: 'de', entryCount: 3}]};
// One is said as it is written, one in another form, and one not at all.
const ENTRIES = [{source: 'TRAIN STATION', target: 'Bahnhof', ignoreCase: true}, {source: 'nearest', target: 'nah', inflect: true}, {source: 'is', target: 'liegt'}];

const SUMMARY = {
  model: 'en-de', modelVersion: '8e35c0690ec94de8', isa: 'int8/avx512_vnni',
  timing: {total: '0.0121s', tokenize: '0.0002s', queue: '0.0011s', encode: '0.0031s', decode: '0.0073s', detokenize: '0.0001s'},
};

class FakeServer {
  constructor() {
    this.busy = 0; // the number of requests to refuse
    this.models = [MODEL];
    this.token = null;
    this.noHeads = ''; // why heads are refused
    this.streams = true;
    this.settings = {maxCharacters: 1000, pivot: '', version: '1.2.3', grpcPort: '50077', suffixes: ['.txt', '.docx', '.odt']};
    this.metricsServed = true;
    this.began = Date.now();
    this.requests = [];
    this.learned = [];
    this.refuses = ''; // why a memory does not learn
    this.fileMayEnd = Promise.resolve();
    this.server = http.createServer((request, response) => {
      this.answer(request, response).catch((error) => response.destroy(error));
    });
  }

  async listen() {
    await new Promise((done) => this.server.listen(0, '127.0.0.1', done));
    this.origin = `http://127.0.0.1:${this.server.address().port}`;
  }

  close() {
    this.server.closeAllConnections();
    return new Promise((done) => this.server.close(done));
  }

  // Of four passages; goes on after the first one when `fileMayEnd` is resolved.
  async translateFile(body, response, json) {
    this.requests.push(body);
    if (body.includes('WRONG')) return json(400, {code: 3, message: 'letter.txt, line 3: is not UTF-8'});
    response.writeHead(200, {'content-type': 'text/event-stream'});
    const send = (data) => response.write(`event: ${Object.keys(data)[0]}\ndata: ${JSON.stringify(data)}\n\n`);
    send({progress: {passagesKnown: '4', part: 'word/document.xml'}});
    send({progress: {passagesDone: '1', passagesKnown: '4', part: 'word/document.xml'}});
    await this.fileMayEnd;
    send({progress: {passagesDone: '4', passagesKnown: '4', part: 'word/document.xml'}});
    for (const chunk of ['Grüße aus ', 'dem Hafen.']) send({chunk: Buffer.from(chunk).toString('base64')});
    send({report: {fileName: 'letter.de.txt', mediaType: 'text/plain', passages: '4', warnings: ['letter.txt, line 2: the translation lacks "7"']}});
    response.end();
  }

  async answer(request, response) {
    const where = request.url.split('?')[0];
    const body = (await request.toArray()).join('');
    const send = (code, type, text, headers = {}) => response.writeHead(code, {'content-type': type, ...headers}).end(text);
    const json = (code, value, headers) => send(code, 'application/json', JSON.stringify(value), headers);
    if (where === '/page/settings.json') return json(200, this.settings);
    const file = {'/': 'index.html', '/status': 'status.html', '/api': 'api.html'}[where] ?? where.match(/^\/page\/([\w.]+)$/)?.[1];
    if (file) return send(200, TYPES[path.extname(file)], fs.readFileSync(path.join(PAGE, file)), SECURITY);
    if (where === '/metrics' && this.metricsServed) return send(200, 'text/plain', this.metrics());
    if (where === '/metrics/history') return json(200, this.history());
    if (where === '/readyz') return send(200, 'text/plain', 'ready\n');
    if (where === '/openapi.json') return json(200, OPENAPI);
    if (this.token && request.headers.authorization !== `Bearer ${this.token}`) {
      return json(401, {code: 16, message: 'a bearer token is needed'});
    }
    if (where === '/v1/models') return json(200, {models: this.models});
    if (where === '/v1/memories') return json(200, {memories: [{id: 'm0', name: 'Ours', readOnly: true}, {id: 'm1', name: 'Mine'}]});
    if (where === '/v1/memories/m1/segments') {
      this.learned.push(...JSON.parse(body).segments);
      return this.refuses ? json(400, {code: 3, message: this.refuses}) : json(200, {id: 'm1'});
    }
    if (where === '/v1/glossaries') return json(200, {glossaries: [GLOSSARY]});
    if (where === '/v1/glossaries/g1/entries') return json(200, {...GLOSSARY, dictionaries: [{...GLOSSARY.dictionaries[0], entries: ENTRIES}]});
    if (where === '/v1/translate_file') return this.translateFile(body, response, json);
    if (!where.startsWith('/v1/translate')) return json(404, {code: 5, message: 'not found'});
    const asked = JSON.parse(body);
    this.requests.push(asked);
    if (this.busy > 0) {
      this.busy--;
      return json(429, {code: 8, message: 'too much is waiting', details: [{'@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '5s'}]}, {'retry-after': '5'});
    }
    if (asked.contents[0].includes('WRONG')) return json(400, {code: 3, message: 'contents[0]: a sentence has 600 tokens, the most is 512; split it, or ask for truncation'});
    if (this.noHeads && asked.output?.attentionHeads) return json(400, {code: 3, message: this.noHeads});
    const whole = translation(asked);
    if (where === '/v1/translate') return json(200, {translations: [whole], ...SUMMARY});
    if (!this.streams) return json(404, {code: 5, message: 'not found'});
    response.writeHead(200, {'content-type': 'text/event-stream'});
    for (const part of whole.hypotheses[0].text.split(/(?<= )/)) {
      response.write(`data: ${JSON.stringify({stableText: part})}\n\n`);
      await sleep(10); // or the browser would read several parts at once
    }
    response.write(`data: ${JSON.stringify({translation: whole})}\n\n`);
    response.end(`data: ${JSON.stringify({summary: SUMMARY})}\n\n`);
  }

  // The last ten minutes: 20 requests a second, and 30 that were refused.
  history() {
    const now = Date.now() / 1000;
    const times = Array.from({length: 60}, (_, i) => now - 600 + i * 10);
    const seconds = times.map((time) => 100_000 + time - this.began / 1000);
    const series = (name, values, labels = {}) => ({name, labels, values});
    return {now, times, series: [
      series('dragoman_requests_total', seconds.map((passed) => Math.round(passed * 20)), {code: 'OK'}),
      series('dragoman_rejected_total', times.map((_, i) => (i < 30 ? 1 : 31)), {reason: 'quota'}),
      series('process_resident_memory_bytes', times.map((_, i) => 1e8 + i * 1e6)),
    ]};
  }

  metrics() {
    const seconds = 100_000 + (Date.now() - this.began) / 1000;
    const calls = Math.round(seconds * 20);
    const labels = 'method="Translate",model="en-de"';
    const bucket = (bound, share) => `dragoman_request_duration_seconds_bucket{${labels},le="${bound}"} ${Math.round(calls * share)}`;
    return [
      `dragoman_requests_total{code="OK",${labels}} ${calls}`,
      bucket('0.01', 0.2), bucket('0.05', 0.8), bucket('0.2', 0.99), bucket('+Inf', 1),
      `dragoman_request_duration_seconds_count{${labels}} ${calls}`,
      `dragoman_target_tokens_total ${calls * 9}`, `dragoman_source_tokens_total ${calls * 8}`, `dragoman_sentences_total ${calls}`,
      'dragoman_requests_in_flight 3', 'dragoman_queue_requests{priority="interactive"} 2', 'dragoman_queue_requests{priority="batch"} 0', 'dragoman_queue_requests_limit 256',
      'dragoman_queue_oldest_age_seconds{priority="interactive"} 0.012', `dragoman_engine_busy_seconds_total{worker="0"} ${seconds * 0.6}`,
      `dragoman_batch_rows_count{phase="decode"} ${calls}`, `dragoman_batch_rows_sum{phase="decode"} ${calls * 12}`,
      'dragoman_batch_rows_limit{model="en-de"} 64', 'dragoman_kv_cache_bytes 52428800', 'dragoman_kv_cache_capacity_bytes 4294967296',
      'dragoman_kv_cache_resident_bytes 104857600', 'dragoman_rejected_total{reason="quota"} 31', 'dragoman_rejected_total{reason="queue_full"} 0',
      'process_resident_memory_bytes 209715200', 'dragoman_memory_limit_bytes 2147483648',
      `process_start_time_seconds ${Date.now() / 1000 - 3 * 3600 - 725}`,
      'dragoman_connections 5', 'dragoman_connections_limit 10000', 'dragoman_http_connections 2', 'dragoman_http_connections_limit 1024',
      `dragoman_cache_lookups_total{result="hit"} ${Math.round(calls / 4)}`, `dragoman_cache_lookups_total{result="miss"} ${Math.round(calls * 3 / 4)}`,
      'dragoman_cache_entries 1200', 'dragoman_cache_bytes 1048576', 'dragoman_cache_capacity_bytes 67108864',
      `dragoman_model_loaded_timestamp_seconds{model="en-de",version="8e35c0690ec94de8"} ${Date.now() / 1000 - 630}`,
      'dragoman_model_info{isa="avx512_vnni",matmul="native",model="en-de",precision="int8"} 1', 'dragoman_build_info{version="0.1.0"} 1', '',
    ].join('\n');
  }
}

module.exports = {BACK, FakeServer, MODEL};
