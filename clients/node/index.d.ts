import type {
  DecodingOptions, Model, OutputOptions, Priority, ScorePair, ScoreResponse, SentenceSplitting,
  TokenizeResponse, TranslateResponse, TranslateStreamResponse, Truncation,
} from './types';

export * from './types';

/** TLS, by PEM files.  Without `ca` the authorities that Node knows are trusted. */
export interface Tls {
  ca?: string;
  /** To show to the server, with its private key. */
  cert?: string;
  key?: string;
  /** That of the server's certificate, if it is not the address's. */
  serverName?: string;
}

export interface Retry {
  /** How often a call is made at most; 1: once.  Default 6. */
  attempts?: number;
  /** Default 200; each next one is twice as long. */
  initialBackoffMs?: number;
  /** Default 5000. */
  maxBackoffMs?: number;
}

export interface ClientOptions {
  tls?: Tls | boolean;
  /** A bearer token, or what is asked for one before every call. */
  token?: string | (() => string | Promise<string>);
  /** Of each call, all its attempts together; null: any time.  Default 60,000. */
  timeoutMs?: number | null;
  retry?: Retry;
}

export interface Abortable {
  signal?: AbortSignal;
}

/** What a TranslateRequest says beside its texts. */
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
}

export interface LanguageFields extends Abortable {
  model?: string;
  sourceLanguage?: string;
  targetLanguage?: string;
}

/** One request of a bulk call.  Without an id it is called by its number, "0", "1" and so on. */
export type BulkItem = string | (Omit<TranslateFields, 'signal'> & {id?: string; contents: string | string[]});

export type BulkAnswer =
  | {id: string; response: TranslateResponse; error?: undefined}
  | {id: string; error: DragomanError; response?: undefined};

/** Calls one server, or all servers of one name in turn.  Calls fail with DragomanError. */
export class Client {
  constructor(server?: string, options?: ClientOptions);
  /** As DRAGOMAN_SERVER, DRAGOMAN_TOKEN, DRAGOMAN_TLS_CA and so on say. */
  static fromEnvironment(options?: ClientOptions): Client;
  close(): void;

  /** The best translation of one text. */
  translateText(text: string, fields?: TranslateFields): Promise<string>;
  /** The best translation of each text, in their order. */
  translateTexts(texts: readonly string[], fields?: TranslateFields): Promise<string[]>;
  /** Hypotheses, scores and timing of one text or several. */
  translate(contents: string | readonly string[], fields?: TranslateFields): Promise<TranslateResponse>;
  /**
   * Text that will not change any more, as it is decoded, and each translation when it is done.
   * Leaving the loop cancels the call.
   */
  translateStream(
    contents: string | readonly string[], fields?: TranslateFields,
  ): AsyncGenerator<TranslateStreamResponse, void, undefined>;
  /**
   * Any number of requests over one call, each answered when it is done.  Items are taken as fast as the
   * server takes them.  If the connection is lost, what was not answered is sent again.  No timeout.
   */
  translateBulk(
    items: Iterable<BulkItem> | AsyncIterable<BulkItem>, fields?: TranslateFields,
  ): AsyncGenerator<BulkAnswer, void, undefined>;
  /** The log-probabilities of translations that you have. */
  score(pairs: readonly ScorePair[], fields?: LanguageFields): Promise<ScoreResponse>;
  /** The tokens that a model sees for each text. */
  tokenize(
    contents: string | readonly string[], fields?: LanguageFields & {target?: boolean},
  ): Promise<TokenizeResponse>;
  /** The models that are served. */
  models(options?: Abortable): Promise<Model[]>;
  /** One model; the default one without a name. */
  model(name?: string, options?: Abortable): Promise<Model>;
}

export interface Violation {
  /** Such as `contents[3]`. */
  field: string;
  description: string;
}

/** A call that failed. */
export class DragomanError extends globalThis.Error {
  /** gRPC's name of it, such as "INVALID_ARGUMENT". */
  readonly code: string;
  /** The message without the code. */
  readonly reason: string;
  /** The fields that are wrong, and why. */
  readonly violations: readonly Violation[];
  /** After how long the server wants to be asked again, if it said so. */
  readonly retryDelayMs: number | null;
  /** By which the server's log names the call. */
  readonly requestId: string;
}
