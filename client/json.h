// The JSON output of the commands.

#ifndef DRAGOMAN_CLIENT_JSON_H_
#define DRAGOMAN_CLIENT_JSON_H_

#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/status.h"
#include "client/load_generator.h"
#include "dragoman/v1/translation.pb.h"

namespace dragoman {

using Json = nlohmann::ordered_json;

// {"source": ..., "hypotheses": [{"text", "score", "tokens", "token_ids", "finish_reason",
//                                     "quality": {"mean_log_prob", "min_log_prob", "literals",
//                                                 "score", "doubtful"}},
//                                    ...],
//  "truncated": ..., "divided": ..., "source_tokens": ..., "model": ...,
//  "memory_matches": [{"memory_id", "memory_version", "kind", "percent", "source", "target"}, ...]}
//
// memory_matches are only there if a translation memory had something.
//
// Each of "literals" is {"kind": "missing", "text", "source": [begin, end]}, and if its kind is
// "changed" it has "found" and "target", too.  Each of "doubtful" is {"target": [begin, end],
// "probability"}.
Json ToJson(const std::string& source, const v1::Translation& translation,
            const std::string& model);

// {"source": ..., "error": {"code": "INVALID_ARGUMENT", "message": ...}}
Json ToJson(const std::string& source, const absl::Status& error);

// The JSON as one line, without its end.  Bytes that are not UTF-8, which a source that was refused
// may contain, become U+FFFD: JSON cannot hold them.
std::string ToLine(const Json& json);

// One line for each pair of linked words: "  cat -> Katze  0.83".
std::string AlignedWords(const std::string& source, const std::string& target,
                         const v1::AlignedText& text);

// {"source", "target", "score", "log_prob", "perplexity", "tokens", "token_scores", "quality"}
Json ToJson(const v1::ScorePair& pair, const v1::PairScore& score);
// {"text", "tokens", "token_ids"} of a TokenizedText; {"text", "languages": [{"language",
// "confidence"}, ...]} of a DetectedText.
Json ToJson(const std::string& text, const google::protobuf::Message& about);
// The same in a line of text: "fr 0.94  ca 0.03", or "und" if nothing suggests any.
std::string GuessesOf(const v1::DetectedText& detected);
Json ToJson(const v1::Model& model);
Json ToJson(const v1::Glossary& glossary);
Json ToJson(const v1::TranslationMemory& memory);
Json ToJson(const LoadReport& report);

// "max_length" of FINISH_REASON_MAX_LENGTH; "unknown" of 0, and of what a later server has.
std::string NameOf(const google::protobuf::EnumDescriptor& type, int number);
std::string NameOf(v1::Model::State state);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_JSON_H_
