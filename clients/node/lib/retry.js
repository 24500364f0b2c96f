// When to retry a failed call: always after UNAVAILABLE, because the call had no effect; after
// RESOURCE_EXHAUSTED only if the server names a delay, because it may also mean a message that is too
// large.

'use strict';

const {setTimeout: sleep} = require('node:timers/promises');
const {DragomanError} = require('./errors');

const DEFAULTS = {attempts: 6, initialBackoffMs: 200, maxBackoffMs: 5000};

// Milliseconds to wait after the `attempt`-th failure (from 1), or null to give up.
function delayOf(retry, error, attempt, deadline) {
  if (!(error instanceof DragomanError) || attempt >= retry.attempts) return null;
  const busy = error.code === 'RESOURCE_EXHAUSTED' && error.retryDelayMs !== null;
  if (!busy && error.code !== 'UNAVAILABLE') return null;
  const backoff = Math.min(retry.initialBackoffMs * 2 ** (attempt - 1), retry.maxBackoffMs);
  // Randomized, so that clients that were refused together do not retry together.
  const delay = Math.max(error.retryDelayMs ?? 0, backoff * (0.5 + Math.random() / 2));
  return Date.now() + delay >= deadline ? null : delay;
}

// Waits until the next attempt, or throws the error if there is none.
async function wait(retry, error, attempt, deadline, signal) {
  const delay = delayOf(retry, error, attempt, deadline);
  if (delay === null) throw error;
  await sleep(delay, undefined, {signal});
}

module.exports = {DEFAULTS, wait};
