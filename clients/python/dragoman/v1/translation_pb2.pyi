from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

ATTENTION_KIND_CROSS: AttentionKind
ATTENTION_KIND_DECODER: AttentionKind
ATTENTION_KIND_ENCODER: AttentionKind
ATTENTION_KIND_UNSPECIFIED: AttentionKind
DESCRIPTOR: _descriptor.FileDescriptor
EARLY_STOPPING_FULL: EarlyStopping
EARLY_STOPPING_HEURISTIC: EarlyStopping
EARLY_STOPPING_NEVER: EarlyStopping
EARLY_STOPPING_UNSPECIFIED: EarlyStopping
FINISH_REASON_EOS: FinishReason
FINISH_REASON_MAX_LENGTH: FinishReason
FINISH_REASON_REPETITION: FinishReason
FINISH_REASON_UNSPECIFIED: FinishReason
LENGTH_NORMALIZATION_GNMT: LengthNormalization
LENGTH_NORMALIZATION_LENGTH: LengthNormalization
LENGTH_NORMALIZATION_UNSPECIFIED: LengthNormalization
LITERALS_KEEP: Literals
LITERALS_OFF: Literals
LITERALS_STRINGS: Literals
LITERALS_UNSPECIFIED: Literals
LOW_QUALITY_MARK: LowQuality
LOW_QUALITY_REFUSE: LowQuality
LOW_QUALITY_UNSPECIFIED: LowQuality
MARKUP_HTML: Markup
MARKUP_NONE: Markup
MARKUP_UNSPECIFIED: Markup
MARKUP_XML: Markup
PRIORITY_BATCH: Priority
PRIORITY_INTERACTIVE: Priority
PRIORITY_UNSPECIFIED: Priority
SENTENCE_SPLITTING_NONE: SentenceSplitting
SENTENCE_SPLITTING_SENTENCES: SentenceSplitting
SENTENCE_SPLITTING_UNSPECIFIED: SentenceSplitting
TRUNCATION_REJECT: Truncation
TRUNCATION_TRUNCATE: Truncation
TRUNCATION_UNSPECIFIED: Truncation

class AlignedText(_message.Message):
    __slots__ = ["attention", "heads", "source_tokens", "target_tokens", "words"]
    ATTENTION_FIELD_NUMBER: _ClassVar[int]
    HEADS_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TARGET_TOKENS_FIELD_NUMBER: _ClassVar[int]
    WORDS_FIELD_NUMBER: _ClassVar[int]
    attention: _containers.RepeatedCompositeFieldContainer[AttentionBlock]
    heads: _containers.RepeatedCompositeFieldContainer[HeadAttention]
    source_tokens: _containers.RepeatedCompositeFieldContainer[AlignedToken]
    target_tokens: _containers.RepeatedCompositeFieldContainer[AlignedToken]
    words: _containers.RepeatedCompositeFieldContainer[WordLink]
    def __init__(self, source_tokens: _Optional[_Iterable[_Union[AlignedToken, _Mapping]]] = ..., target_tokens: _Optional[_Iterable[_Union[AlignedToken, _Mapping]]] = ..., words: _Optional[_Iterable[_Union[WordLink, _Mapping]]] = ..., attention: _Optional[_Iterable[_Union[AttentionBlock, _Mapping]]] = ..., heads: _Optional[_Iterable[_Union[HeadAttention, _Mapping]]] = ...) -> None: ...

class AlignedToken(_message.Message):
    __slots__ = ["begin", "end", "piece"]
    BEGIN_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    PIECE_FIELD_NUMBER: _ClassVar[int]
    begin: int
    end: int
    piece: str
    def __init__(self, piece: _Optional[str] = ..., begin: _Optional[int] = ..., end: _Optional[int] = ...) -> None: ...

class AlignmentPoint(_message.Message):
    __slots__ = ["link", "mutual", "probability", "source_token", "target_token"]
    LINK_FIELD_NUMBER: _ClassVar[int]
    MUTUAL_FIELD_NUMBER: _ClassVar[int]
    PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TARGET_TOKEN_FIELD_NUMBER: _ClassVar[int]
    link: bool
    mutual: bool
    probability: float
    source_token: int
    target_token: int
    def __init__(self, source_token: _Optional[int] = ..., target_token: _Optional[int] = ..., probability: _Optional[float] = ..., link: bool = ..., mutual: bool = ...) -> None: ...

class AttentionBlock(_message.Message):
    __slots__ = ["probabilities", "source_begin", "source_end", "target_begin", "target_end"]
    PROBABILITIES_FIELD_NUMBER: _ClassVar[int]
    SOURCE_BEGIN_FIELD_NUMBER: _ClassVar[int]
    SOURCE_END_FIELD_NUMBER: _ClassVar[int]
    TARGET_BEGIN_FIELD_NUMBER: _ClassVar[int]
    TARGET_END_FIELD_NUMBER: _ClassVar[int]
    probabilities: _containers.RepeatedScalarFieldContainer[float]
    source_begin: int
    source_end: int
    target_begin: int
    target_end: int
    def __init__(self, source_begin: _Optional[int] = ..., source_end: _Optional[int] = ..., target_begin: _Optional[int] = ..., target_end: _Optional[int] = ..., probabilities: _Optional[_Iterable[float]] = ...) -> None: ...

class AttentionHeads(_message.Message):
    __slots__ = ["heads", "kind", "layer"]
    HEADS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LAYER_FIELD_NUMBER: _ClassVar[int]
    heads: _containers.RepeatedScalarFieldContainer[int]
    kind: AttentionKind
    layer: int
    def __init__(self, kind: _Optional[_Union[AttentionKind, str]] = ..., layer: _Optional[int] = ..., heads: _Optional[_Iterable[int]] = ...) -> None: ...

class CandidateStep(_message.Message):
    __slots__ = ["candidates", "end"]
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    candidates: _containers.RepeatedCompositeFieldContainer[CandidateToken]
    end: bool
    def __init__(self, end: bool = ..., candidates: _Optional[_Iterable[_Union[CandidateToken, _Mapping]]] = ...) -> None: ...

class CandidateToken(_message.Message):
    __slots__ = ["log_prob", "token", "token_id"]
    LOG_PROB_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    TOKEN_ID_FIELD_NUMBER: _ClassVar[int]
    log_prob: float
    token: str
    token_id: int
    def __init__(self, token: _Optional[str] = ..., token_id: _Optional[int] = ..., log_prob: _Optional[float] = ...) -> None: ...

class CreateGlossaryRequest(_message.Message):
    __slots__ = ["glossary"]
    GLOSSARY_FIELD_NUMBER: _ClassVar[int]
    glossary: Glossary
    def __init__(self, glossary: _Optional[_Union[Glossary, _Mapping]] = ...) -> None: ...

class CreateMemoryRequest(_message.Message):
    __slots__ = ["memory", "segments"]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    SEGMENTS_FIELD_NUMBER: _ClassVar[int]
    memory: TranslationMemory
    segments: _containers.RepeatedCompositeFieldContainer[MemorySegment]
    def __init__(self, memory: _Optional[_Union[TranslationMemory, _Mapping]] = ..., segments: _Optional[_Iterable[_Union[MemorySegment, _Mapping]]] = ...) -> None: ...

class DecodingOptions(_message.Message):
    __slots__ = ["beam_groups", "beam_size", "coverage_penalty", "disable_unk", "diversity_penalty", "early_stopping", "forced_bos_token_id", "forced_eos_token_id", "glossary", "glossary_max_loss", "length_normalization", "length_penalty", "max_length", "max_length_ratio", "mbr_candidates", "min_alternative_probability", "min_length", "min_length_ratio", "never_say", "no_repeat_ngram_size", "num_hypotheses", "patience", "renormalize_logits", "repetition_guard", "repetition_penalty", "replace_unknowns", "return_alternatives", "sampling", "shrinking_beam", "suppress_sequences", "suppress_token_ids", "word_penalty"]
    BEAM_GROUPS_FIELD_NUMBER: _ClassVar[int]
    BEAM_SIZE_FIELD_NUMBER: _ClassVar[int]
    COVERAGE_PENALTY_FIELD_NUMBER: _ClassVar[int]
    DISABLE_UNK_FIELD_NUMBER: _ClassVar[int]
    DIVERSITY_PENALTY_FIELD_NUMBER: _ClassVar[int]
    EARLY_STOPPING_FIELD_NUMBER: _ClassVar[int]
    FORCED_BOS_TOKEN_ID_FIELD_NUMBER: _ClassVar[int]
    FORCED_EOS_TOKEN_ID_FIELD_NUMBER: _ClassVar[int]
    GLOSSARY_FIELD_NUMBER: _ClassVar[int]
    GLOSSARY_MAX_LOSS_FIELD_NUMBER: _ClassVar[int]
    LENGTH_NORMALIZATION_FIELD_NUMBER: _ClassVar[int]
    LENGTH_PENALTY_FIELD_NUMBER: _ClassVar[int]
    MAX_LENGTH_FIELD_NUMBER: _ClassVar[int]
    MAX_LENGTH_RATIO_FIELD_NUMBER: _ClassVar[int]
    MBR_CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    MIN_ALTERNATIVE_PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    MIN_LENGTH_FIELD_NUMBER: _ClassVar[int]
    MIN_LENGTH_RATIO_FIELD_NUMBER: _ClassVar[int]
    NEVER_SAY_FIELD_NUMBER: _ClassVar[int]
    NO_REPEAT_NGRAM_SIZE_FIELD_NUMBER: _ClassVar[int]
    NUM_HYPOTHESES_FIELD_NUMBER: _ClassVar[int]
    PATIENCE_FIELD_NUMBER: _ClassVar[int]
    RENORMALIZE_LOGITS_FIELD_NUMBER: _ClassVar[int]
    REPETITION_GUARD_FIELD_NUMBER: _ClassVar[int]
    REPETITION_PENALTY_FIELD_NUMBER: _ClassVar[int]
    REPLACE_UNKNOWNS_FIELD_NUMBER: _ClassVar[int]
    RETURN_ALTERNATIVES_FIELD_NUMBER: _ClassVar[int]
    SAMPLING_FIELD_NUMBER: _ClassVar[int]
    SHRINKING_BEAM_FIELD_NUMBER: _ClassVar[int]
    SUPPRESS_SEQUENCES_FIELD_NUMBER: _ClassVar[int]
    SUPPRESS_TOKEN_IDS_FIELD_NUMBER: _ClassVar[int]
    WORD_PENALTY_FIELD_NUMBER: _ClassVar[int]
    beam_groups: int
    beam_size: int
    coverage_penalty: float
    disable_unk: bool
    diversity_penalty: float
    early_stopping: EarlyStopping
    forced_bos_token_id: int
    forced_eos_token_id: int
    glossary: _containers.RepeatedCompositeFieldContainer[GlossaryEntry]
    glossary_max_loss: float
    length_normalization: LengthNormalization
    length_penalty: float
    max_length: int
    max_length_ratio: float
    mbr_candidates: int
    min_alternative_probability: float
    min_length: int
    min_length_ratio: float
    never_say: _containers.RepeatedScalarFieldContainer[str]
    no_repeat_ngram_size: int
    num_hypotheses: int
    patience: float
    renormalize_logits: bool
    repetition_guard: bool
    repetition_penalty: float
    replace_unknowns: bool
    return_alternatives: bool
    sampling: Sampling
    shrinking_beam: bool
    suppress_sequences: _containers.RepeatedScalarFieldContainer[str]
    suppress_token_ids: _containers.RepeatedScalarFieldContainer[int]
    word_penalty: float
    def __init__(self, beam_size: _Optional[int] = ..., num_hypotheses: _Optional[int] = ..., length_penalty: _Optional[float] = ..., early_stopping: _Optional[_Union[EarlyStopping, str]] = ..., min_length: _Optional[int] = ..., max_length: _Optional[int] = ..., max_length_ratio: _Optional[float] = ..., no_repeat_ngram_size: _Optional[int] = ..., repetition_penalty: _Optional[float] = ..., renormalize_logits: bool = ..., sampling: _Optional[_Union[Sampling, _Mapping]] = ..., length_normalization: _Optional[_Union[LengthNormalization, str]] = ..., patience: _Optional[float] = ..., min_length_ratio: _Optional[float] = ..., disable_unk: bool = ..., forced_bos_token_id: _Optional[int] = ..., forced_eos_token_id: _Optional[int] = ..., beam_groups: _Optional[int] = ..., diversity_penalty: _Optional[float] = ..., return_alternatives: bool = ..., min_alternative_probability: _Optional[float] = ..., mbr_candidates: _Optional[int] = ..., repetition_guard: bool = ..., suppress_token_ids: _Optional[_Iterable[int]] = ..., suppress_sequences: _Optional[_Iterable[str]] = ..., glossary: _Optional[_Iterable[_Union[GlossaryEntry, _Mapping]]] = ..., never_say: _Optional[_Iterable[str]] = ..., coverage_penalty: _Optional[float] = ..., replace_unknowns: bool = ..., word_penalty: _Optional[float] = ..., shrinking_beam: bool = ..., glossary_max_loss: _Optional[float] = ...) -> None: ...

class DeleteGlossaryRequest(_message.Message):
    __slots__ = ["id"]
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class DeleteGlossaryResponse(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class DeleteMemoryRequest(_message.Message):
    __slots__ = ["id"]
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class DeleteMemoryResponse(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class DetectLanguageRequest(_message.Message):
    __slots__ = ["contents", "markup"]
    CONTENTS_FIELD_NUMBER: _ClassVar[int]
    MARKUP_FIELD_NUMBER: _ClassVar[int]
    contents: _containers.RepeatedScalarFieldContainer[str]
    markup: Markup
    def __init__(self, contents: _Optional[_Iterable[str]] = ..., markup: _Optional[_Union[Markup, str]] = ...) -> None: ...

class DetectLanguageResponse(_message.Message):
    __slots__ = ["texts"]
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    texts: _containers.RepeatedCompositeFieldContainer[DetectedText]
    def __init__(self, texts: _Optional[_Iterable[_Union[DetectedText, _Mapping]]] = ...) -> None: ...

class DetectedText(_message.Message):
    __slots__ = ["languages"]
    LANGUAGES_FIELD_NUMBER: _ClassVar[int]
    languages: _containers.RepeatedCompositeFieldContainer[LanguageGuess]
    def __init__(self, languages: _Optional[_Iterable[_Union[LanguageGuess, _Mapping]]] = ...) -> None: ...

class DocumentHeader(_message.Message):
    __slots__ = ["columns", "encoding", "file_name", "format", "request", "skip_errors"]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    ENCODING_FIELD_NUMBER: _ClassVar[int]
    FILE_NAME_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    SKIP_ERRORS_FIELD_NUMBER: _ClassVar[int]
    columns: _containers.RepeatedScalarFieldContainer[str]
    encoding: str
    file_name: str
    format: str
    request: TranslateRequest
    skip_errors: bool
    def __init__(self, file_name: _Optional[str] = ..., format: _Optional[str] = ..., request: _Optional[_Union[TranslateRequest, _Mapping]] = ..., columns: _Optional[_Iterable[str]] = ..., skip_errors: bool = ..., encoding: _Optional[str] = ...) -> None: ...

class DocumentProgress(_message.Message):
    __slots__ = ["part", "passages_done", "passages_known"]
    PART_FIELD_NUMBER: _ClassVar[int]
    PASSAGES_DONE_FIELD_NUMBER: _ClassVar[int]
    PASSAGES_KNOWN_FIELD_NUMBER: _ClassVar[int]
    part: str
    passages_done: int
    passages_known: int
    def __init__(self, passages_done: _Optional[int] = ..., passages_known: _Optional[int] = ..., part: _Optional[str] = ...) -> None: ...

class DocumentReport(_message.Message):
    __slots__ = ["characters", "file_name", "format", "isa", "literal_faults", "media_type", "model", "model_version", "passages", "source_language", "untranslated_passages", "warnings"]
    CHARACTERS_FIELD_NUMBER: _ClassVar[int]
    FILE_NAME_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    ISA_FIELD_NUMBER: _ClassVar[int]
    LITERAL_FAULTS_FIELD_NUMBER: _ClassVar[int]
    MEDIA_TYPE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    MODEL_VERSION_FIELD_NUMBER: _ClassVar[int]
    PASSAGES_FIELD_NUMBER: _ClassVar[int]
    SOURCE_LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    UNTRANSLATED_PASSAGES_FIELD_NUMBER: _ClassVar[int]
    WARNINGS_FIELD_NUMBER: _ClassVar[int]
    characters: int
    file_name: str
    format: str
    isa: str
    literal_faults: int
    media_type: str
    model: str
    model_version: str
    passages: int
    source_language: str
    untranslated_passages: int
    warnings: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, file_name: _Optional[str] = ..., format: _Optional[str] = ..., media_type: _Optional[str] = ..., passages: _Optional[int] = ..., characters: _Optional[int] = ..., model: _Optional[str] = ..., model_version: _Optional[str] = ..., isa: _Optional[str] = ..., source_language: _Optional[str] = ..., warnings: _Optional[_Iterable[str]] = ..., untranslated_passages: _Optional[int] = ..., literal_faults: _Optional[int] = ...) -> None: ...

class DoubtfulWord(_message.Message):
    __slots__ = ["begin", "end", "probability"]
    BEGIN_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    begin: int
    end: int
    probability: float
    def __init__(self, begin: _Optional[int] = ..., end: _Optional[int] = ..., probability: _Optional[float] = ...) -> None: ...

class Error(_message.Message):
    __slots__ = ["code", "field", "message", "retry_delay"]
    CODE_FIELD_NUMBER: _ClassVar[int]
    FIELD_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    RETRY_DELAY_FIELD_NUMBER: _ClassVar[int]
    code: int
    field: str
    message: str
    retry_delay: _duration_pb2.Duration
    def __init__(self, code: _Optional[int] = ..., message: _Optional[str] = ..., field: _Optional[str] = ..., retry_delay: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class FinishedSentence(_message.Message):
    __slots__ = ["finish_reason", "index", "score", "sentences", "span", "text"]
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    SENTENCES_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    finish_reason: FinishReason
    index: int
    score: float
    sentences: int
    span: SentenceSpan
    text: str
    def __init__(self, index: _Optional[int] = ..., sentences: _Optional[int] = ..., text: _Optional[str] = ..., span: _Optional[_Union[SentenceSpan, _Mapping]] = ..., score: _Optional[float] = ..., finish_reason: _Optional[_Union[FinishReason, str]] = ...) -> None: ...

class GetGlossaryRequest(_message.Message):
    __slots__ = ["id"]
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class GetMemoryRequest(_message.Message):
    __slots__ = ["id"]
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class GetMemorySegmentsRequest(_message.Message):
    __slots__ = ["id", "limit", "start"]
    ID_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    id: str
    limit: int
    start: int
    def __init__(self, id: _Optional[str] = ..., start: _Optional[int] = ..., limit: _Optional[int] = ...) -> None: ...

class GetMemorySegmentsResponse(_message.Message):
    __slots__ = ["memory", "segments"]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    SEGMENTS_FIELD_NUMBER: _ClassVar[int]
    memory: TranslationMemory
    segments: _containers.RepeatedCompositeFieldContainer[MemorySegment]
    def __init__(self, memory: _Optional[_Union[TranslationMemory, _Mapping]] = ..., segments: _Optional[_Iterable[_Union[MemorySegment, _Mapping]]] = ...) -> None: ...

class GetModelRequest(_message.Message):
    __slots__ = ["name"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class Glossary(_message.Message):
    __slots__ = ["create_time", "dictionaries", "id", "name", "read_only", "shared", "temporary", "version"]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    DICTIONARIES_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    READ_ONLY_FIELD_NUMBER: _ClassVar[int]
    SHARED_FIELD_NUMBER: _ClassVar[int]
    TEMPORARY_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    create_time: _timestamp_pb2.Timestamp
    dictionaries: _containers.RepeatedCompositeFieldContainer[GlossaryDictionary]
    id: str
    name: str
    read_only: bool
    shared: bool
    temporary: bool
    version: int
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., shared: bool = ..., version: _Optional[int] = ..., create_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., dictionaries: _Optional[_Iterable[_Union[GlossaryDictionary, _Mapping]]] = ..., read_only: bool = ..., temporary: bool = ...) -> None: ...

class GlossaryDictionary(_message.Message):
    __slots__ = ["entries", "entry_count", "source_language", "target_language"]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    ENTRY_COUNT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    TARGET_LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[GlossaryEntry]
    entry_count: int
    source_language: str
    target_language: str
    def __init__(self, source_language: _Optional[str] = ..., target_language: _Optional[str] = ..., entries: _Optional[_Iterable[_Union[GlossaryEntry, _Mapping]]] = ..., entry_count: _Optional[int] = ...) -> None: ...

class GlossaryEntry(_message.Message):
    __slots__ = ["ignore_case", "inflect", "source", "target", "targets"]
    IGNORE_CASE_FIELD_NUMBER: _ClassVar[int]
    INFLECT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TARGETS_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    ignore_case: bool
    inflect: bool
    source: str
    target: str
    targets: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, source: _Optional[str] = ..., target: _Optional[str] = ..., targets: _Optional[_Iterable[str]] = ..., ignore_case: bool = ..., inflect: bool = ...) -> None: ...

class HeadAttention(_message.Message):
    __slots__ = ["head", "kind", "layer", "probabilities", "query_begin", "query_end", "source_begin", "source_end"]
    HEAD_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LAYER_FIELD_NUMBER: _ClassVar[int]
    PROBABILITIES_FIELD_NUMBER: _ClassVar[int]
    QUERY_BEGIN_FIELD_NUMBER: _ClassVar[int]
    QUERY_END_FIELD_NUMBER: _ClassVar[int]
    SOURCE_BEGIN_FIELD_NUMBER: _ClassVar[int]
    SOURCE_END_FIELD_NUMBER: _ClassVar[int]
    head: int
    kind: AttentionKind
    layer: int
    probabilities: _containers.RepeatedScalarFieldContainer[float]
    query_begin: int
    query_end: int
    source_begin: int
    source_end: int
    def __init__(self, kind: _Optional[_Union[AttentionKind, str]] = ..., layer: _Optional[int] = ..., head: _Optional[int] = ..., source_begin: _Optional[int] = ..., source_end: _Optional[int] = ..., query_begin: _Optional[int] = ..., query_end: _Optional[int] = ..., probabilities: _Optional[_Iterable[float]] = ...) -> None: ...

class Hypothesis(_message.Message):
    __slots__ = ["aligned_text", "alignment", "finish_reason", "quality", "score", "steps", "text", "token_ids", "token_scores", "tokens"]
    ALIGNED_TEXT_FIELD_NUMBER: _ClassVar[int]
    ALIGNMENT_FIELD_NUMBER: _ClassVar[int]
    FINISH_REASON_FIELD_NUMBER: _ClassVar[int]
    QUALITY_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOKEN_IDS_FIELD_NUMBER: _ClassVar[int]
    TOKEN_SCORES_FIELD_NUMBER: _ClassVar[int]
    aligned_text: AlignedText
    alignment: _containers.RepeatedCompositeFieldContainer[AlignmentPoint]
    finish_reason: FinishReason
    quality: Quality
    score: float
    steps: _containers.RepeatedCompositeFieldContainer[CandidateStep]
    text: str
    token_ids: _containers.RepeatedScalarFieldContainer[int]
    token_scores: _containers.RepeatedScalarFieldContainer[float]
    tokens: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, text: _Optional[str] = ..., score: _Optional[float] = ..., tokens: _Optional[_Iterable[str]] = ..., token_ids: _Optional[_Iterable[int]] = ..., token_scores: _Optional[_Iterable[float]] = ..., finish_reason: _Optional[_Union[FinishReason, str]] = ..., alignment: _Optional[_Iterable[_Union[AlignmentPoint, _Mapping]]] = ..., quality: _Optional[_Union[Quality, _Mapping]] = ..., aligned_text: _Optional[_Union[AlignedText, _Mapping]] = ..., steps: _Optional[_Iterable[_Union[CandidateStep, _Mapping]]] = ...) -> None: ...

class LanguageGuess(_message.Message):
    __slots__ = ["confidence", "language"]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    confidence: float
    language: str
    def __init__(self, language: _Optional[str] = ..., confidence: _Optional[float] = ...) -> None: ...

class LanguagePair(_message.Message):
    __slots__ = ["source", "target"]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    source: str
    target: str
    def __init__(self, source: _Optional[str] = ..., target: _Optional[str] = ...) -> None: ...

class LearnSegmentsRequest(_message.Message):
    __slots__ = ["id", "segments"]
    ID_FIELD_NUMBER: _ClassVar[int]
    SEGMENTS_FIELD_NUMBER: _ClassVar[int]
    id: str
    segments: _containers.RepeatedCompositeFieldContainer[MemorySegment]
    def __init__(self, id: _Optional[str] = ..., segments: _Optional[_Iterable[_Union[MemorySegment, _Mapping]]] = ...) -> None: ...

class ListGlossariesRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class ListGlossariesResponse(_message.Message):
    __slots__ = ["glossaries"]
    GLOSSARIES_FIELD_NUMBER: _ClassVar[int]
    glossaries: _containers.RepeatedCompositeFieldContainer[Glossary]
    def __init__(self, glossaries: _Optional[_Iterable[_Union[Glossary, _Mapping]]] = ...) -> None: ...

class ListMemoriesRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class ListMemoriesResponse(_message.Message):
    __slots__ = ["memories"]
    MEMORIES_FIELD_NUMBER: _ClassVar[int]
    memories: _containers.RepeatedCompositeFieldContainer[TranslationMemory]
    def __init__(self, memories: _Optional[_Iterable[_Union[TranslationMemory, _Mapping]]] = ...) -> None: ...

class ListModelsRequest(_message.Message):
    __slots__ = []
    def __init__(self) -> None: ...

class ListModelsResponse(_message.Message):
    __slots__ = ["models"]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedCompositeFieldContainer[Model]
    def __init__(self, models: _Optional[_Iterable[_Union[Model, _Mapping]]] = ...) -> None: ...

class LiteralFault(_message.Message):
    __slots__ = ["found", "kind", "source_begin", "source_end", "target_begin", "target_end", "text"]
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    FOUND_FIELD_NUMBER: _ClassVar[int]
    KIND_CHANGED: LiteralFault.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    KIND_MISSING: LiteralFault.Kind
    KIND_UNSPECIFIED: LiteralFault.Kind
    SOURCE_BEGIN_FIELD_NUMBER: _ClassVar[int]
    SOURCE_END_FIELD_NUMBER: _ClassVar[int]
    TARGET_BEGIN_FIELD_NUMBER: _ClassVar[int]
    TARGET_END_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    found: str
    kind: LiteralFault.Kind
    source_begin: int
    source_end: int
    target_begin: int
    target_end: int
    text: str
    def __init__(self, kind: _Optional[_Union[LiteralFault.Kind, str]] = ..., text: _Optional[str] = ..., found: _Optional[str] = ..., source_begin: _Optional[int] = ..., source_end: _Optional[int] = ..., target_begin: _Optional[int] = ..., target_end: _Optional[int] = ...) -> None: ...

class MarkupOptions(_message.Message):
    __slots__ = ["ignore_tags", "join_lines", "non_splitting_tags", "outline_detection", "splitting_tags"]
    IGNORE_TAGS_FIELD_NUMBER: _ClassVar[int]
    JOIN_LINES_FIELD_NUMBER: _ClassVar[int]
    NON_SPLITTING_TAGS_FIELD_NUMBER: _ClassVar[int]
    OUTLINE_DETECTION_FIELD_NUMBER: _ClassVar[int]
    SPLITTING_TAGS_FIELD_NUMBER: _ClassVar[int]
    ignore_tags: _containers.RepeatedScalarFieldContainer[str]
    join_lines: bool
    non_splitting_tags: _containers.RepeatedScalarFieldContainer[str]
    outline_detection: bool
    splitting_tags: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, splitting_tags: _Optional[_Iterable[str]] = ..., non_splitting_tags: _Optional[_Iterable[str]] = ..., ignore_tags: _Optional[_Iterable[str]] = ..., outline_detection: bool = ..., join_lines: bool = ...) -> None: ...

class MemoryMatch(_message.Message):
    __slots__ = ["kind", "memory_id", "memory_version", "percent", "source", "source_begin", "source_end", "target"]
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    KIND_CONTEXT: MemoryMatch.Kind
    KIND_EXACT: MemoryMatch.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    KIND_REPAIRED: MemoryMatch.Kind
    KIND_TRANSLATED: MemoryMatch.Kind
    KIND_UNSPECIFIED: MemoryMatch.Kind
    MEMORY_ID_FIELD_NUMBER: _ClassVar[int]
    MEMORY_VERSION_FIELD_NUMBER: _ClassVar[int]
    PERCENT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_BEGIN_FIELD_NUMBER: _ClassVar[int]
    SOURCE_END_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    kind: MemoryMatch.Kind
    memory_id: str
    memory_version: int
    percent: int
    source: str
    source_begin: int
    source_end: int
    target: str
    def __init__(self, memory_id: _Optional[str] = ..., memory_version: _Optional[int] = ..., source: _Optional[str] = ..., target: _Optional[str] = ..., percent: _Optional[int] = ..., kind: _Optional[_Union[MemoryMatch.Kind, str]] = ..., source_begin: _Optional[int] = ..., source_end: _Optional[int] = ...) -> None: ...

class MemorySegment(_message.Message):
    __slots__ = ["next_source", "previous_source", "source", "target"]
    NEXT_SOURCE_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_SOURCE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    next_source: str
    previous_source: str
    source: str
    target: str
    def __init__(self, source: _Optional[str] = ..., target: _Optional[str] = ..., previous_source: _Optional[str] = ..., next_source: _Optional[str] = ...) -> None: ...

class Model(_message.Message):
    __slots__ = ["architecture", "cross_heads", "cross_layers", "decoder_heads", "decoder_layers", "encoder_heads", "encoder_layers", "is_default", "isa", "language_pairs", "max_source_tokens", "name", "precision", "source_languages", "state", "target_languages", "version", "versions", "vocabulary_size"]
    class State(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    ARCHITECTURE_FIELD_NUMBER: _ClassVar[int]
    CROSS_HEADS_FIELD_NUMBER: _ClassVar[int]
    CROSS_LAYERS_FIELD_NUMBER: _ClassVar[int]
    DECODER_HEADS_FIELD_NUMBER: _ClassVar[int]
    DECODER_LAYERS_FIELD_NUMBER: _ClassVar[int]
    ENCODER_HEADS_FIELD_NUMBER: _ClassVar[int]
    ENCODER_LAYERS_FIELD_NUMBER: _ClassVar[int]
    ISA_FIELD_NUMBER: _ClassVar[int]
    IS_DEFAULT_FIELD_NUMBER: _ClassVar[int]
    LANGUAGE_PAIRS_FIELD_NUMBER: _ClassVar[int]
    MAX_SOURCE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PRECISION_FIELD_NUMBER: _ClassVar[int]
    SOURCE_LANGUAGES_FIELD_NUMBER: _ClassVar[int]
    STATE_DRAINING: Model.State
    STATE_FAILED: Model.State
    STATE_FIELD_NUMBER: _ClassVar[int]
    STATE_LOADING: Model.State
    STATE_READY: Model.State
    STATE_UNSPECIFIED: Model.State
    TARGET_LANGUAGES_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    VOCABULARY_SIZE_FIELD_NUMBER: _ClassVar[int]
    architecture: str
    cross_heads: int
    cross_layers: int
    decoder_heads: int
    decoder_layers: int
    encoder_heads: int
    encoder_layers: int
    is_default: bool
    isa: str
    language_pairs: _containers.RepeatedCompositeFieldContainer[LanguagePair]
    max_source_tokens: int
    name: str
    precision: str
    source_languages: _containers.RepeatedScalarFieldContainer[str]
    state: Model.State
    target_languages: _containers.RepeatedScalarFieldContainer[str]
    version: str
    versions: _containers.RepeatedCompositeFieldContainer[ModelVersion]
    vocabulary_size: int
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., architecture: _Optional[str] = ..., precision: _Optional[str] = ..., language_pairs: _Optional[_Iterable[_Union[LanguagePair, _Mapping]]] = ..., max_source_tokens: _Optional[int] = ..., vocabulary_size: _Optional[int] = ..., is_default: bool = ..., state: _Optional[_Union[Model.State, str]] = ..., source_languages: _Optional[_Iterable[str]] = ..., target_languages: _Optional[_Iterable[str]] = ..., isa: _Optional[str] = ..., versions: _Optional[_Iterable[_Union[ModelVersion, _Mapping]]] = ..., encoder_layers: _Optional[int] = ..., encoder_heads: _Optional[int] = ..., cross_layers: _Optional[int] = ..., cross_heads: _Optional[int] = ..., decoder_layers: _Optional[int] = ..., decoder_heads: _Optional[int] = ...) -> None: ...

class ModelVersion(_message.Message):
    __slots__ = ["failure", "label", "percent", "state", "version"]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    PERCENT_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    failure: str
    label: str
    percent: float
    state: Model.State
    version: str
    def __init__(self, label: _Optional[str] = ..., version: _Optional[str] = ..., state: _Optional[_Union[Model.State, str]] = ..., percent: _Optional[float] = ..., failure: _Optional[str] = ...) -> None: ...

class OutputOptions(_message.Message):
    __slots__ = ["alignment_threshold", "alignments", "attention", "attention_heads", "candidates", "hide_prefix", "quality", "quality_features", "receipt", "reverse_check", "sentence_spans", "set_direction", "token_scores", "tokens"]
    ALIGNMENTS_FIELD_NUMBER: _ClassVar[int]
    ALIGNMENT_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    ATTENTION_FIELD_NUMBER: _ClassVar[int]
    ATTENTION_HEADS_FIELD_NUMBER: _ClassVar[int]
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    HIDE_PREFIX_FIELD_NUMBER: _ClassVar[int]
    QUALITY_FEATURES_FIELD_NUMBER: _ClassVar[int]
    QUALITY_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    REVERSE_CHECK_FIELD_NUMBER: _ClassVar[int]
    SENTENCE_SPANS_FIELD_NUMBER: _ClassVar[int]
    SET_DIRECTION_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOKEN_SCORES_FIELD_NUMBER: _ClassVar[int]
    alignment_threshold: float
    alignments: bool
    attention: bool
    attention_heads: _containers.RepeatedCompositeFieldContainer[AttentionHeads]
    candidates: int
    hide_prefix: bool
    quality: bool
    quality_features: bool
    receipt: bool
    reverse_check: bool
    sentence_spans: bool
    set_direction: bool
    token_scores: bool
    tokens: bool
    def __init__(self, tokens: bool = ..., token_scores: bool = ..., alignments: bool = ..., sentence_spans: bool = ..., quality: bool = ..., hide_prefix: bool = ..., alignment_threshold: _Optional[float] = ..., attention: bool = ..., attention_heads: _Optional[_Iterable[_Union[AttentionHeads, _Mapping]]] = ..., candidates: _Optional[int] = ..., set_direction: bool = ..., quality_features: bool = ..., reverse_check: bool = ..., receipt: bool = ...) -> None: ...

class PairScore(_message.Message):
    __slots__ = ["aligned_text", "alignment", "log_prob", "perplexity", "quality", "score", "token_scores", "tokens"]
    ALIGNED_TEXT_FIELD_NUMBER: _ClassVar[int]
    ALIGNMENT_FIELD_NUMBER: _ClassVar[int]
    LOG_PROB_FIELD_NUMBER: _ClassVar[int]
    PERPLEXITY_FIELD_NUMBER: _ClassVar[int]
    QUALITY_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOKEN_SCORES_FIELD_NUMBER: _ClassVar[int]
    aligned_text: AlignedText
    alignment: _containers.RepeatedCompositeFieldContainer[AlignmentPoint]
    log_prob: float
    perplexity: float
    quality: Quality
    score: float
    token_scores: _containers.RepeatedScalarFieldContainer[float]
    tokens: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, log_prob: _Optional[float] = ..., tokens: _Optional[_Iterable[str]] = ..., token_scores: _Optional[_Iterable[float]] = ..., score: _Optional[float] = ..., perplexity: _Optional[float] = ..., alignment: _Optional[_Iterable[_Union[AlignmentPoint, _Mapping]]] = ..., aligned_text: _Optional[_Union[AlignedText, _Mapping]] = ..., quality: _Optional[_Union[Quality, _Mapping]] = ...) -> None: ...

class Quality(_message.Message):
    __slots__ = ["doubtful", "features", "literals", "mean_log_prob", "min_log_prob", "perplexity", "reverse_log_prob", "score"]
    DOUBTFUL_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    LITERALS_FIELD_NUMBER: _ClassVar[int]
    MEAN_LOG_PROB_FIELD_NUMBER: _ClassVar[int]
    MIN_LOG_PROB_FIELD_NUMBER: _ClassVar[int]
    PERPLEXITY_FIELD_NUMBER: _ClassVar[int]
    REVERSE_LOG_PROB_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    doubtful: _containers.RepeatedCompositeFieldContainer[DoubtfulWord]
    features: _containers.RepeatedCompositeFieldContainer[QualityFeature]
    literals: _containers.RepeatedCompositeFieldContainer[LiteralFault]
    mean_log_prob: float
    min_log_prob: float
    perplexity: float
    reverse_log_prob: float
    score: float
    def __init__(self, mean_log_prob: _Optional[float] = ..., min_log_prob: _Optional[float] = ..., perplexity: _Optional[float] = ..., literals: _Optional[_Iterable[_Union[LiteralFault, _Mapping]]] = ..., score: _Optional[float] = ..., doubtful: _Optional[_Iterable[_Union[DoubtfulWord, _Mapping]]] = ..., features: _Optional[_Iterable[_Union[QualityFeature, _Mapping]]] = ..., reverse_log_prob: _Optional[float] = ...) -> None: ...

class QualityFeature(_message.Message):
    __slots__ = ["name", "value", "weight"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: float
    weight: float
    def __init__(self, name: _Optional[str] = ..., value: _Optional[float] = ..., weight: _Optional[float] = ...) -> None: ...

class Receipt(_message.Message):
    __slots__ = ["answer", "digest", "request"]
    ANSWER_FIELD_NUMBER: _ClassVar[int]
    DIGEST_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    answer: str
    digest: str
    request: str
    def __init__(self, digest: _Optional[str] = ..., request: _Optional[str] = ..., answer: _Optional[str] = ...) -> None: ...

class ReplaceGlossaryRequest(_message.Message):
    __slots__ = ["glossary", "id"]
    GLOSSARY_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    glossary: Glossary
    id: str
    def __init__(self, id: _Optional[str] = ..., glossary: _Optional[_Union[Glossary, _Mapping]] = ...) -> None: ...

class Sampling(_message.Message):
    __slots__ = ["epsilon_cutoff", "min_p", "seed", "temperature", "top_k", "top_p", "typical_p"]
    EPSILON_CUTOFF_FIELD_NUMBER: _ClassVar[int]
    MIN_P_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    TEMPERATURE_FIELD_NUMBER: _ClassVar[int]
    TOP_K_FIELD_NUMBER: _ClassVar[int]
    TOP_P_FIELD_NUMBER: _ClassVar[int]
    TYPICAL_P_FIELD_NUMBER: _ClassVar[int]
    epsilon_cutoff: float
    min_p: float
    seed: int
    temperature: float
    top_k: int
    top_p: float
    typical_p: float
    def __init__(self, temperature: _Optional[float] = ..., top_k: _Optional[int] = ..., top_p: _Optional[float] = ..., seed: _Optional[int] = ..., min_p: _Optional[float] = ..., epsilon_cutoff: _Optional[float] = ..., typical_p: _Optional[float] = ...) -> None: ...

class ScorePair(_message.Message):
    __slots__ = ["source", "target"]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    source: str
    target: str
    def __init__(self, source: _Optional[str] = ..., target: _Optional[str] = ...) -> None: ...

class ScoreRequest(_message.Message):
    __slots__ = ["alignment_threshold", "alignments", "attention", "model", "pairs", "priority", "quality", "quality_features", "reverse_check", "source_language", "target_language"]
    ALIGNMENTS_FIELD_NUMBER: _ClassVar[int]
    ALIGNMENT_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    ATTENTION_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PAIRS_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    QUALITY_FEATURES_FIELD_NUMBER: _ClassVar[int]
    QUALITY_FIELD_NUMBER: _ClassVar[int]
    REVERSE_CHECK_FIELD_NUMBER: _ClassVar[int]
    SOURCE_LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    TARGET_LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    alignment_threshold: float
    alignments: bool
    attention: bool
    model: str
    pairs: _containers.RepeatedCompositeFieldContainer[ScorePair]
    priority: Priority
    quality: bool
    quality_features: bool
    reverse_check: bool
    source_language: str
    target_language: str
    def __init__(self, model: _Optional[str] = ..., pairs: _Optional[_Iterable[_Union[ScorePair, _Mapping]]] = ..., source_language: _Optional[str] = ..., target_language: _Optional[str] = ..., priority: _Optional[_Union[Priority, str]] = ..., alignments: bool = ..., alignment_threshold: _Optional[float] = ..., attention: bool = ..., quality: bool = ..., quality_features: bool = ..., reverse_check: bool = ...) -> None: ...

class ScoreResponse(_message.Message):
    __slots__ = ["scores"]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    scores: _containers.RepeatedCompositeFieldContainer[PairScore]
    def __init__(self, scores: _Optional[_Iterable[_Union[PairScore, _Mapping]]] = ...) -> None: ...

class SentenceSpan(_message.Message):
    __slots__ = ["part", "quality", "source_begin", "source_end", "target_begin", "target_end"]
    PART_FIELD_NUMBER: _ClassVar[int]
    QUALITY_FIELD_NUMBER: _ClassVar[int]
    SOURCE_BEGIN_FIELD_NUMBER: _ClassVar[int]
    SOURCE_END_FIELD_NUMBER: _ClassVar[int]
    TARGET_BEGIN_FIELD_NUMBER: _ClassVar[int]
    TARGET_END_FIELD_NUMBER: _ClassVar[int]
    part: bool
    quality: Quality
    source_begin: int
    source_end: int
    target_begin: int
    target_end: int
    def __init__(self, source_begin: _Optional[int] = ..., source_end: _Optional[int] = ..., target_begin: _Optional[int] = ..., target_end: _Optional[int] = ..., quality: _Optional[_Union[Quality, _Mapping]] = ..., part: bool = ...) -> None: ...

class StepTiming(_message.Message):
    __slots__ = ["decode", "detokenize", "encode", "model", "queue", "tokenize"]
    DECODE_FIELD_NUMBER: _ClassVar[int]
    DETOKENIZE_FIELD_NUMBER: _ClassVar[int]
    ENCODE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    TOKENIZE_FIELD_NUMBER: _ClassVar[int]
    decode: _duration_pb2.Duration
    detokenize: _duration_pb2.Duration
    encode: _duration_pb2.Duration
    model: str
    queue: _duration_pb2.Duration
    tokenize: _duration_pb2.Duration
    def __init__(self, model: _Optional[str] = ..., tokenize: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., queue: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., encode: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., decode: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., detokenize: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class Timing(_message.Message):
    __slots__ = ["decode", "decoder_steps", "detokenize", "encode", "kept_tokens", "queue", "reused_sentences", "steps", "tokenize", "total"]
    DECODER_STEPS_FIELD_NUMBER: _ClassVar[int]
    DECODE_FIELD_NUMBER: _ClassVar[int]
    DETOKENIZE_FIELD_NUMBER: _ClassVar[int]
    ENCODE_FIELD_NUMBER: _ClassVar[int]
    KEPT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    REUSED_SENTENCES_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    TOKENIZE_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    decode: _duration_pb2.Duration
    decoder_steps: int
    detokenize: _duration_pb2.Duration
    encode: _duration_pb2.Duration
    kept_tokens: int
    queue: _duration_pb2.Duration
    reused_sentences: int
    steps: _containers.RepeatedCompositeFieldContainer[StepTiming]
    tokenize: _duration_pb2.Duration
    total: _duration_pb2.Duration
    def __init__(self, total: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., tokenize: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., queue: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., encode: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., decode: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., detokenize: _Optional[_Union[_duration_pb2.Duration, _Mapping]] = ..., steps: _Optional[_Iterable[_Union[StepTiming, _Mapping]]] = ..., reused_sentences: _Optional[int] = ..., decoder_steps: _Optional[int] = ..., kept_tokens: _Optional[int] = ...) -> None: ...

class TokenizeRequest(_message.Message):
    __slots__ = ["contents", "model", "source_language", "target", "target_language"]
    CONTENTS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    SOURCE_LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    TARGET_LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    contents: _containers.RepeatedScalarFieldContainer[str]
    model: str
    source_language: str
    target: bool
    target_language: str
    def __init__(self, model: _Optional[str] = ..., contents: _Optional[_Iterable[str]] = ..., source_language: _Optional[str] = ..., target_language: _Optional[str] = ..., target: bool = ...) -> None: ...

class TokenizeResponse(_message.Message):
    __slots__ = ["texts"]
    TEXTS_FIELD_NUMBER: _ClassVar[int]
    texts: _containers.RepeatedCompositeFieldContainer[TokenizedText]
    def __init__(self, texts: _Optional[_Iterable[_Union[TokenizedText, _Mapping]]] = ...) -> None: ...

class TokenizedText(_message.Message):
    __slots__ = ["token_ids", "tokens"]
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOKEN_IDS_FIELD_NUMBER: _ClassVar[int]
    token_ids: _containers.RepeatedScalarFieldContainer[int]
    tokens: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, tokens: _Optional[_Iterable[str]] = ..., token_ids: _Optional[_Iterable[int]] = ...) -> None: ...

class TranslateBulkRequest(_message.Message):
    __slots__ = ["id", "request"]
    ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    id: str
    request: TranslateRequest
    def __init__(self, id: _Optional[str] = ..., request: _Optional[_Union[TranslateRequest, _Mapping]] = ...) -> None: ...

class TranslateBulkResponse(_message.Message):
    __slots__ = ["error", "id", "response"]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    RESPONSE_FIELD_NUMBER: _ClassVar[int]
    error: Error
    id: str
    response: TranslateResponse
    def __init__(self, id: _Optional[str] = ..., response: _Optional[_Union[TranslateResponse, _Mapping]] = ..., error: _Optional[_Union[Error, _Mapping]] = ...) -> None: ...

class TranslateDocumentRequest(_message.Message):
    __slots__ = ["chunk", "header"]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    HEADER_FIELD_NUMBER: _ClassVar[int]
    chunk: bytes
    header: DocumentHeader
    def __init__(self, header: _Optional[_Union[DocumentHeader, _Mapping]] = ..., chunk: _Optional[bytes] = ...) -> None: ...

class TranslateDocumentResponse(_message.Message):
    __slots__ = ["chunk", "progress", "report"]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    chunk: bytes
    progress: DocumentProgress
    report: DocumentReport
    def __init__(self, progress: _Optional[_Union[DocumentProgress, _Mapping]] = ..., chunk: _Optional[bytes] = ..., report: _Optional[_Union[DocumentReport, _Mapping]] = ...) -> None: ...

class TranslateRequest(_message.Message):
    __slots__ = ["contents", "glossary_ids", "literals", "low_quality", "markup", "markup_options", "memory_ids", "memory_threshold", "min_quality", "model", "options", "output", "previous_sources", "previous_translations", "priority", "sentence_splitting", "source_language", "target_language", "target_prefixes", "truncation"]
    CONTENTS_FIELD_NUMBER: _ClassVar[int]
    GLOSSARY_IDS_FIELD_NUMBER: _ClassVar[int]
    LITERALS_FIELD_NUMBER: _ClassVar[int]
    LOW_QUALITY_FIELD_NUMBER: _ClassVar[int]
    MARKUP_FIELD_NUMBER: _ClassVar[int]
    MARKUP_OPTIONS_FIELD_NUMBER: _ClassVar[int]
    MEMORY_IDS_FIELD_NUMBER: _ClassVar[int]
    MEMORY_THRESHOLD_FIELD_NUMBER: _ClassVar[int]
    MIN_QUALITY_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_SOURCES_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_TRANSLATIONS_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    SENTENCE_SPLITTING_FIELD_NUMBER: _ClassVar[int]
    SOURCE_LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    TARGET_LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    TARGET_PREFIXES_FIELD_NUMBER: _ClassVar[int]
    TRUNCATION_FIELD_NUMBER: _ClassVar[int]
    contents: _containers.RepeatedScalarFieldContainer[str]
    glossary_ids: _containers.RepeatedScalarFieldContainer[str]
    literals: Literals
    low_quality: LowQuality
    markup: Markup
    markup_options: MarkupOptions
    memory_ids: _containers.RepeatedScalarFieldContainer[str]
    memory_threshold: int
    min_quality: float
    model: str
    options: DecodingOptions
    output: OutputOptions
    previous_sources: _containers.RepeatedScalarFieldContainer[str]
    previous_translations: _containers.RepeatedScalarFieldContainer[str]
    priority: Priority
    sentence_splitting: SentenceSplitting
    source_language: str
    target_language: str
    target_prefixes: _containers.RepeatedScalarFieldContainer[str]
    truncation: Truncation
    def __init__(self, contents: _Optional[_Iterable[str]] = ..., source_language: _Optional[str] = ..., target_language: _Optional[str] = ..., model: _Optional[str] = ..., options: _Optional[_Union[DecodingOptions, _Mapping]] = ..., output: _Optional[_Union[OutputOptions, _Mapping]] = ..., truncation: _Optional[_Union[Truncation, str]] = ..., sentence_splitting: _Optional[_Union[SentenceSplitting, str]] = ..., priority: _Optional[_Union[Priority, str]] = ..., target_prefixes: _Optional[_Iterable[str]] = ..., markup: _Optional[_Union[Markup, str]] = ..., markup_options: _Optional[_Union[MarkupOptions, _Mapping]] = ..., literals: _Optional[_Union[Literals, str]] = ..., glossary_ids: _Optional[_Iterable[str]] = ..., min_quality: _Optional[float] = ..., low_quality: _Optional[_Union[LowQuality, str]] = ..., previous_sources: _Optional[_Iterable[str]] = ..., previous_translations: _Optional[_Iterable[str]] = ..., memory_ids: _Optional[_Iterable[str]] = ..., memory_threshold: _Optional[int] = ...) -> None: ...

class TranslateResponse(_message.Message):
    __slots__ = ["isa", "model", "model_label", "model_version", "receipt", "timing", "translations"]
    ISA_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    MODEL_LABEL_FIELD_NUMBER: _ClassVar[int]
    MODEL_VERSION_FIELD_NUMBER: _ClassVar[int]
    RECEIPT_FIELD_NUMBER: _ClassVar[int]
    TIMING_FIELD_NUMBER: _ClassVar[int]
    TRANSLATIONS_FIELD_NUMBER: _ClassVar[int]
    isa: str
    model: str
    model_label: str
    model_version: str
    receipt: Receipt
    timing: Timing
    translations: _containers.RepeatedCompositeFieldContainer[Translation]
    def __init__(self, translations: _Optional[_Iterable[_Union[Translation, _Mapping]]] = ..., model: _Optional[str] = ..., model_version: _Optional[str] = ..., timing: _Optional[_Union[Timing, _Mapping]] = ..., isa: _Optional[str] = ..., model_label: _Optional[str] = ..., receipt: _Optional[_Union[Receipt, _Mapping]] = ...) -> None: ...

class TranslateStreamResponse(_message.Message):
    __slots__ = ["content_index", "sentence", "stable_text", "summary", "translation"]
    CONTENT_INDEX_FIELD_NUMBER: _ClassVar[int]
    SENTENCE_FIELD_NUMBER: _ClassVar[int]
    STABLE_TEXT_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    TRANSLATION_FIELD_NUMBER: _ClassVar[int]
    content_index: int
    sentence: FinishedSentence
    stable_text: str
    summary: TranslateResponse
    translation: Translation
    def __init__(self, content_index: _Optional[int] = ..., stable_text: _Optional[str] = ..., translation: _Optional[_Union[Translation, _Mapping]] = ..., sentence: _Optional[_Union[FinishedSentence, _Mapping]] = ..., summary: _Optional[_Union[TranslateResponse, _Mapping]] = ...) -> None: ...

class Translation(_message.Message):
    __slots__ = ["detected_language", "detection_confidence", "divided", "glossary_unmet", "hypotheses", "low_quality", "memory_matches", "sentences", "source_tokens", "truncated", "untranslated_sentences"]
    DETECTED_LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    DETECTION_CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    DIVIDED_FIELD_NUMBER: _ClassVar[int]
    GLOSSARY_UNMET_FIELD_NUMBER: _ClassVar[int]
    HYPOTHESES_FIELD_NUMBER: _ClassVar[int]
    LOW_QUALITY_FIELD_NUMBER: _ClassVar[int]
    MEMORY_MATCHES_FIELD_NUMBER: _ClassVar[int]
    SENTENCES_FIELD_NUMBER: _ClassVar[int]
    SOURCE_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    UNTRANSLATED_SENTENCES_FIELD_NUMBER: _ClassVar[int]
    detected_language: str
    detection_confidence: float
    divided: bool
    glossary_unmet: _containers.RepeatedCompositeFieldContainer[UnmetTerm]
    hypotheses: _containers.RepeatedCompositeFieldContainer[Hypothesis]
    low_quality: bool
    memory_matches: _containers.RepeatedCompositeFieldContainer[MemoryMatch]
    sentences: _containers.RepeatedCompositeFieldContainer[SentenceSpan]
    source_tokens: int
    truncated: bool
    untranslated_sentences: int
    def __init__(self, hypotheses: _Optional[_Iterable[_Union[Hypothesis, _Mapping]]] = ..., source_tokens: _Optional[int] = ..., truncated: bool = ..., divided: bool = ..., sentences: _Optional[_Iterable[_Union[SentenceSpan, _Mapping]]] = ..., glossary_unmet: _Optional[_Iterable[_Union[UnmetTerm, _Mapping]]] = ..., detected_language: _Optional[str] = ..., detection_confidence: _Optional[float] = ..., low_quality: bool = ..., untranslated_sentences: _Optional[int] = ..., memory_matches: _Optional[_Iterable[_Union[MemoryMatch, _Mapping]]] = ...) -> None: ...

class TranslationMemory(_message.Message):
    __slots__ = ["create_time", "id", "name", "read_only", "segment_count", "shared", "source_language", "target_language", "temporary", "version"]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    READ_ONLY_FIELD_NUMBER: _ClassVar[int]
    SEGMENT_COUNT_FIELD_NUMBER: _ClassVar[int]
    SHARED_FIELD_NUMBER: _ClassVar[int]
    SOURCE_LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    TARGET_LANGUAGE_FIELD_NUMBER: _ClassVar[int]
    TEMPORARY_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    create_time: _timestamp_pb2.Timestamp
    id: str
    name: str
    read_only: bool
    segment_count: int
    shared: bool
    source_language: str
    target_language: str
    temporary: bool
    version: int
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., shared: bool = ..., version: _Optional[int] = ..., create_time: _Optional[_Union[_timestamp_pb2.Timestamp, _Mapping]] = ..., source_language: _Optional[str] = ..., target_language: _Optional[str] = ..., segment_count: _Optional[int] = ..., read_only: bool = ..., temporary: bool = ...) -> None: ...

class UnmetTerm(_message.Message):
    __slots__ = ["glossary_id", "source", "source_begin", "source_end"]
    GLOSSARY_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_BEGIN_FIELD_NUMBER: _ClassVar[int]
    SOURCE_END_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    glossary_id: str
    source: str
    source_begin: int
    source_end: int
    def __init__(self, glossary_id: _Optional[str] = ..., source: _Optional[str] = ..., source_begin: _Optional[int] = ..., source_end: _Optional[int] = ...) -> None: ...

class WordLink(_message.Message):
    __slots__ = ["probability", "source_begin", "source_end", "target_begin", "target_end"]
    PROBABILITY_FIELD_NUMBER: _ClassVar[int]
    SOURCE_BEGIN_FIELD_NUMBER: _ClassVar[int]
    SOURCE_END_FIELD_NUMBER: _ClassVar[int]
    TARGET_BEGIN_FIELD_NUMBER: _ClassVar[int]
    TARGET_END_FIELD_NUMBER: _ClassVar[int]
    probability: float
    source_begin: int
    source_end: int
    target_begin: int
    target_end: int
    def __init__(self, source_begin: _Optional[int] = ..., source_end: _Optional[int] = ..., target_begin: _Optional[int] = ..., target_end: _Optional[int] = ..., probability: _Optional[float] = ...) -> None: ...

class LowQuality(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class Literals(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class Markup(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class Priority(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class Truncation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class SentenceSplitting(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class LengthNormalization(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class EarlyStopping(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class AttentionKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class FinishReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
