// Generated from translation.proto by clients/generate.sh: do not edit.

/** A span of time. */
export interface Duration {
  seconds: number;
  nanos: number;
}

export interface TranslateRequest {
  /**
   * The texts, UTF-8: 1 to 128 of them, 30,000 characters (code points) together unless the server
   * was started with other limits.  An empty text is translated to an empty text.
   */
  contents?: string[];
  /**
   * The languages as BCP-47 tags ("de", "en-US", "zh-Hant"), or as the model spells them
   * ("deu_Latn").  The nearest that the model has is taken: the same language first, then the same
   * script, then the region.  Empty: those of the model.  A pair that is not served is
   * INVALID_ARGUMENT and the message names those that are.  The source language may be "auto": that
   * of each text is detected (Translation.detected_language).
   */
  sourceLanguage?: string;
  targetLanguage?: string;
  /**
   * The name that the model was given when the server started.  Empty: the one that has these
   * languages, or, where the server has a pivot language and no model has both, two of them; the
   * default one if no language is named.  "NAME@canary" or "NAME@stable" is one version of a model
   * that is tried out (Model.versions), and "@canary" that of whichever model it would be; without a
   * label the texts decide which, in the proportion that the server was given.
   */
  model?: string;
  options?: DecodingOptions;
  output?: OutputOptions;
  truncation?: Truncation;
  sentenceSplitting?: SentenceSplitting;
  priority?: Priority;
  /**
   * What the translations begin with: nothing, one text for all of them, or as many as `contents`, of
   * which any may be empty.  In whole tokens, so white space at the end does not count.  The model
   * reads it at once.  It counts for lengths but not for scores.  Texts with one are not split.
   */
  targetPrefixes?: string[];
}

/** Who goes first when there is more to do than the server can do at once. */
export type Priority =
  /** the same as INTERACTIVE */
  | 'PRIORITY_UNSPECIFIED'
  /** somebody waits for it */
  | 'PRIORITY_INTERACTIVE'
  /** fills the gaps that interactive requests leave, however long it takes */
  | 'PRIORITY_BATCH';

/** What to do with a sentence of more source tokens than the limit (512, or the model's own). */
export type Truncation =
  /** the same as REJECT */
  | 'TRUNCATION_UNSPECIFIED'
  /** INVALID_ARGUMENT */
  | 'TRUNCATION_REJECT'
  /** cut at the limit; the translation says `truncated` */
  | 'TRUNCATION_TRUNCATE';

export type SentenceSplitting =
  /** SENTENCES; NONE with target_prefixes, and for a model whose generation_config.json says "split_sentences": false because it was trained on whole documents. */
  | 'SENTENCE_SPLITTING_UNSPECIFIED'
  /** each text is translated as one sentence */
  | 'SENTENCE_SPLITTING_NONE'
  /** texts are split; white space between sentences is kept */
  | 'SENTENCE_SPLITTING_SENTENCES';

/** How to search.  What is not set is taken from the model's own configuration. */
export interface DecodingOptions {
  /** Hypotheses that the search keeps; 1 is greedy search.  1 to 16 (the server's limit). */
  beamSize?: number;
  /** Translations to return for each text, best first.  1 (default) to 8, at most beam_size. */
  numHypotheses?: number;
  /**
   * score = sum of log-probabilities / length ^ length_penalty.  -10 to 10; 0 ranks by the sum.
   * See length_normalization.
   */
  lengthPenalty?: number;
  earlyStopping?: EarlyStopping;
  /** Generated tokens, without the end of the sentence.  0 (default) to max_length - 1. */
  minLength?: number;
  /**
   * Generated tokens, with the end of the sentence; 1 to the model's positions.  A hypothesis that
   * reaches it says so by FINISH_REASON_MAX_LENGTH.  Default: max_length_ratio x source tokens + 32,
   * or the model's own max_length if that is lower.
   */
  maxLength?: number;
  /** Sets max_length in proportion to each sentence.  Above 0, to 100; default 2. */
  maxLengthRatio?: number;
  /** No n-gram of this many tokens occurs twice in a translation.  0 (default): off. */
  noRepeatNgramSize?: number;
  /** Above 1 makes tokens that were generated already less likely.  Above 0, to 100; default 1: off. */
  repetitionPenalty?: number;
  /** Divides the probabilities by what the other options leave of them.  Default false. */
  renormalizeLogits?: boolean;
  /** Draws num_hypotheses translations at random instead of searching; wants beam_size 1. */
  sampling?: Sampling;
  lengthNormalization?: LengthNormalization;
  /** The search ends when patience x beam_size hypotheses are finished.  Above 0, to 10; default 1. */
  patience?: number;
  /** Sets min_length in proportion to each sentence.  0 (default) to 100. */
  minLengthRatio?: number;
  /** Never generate the unknown token.  Default false. */
  disableUnk?: boolean;
  /**
   * The first token, and the last one of a translation that reaches max_length.  Default: the
   * model's own, if it has any.
   */
  forcedBosTokenId?: number;
  forcedEosTokenId?: number;
  /**
   * Diverse beam search: the beam is divided into this many groups (a divisor of beam_size; default 1),
   * and a token costs diversity_penalty (0 to 100; default 0.5) for each hypothesis of a group before
   * that has it at the same place.
   */
  beamGroups?: number;
  diversityPenalty?: number;
  /**
   * One hypothesis for each of the num_hypotheses likeliest tokens after the target prefix, if they
   * have min_alternative_probability (0 to 1; default 0), in the order of these probabilities.  Each
   * is searched with a beam of its own.
   */
  returnAlternatives?: boolean;
  minAlternativeProbability?: number;
  /**
   * Minimum Bayes risk: of this many hypotheses (or samples) those come first that are most like the
   * others, by chrF.  0 (default): off; at most beam_size.
   */
  mbrCandidates?: number;
  /**
   * Ends a translation that begins to repeat itself, cuts the repetition off and says
   * FINISH_REASON_REPETITION.  What the source repeats may be repeated.  Default true.
   */
  repetitionGuard?: boolean;
  /** Tokens, and sequences of tokens given as text, that are not generated. */
  suppressTokenIds?: number[];
  suppressSequences?: string[];
  /** Phrases that must stand in the translation where their source stands in a sentence. */
  glossary?: GlossaryEntry[];
  /** Phrases that are never said, in whatever tokens; nor words that begin with them.  Case matters. */
  neverSay?: string[];
  /**
   * Adds coverage_penalty x the sum over the source tokens of log(min(1, attention given to it)) to
   * the score of a finished hypothesis (Wu et al. 2016), so that those which leave out a part of the
   * source rank lower.  0 (default) to 100.  The model must tell its attention.
   */
  coveragePenalty?: number;
  /**
   * Writes the source of an unknown token in its place: the text of the source token that it is
   * aligned with.  Default false.
   */
  replaceUnknowns?: boolean;
  /**
   * Subtracted from the sum of log-probabilities for each generated token, the end among them, before
   * length_penalty.  -100 to 100; default 0, or the model's own.
   */
  wordPenalty?: number;
  /**
   * The beam search of Marian NMT: a finished hypothesis keeps its place in the beam, which so
   * narrows until all are finished; early_stopping and patience have no part in it.  Default: true
   * for Marian's own models, else false.
   */
  shrinkingBeam?: boolean;
}

/**
 * Where a sentence says `source` as whole words, its translation says `target`, which is put where
 * it is most likely.
 */
export interface GlossaryEntry {
  source?: string;
  /** empty: as the source has it, for what must not be translated */
  target?: string;
}

/** What the sum of log-probabilities is divided by, with length_penalty as exponent. */
export type LengthNormalization =
  /** the same as LENGTH */
  | 'LENGTH_NORMALIZATION_UNSPECIFIED'
  /** generated tokens, with the end of the sentence */
  | 'LENGTH_NORMALIZATION_LENGTH'
  /** (5 + LENGTH) / 6: Wu et al. 2016 */
  | 'LENGTH_NORMALIZATION_GNMT';

export type EarlyStopping =
  /** the model's own */
  | 'EARLY_STOPPING_UNSPECIFIED'
  /** Stop when the best open hypothesis, as long as it is now, cannot beat the finished ones. */
  | 'EARLY_STOPPING_HEURISTIC'
  /** Stop as soon as beam_size hypotheses are finished. */
  | 'EARLY_STOPPING_FULL'
  /** Stop when no open hypothesis can beat the finished ones at any length. */
  | 'EARLY_STOPPING_NEVER';

/** Each filter looks at what the one before it has left.  A field that is 0 is not set. */
export interface Sampling {
  /** above 0; 1 (default) leaves the model's distribution as it is */
  temperature?: number;
  /** the k likeliest tokens; 0: all */
  topK?: number;
  /** the fewest tokens that have this probability together; 0 or 1: all */
  topP?: number;
  /** the same seed draws the same tokens, whatever the traffic */
  seed?: number | string;
  /** tokens with this share of the likeliest one's probability; 0: all */
  minP?: number;
  /** tokens with this probability; 0: all */
  epsilonCutoff?: number;
  /**
   * Before the cut-off: of the tokens whose surprise (-log p) is nearest to the expected one, the
   * fewest that have this probability together (Meister et al. 2023); 0 or 1: all.
   */
  typicalP?: number;
}

/** What to return beside the text.  Scores and token counts always are. */
export interface OutputOptions {
  /** Hypothesis.tokens and token_ids */
  tokens?: boolean;
  /** Hypothesis.token_scores */
  tokenScores?: boolean;
  /** Hypothesis.alignment and aligned_text */
  alignments?: boolean;
  /** Translation.sentences */
  sentenceSpans?: boolean;
  /** Hypothesis.quality, and that of each of Translation.sentences */
  quality?: boolean;
  /** leave target_prefixes out of the hypotheses */
  hidePrefix?: boolean;
  /**
   * With alignments: all points of this probability beside the links.  Above 0, to 1; not set: the
   * links alone.
   */
  alignmentThreshold?: number;
  /** with alignments: AlignedText.attention, the whole matrix */
  attention?: boolean;
}

export interface TranslateResponse {
  /** As many as `contents`, in their order. */
  translations: Translation[];
  /** the name of the model that translated, or two, joined by "+" */
  model: string;
  /** changes when the model's files do */
  modelVersion: string;
  timing: Timing | null;
  /**
   * What decides how numbers are rounded: precision and instruction sets, such as "int8/avx3_dl".
   * Servers of one version that answer with the same isa and model_version give the same bytes.
   */
  isa: string;
  /** Which version of the model that was: "stable" or "canary"; of two, joined by "+". */
  modelLabel: string;
}

export interface Translation {
  /** best first; at least one */
  hypotheses: Hypothesis[];
  /** that the model read, end of sentence included */
  sourceTokens: number;
  /** the text was cut (Truncation) */
  truncated: boolean;
  /** only with OutputOptions.sentence_spans */
  sentences: SentenceSpan[];
  /**
   * Only if source_language was "auto": the language that the text was taken for, as a BCP-47 tag, and
   * how sure that is, 0 to 1.  A text that is in the target language already is its own translation.
   */
  detectedLanguage: string;
  detectionConfidence: number;
}

export interface Hypothesis {
  text: string;
  /**
   * The length-normalized log-probability that ranked the hypothesis, at most 0.  Of a text of
   * several sentences: their mean, weighted by generated tokens.
   */
  score: number;
  /** Generated tokens, without decoder start and end of sentence; only with OutputOptions.tokens. */
  tokens: string[];
  tokenIds: number[];
  /** The log-probability of each token; only with OutputOptions.token_scores. */
  tokenScores: number[];
  finishReason: FinishReason;
  /** Only with OutputOptions.alignments. */
  alignment: AlignmentPoint[];
  /** Only with OutputOptions.quality. */
  quality: Quality | null;
  /** Only with OutputOptions.alignments. */
  alignedText: AlignedText | null;
}

/** How sure the model is of its tokens, ends of sentences included. */
export interface Quality {
  meanLogProb: number;
  /** of the least likely token */
  minLogProb: number;
  /** exp(-mean_log_prob) */
  perplexity: number;
}

export type FinishReason =
  | 'FINISH_REASON_UNSPECIFIED'
  /** the model ended the sentence */
  | 'FINISH_REASON_EOS'
  /** max_length ended it: the translation may be incomplete */
  | 'FINISH_REASON_MAX_LENGTH'
  /** it began to repeat itself; the repetition is cut off */
  | 'FINISH_REASON_REPETITION';

/**
 * Which source token a target token came from: how much of the decoder's attention it gave it, as
 * the mean over heads of one layer (docs/alignments.md).
 */
export interface AlignmentPoint {
  /** index into AlignedText.source_tokens */
  sourceToken: number;
  /** index into AlignedText.target_tokens */
  targetToken: number;
  probability: number;
  /** no source token is likelier for this target token: one link each */
  link: boolean;
  /** a link, and no other target token gives the source token more */
  mutual: boolean;
}

/** The tokens and words that an alignment is of. */
export interface AlignedText {
  /** All that the model read, ends of sentences and language codes included. */
  sourceTokens: AlignedToken[];
  /** as Hypothesis.tokens */
  targetTokens: AlignedToken[];
  /** words are linked where any of their tokens are */
  words: WordLink[];
  /** one for each sentence; only with OutputOptions.attention */
  attention: AttentionBlock[];
}

/**
 * A token, and bytes [begin, end) of the UTF-8 text that it stands for.  What stands for no text, as
 * the end of a sentence does, has none.
 */
export interface AlignedToken {
  piece: string;
  begin: number;
  end: number;
}

/**
 * Bytes [begin, end) of a word of the source and of one of the translation.  Letters and digits that
 * stand together are a word, every other character is one; in scripts without spaces, tokens are.
 */
export interface WordLink {
  sourceBegin: number;
  sourceEnd: number;
  targetBegin: number;
  targetEnd: number;
  /** The part of the attention of the target word's tokens that goes to the source word, on average. */
  probability: number;
}

/** The attention of all target tokens of a sentence to all of its source tokens. */
export interface AttentionBlock {
  /** Tokens [begin, end) of AlignedText. */
  sourceBegin: number;
  sourceEnd: number;
  targetBegin: number;
  targetEnd: number;
  /** A row for each target token; each sums to 1. */
  probabilities: number[];
}

/** Bytes [begin, end) of the UTF-8 source text and of the best hypothesis' text. */
export interface SentenceSpan {
  sourceBegin: number;
  sourceEnd: number;
  targetBegin: number;
  targetEnd: number;
  /** only with OutputOptions.quality */
  quality: Quality | null;
}

/** Where the time went.  queue, encode and decode are those of the slowest sentence. */
export interface Timing {
  total: Duration | null;
  tokenize: Duration | null;
  queue: Duration | null;
  encode: Duration | null;
  decode: Duration | null;
  detokenize: Duration | null;
  /** if the text went through a third language */
  steps: StepTiming[];
  /**
   * Sentences that took no work: the same had been translated before, or was being translated for
   * somebody else, in which case queue says how long that took from here on.
   */
  reusedSentences: number;
}

/** One model's part in the times. */
export interface StepTiming {
  model: string;
  tokenize: Duration | null;
  queue: Duration | null;
  encode: Duration | null;
  decode: Duration | null;
  detokenize: Duration | null;
}

/**
 * The messages come in the order of `contents`, and of the sentences in each of them.  A content has
 * any number of stable_text, a `sentence` after the text of each sentence, and a `translation` at its
 * end.  How the text is parted into messages depends on the traffic; what it is does not.
 */
export interface TranslateStreamResponse {
  /** which of `contents` */
  contentIndex: number;
  /**
   * More text of the best hypothesis, which will not change any more: end to end, the stable_text
   * of a content is the text of that hypothesis.  Whole words, white space between them included.
   * With several samples, diverse groups, alternatives or mbr_candidates little is certain before
   * a sentence is done; without them, and with beam_size 1, every word is at once.
   */
  stableText?: string;
  /** this text is done */
  translation?: Translation;
  sentence?: FinishedSentence;
  /** the last message: all but `translations` */
  summary?: TranslateResponse;
  /** Which of them it is. */
  event?: 'stableText' | 'translation' | 'sentence' | 'summary';
}

export interface FinishedSentence {
  /** in its text, from 0 */
  index: number;
  /** of its text */
  sentences: number;
  /** its translation */
  text: string;
  /** target: bytes of the stable_text of its content */
  span: SentenceSpan | null;
  /** as of a Hypothesis */
  score: number;
  finishReason: FinishReason;
}

export interface TranslateBulkRequest {
  /** any text; comes back with the answer.  Nobody checks that it is not used twice. */
  id?: string;
  request?: TranslateRequest;
}

export interface TranslateBulkResponse {
  id: string;
  response?: TranslateResponse;
  error?: Error;
  /** Which of them it is. */
  result?: 'response' | 'error';
}

/** An error of one request of a bulk call: what Translate would have answered. */
export interface Error {
  /** a gRPC status code */
  code: number;
  message: string;
  /** what is wrong in the request, such as `contents[3]`, if it is INVALID_ARGUMENT */
  field: string;
  /** when to come again, if it is RESOURCE_EXHAUSTED */
  retryDelay: Duration | null;
}

export interface ScoreRequest {
  model?: string;
  /** as many as a TranslateRequest may have contents */
  pairs?: ScorePair[];
  sourceLanguage?: string;
  targetLanguage?: string;
  priority?: Priority;
  /** As in OutputOptions; in PairScore. */
  alignments?: boolean;
  alignmentThreshold?: number;
  attention?: boolean;
}

export interface ScorePair {
  source?: string;
  target?: string;
}

export interface ScoreResponse {
  /** as many as pairs, in their order */
  scores: PairScore[];
}

export interface PairScore {
  /** the sum of token_scores */
  logProb: number;
  /** of the target, the last one the end of the sentence */
  tokens: string[];
  /** the log-probability of each */
  tokenScores: number[];
  /** log_prob / tokens */
  score: number;
  /** exp(-score) */
  perplexity: number;
  /** Only with ScoreRequest.alignments. */
  alignment: AlignmentPoint[];
  alignedText: AlignedText | null;
}

export interface TokenizeRequest {
  model?: string;
  contents?: string[];
  sourceLanguage?: string;
  targetLanguage?: string;
  /** the texts are translations: the tokens of the target, without its end */
  target?: boolean;
}

export interface TokenizeResponse {
  /** as many as contents, in their order */
  texts: TokenizedText[];
}

export interface TokenizedText {
  tokens: string[];
  tokenIds: number[];
}

export interface ListModelsRequest {
}

export interface ListModelsResponse {
  /** in the order of the command line */
  models: Model[];
}

export interface GetModelRequest {
  /** empty: the only or the default one */
  name?: string;
}

export interface Model {
  name: string;
  /** changes when the model's files do */
  version: string;
  /** "MarianMTModel" */
  architecture: string;
  /** "float32" */
  precision: string;
  /**
   * As BCP-47 tags.  Empty if there are more than 10,000: then every one of source_languages is
   * translated into every one of target_languages.
   */
  languagePairs: LanguagePair[];
  /** of a sentence, end of sentence included */
  maxSourceTokens: number;
  /** of the target */
  vocabularySize: number;
  /** translates requests that name no model */
  isDefault: boolean;
  state: ModelState;
  /** BCP-47; "mul" or the like: any */
  sourceLanguages: string[];
  targetLanguages: string[];
  /** as in TranslateResponse */
  isa: string;
  /**
   * The version that is served, described above, and what there is beside it: a canary, a new
   * version that loads or could not be loaded, an old one that finishes its last sentences.
   */
  versions: ModelVersion[];
}

export type ModelState =
  | 'STATE_UNSPECIFIED'
  | 'STATE_LOADING'
  | 'STATE_READY'
  | 'STATE_DRAINING'
  /** could not be loaded; the server's log says why */
  | 'STATE_FAILED';

export interface ModelVersion {
  /** "stable" or "canary" */
  label: string;
  /** empty unless it is or was served */
  version: string;
  state: ModelState;
  /** of the requests that name no label */
  percent: number;
  /**
   * Of STATE_FAILED: "memory" (there is no room for it), "broken" (it cannot be loaded) or "golden"
   * (it does not translate what it must).
   */
  failure: string;
}

export interface LanguagePair {
  source: string;
  target: string;
}
