// The requests of a bulk call: those not answered yet, then the rest of the iterable.

'use strict';

const {once} = require('node:events');

class Feed {
  constructor(items, fields) {
    this.items = (items[Symbol.asyncIterator] ?? items[Symbol.iterator]).call(items);
    this.fields = fields;
    this.number = 0;
    this.pending = new Map();
    this.next = null;
    this.failure = null; // what the iterable threw
  }

  answered(id) {
    this.pending.delete(id);
  }

  // Writes all of them to the call, as fast as it accepts them, until it ends.
  async write(call) {
    const ended = new AbortController();
    call.once('error', () => ended.abort()).once('end', () => ended.abort());
    const write = async (request) => {
      if (!call.write(request)) await once(call, 'drain', {signal: ended.signal});
    };
    try {
      for (const request of [...this.pending.values()]) await write(request);
      for (;;) {
        const request = await this.take();
        if (ended.signal.aborted) return;
        if (!request) break;
        await write(request);
      }
      call.end();
    } catch (error) {
      if (ended.signal.aborted) return;
      this.failure = error;
      call.cancel();
    }
  }

  // The next request, or null at the end.  It becomes pending before it is written, so that it is not
  // lost if the call fails.
  async take() {
    this.next ??= Promise.resolve(this.items.next()).then(({done, value}) => {
      this.next = null;
      if (done) return null;
      const request = this.request(value);
      if (this.pending.has(request.id)) throw new TypeError(`two requests have the id ${request.id}`);
      this.pending.set(request.id, request);
      return request;
    });
    return this.next;
  }

  request(item) {
    const number = String(this.number++);
    if (typeof item === 'string') item = {contents: item};
    const {id = number, contents, ...own} = item;
    return {id, request: {...this.fields, ...own, contents: [contents ?? []].flat()}};
  }
}

module.exports = {Feed};
