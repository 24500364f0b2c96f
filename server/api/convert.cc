#include "server/api/convert.h"

#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/status.h"
#include "server/api/convert_alignment.h"
#include "server/api/glossaries.h"

namespace dragoman {
namespace {

constexpr size_t kMaxPairs = 10'000;  // that a list contains

// The value of an option, from the field of the same name; nothing if the field is not set.
template <typename T>
absl::StatusOr<std::optional<T>> ReadField(const google::protobuf::Message& message,
                                           const google::protobuf::FieldDescriptor* field) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (!reflection.HasField(message, field)) return std::nullopt;
  if constexpr (std::is_same_v<T, uint64_t>) {
    return reflection.GetUInt64(message, field);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (field->message_type() != nullptr) return true;
    return reflection.GetBool(message, field);
  } else if constexpr (std::is_same_v<T, int>) {
    return reflection.GetInt32(message, field);
  } else if constexpr (std::is_same_v<T, float>) {
    return reflection.GetFloat(message, field);
  } else {
    // The API's enums begin with UNSPECIFIED, which counts as not set; ours have no such value.
    const int value = reflection.GetEnumValue(message, field);
    if (field->enum_type()->FindValueByNumber(value) == nullptr) {
      return InvalidField("options." + field->name(), value, " is not a value of ",
                          field->enum_type()->name());
    }
    return static_cast<T>(value - 1);
  }
}

// Where an option is: in the message itself or, like sampling.top_k, in one of its fields.
struct Place {
  const google::protobuf::FieldDescriptor* parent = nullptr;
  const google::protobuf::FieldDescriptor* field = nullptr;
};

Place PlaceOf(std::string_view name) {
  Place place;
  const google::protobuf::Descriptor* message = v1::DecodingOptions::descriptor();
  if (const size_t dot = name.find('.'); dot != name.npos) {
    place.parent = message->FindFieldByName(std::string(name.substr(0, dot)));
    message = place.parent->message_type();
    name.remove_prefix(dot + 1);
  }
  place.field = message->FindFieldByName(std::string(name));
  return place;
}

// The place of each option in the table. Looked up once, because every request needs all of them.
const std::vector<Place>& Places() {
  static const std::vector<Place>& places = *[] {
    auto* const found = new std::vector<Place>();
    for (const Option& option : kOptionTable) found->push_back(PlaceOf(option.name));
    return found;
  }();
  return places;
}

absl::StatusOr<DecodingOptions> FromProto(const v1::DecodingOptions& proto) {
  DecodingOptions options;
  auto place = Places().begin();
  for (const Option& option : kOptionTable) {
    const auto [parent, field] = *place++;
    const google::protobuf::Message* const message =
        parent == nullptr ? &proto : &proto.GetReflection()->GetMessage(proto, parent);
    const auto read = [message, field = field, &options](const auto& members) -> absl::Status {
      auto& said = options.*members.said;
      using T = typename std::decay_t<decltype(said)>::value_type;
      ASSIGN_OR_RETURN(said, ReadField<T>(*message, field));
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(std::visit(read, option.members));
  }
  return options;
}

// What stands for a value of an enum: `ours` has one for each, in their order.
template <typename Theirs, typename Ours, size_t kCount>
absl::StatusOr<Ours> FromEnum(const char* field, Theirs value, const Ours (&ours)[kCount]) {
  if (value >= 0 && static_cast<size_t>(value) < kCount) return ours[value];
  return InvalidField(field, static_cast<int>(value), " is not a value of ",
                      google::protobuf::GetEnumDescriptor<Theirs>()->name());
}

constexpr Truncation kTruncations[] = {Truncation::kDivide, Truncation::kReject,
                                       Truncation::kTruncate};
constexpr Splitting kSplittings[] = {Splitting::kAuto, Splitting::kNone, Splitting::kSentences};
constexpr Markup kMarkups[] = {Markup::kNone, Markup::kNone, Markup::kHtml, Markup::kXml};
constexpr bool kKeepsLiterals[] = {true, true, false, true};
constexpr bool kRefusesLowQuality[] = {false, false, true};

template <typename Field>
auto ListOf(const Field& field) {
  return std::vector<typename Field::value_type>(field.begin(), field.end());
}

MarkupOptions FromProto(const v1::MarkupOptions& proto) {
  MarkupOptions options;
  options.splitting_tags = ListOf(proto.splitting_tags());
  options.non_splitting_tags = ListOf(proto.non_splitting_tags());
  options.ignore_tags = ListOf(proto.ignore_tags());
  if (proto.has_outline_detection()) options.outline_detection = proto.outline_detection();
  options.join_lines = proto.join_lines();
  return options;
}

// By FinishReason, MemoryMatch::Kind and VersionState.
constexpr v1::FinishReason kFinishReasons[] = {v1::FINISH_REASON_EOS, v1::FINISH_REASON_MAX_LENGTH,
                                               v1::FINISH_REASON_REPETITION};
constexpr v1::MemoryMatch::Kind kMatchKinds[] = {
    v1::MemoryMatch::KIND_CONTEXT, v1::MemoryMatch::KIND_EXACT, v1::MemoryMatch::KIND_REPAIRED,
    v1::MemoryMatch::KIND_TRANSLATED};
constexpr v1::Model::State kStates[] = {v1::Model::STATE_LOADING, v1::Model::STATE_READY,
                                        v1::Model::STATE_DRAINING, v1::Model::STATE_FAILED};

template <typename Theirs, typename Ours, size_t kCount>
Theirs ToProto(Ours value, const Theirs (&theirs)[kCount]) {
  return theirs[static_cast<size_t>(value)];
}

WordRules WordsFrom(const v1::DecodingOptions& proto) {
  WordRules words;
  for (const v1::GlossaryEntry& entry : proto.glossary()) {
    words.glossary.push_back(EntryFrom(entry));
  }
  if (proto.has_glossary_max_loss()) words.stored_max_loss = proto.glossary_max_loss();
  words.never_say = ListOf(proto.never_say());
  words.suppress_sequences = ListOf(proto.suppress_sequences());
  words.suppress_token_ids = ListOf(proto.suppress_token_ids());
  return words;
}

void SetQuality(float mean, float least, v1::Quality* proto) {
  proto->set_mean_log_prob(mean);
  proto->set_min_log_prob(least);
  proto->set_perplexity(std::exp(-mean));
}

constexpr TextSpan kWholeText = {0, std::numeric_limits<size_t>::max()};

// Adds the faults in these bytes of the source.
void AddFaults(const std::vector<LiteralFault>& faults, TextSpan source, v1::Quality* proto) {
  for (const LiteralFault& fault : faults) {
    if (fault.source.begin < source.begin || fault.source.end > source.end) continue;
    v1::LiteralFault* const to = proto->add_literals();
    to->set_text(fault.text);
    to->set_kind(fault.found.empty() ? v1::LiteralFault::KIND_MISSING
                                     : v1::LiteralFault::KIND_CHANGED);
    to->set_found(fault.found);
    SetSpans(fault.source, fault.found.empty() ? TextSpan() : fault.target, to);
  }
}

// What the judge says; of a part of the translation, only its words in these bytes.
void AddJudgement(const std::optional<Quality>& quality, const TranslatedHypothesis& whole,
                  TextSpan target, bool features, v1::Quality* proto) {
  if (!quality.has_value() || !whole.quality.has_value()) return;
  proto->set_score(quality->score);
  const bool checked = quality->reverse_log_prob.has_value();
  if (checked) proto->set_reverse_log_prob(*quality->reverse_log_prob);
  for (const DoubtfulWord& word : whole.quality->doubtful) {
    if (word.span.begin < target.begin || word.span.end > target.end) continue;
    v1::DoubtfulWord* const to = proto->add_doubtful();
    to->set_begin(static_cast<int>(word.span.begin));
    to->set_end(static_cast<int>(word.span.end));
    to->set_probability(word.probability);
  }
  for (size_t i = 0; i < (checked ? kQualityFeatures : kFreeFeatures) && features; ++i) {
    const auto feature = static_cast<QualityFeature>(i);
    v1::QualityFeature* const to = proto->add_features();
    to->set_name(std::string(NameOf(feature)));
    to->set_value(quality->values[i]);
    to->set_weight(WeighedValue(feature, *quality));
  }
}

float MeanLogProb(const TranslatedHypothesis& hypothesis) {
  return hypothesis.log_prob / static_cast<float>(std::max(1, hypothesis.scored_tokens));
}

void SetQuality(const TranslatedHypothesis& hypothesis, bool features, v1::Quality* proto) {
  SetQuality(MeanLogProb(hypothesis), hypothesis.min_log_prob, proto);
  AddFaults(hypothesis.literal_faults, kWholeText, proto);
  AddJudgement(hypothesis.quality, hypothesis, kWholeText, features, proto);
}

google::protobuf::Duration ToProto(absl::Duration duration) {
  return google::protobuf::util::TimeUtil::NanosecondsToDuration(
      absl::ToInt64Nanoseconds(duration));
}

template <typename Proto>
void SetStages(const TranslateTimes& times, Proto* proto) {
  *proto->mutable_tokenize() = ToProto(times.tokenize);
  *proto->mutable_queue() = ToProto(times.queue);
  *proto->mutable_encode() = ToProto(times.encode);
  *proto->mutable_decode() = ToProto(times.decode);
  *proto->mutable_detokenize() = ToProto(times.detokenize);
}

}  // namespace

absl::StatusOr<Priority> FromProto(v1::Priority priority, Priority unspecified) {
  const Priority priorities[] = {unspecified, Priority::kInteractive, Priority::kBatch};
  return FromEnum("priority", priority, priorities);
}

absl::StatusOr<TranslateRequest> FromProto(v1::TranslateRequest* request) {
  TranslateRequest engine;
  ASSIGN_OR_RETURN(engine.alignment, AlignmentFrom(request->output(), "output."));
  ASSIGN_OR_RETURN(engine.insight, InsightFrom(request->output()));
  ASSIGN_OR_RETURN(engine.options, FromProto(request->options()));
  engine.words = WordsFrom(request->options());
  engine.return_prefix = !request->output().hide_prefix();
  engine.previous_texts = ListOf(request->previous_sources());
  engine.previous_translations = ListOf(request->previous_translations());
  engine.target_prefixes = ListOf(request->target_prefixes());
  ASSIGN_OR_RETURN(engine.truncation, FromEnum("truncation", request->truncation(), kTruncations));
  ASSIGN_OR_RETURN(engine.splitting,
                   FromEnum("sentence_splitting", request->sentence_splitting(), kSplittings));
  ASSIGN_OR_RETURN(engine.markup, FromEnum("markup", request->markup(), kMarkups));
  engine.markup_options = FromProto(request->markup_options());
  ASSIGN_OR_RETURN(engine.keep_literals, FromEnum("literals", request->literals(), kKeepsLiterals));
  if (request->literals() == v1::LITERALS_STRINGS) engine.text_source = TextSource::kStrings;
  engine.set_direction = request->output().set_direction();
  engine.check_literals = engine.judge = request->output().quality();
  if (request->has_memory_threshold()) engine.memory_threshold = request->memory_threshold();
  if (request->has_min_quality()) engine.min_quality = request->min_quality();
  ASSIGN_OR_RETURN(engine.refuse_low_quality,
                   FromEnum("low_quality", request->low_quality(), kRefusesLowQuality));
  engine.source_language = std::move(*request->mutable_source_language());
  engine.target_language = std::move(*request->mutable_target_language());
  engine.texts.reserve(request->contents_size());
  for (std::string& text : *request->mutable_contents()) engine.texts.push_back(std::move(text));
  return engine;
}

void ToProto(const Translation& translation, const v1::OutputOptions& output,
             v1::Translation* proto) {
  for (const TranslatedHypothesis& from : translation.hypotheses) {
    v1::Hypothesis* const to = proto->add_hypotheses();
    to->set_text(from.text);
    to->set_score(from.score);
    to->set_finish_reason(ToProto(from.finish_reason, kFinishReasons));
    if (output.quality()) SetQuality(from, output.quality_features(), to->mutable_quality());
    if (output.tokens()) {
      to->mutable_tokens()->Assign(from.tokens.begin(), from.tokens.end());
      to->mutable_token_ids()->Assign(from.token_ids.begin(), from.token_ids.end());
    }
    if (output.token_scores()) {
      to->mutable_token_scores()->Assign(from.token_scores.begin(), from.token_scores.end());
    }
    if (output.alignments()) {
      ToProto(from.alignment, output.attention(), to->mutable_alignment(),
              to->mutable_aligned_text());
    }
    SetInsight(from, to);
  }
  for (const UnmetTerm& term : translation.unmet) {
    v1::UnmetTerm* const to = proto->add_glossary_unmet();
    to->set_glossary_id(term.glossary);
    to->set_source(term.source);
    SetSource(term.span, to);
  }
  for (const MemoryMatch& match : translation.matches) {
    v1::MemoryMatch* const to = proto->add_memory_matches();
    to->set_memory_id(match.memory);
    to->set_memory_version(match.version);
    to->set_source(match.segment.source);
    to->set_target(match.segment.target);
    to->set_percent(match.percent);
    to->set_kind(ToProto(match.kind, kMatchKinds));
    SetSource(match.span, to);
  }
  proto->set_source_tokens(translation.source_tokens);
  proto->set_truncated(translation.truncated);
  proto->set_divided(translation.divided);
  proto->set_untranslated_sentences(translation.untranslated);
  proto->set_low_quality(translation.low_quality);
  if (!output.sentence_spans()) return;
  for (const SentencePair& sentence : translation.sentences) {
    v1::SentenceSpan* const span = proto->add_sentences();
    SetSpans(sentence.source, sentence.target, span);
    span->set_part(sentence.is_part);
    if (output.quality()) {
      SetQuality(sentence.mean_log_prob, sentence.min_log_prob, span->mutable_quality());
      const TranslatedHypothesis& whole = translation.hypotheses.front();
      AddFaults(whole.literal_faults, sentence.source, span->mutable_quality());
      AddJudgement(sentence.quality, whole, sentence.target, output.quality_features(),
                   span->mutable_quality());
    }
  }
}

void ToProto(FinishedSentence sentence, v1::FinishedSentence* proto) {
  proto->set_index(static_cast<int>(sentence.index));
  proto->set_sentences(static_cast<int>(sentence.of));
  proto->set_text(std::move(sentence.target));
  SetSpans(sentence.source_span, sentence.target_span, proto->mutable_span());
  proto->mutable_span()->set_part(sentence.is_part);
  proto->set_score(sentence.score);
  proto->set_finish_reason(ToProto(sentence.finish_reason, kFinishReasons));
}

void ToProto(const Translation& translation, const std::string& end,
             const v1::ScoreRequest& request, v1::PairScore* proto) {
  const TranslatedHypothesis& hypothesis = translation.hypotheses.front();
  proto->set_log_prob(hypothesis.log_prob);
  proto->mutable_tokens()->Assign(hypothesis.tokens.begin(), hypothesis.tokens.end());
  proto->add_tokens(end);
  proto->mutable_token_scores()->Assign(hypothesis.token_scores.begin(),
                                        hypothesis.token_scores.end());
  proto->add_token_scores(hypothesis.end_score);
  proto->set_score(MeanLogProb(hypothesis));
  proto->set_perplexity(std::exp(-proto->score()));
  if (request.quality()) {
    SetQuality(hypothesis, request.quality_features(), proto->mutable_quality());
  }
  if (request.alignments()) {
    ToProto(hypothesis.alignment, request.attention(), proto->mutable_alignment(),
            proto->mutable_aligned_text());
  }
}

void ToProto(const TranslateResponse& response, absl::Duration total, v1::Timing* proto) {
  *proto->mutable_total() = ToProto(total);
  SetStages(response.times, proto);
  proto->set_reused_sentences(response.reused_sentences);
  proto->set_decoder_steps(response.times.steps);
  proto->set_kept_tokens(response.times.kept);
  for (const TranslateStep& step : response.steps) {
    v1::StepTiming* const to = proto->add_steps();
    to->set_model(step.model);
    SetStages(step.times, to);
  }
}

void ToProto(const ModelProfile& profile, const Limits& limits, v1::Model* proto) {
  const ModelSpec& spec = profile.config.spec;
  proto->set_name(profile.name);
  proto->set_architecture(spec.architecture);
  proto->set_max_source_tokens(std::min(limits.max_source_tokens, spec.max_positions));
  proto->set_vocabulary_size(spec.target_vocabulary);
  const Languages& languages = profile.languages;
  for (const std::string& tag : languages.SourceTags()) proto->add_source_languages(tag);
  for (const std::string& tag : languages.TargetTags()) proto->add_target_languages(tag);
  if (languages.sources().size() * languages.targets().size() > kMaxPairs) return;
  for (const LanguagePair& tags : languages.Tags()) {
    v1::LanguagePair* const pair = proto->add_language_pairs();
    pair->set_source(tags.source);
    pair->set_target(tags.target);
  }
}

void ToProto(const Model& model, const Limits& limits, v1::Model* proto) {
  ModelProfile profile(model.name());
  profile.config.spec = model.spec();
  profile.languages = model.tokenizer().languages();
  ToProto(profile, limits, proto);
  proto->set_version(model.version());
  proto->set_precision(NameOf(model.precision()));
  proto->set_isa(model.isa());
  const HeadCounts encoder = model.network().HeadsOf(AttentionKind::kEncoder);
  const HeadCounts cross = model.network().HeadsOf(AttentionKind::kCross);
  proto->set_encoder_layers(encoder.layers);
  proto->set_encoder_heads(encoder.heads);
  proto->set_cross_layers(cross.layers);
  proto->set_cross_heads(cross.heads);
  const HeadCounts decoder = model.network().HeadsOf(AttentionKind::kDecoder);
  proto->set_decoder_layers(decoder.layers);
  proto->set_decoder_heads(decoder.heads);
}

VersionKey KeyOf(const v1::TranslateRequest& request) { return KeyOf(ListOf(request.contents())); }

void ToProto(const ServedModel& model, v1::Model* proto) {
  proto->set_name(model.name);
  for (const VersionInfo& version : model.versions) {
    v1::ModelVersion* const to = proto->add_versions();
    to->set_label(version.label);
    to->set_version(version.version);
    to->set_state(ToProto(version.state, kStates));
    to->set_percent(version.percent);
    to->set_failure(NameOf(version.failure));
  }
  if (model.stable != nullptr) return;
  proto->set_state(model.versions.empty() ? v1::Model::STATE_UNSPECIFIED
                                          : ToProto(model.versions.front().state, kStates));
}

}  // namespace dragoman
