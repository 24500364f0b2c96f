// Converts alignments between the messages of the public API and the structs of the engine.

#ifndef DRAGOMAN_SERVER_API_CONVERT_ALIGNMENT_H_
#define DRAGOMAN_SERVER_API_CONVERT_ALIGNMENT_H_

#include <string>

#include "absl/status/statusor.h"
#include "dragoman/v1/translation.pb.h"
#include "engine/base/status.h"
#include "engine/request/translator.h"
#include "engine/text/text_span.h"

namespace dragoman {

// What an OutputOptions or a ScoreRequest asks for.  INVALID_ARGUMENT for a threshold that is not a
// probability; `prefix` goes before the field's name.
template <typename Request>
absl::StatusOr<AlignmentOptions> AlignmentFrom(const Request& request, const std::string& prefix) {
  AlignmentOptions options;
  options.wanted = request.alignments();
  if (!request.has_alignment_threshold()) return options;
  options.threshold = request.alignment_threshold();
  if (options.threshold > 0.0f && options.threshold <= 1.0f) return options;
  return InvalidField(prefix + "alignment_threshold", "is ", std::to_string(options.threshold),
                      ", want above 0, to 1");
}

// The heads and the candidates that are asked for.  INVALID_ARGUMENT for an unknown kind.
absl::StatusOr<InsightOptions> InsightFrom(const v1::OutputOptions& output);

// The most memory that these take in an answer.
inline size_t MemoryOfInsight(const v1::OutputOptions& output) {
  const bool wanted = output.attention_heads_size() > 0 || output.candidates() > 0;
  return wanted ? kMaxInsight * sizeof(float) : 0;
}

// Fills in the points and the text; the text's attention only if requested.
void ToProto(const Alignment& alignment, bool attention,
             google::protobuf::RepeatedPtrField<v1::AlignmentPoint>* points, v1::AlignedText* text);

// The places in its source, or in both, of which a message tells.
template <typename Proto>
void SetSource(TextSpan source, Proto* proto) {
  proto->set_source_begin(static_cast<int>(source.begin));
  proto->set_source_end(static_cast<int>(source.end));
}
template <typename Proto>
void SetSpans(TextSpan source, TextSpan target, Proto* proto) {
  SetSource(source, proto);
  proto->set_target_begin(static_cast<int>(target.begin));
  proto->set_target_end(static_cast<int>(target.end));
}

// Fills in the heads and the steps that the hypothesis has.
void SetInsight(const TranslatedHypothesis& hypothesis, v1::Hypothesis* proto);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_CONVERT_ALIGNMENT_H_
