'use strict';

const fs = require('node:fs');
const path = require('node:path');
const grpc = require('@grpc/grpc-js');
const {TranslationService, ModelService} = require('./api');
const {Feed} = require('./bulk');
const {fromBulk, fromGrpc} = require('./errors');
const retries = require('./retry');

const SERVICE_CONFIG = fs.readFileSync(path.join(__dirname, '..', 'service_config.json'), 'utf8');
const DEFAULT_SERVER = '127.0.0.1:50051';

function credentials(tls) {
  if (!tls) return grpc.credentials.createInsecure();
  const {ca, cert, key} = tls === true ? {} : tls;
  const read = (file) => (file ? fs.readFileSync(file) : null);
  return grpc.credentials.createSsl(read(ca), read(key), read(cert));
}

class Client {
  constructor(server = DEFAULT_SERVER, {tls, token, timeoutMs = 60_000, retry = {}} = {}) {
    this.token = token;
    this.timeoutMs = timeoutMs;
    this.retry = {...retries.DEFAULTS, ...retry};
    const options = {
      'grpc.service_config': SERVICE_CONFIG,
      'grpc.enable_retries': 0, // retry.js retries: it sees the server's retry delay
      'grpc.max_receive_message_length': -1,
      'grpc.primary_user_agent': 'dragoman-node/0.1.0',
      ...(tls?.serverName && {'grpc.ssl_target_name_override': tls.serverName}),
    };
    const channel = new grpc.Channel(server, credentials(tls), options);
    const stub = (Service) => new Service(server, null, {channelOverride: channel});
    this.channel = channel;
    this.translation = stub(TranslationService);
    this.modelService = stub(ModelService);
  }

  static fromEnvironment(options = {}) {
    const {env} = process;
    const paths = {
      ca: env.DRAGOMAN_TLS_CA, cert: env.DRAGOMAN_TLS_CERT, key: env.DRAGOMAN_TLS_KEY,
      serverName: env.DRAGOMAN_TLS_SERVER_NAME,
    };
    const on = !['', '0', 'false', 'no', 'off'].includes((env.DRAGOMAN_TLS ?? '').toLowerCase());
    const tls = on || Object.values(paths).some(Boolean) ? paths : undefined;
    const token = env.DRAGOMAN_TOKEN ||
      (env.DRAGOMAN_TOKEN_FILE && fs.readFileSync(env.DRAGOMAN_TOKEN_FILE, 'utf8').trim()) || undefined;
    return new Client(env.DRAGOMAN_SERVER || DEFAULT_SERVER, {tls, token, ...options});
  }

  close() {
    this.channel.close();
  }

  async translateText(text, fields) {
    return (await this.translateTexts([text], fields))[0];
  }

  async translateTexts(texts, fields) {
    const {translations} = await this.translate(texts, fields);
    return translations.map(({hypotheses}) => hypotheses[0].text);
  }

  translate(contents, {signal, ...fields} = {}) {
    return this.#call(this.translation, 'translate', {...fields, contents: [contents].flat()}, signal);
  }

  async *translateStream(contents, {signal, ...fields} = {}) {
    const request = {...fields, contents: [contents].flat()};
    const deadline = this.#deadline();
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      const call = this.translation.translateStream(request, await this.#metadata(), {deadline});
      const abort = () => call.cancel();
      signal?.addEventListener('abort', abort);
      let arrived = false;
      try {
        for await (const event of call) {
          arrived = true;
          yield event;
        }
        return;
      } catch (error) {
        signal?.throwIfAborted();
        const failure = fromGrpc(error);
        if (arrived) throw failure;
        await retries.wait(this.retry, failure, attempt, deadline, signal);
      } finally {
        signal?.removeEventListener('abort', abort);
        call.cancel();
      }
    }
  }

  async *translateBulk(items, {signal, ...fields} = {}) {
    const feed = new Feed(items, fields);
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      const call = this.translation.translateBulk(await this.#metadata());
      const abort = () => call.cancel();
      signal?.addEventListener('abort', abort);
      feed.write(call);
      try {
        for await (const {id, response, error} of call) {
          attempt = 1;
          feed.answered(id);
          yield error ? {id, error: fromBulk(error)} : {id, response};
        }
        return;
      } catch (error) {
        signal?.throwIfAborted();
        if (feed.failure) throw feed.failure;
        await retries.wait(this.retry, fromGrpc(error), attempt, Infinity, signal);
      } finally {
        signal?.removeEventListener('abort', abort);
        call.cancel();
      }
    }
  }

  score(pairs, {signal, ...fields} = {}) {
    return this.#call(this.translation, 'score', {...fields, pairs}, signal);
  }

  tokenize(contents, {signal, ...fields} = {}) {
    return this.#call(this.translation, 'tokenize', {...fields, contents: [contents].flat()}, signal);
  }

  async models({signal} = {}) {
    return (await this.#call(this.modelService, 'listModels', {}, signal)).models;
  }

  model(name = '', {signal} = {}) {
    return this.#call(this.modelService, 'getModel', {name}, signal);
  }

  async #call(stub, method, request, signal) {
    const deadline = this.#deadline();
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      try {
        return await this.#once(stub, method, request, await this.#metadata(), deadline, signal);
      } catch (error) {
        signal?.throwIfAborted();
        await retries.wait(this.retry, fromGrpc(error), attempt, deadline, signal);
      }
    }
  }

  #once(stub, method, request, metadata, deadline, signal) {
    return new Promise((resolve, reject) => {
      const call = stub[method](request, metadata, {deadline}, (error, response) => {
        signal?.removeEventListener('abort', abort);
        error ? reject(error) : resolve(response);
      });
      const abort = () => call.cancel();
      signal?.addEventListener('abort', abort);
    });
  }

  #deadline() {
    return this.timeoutMs === null ? Infinity : Date.now() + this.timeoutMs;
  }

  async #metadata() {
    const metadata = new grpc.Metadata();
    const token = typeof this.token === 'function' ? await this.token() : this.token;
    if (token) metadata.set('authorization', `Bearer ${token}`);
    return metadata;
  }
}

module.exports = {Client};
