// Generated from translation.proto by clients/generate.sh: do not edit.

/** A span of time. */
export interface Duration {
  seconds: number;
  nanos: number;
}

/** A moment, since 1970. */
export interface Timestamp {
  seconds: number;
  nanos: number;
}

export interface TranslateRequest {
  /**
   * The texts in UTF-8: 1 to 128 of them, with 131,072 characters (code points) in total, unless the
   * server was started with other limits.  The translation of an empty text is empty.
   */
  contents?: string[];
  /**
   * The languages as BCP-47 tags ("de", "en-US", "zh-Hant"), or as the model spells them
   * ("deu_Latn").  The closest match of the model is used: the same language first, then the same
   * script, then the region.  Empty: the model's own languages.  For a pair that is not served, the
   * error is INVALID_ARGUMENT and lists those that are.  A text that is to be in the language that it
   * is in ("en" to "en", or to "en-GB" where no such pair is served) is returned unchanged.  The
   * source language may be "auto": then the language of each text is detected
   * (Translation.detected_language); a weak guess at one that is not served counts as none.
   */
  sourceLanguage?: string;
  targetLanguage?: string;
  /**
   * The name that the model was given when the server started.  Empty: the model with these
   * languages; or two models, if the server has a pivot language and no single model has both; or
   * the default one, if no language is given.  "NAME@canary" or "NAME@stable" selects a version of
   * a model that is being tried out (Model.versions), and "@canary" that of whichever model would
   * be used.  Without a label the texts decide which version, in the proportion that the server was
   * given.
   */
  model?: string;
  options?: DecodingOptions;
  output?: OutputOptions;
  truncation?: Truncation;
  sentenceSplitting?: SentenceSplitting;
  priority?: Priority;
  /**
   * What the translations begin with: none, one text for all of them, or as many as `contents`, any
   * of which may be empty.  Read as whole tokens, so white space at the end does not count.  The
   * model reads a prefix in a single step.  A prefix counts towards lengths but not towards scores.
   * Texts with a prefix are not split.
   */
  targetPrefixes?: string[];
  /**
   * What the contents are written in.  Their text is translated, and everything else is returned
   * byte by byte, with the tags in a sentence around or next to the words to which they belong.
   * Without target_prefixes.  See docs/markup.md.
   */
  markup?: Markup;
  markupOptions?: MarkupOptions;
  /** Whether addresses, placeholders and the like come out as they are.  Without target_prefixes. */
  literals?: Literals;
  /**
   * Stored glossaries (GlossaryService) that the translations follow where that does not harm them
   * (DecodingOptions.glossary_max_loss; Translation.glossary_unmet), the earlier ones first; in addition
   * to those that the server was given for the model or the caller.  At most 16.
   */
  glossaryIds?: string[];
  /** 0 to 1: what is done with a translation whose Quality.score is below this.  See docs/quality.md. */
  minQuality?: number;
  lowQuality?: LowQuality;
  /**
   * The contents as they were before they were edited, and their translations as they were
   * returned: as many as `contents`, any of which may be empty.  They make work less and never
   * change a translation.  Without target_prefixes.  See docs/edits.md.
   */
  previousSources?: string[];
  previousTranslations?: string[];
  /**
   * Translation memories (MemoryService) in which sentences are looked up, in addition to those that the
   * server was given for the model or the caller; of equal matches, that of an earlier one counts.  At
   * most 16.  Without target_prefixes, sampling, alternatives and several hypotheses; see docs/memory.md.
   */
  memoryIds?: string[];
  /** How much of a sentence a memory must have, in percent: 50 to 100 (only the same sentence); default 75. */
  memoryThreshold?: number;
}

export type LowQuality =
  /** the same as MARK */
  | 'LOW_QUALITY_UNSPECIFIED'
  /** Translation.low_quality */
  | 'LOW_QUALITY_MARK'
  /** FAILED_PRECONDITION, and no translation; in a stream, what was sent stays */
  | 'LOW_QUALITY_REFUSE';

/**
 * What is not language: URLs, e-mail addresses, paths of files, @users and #tags, placeholders
 * (%s, {name}, {{count}}, ${HOME}), tags in plain text, versions, long numbers, emoji, and symbols
 * that the model cannot write.
 */
export type Literals =
  /** the same as KEEP */
  | 'LITERALS_UNSPECIFIED'
  /** each exactly once, byte for byte, where its neighbours went */
  | 'LITERALS_KEEP'
  /** they are translated like words */
  | 'LITERALS_OFF'
  /** As KEEP; the contents are strings of a program, in which more is no language: options, names and placeholders that could be words in prose (--help, camelCase, :name). */
  | 'LITERALS_STRINGS';

export type Markup =
  /** the same as NONE */
  | 'MARKUP_UNSPECIFIED'
  | 'MARKUP_NONE'
  /** a document or a fragment, read as browsers read it */
  | 'MARKUP_HTML'
  /** A document or a fragment.  INVALID_ARGUMENT, with line and column, if it is not well-formed. */
  | 'MARKUP_XML';

/** Names of elements are as in the contents; those of HTML in lower case. */
export interface MarkupOptions {
  /** Elements that end a sentence, and elements that do not. */
  splittingTags?: string[];
  nonSplittingTags?: string[];
  /** Elements whose content is not translated. */
  ignoreTags?: string[];
  /**
   * Of XML: whether other elements end a sentence depends on where they stand; those that have text
   * next to them do not.  Default true.  If false, none does.
   */
  outlineDetection?: boolean;
  /** Lines are parts of one sentence: neither <br> nor, in XML, a line break ends one. */
  joinLines?: boolean;
}

/** Which requests go first when there is more to do than the server can do at once. */
export type Priority =
  /** the same as INTERACTIVE; in TranslateBulk, the same as BATCH */
  | 'PRIORITY_UNSPECIFIED'
  /** somebody is waiting for it */
  | 'PRIORITY_INTERACTIVE'
  /** gets the time that interactive requests leave, and at least a sixteenth of all */
  | 'PRIORITY_BATCH';

/** What to do with a sentence that has more source tokens than the limit (512, or the model's own). */
export type Truncation =
  /** Divided; if it is one endless word, it stays as it is.  With target_prefixes: REJECT. */
  | 'TRUNCATION_UNSPECIFIED'
  /** INVALID_ARGUMENT */
  | 'TRUNCATION_REJECT'
  /** cut at the limit; the translation is marked `truncated` */
  | 'TRUNCATION_TRUNCATE';

export type SentenceSplitting =
  /** SENTENCES; but NONE with target_prefixes, and for a model whose generation_config.json has "split_sentences": false because it was trained on whole documents. */
  | 'SENTENCE_SPLITTING_UNSPECIFIED'
  /** each text is translated as one sentence */
  | 'SENTENCE_SPLITTING_NONE'
  /** Texts are split; white space between sentences is kept.  A sentence with more tokens than the limit is divided where that harms least, and marked (Translation.divided; Truncation). */
  | 'SENTENCE_SPLITTING_SENTENCES';

/** How to search.  Options that are not set are taken from the model's own configuration. */
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
   * Generated tokens, including the end of the sentence; 1 to the number of the model's positions.
   * A hypothesis that reaches it has FINISH_REASON_MAX_LENGTH. Default: max_length_ratio x source
   * tokens + 32, or the model's own max_length if that is lower.
   */
  maxLength?: number;
  /** Sets max_length in proportion to each sentence.  Above 0, to 100; default 2. */
  maxLengthRatio?: number;
  /** No n-gram of this many tokens occurs twice in a translation.  0 (default): off. */
  noRepeatNgramSize?: number;
  /**
   * A value above 1 makes tokens that were already generated less likely.  Above 0, to 100; default
   * 1: off.
   */
  repetitionPenalty?: number;
  /** Renormalizes the probabilities after the other options have been applied.  Default false. */
  renormalizeLogits?: boolean;
  /** Draws num_hypotheses translations at random instead of searching; requires beam_size 1. */
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
   * model's own, if any.
   */
  forcedBosTokenId?: number;
  forcedEosTokenId?: number;
  /**
   * Diverse beam search: divides the beam into this many groups (a divisor of beam_size; default
   * 1).  A token costs diversity_penalty (0 to 100; default 0.5) for each hypothesis of an earlier
   * group that has it at the same position.
   */
  beamGroups?: number;
  diversityPenalty?: number;
  /**
   * Returns one hypothesis for each of the num_hypotheses most likely tokens after the target
   * prefix whose probability is at least min_alternative_probability (0 to 1; default 0), in the
   * order of these probabilities.  Each is a beam search of its own.
   */
  returnAlternatives?: boolean;
  minAlternativeProbability?: number;
  /**
   * Minimum Bayes risk: generates this many hypotheses (or samples) and ranks them by their
   * similarity to the others (chrF). 0 (default): off; at most beam_size.
   */
  mbrCandidates?: number;
  /**
   * Ends a translation that starts to repeat itself, cuts off the repetition and reports
   * FINISH_REASON_REPETITION. Repetitions of the source may be repeated.  Default true.
   */
  repetitionGuard?: boolean;
  /** Tokens, and sequences of tokens given as text, that must not be generated. */
  suppressTokenIds?: number[];
  suppressSequences?: string[];
  /** Phrases that must appear in the translation if their source appears in a sentence. */
  glossary?: GlossaryEntry[];
  /**
   * Phrases that must not appear, whatever their tokens, nor words that begin with them.  Case
   * matters.
   */
  neverSay?: string[];
  /**
   * Adds coverage_penalty x the sum over source tokens of log(min(1, total attention to the token))
   * to the score of a finished hypothesis (Wu et al. 2016), so that hypotheses which leave out a
   * part of the source rank lower. 0 (default) to 100.  The model must report its attention.
   */
  coveragePenalty?: number;
  /**
   * Replaces each unknown token by the text of the source token that it is aligned with.  Default
   * false.
   */
  replaceUnknowns?: boolean;
  /**
   * Subtracted from the sum of log-probabilities for each generated token, including the end of the
   * sentence, before length_penalty is applied. -100 to 100; default 0, or the model's own.
   */
  wordPenalty?: number;
  /**
   * The beam search of Marian NMT: a finished hypothesis keeps its place in the beam, which narrows
   * until all are finished; early_stopping and patience have no effect.  Default: true for models
   * in Marian's own formats, otherwise false.
   */
  shrinkingBeam?: boolean;
  /**
   * How much lower one entry of a stored glossary may make the score of a sentence's translation.
   * An entry that would make it lower still is left out (Translation.glossary_unmet).  0 to 100;
   * default 5.  The entries of `glossary` are never left out.
   */
  glossaryMaxLoss?: number;
}

/**
 * If a sentence contains `source` as whole words, its translation contains `target`, or one of
 * `targets`, where it is most likely.
 */
export interface GlossaryEntry {
  source?: string;
  /** empty: the same as `source`, for words that must not be translated */
  target?: string;
  /** More forms, any of which will do: "Haus", "Hauses", "Häuser". */
  targets?: string[];
  /**
   * `source` is found in any case, and targets may begin with a capital letter; for a source in
   * capitals they may be in capitals.
   */
  ignoreCase?: boolean;
  /**
   * Targets may also have the usual endings of the target language: "Haus" also "Hauses" and
   * "Häuser".  For German, English, French and Spanish; others have only what is listed.
   */
  inflect?: boolean;
}

/** The divisor of the sum of log-probabilities, with length_penalty as its exponent. */
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
  /** Stop when the best open hypothesis, at its current length, cannot beat the finished ones. */
  | 'EARLY_STOPPING_HEURISTIC'
  /** Stop as soon as beam_size hypotheses are finished. */
  | 'EARLY_STOPPING_FULL'
  /** Stop when no open hypothesis can beat the finished ones at any length. */
  | 'EARLY_STOPPING_NEVER';

/** Each filter is applied to what the one before it has left.  A field that is 0 is not set. */
export interface Sampling {
  /** at least 1e-6; 1 (default) leaves the model's distribution unchanged */
  temperature?: number;
  /** the k most likely tokens; 0: all */
  topK?: number;
  /** the smallest set of tokens with this total probability; 0 or 1: all */
  topP?: number;
  /** the same seed draws the same tokens, whatever the traffic */
  seed?: number | string;
  /** tokens with at least this fraction of the most likely one's probability; 0: all */
  minP?: number;
  /** tokens with at least this probability; 0: all */
  epsilonCutoff?: number;
  /**
   * Applied before epsilon_cutoff: among the tokens whose surprise (-log p) is closest to the
   * expected one, the smallest set with this total probability (Meister et al. 2023); 0 or 1: all.
   */
  typicalP?: number;
}

/** What to return besides the text.  Scores and token counts are always returned. */
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
   * With alignments: also return all points with at least this probability.  Above 0, to 1; not
   * set: only the links.
   */
  alignmentThreshold?: number;
  /** with alignments: AlignedText.attention, the whole matrix */
  attention?: boolean;
  /**
   * With alignments: AlignedText.heads, the attention of single heads of a Transformer.  Not through
   * a third language.
   */
  attentionHeads?: AttentionHeads[];
  /** Hypothesis.steps: so many of the most likely tokens of each step.  0 (default) to 5. */
  candidates?: number;
  /**
   * With MARKUP_HTML, if the target language is written in the other direction than the source
   * language: sets `dir` of outermost block elements that have none.
   */
  setDirection?: boolean;
  /** with quality: Quality.features */
  qualityFeatures?: boolean;
  /**
   * With quality or min_quality: the best hypothesis is also judged by how likely the source is, given the
   * translation, which takes one more pass through a model of the other direction.  FAILED_PRECONDITION if none
   * is served.  Without markup and "auto"; not in a stream.
   */
  reverseCheck?: boolean;
  /** TranslateResponse.receipt; not in a stream */
  receipt?: boolean;
}

/** Some heads of a layer, whose attention is to be returned. */
export interface AttentionHeads {
  kind?: AttentionKind;
  /** from 0; negative: counted from the last, which is -1 */
  layer?: number;
  /** from 0; empty: all heads of the layer */
  heads?: number[];
}

export type AttentionKind =
  /** the same as CROSS */
  | 'ATTENTION_KIND_UNSPECIFIED'
  /** of target tokens to source tokens, in the decoder */
  | 'ATTENTION_KIND_CROSS'
  /** of source tokens to each other, in the encoder */
  | 'ATTENTION_KIND_ENCODER'
  /** of target tokens to those before them, in the decoder */
  | 'ATTENTION_KIND_DECODER';

export interface TranslateResponse {
  /** One for each of `contents`, in order. */
  translations: Translation[];
  /** the name of the model; two names, joined by "+", if two translated */
  model: string;
  /** changes when the model's files do */
  modelVersion: string;
  timing: Timing | null;
  /**
   * What determines how numbers are rounded: the precision, whether the CPU rounds a product and a sum
   * once ("fma": all of the last ten years) or each, and the version of the order in which numbers are
   * computed, such as "int8/fma-1".  Servers whose answers have the same isa and model_version return
   * the same bytes, whatever their CPUs.
   */
  isa: string;
  /** The version of the model that was used: "stable" or "canary"; of two models, joined by "+". */
  modelLabel: string;
  /** only with OutputOptions.receipt */
  receipt: Receipt | null;
}

/**
 * By which anyone with the same model can check an answer: `dragoman verify`; see docs/receipts.md.
 * Digests are SHA-256, in hexadecimal.
 */
export interface Receipt {
  /** of isa, model_version and the two below */
  digest: string;
  /** the digest of the request: contents, languages and options */
  request: string;
  /** the digest of the text and the score of every hypothesis */
  answer: string;
}

export interface Translation {
  /** best first; at least one */
  hypotheses: Hypothesis[];
  /** read by the model, including the end of the sentence */
  sourceTokens: number;
  /** the text was cut (Truncation) */
  truncated: boolean;
  /** A sentence was longer than the limit, and was translated in parts (SentenceSpan.part). */
  divided: boolean;
  /** only with OutputOptions.sentence_spans */
  sentences: SentenceSpan[];
  /** The terms of glossaries that the best hypothesis does not say, in the order of the text. */
  glossaryUnmet: UnmetTerm[];
  /**
   * Only if source_language was "auto": the detected language as a BCP-47 tag, and the confidence,
   * 0 to 1.  A text that is already in the target language is returned unchanged.
   */
  detectedLanguage: string;
  detectionConfidence: number;
  /** the best hypothesis is below TranslateRequest.min_quality */
  lowQuality: boolean;
  /**
   * Sentences with words that stand in the best hypothesis as they were, because the model said no
   * word for them, damaged what stands for their literals, or cannot read so long a word.
   */
  untranslatedSentences: number;
  /** The sentences that a memory has, in the order of the text. */
  memoryMatches: MemoryMatch[];
}

/** What a translation memory has for a sentence. */
export interface MemoryMatch {
  memoryId: string;
  memoryVersion: number;
  /** of the segment */
  source: string;
  target: string;
  /** How much of the longer of both sources the other has, in words; 100: they are the same. */
  percent: number;
  kind: MemoryMatchKind;
  /** The sentence: the bytes [begin, end) of the UTF-8 text. */
  sourceBegin: number;
  sourceEnd: number;
}

export type MemoryMatchKind =
  | 'KIND_UNSPECIFIED'
  /** the same sentence between the same others: the target is the translation */
  | 'KIND_CONTEXT'
  /** the same sentence: the target is the translation */
  | 'KIND_EXACT'
  /** the target, of which the model has changed what the sentence has changed */
  | 'KIND_REPAIRED'
  /** the model's own translation, which was better or for which options asked */
  | 'KIND_TRANSLATED';

/**
 * A term of the text that its translation does not say as a glossary wants: that would have harmed
 * the translation too much (glossary_max_loss), or the model cannot write it.
 */
export interface UnmetTerm {
  /** empty: an entry of DecodingOptions.glossary */
  glossaryId: string;
  /** of the entry */
  source: string;
  /** The bytes [begin, end) of the UTF-8 text. */
  sourceBegin: number;
  sourceEnd: number;
}

export interface Hypothesis {
  text: string;
  /**
   * The length-normalized log-probability that ranked the hypothesis: at most 0, unless word_penalty
   * is negative.  For a text of several sentences: their mean, weighted by generated tokens.
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
  /**
   * Only with OutputOptions.candidates: one for each of the generated tokens, and one for the end of
   * each sentence that the model ended.
   */
  steps: CandidateStep[];
}

/**
 * The tokens that were most likely to come next, best first, after everything that the options ban or
 * penalize.  The one that came need not be among them.
 */
export interface CandidateStep {
  /** this step ended a sentence, and has no token in Hypothesis.tokens */
  end: boolean;
  candidates: CandidateToken[];
}

export interface CandidateToken {
  token: string;
  tokenId: number;
  /** as in Hypothesis.token_scores */
  logProb: number;
}

/**
 * How certain the model is of its tokens, including ends of sentences; and which literals did not
 * come through.
 */
export interface Quality {
  meanLogProb: number;
  /** of the least likely token */
  minLogProb: number;
  /** exp(-mean_log_prob) */
  perplexity: number;
  /** The literals and numbers of the source that the translation does not have, in their order. */
  literals: LiteralFault[];
  /**
   * 0 to 1: how likely nothing is missing, added or changed; of a text, that of its worst sentence.
   * Not set if there is nothing to judge.  See docs/quality.md.
   */
  score?: number;
  /** in their order */
  doubtful: DoubtfulWord[];
  /** Only with OutputOptions.quality_features: what the score of a sentence was made of. */
  features: QualityFeature[];
  /**
   * Only with OutputOptions.reverse_check: the mean log-probability of the tokens of the source, given the
   * translation; of a text, that of its worst sentence.
   */
  reverseLogProb?: number;
}

/** A word of the translation of which the model is unsure. */
export interface DoubtfulWord {
  /** bytes [begin, end) of the translation, as in SentenceSpan */
  begin: number;
  end: number;
  /** of its least likely token */
  probability: number;
}

export interface QualityFeature {
  name: string;
  value: number;
  /** what it adds to the logarithm of the odds */
  weight: number;
}

/**
 * A number that the translation does not have, or a literal that was not to be kept (Literals).
 * Numbers are compared by value, however they are written; what may be spelled out is no fault.
 * See docs/markup.md.
 */
export interface LiteralFault {
  kind: LiteralFaultKind;
  /** in the source */
  text: string;
  /** in the translation, if it was changed */
  found: string;
  /** The bytes [begin, end) of both, as in SentenceSpan. */
  sourceBegin: number;
  sourceEnd: number;
  targetBegin: number;
  targetEnd: number;
}

export type LiteralFaultKind =
  | 'KIND_UNSPECIFIED'
  | 'KIND_MISSING'
  /** there is another one in its place */
  | 'KIND_CHANGED';

export type FinishReason =
  | 'FINISH_REASON_UNSPECIFIED'
  /** the model ended the sentence */
  | 'FINISH_REASON_EOS'
  /** max_length ended it: the translation may be incomplete */
  | 'FINISH_REASON_MAX_LENGTH'
  /** it started to repeat itself; the repetition is cut off */
  | 'FINISH_REASON_REPETITION';

/**
 * Which source token a target token came from: how much of the decoder's attention it got, as the
 * mean over heads of one layer (docs/alignments.md).
 */
export interface AlignmentPoint {
  /** index into AlignedText.source_tokens */
  sourceToken: number;
  /** index into AlignedText.target_tokens */
  targetToken: number;
  probability: number;
  /** no source token is more likely for this target token: one link each */
  link: boolean;
  /** a link, and the source token is not more likely for any other target token */
  mutual: boolean;
}

/** The tokens and words to which an alignment refers. */
export interface AlignedText {
  /** Everything that the model read, including ends of sentences and language codes. */
  sourceTokens: AlignedToken[];
  /** the same as Hypothesis.tokens */
  targetTokens: AlignedToken[];
  /** words are linked if any of their tokens are */
  words: WordLink[];
  /** one for each sentence; only with OutputOptions.attention */
  attention: AttentionBlock[];
  /**
   * For each sentence one for each of OutputOptions.attention_heads; those of the encoder only in the
   * best hypothesis.
   */
  heads: HeadAttention[];
}

/**
 * A token, and the bytes [begin, end) of the UTF-8 text that it covers.  The range is empty for a
 * token without text, such as the end of a sentence.
 */
export interface AlignedToken {
  piece: string;
  begin: number;
  end: number;
}

/**
 * The bytes [begin, end) of a word of the source and of one of the translation.  Adjacent letters
 * and digits form a word, every other character is one; in scripts without spaces, tokens are
 * words.
 */
export interface WordLink {
  sourceBegin: number;
  sourceEnd: number;
  targetBegin: number;
  targetEnd: number;
  /** The average part of the attention of the target word's tokens that goes to the source word. */
  probability: number;
}

/** The attention of all target tokens of a sentence to all of its source tokens. */
export interface AttentionBlock {
  /** Tokens [begin, end) of AlignedText. */
  sourceBegin: number;
  sourceEnd: number;
  targetBegin: number;
  targetEnd: number;
  /** One row per target token; each row sums to 1. */
  probabilities: number[];
}

/** How one head spreads its attention over the source tokens of a sentence. */
export interface HeadAttention {
  kind: AttentionKind;
  layer: number;
  head: number;
  /**
   * Tokens [begin, end) of AlignedText: those that are looked at, and those that look, which are
   * target tokens or, in the encoder, source tokens.
   */
  sourceBegin: number;
  sourceEnd: number;
  queryBegin: number;
  queryEnd: number;
  /**
   * One row per token that looks; each row sums to 1.  In the decoder, where both are target tokens, the
   * first number of a row is for the decoder's start and number i for the token before the i-th one, as a
   * token is made from those before it.
   */
  probabilities: number[];
}

/**
 * The bytes [begin, end) of the UTF-8 source text and of the best hypothesis' text, both with their
 * markup.
 */
export interface SentenceSpan {
  sourceBegin: number;
  sourceEnd: number;
  targetBegin: number;
  targetEnd: number;
  /** only with OutputOptions.quality */
  quality: Quality | null;
  /** of a sentence that was longer than the limit; others go on with it */
  part: boolean;
}

/** Where the time was spent. queue, encode and decode are those of the slowest sentence. */
export interface Timing {
  total: Duration | null;
  tokenize: Duration | null;
  queue: Duration | null;
  encode: Duration | null;
  decode: Duration | null;
  detokenize: Duration | null;
  /** of each model, if the texts went through several */
  steps: StepTiming[];
  /**
   * Sentences that took no work, because the same sentence had been translated before, or was being
   * translated for another request; in the latter case queue is the time until that was done.
   */
  reusedSentences: number;
  /**
   * Steps of the decoder, summed over the sentences that took work; and the tokens of
   * previous_translations and memories that were kept.
   */
  decoderSteps: number;
  keptTokens: number;
}

/** The times of one model. */
export interface StepTiming {
  model: string;
  tokenize: Duration | null;
  queue: Duration | null;
  encode: Duration | null;
  decode: Duration | null;
  detokenize: Duration | null;
}

/**
 * The messages are in the order of `contents`, and of the sentences in each of them.  A content has
 * any number of stable_text messages, a `sentence` after the text of each sentence, and a
 * `translation` at its end.  How the text is divided into messages depends on the traffic; the text
 * itself does not.
 */
export interface TranslateStreamResponse {
  /** which of `contents` */
  contentIndex: number;
  /**
   * More text of the best hypothesis, which will not change any more: concatenated, the
   * stable_text messages of a content are the text of that hypothesis.  Whole words, including
   * the white space between them; with markup, whole sentences.  With several samples, diverse groups, alternatives or
   * mbr_candidates, little is certain before a sentence is done; without them and with beam_size
   * 1, every word is certain at once.
   */
  stableText?: string;
  /** this text is done */
  translation?: Translation;
  sentence?: FinishedSentence;
  /** the last message: everything except `translations` */
  summary?: TranslateResponse;
  /** Which of them it is. */
  event?: 'stableText' | 'translation' | 'sentence' | 'summary';
}

export interface FinishedSentence {
  /** within its text, from 0 */
  index: number;
  /** number of sentences in its text */
  sentences: number;
  /** its translation */
  text: string;
  /** target: bytes of the concatenated stable_text of its content */
  span: SentenceSpan | null;
  /** as in Hypothesis */
  score: number;
  finishReason: FinishReason;
}

export interface TranslateBulkRequest {
  /** any text; returned with the answer. Its uniqueness is not checked. */
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

/** The error of one request of a bulk call: the same that Translate would have returned. */
export interface Error {
  /** a gRPC status code */
  code: number;
  message: string;
  /** for INVALID_ARGUMENT: the field that is wrong, such as `contents[3]` */
  field: string;
  /** for RESOURCE_EXHAUSTED: how long to wait */
  retryDelay: Duration | null;
}

export interface TranslateDocumentRequest {
  /** the first message */
  header?: DocumentHeader;
  /** the others */
  chunk?: Uint8Array;
}

export interface DocumentHeader {
  /** "report.docx": the suffix says what the file is, unless `format` does. */
  fileName?: string;
  /** A name ("docx"), a media type or a suffix. */
  format?: string;
  /**
   * Languages, model, options and so on for all of the text; without `contents`, `markup` and
   * `target_prefixes`.  If source_language is "auto", the language of the file is detected once.
   */
  request?: TranslateRequest;
  /** Of tables: names or numbers (from 1) of the columns to be translated.  Empty: all. */
  columns?: string[];
  /** What cannot be translated is left as it is, with a warning, instead of ending the call. */
  skipErrors?: boolean;
  /**
   * Of a text file that does not say it, or says it wrong: "windows-1252", "Shift_JIS".  Empty: what
   * the file says, or else UTF-8 or UTF-16.
   */
  encoding?: string;
}

export interface TranslateDocumentResponse {
  progress?: DocumentProgress;
  /** of the translated file */
  chunk?: Uint8Array;
  /** the last message */
  report?: DocumentReport;
  /** Which of them it is. */
  event?: 'progress' | 'chunk' | 'report';
}

export interface DocumentProgress {
  passagesDone: number;
  /** so far: those of later parts are not known yet */
  passagesKnown: number;
  /** of the file that is being translated, if it has parts */
  part: string;
}

export interface DocumentReport {
  /** for the translation: "report.de.docx" */
  fileName: string;
  format: string;
  mediaType: string;
  passages: number;
  /** code points of their text */
  characters: number;
  /** as in TranslateResponse, of the last passage */
  model: string;
  modelVersion: string;
  isa: string;
  /** of the request, or the detected one */
  sourceLanguage: string;
  /** at most 100, with part and line */
  warnings: string[];
  /**
   * Left as they are (DocumentHeader.skip_errors), or with a sentence that is
   * (Translation.untranslated_sentences).
   */
  untranslatedPassages: number;
  /** literals and numbers that translations lack (Quality.literals) */
  literalFaults: number;
}

export interface ScoreRequest {
  model?: string;
  /** at most as many as a TranslateRequest may have contents */
  pairs?: ScorePair[];
  sourceLanguage?: string;
  targetLanguage?: string;
  priority?: Priority;
  /** As in OutputOptions; returned in PairScore. */
  alignments?: boolean;
  alignmentThreshold?: number;
  attention?: boolean;
  /** PairScore.quality */
  quality?: boolean;
  /** with quality: Quality.features */
  qualityFeatures?: boolean;
  /** with quality: as in OutputOptions */
  reverseCheck?: boolean;
}

export interface ScorePair {
  source?: string;
  target?: string;
}

export interface ScoreResponse {
  /** one for each of `pairs`, in order */
  scores: PairScore[];
}

export interface PairScore {
  /** the sum of token_scores */
  logProb: number;
  /** of the target, including the end of the sentence */
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
  /** Only with ScoreRequest.quality; as if the target were the translation of a sentence. */
  quality: Quality | null;
}

export interface TokenizeRequest {
  model?: string;
  contents?: string[];
  sourceLanguage?: string;
  targetLanguage?: string;
  /** the texts are translations: return tokens of the target, without its end */
  target?: boolean;
}

export interface TokenizeResponse {
  /** one for each of `contents`, in order */
  texts: TokenizedText[];
}

export interface TokenizedText {
  tokens: string[];
  tokenIds: number[];
}

export interface DetectLanguageRequest {
  /** with the limits of TranslateRequest */
  contents?: string[];
  /** tags and entities are no evidence */
  markup?: Markup;
}

export interface DetectLanguageResponse {
  /** one for each of `contents`, in order */
  texts: DetectedText[];
}

export interface DetectedText {
  /** At most three, the most likely first; none if nothing suggests any. */
  languages: LanguageGuess[];
}

export interface LanguageGuess {
  /** a BCP-47 tag: "de", "zh-Hant" */
  language: string;
  /** 0 to 1: how much of the text supports it */
  confidence: number;
}

/** A stored glossary. */
export interface Glossary {
  /** chosen by the server */
  id?: string;
  name?: string;
  /** other principals may use and read it */
  shared?: boolean;
  /** 1, and one more with each change */
  version?: number;
  createTime?: Timestamp;
  /** of different languages */
  dictionaries?: GlossaryDictionary[];
  /** it is not the caller's to change */
  readOnly?: boolean;
  /** it is gone when the server ends (--store memory) */
  temporary?: boolean;
}

/** Entries for translations between two languages; at most 100,000 in a glossary. */
export interface GlossaryDictionary {
  /** BCP-47 tags; empty: any. */
  sourceLanguage?: string;
  targetLanguage?: string;
  entries?: GlossaryEntry[];
  /** set by the server, also where the entries are left out */
  entryCount?: number;
}

export interface CreateGlossaryRequest {
  /** its name, dictionaries, and whether it is shared */
  glossary?: Glossary;
}

export interface GetGlossaryRequest {
  id?: string;
}

export interface ListGlossariesRequest {
}

export interface ListGlossariesResponse {
  glossaries: Glossary[];
}

export interface ReplaceGlossaryRequest {
  id?: string;
  /**
   * As in CreateGlossaryRequest.  With a version, it replaces only that one: FAILED_PRECONDITION if there
   * is a newer one.
   */
  glossary?: Glossary;
}

export interface DeleteGlossaryRequest {
  id?: string;
}

export interface DeleteGlossaryResponse {
}

/** A translation memory: a set of segments from one language into another. */
export interface TranslationMemory {
  /** chosen by the server */
  id?: string;
  name?: string;
  /** other principals may use and read it */
  shared?: boolean;
  /** 1, and one more with each change */
  version?: number;
  createTime?: Timestamp;
  /** BCP-47 tags; empty: any. */
  sourceLanguage?: string;
  targetLanguage?: string;
  /** set by the server */
  segmentCount?: number;
  /** it is not the caller's to change */
  readOnly?: boolean;
  /** it is gone when the server ends (--store memory) */
  temporary?: boolean;
}

/** A sentence and its translation. */
export interface MemorySegment {
  source?: string;
  target?: string;
  /** The sentences around the source where it stood; empty: not known, or none. */
  previousSource?: string;
  nextSource?: string;
}

export interface CreateMemoryRequest {
  /** its name, languages, and whether it is shared */
  memory?: TranslationMemory;
  /** the first ones */
  segments?: MemorySegment[];
}

export interface GetMemoryRequest {
  id?: string;
}

export interface ListMemoriesRequest {
}

export interface ListMemoriesResponse {
  memories: TranslationMemory[];
}

export interface GetMemorySegmentsRequest {
  id?: string;
  /** how many come before the first of the page */
  start?: number;
  /** at most 1,000, which is the default */
  limit?: number;
}

export interface GetMemorySegmentsResponse {
  memory: TranslationMemory | null;
  /** none after the last one */
  segments: MemorySegment[];
}

export interface LearnSegmentsRequest {
  id?: string;
  segments?: MemorySegment[];
}

export interface DeleteMemoryRequest {
  id?: string;
}

export interface DeleteMemoryResponse {
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
   * As BCP-47 tags.  Empty if there are more than 10,000: then every one of source_languages can be
   * translated into every one of target_languages.
   */
  languagePairs: LanguagePair[];
  /** of a sentence, including its end */
  maxSourceTokens: number;
  /** of the target */
  vocabularySize: number;
  /** used for requests that name no model */
  isDefault: boolean;
  state: ModelState;
  /** BCP-47; "mul" or similar: any */
  sourceLanguages: string[];
  targetLanguages: string[];
  /** as in TranslateResponse */
  isa: string;
  /**
   * The version that is served, as described above, and any others: a canary, a new version that is
   * loading or could not be loaded, an old one that is finishing its last sentences.
   */
  versions: ModelVersion[];
  /** Of a Transformer, what OutputOptions.attention_heads may name: layers, and heads in each. */
  encoderLayers: number;
  encoderHeads: number;
  crossLayers: number;
  crossHeads: number;
  decoderLayers: number;
  decoderHeads: number;
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
  /** empty unless it is or was being served */
  version: string;
  state: ModelState;
  /** of the requests without a label */
  percent: number;
  /**
   * For STATE_FAILED: "memory" (it does not fit), "broken" (it cannot be loaded) or "golden" (it
   * does not translate its golden sentences as required).
   */
  failure: string;
}

export interface LanguagePair {
  source: string;
  target: string;
}
