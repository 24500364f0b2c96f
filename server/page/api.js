// The server's API over HTTP: JSON as protobuf maps it, and server-sent events.

// A call that failed: `code` is the gRPC code, or "offline"; `retryAfter` is in seconds, if the server names it.
export class ApiError extends Error {
  constructor(code, message, retryAfter = null) {
    super(message);
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

export const CODES = {
  cancelled: 1, invalidArgument: 3, deadlineExceeded: 4, notFound: 5, resourceExhausted: 8, failedPrecondition: 9,
  unimplemented: 12, unavailable: 14, unauthenticated: 16,
};

// Kept for this tab only.
export const token = {
  get: () => sessionStorage.getItem('dragoman-token') || '',
  set: (value) => sessionStorage.setItem('dragoman-token', value),
};

async function send(path, body, signal) {
  const headers = {};
  const form = body instanceof FormData; // the browser names its type, and its answer is a stream
  if (form) headers.accept = 'text/event-stream';
  if (body !== undefined && !form) headers['content-type'] = 'application/json';
  if (token.get()) headers.authorization = `Bearer ${token.get()}`;
  let response;
  try {
    response = await fetch(path, {
      method: body === undefined ? 'GET' : 'POST',
      headers, body: body === undefined || form ? body : JSON.stringify(body), signal, cache: 'no-store',
    });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new ApiError('offline', 'The server cannot be reached.');
  }
  if (response.ok) return response;
  const status = await response.json().catch(() => ({}));
  const after = Number(response.headers.get('retry-after'));
  throw errorOf(status, response.status, after || null);
}

function errorOf({code, message, details = []}, http, after = null) {
  const byHttp = {401: 16, 403: 16, 404: 12, 405: 12, 429: 8, 501: 12, 503: 14, 504: 4};
  const info = details.find((detail) => String(detail['@type']).endsWith('RetryInfo'));
  const delay = info ? parseFloat(info.retryDelay) : after;
  return new ApiError(code || byHttp[http] || 13, message || `The server answered ${http}.`, delay);
}

export async function json(path, body, signal) {
  return (await send(path, body, signal)).json();
}

export async function text(path, signal) {
  return (await send(path, undefined, signal)).text();
}

// The events of a stream, parsed: {name, data}.
export async function* events(path, body, signal) {
  const response = await send(path, body, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const {done, value} = await reader.read();
      if (done) return;
      const blocks = (rest + value).replaceAll('\r\n', '\n').split('\n\n');
      rest = blocks.pop();
      for (const block of blocks) {
        const event = parseEvent(block);
        if (!event) continue;
        if (event.name === 'error') throw errorOf(event.data.error || event.data, 500);
        yield event;
      }
    }
  } catch (error) {
    if (error instanceof ApiError || error.name === 'AbortError') throw error;
    throw new ApiError('offline', 'The connection was lost.');
  } finally {
    reader.cancel().catch(() => {});
  }
}

function parseEvent(block) {
  let name = 'message';
  const data = [];
  for (const line of block.split('\n')) {
    if (line.startsWith('event:')) name = line.slice(6).trim();
    if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
  }
  if (!data.length) return null;
  try {
    return {name, data: JSON.parse(data.join('\n'))};
  } catch {
    return null; // "[DONE]" and the like
  }
}

// Seconds of protobuf's JSON of a Duration, "0.012s".
export const seconds = (duration) => (duration ? parseFloat(duration) : 0);
