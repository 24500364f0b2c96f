import type {
  DecodingOptions, Markup, MarkupOptions, Model, OutputOptions, Priority, ScorePair, ScoreResponse,
  SentenceSplitting, TokenizeResponse, TranslateResponse, TranslateStreamResponse, Truncation,
} from './types';

export * from './types';

/** TLS with PEM files.  Without `ca`, the authorities that Node trusts by default. */
export interface Tls {
  ca?: string;
  /** The client's certificate chain; `key` is its private key. */
  cert?: string;
  key?: string;
  /** The name in the server's certificate, if it differs from the host in the address. */
  serverName?: string;
}

export interface Retry {
  /** The most attempts of a call; 1: no retries.  Default 6. */
  attempts?: number;
  /** Default 200; each next one is twice as long. */
  initialBackoffMs?: number;
  /** Default 5000. */
  maxBackoffMs?: number;
}

export interface ClientOptions {
  tls?: Tls | boolean;
  /** A bearer token, or a function that returns one and is called before every call. */
  token?: string | (() => string | Promise<string>);
  /** The time for a call, including all its attempts; null: no limit.  Default 60,000. */
  timeoutMs?: number | null;
  retry?: Retry;
}

export interface Abortable {
  signal?: AbortSignal;
}

/** The fields of a TranslateRequest besides its texts. */
export interface TranslateFields extends Abortable {
  sourceLanguage?: string;
  targetLanguage?: string;
  model?: string;
  options?: DecodingOptions;
  output?: OutputOptions;
  truncation?: Truncation;
  sentenceSplitting?: SentenceSplitting;
  priority?: Priority;
  targetPrefixes?: string[];
  markup?: Markup;
  markupOptions?: MarkupOptions;
}

export interface LanguageFields extends Abortable {
  model?: string;
  sourceLanguage?: string;
  targetLanguage?: string;
}

/** One request of a bulk call.  Without an id, its index is used: "0", "1" and so on. */
export type BulkItem = string | (Omit<TranslateFields, 'signal'> & {id?: string; contents: string | string[]});

export type BulkAnswer =
  | {id: string; response: TranslateResponse; error?: undefined}
  | {id: string; error: DragomanError; response?: undefined};

/** Calls one server, or all servers of one name in turn.  Calls fail with DragomanError. */
export class Client {
  constructor(server?: string, options?: ClientOptions);
  /** A client configured by DRAGOMAN_SERVER, DRAGOMAN_TOKEN, DRAGOMAN_TLS_CA and so on. */
  static fromEnvironment(options?: ClientOptions): Client;
  close(): void;

  /** The best translation of one text. */
  translateText(text: string, fields?: TranslateFields): Promise<string>;
  /** The best translation of each text, in order. */
  translateTexts(texts: readonly string[], fields?: TranslateFields): Promise<string[]>;
  /** Hypotheses, scores and timing for one or several texts. */
  translate(contents: string | readonly string[], fields?: TranslateFields): Promise<TranslateResponse>;
  /**
   * Streams text as it becomes final, and each translation when it is done.  Leaving the loop
   * cancels the call.
   */
  translateStream(
    contents: string | readonly string[], fields?: TranslateFields,
  ): AsyncGenerator<TranslateStreamResponse, void, undefined>;
  /**
   * Sends any number of requests over one call and yields each answer when it is done.  Items are taken only
   * as fast as the server accepts them.  If the connection is lost, unanswered requests are sent again.
   * There is no timeout.
   */
  translateBulk(
    items: Iterable<BulkItem> | AsyncIterable<BulkItem>, fields?: TranslateFields,
  ): AsyncGenerator<BulkAnswer, void, undefined>;
  /** The log-probabilities of existing translations. */
  score(pairs: readonly ScorePair[], fields?: LanguageFields): Promise<ScoreResponse>;
  /** The tokens that a model sees for each text. */
  tokenize(
    contents: string | readonly string[], fields?: LanguageFields & {target?: boolean},
  ): Promise<TokenizeResponse>;
  /** The served models. */
  models(options?: Abortable): Promise<Model[]>;
  /** One model; the default one without a name. */
  model(name?: string, options?: Abortable): Promise<Model>;
}

export interface Violation {
  /** For example `contents[3]`. */
  field: string;
  description: string;
}

/** A call that failed. */
export class DragomanError extends globalThis.Error {
  /** The name of the gRPC status code, such as "INVALID_ARGUMENT". */
  readonly code: string;
  /** The message without the code. */
  readonly reason: string;
  /** The fields that are wrong, and why. */
  readonly violations: readonly Violation[];
  /** How long the server wants the client to wait before a retry; null if it did not say. */
  readonly retryDelayMs: number | null;
  /** The id of the call in the server's log. */
  readonly requestId: string;
}
