// The errors of calls.  The server explains them with a google.rpc.Status in the trailing metadata.

'use strict';

const {status} = require('@grpc/grpc-js');
const {Status, details} = require('./api');

class DragomanError extends Error {
  constructor(code, message, {violations = [], retryDelayMs = null, requestId = ''} = {}) {
    super(`${status[code]}: ${message}`);
    this.name = 'DragomanError';
    this.code = status[code] ?? 'UNKNOWN';
    this.reason = message;
    this.violations = violations;
    this.retryDelayMs = retryDelayMs;
    this.requestId = requestId;
  }
}

// Converts an error of gRPC; other errors are returned unchanged.
function fromGrpc(error) {
  if (error instanceof DragomanError || typeof error?.code !== 'number' || !error.metadata) return error;
  const found = {requestId: String(error.metadata.get('x-request-id')[0] ?? ''), violations: []};
  try {
    for (const bytes of error.metadata.get('grpc-status-details-bin')) {
      for (const detail of Status.decode(bytes).details) read(detail, found);
    }
  } catch {
    // A proxy may have written it: the code and message are still useful.
  }
  return new DragomanError(error.code, error.details, found);
}

function read({type_url: url, value}, found) {
  const name = url.slice(url.lastIndexOf('.') + 1);
  if (name === 'BadRequest') {
    for (const {field, description} of details.BadRequest.decode(value).fieldViolations) {
      found.violations.push({field, description});
    }
  } else if (name === 'RetryInfo') {
    const {seconds, nanos} = details.RetryInfo.decode(value).retryDelay;
    found.retryDelayMs = Number(seconds) * 1000 + nanos / 1e6;
  }
}

// The error of one request of a bulk call.
function fromBulk({code, message, field, retryDelay}) {
  return new DragomanError(code, message, {
    violations: field ? [{field, description: message}] : [],
    retryDelayMs: retryDelay ? retryDelay.seconds * 1000 + retryDelay.nanos / 1e6 : null,
  });
}

module.exports = {DragomanError, fromBulk, fromGrpc};
