// Tests with a real server (DRAGOMAN_SERVER), if there is one, and with a fake one that refuses when told to.

'use strict';

const assert = require('node:assert');
const {after, before, describe, it} = require('node:test');
const grpc = require('@grpc/grpc-js');
const {Client, DragomanError} = require('..');
const {TranslationService, Status, details} = require('../lib/api');

const TEXTS = ['Good morning.', 'Hello'];
const TRANSLATIONS = ['Guten Morgen!', 'Hallo!'];

const failsWith = (code) => (error) => error instanceof DragomanError && error.code === code;

async function all(iterable) {
  const found = [];
  for await (const item of iterable) found.push(item);
  return found;
}

describe('a real server', {skip: !process.env.DRAGOMAN_SERVER}, () => {
  let client;
  before(() => { client = Client.fromEnvironment(); });
  after(() => client.close());

  it('translates', async () => {
    assert.equal(await client.translateText(TEXTS[0]), TRANSLATIONS[0]);
    assert.deepEqual(await client.translateTexts(TEXTS, {targetLanguage: 'de'}), TRANSLATIONS);
    const {translations: [{hypotheses}], timing} = await client.translate('Where are you going?', {
      options: {beamSize: 3, numHypotheses: 3}, output: {tokenScores: true},
    });
    assert.equal(hypotheses.length, 3);
    assert.ok(hypotheses[0].tokenScores.length > 0);
    assert.equal(typeof timing.total.seconds, 'number');
  });

  it('scores, tokenizes and lists', async () => {
    const {scores} = await client.score([
      {source: 'Hello', target: 'Hallo!'}, {source: 'Hello', target: 'Guten Morgen!'},
    ]);
    assert.ok(scores[0].logProb > scores[1].logProb);
    assert.ok((await client.tokenize('Hello')).texts[0].tokenIds.length > 0);
    assert.deepEqual((await client.models()).map(({name}) => name), ['en-de']);
    assert.equal((await client.model()).state, 'STATE_READY');
  });

  it('says which field is wrong', async () => {
    await assert.rejects(client.translate('x', {options: {beamSize: 99}}), (error) => {
      assert.ok(failsWith('INVALID_ARGUMENT')(error));
      assert.equal(error.violations[0].field, 'options.beam_size');
      assert.ok(error.requestId);
      return true;
    });
    await assert.rejects(client.model('none'), failsWith('NOT_FOUND'));
  });

  it('wants the right token', {skip: !process.env.DRAGOMAN_TOKEN}, async () => {
    const stranger = Client.fromEnvironment({token: () => 'wrong'});
    await assert.rejects(stranger.translateText('x'), failsWith('UNAUTHENTICATED'));
    stranger.close();
  });

  it('is aborted', async () => {
    const signal = AbortSignal.timeout(1);
    await assert.rejects(client.translate('Where are you going? '.repeat(40), {signal}), {name: 'TimeoutError'});
  });

  it('streams', async (t) => {
    let events;
    try {
      events = await all(client.translateStream(TEXTS));
    } catch (error) {
      if (failsWith('UNIMPLEMENTED')(error)) return t.skip('this server does not stream yet');
      throw error;
    }
    const done = events.filter(({event}) => event === 'translation');
    done.sort((a, b) => a.contentIndex - b.contentIndex);
    assert.deepEqual(done.map(({translation}) => translation.hypotheses[0].text), TRANSLATIONS);
  });

  it('takes bulk calls', async (t) => {
    let answers;
    try {
      answers = await all(client.translateBulk([{id: 'a', contents: TEXTS[0]}, TEXTS[1], {id: 'bad', contents: []}]));
    } catch (error) {
      if (failsWith('UNIMPLEMENTED')(error)) return t.skip('this server takes no bulk calls yet');
      throw error;
    }
    const of = new Map(answers.map((answer) => [answer.id, answer]));
    assert.equal(of.get('a').response.translations[0].hypotheses[0].text, TRANSLATIONS[0]);
    assert.equal(of.get('1').response.translations[0].hypotheses[0].text, TRANSLATIONS[1]);
    assert.ok(failsWith('INVALID_ARGUMENT')(of.get('bad').error));
  });
});

describe('a server that refuses', () => {
  let server;
  let client;
  let refusals = [];
  let calls = 0;

  const lost = () => ({code: grpc.status.UNAVAILABLE, details: 'lost'});
  const busy = (ms) => {
    const value = details.RetryInfo.encode({retryDelay: {seconds: Math.floor(ms / 1000), nanos: (ms % 1000) * 1e6}}).finish();
    const status = {code: 8, details: [{type_url: 'type.googleapis.com/google.rpc.RetryInfo', value}]};
    const metadata = new grpc.Metadata();
    metadata.set('grpc-status-details-bin', Buffer.from(Status.encode(status).finish()));
    return {code: grpc.status.RESOURCE_EXHAUSTED, details: 'busy', metadata};
  };
  const answer = ({contents}) => ({
    translations: contents.map((text) => ({hypotheses: [{text: text.toUpperCase()}]})),
  });

  before(async () => {
    server = new grpc.Server();
    server.addService(TranslationService.service, {
      translate(call, done) {
        calls++;
        refusals.length ? done(refusals.shift()) : done(null, answer(call.request));
      },
      translateStream(call) {
        calls++;
        if (refusals.length) return call.emit('error', refusals.shift());
        answer(call.request).translations.forEach((translation, contentIndex) => {
          call.write({contentIndex, translation});
        });
        call.end();
      },
      translateBulk(call) {
        call.on('data', ({id, request}) => {
          if (id === '2' && refusals.length) call.emit('error', refusals.shift());
          else call.write({id, response: answer(request)});
        });
        call.on('end', () => call.end());
      },
    });
    const port = await new Promise((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(),
        (error, bound) => (error ? reject(error) : resolve(bound)));
    });
    client = new Client(`127.0.0.1:${port}`, {timeoutMs: 10_000, retry: {initialBackoffMs: 10}});
  });
  after(() => {
    client.close();
    server.forceShutdown();
  });

  it('is asked again when it says', async () => {
    [refusals, calls] = [[lost(), busy(50), lost()], 0];
    const began = Date.now();
    assert.equal(await client.translateText('x'), 'X');
    assert.equal(calls, 4);
    assert.ok(Date.now() - began >= 50);
  });

  it('is not asked again too late, nor for what is wrong', async () => {
    const wrong = {code: grpc.status.INVALID_ARGUMENT, details: 'wrong'};
    const large = {code: grpc.status.RESOURCE_EXHAUSTED, details: 'too large'};
    for (const refusal of [busy(60_000), wrong, large]) {
      [refusals, calls] = [[refusal], 0];
      await assert.rejects(client.translateText('x'), failsWith(grpc.status[refusal.code]));
      assert.equal(calls, 1);
    }
  });

  it('streams again if nothing came', async () => {
    refusals = [lost()];
    const events = await all(client.translateStream(['x', 'y']));
    assert.deepEqual(events.map(({translation}) => translation.hypotheses[0].text), ['X', 'Y']);
  });

  it('is sent again what it did not answer', async () => {
    refusals = [lost(), lost()];
    const answers = await all(client.translateBulk(Array.from({length: 1000}, (_, i) => `t${i}`)));
    assert.equal(answers.length, 1000);
    const texts = new Map(answers.map(({id, response}) => [id, response.translations[0].hypotheses[0].text]));
    for (let i = 0; i < 1000; i++) assert.equal(texts.get(String(i)), `T${i}`);
  });

  it('passes on what the items throw', async () => {
    async function* items() {
      yield 'x';
      throw new RangeError('mine');
    }
    await assert.rejects(all(client.translateBulk(items())), RangeError);
  });
});
