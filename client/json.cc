#include "client/json.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "engine/base/json.h"

namespace dragoman {
namespace {

// The double for the shortest decimal number that rounds to this float: -0.23 and not
// -0.23000000417232513.
double Shortest(float value) {
  char digits[32] = {};
  std::to_chars(digits, digits + sizeof(digits) - 1, value);
  return std::strtod(digits, nullptr);
}

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

Json FieldsOf(const Message& message);

// A field of a message under its own name: of a repeated one all values, or that at `i`.
Json ValueOf(const Message& message, const FieldDescriptor* field, int i = -1) {
  const google::protobuf::Reflection& from = *message.GetReflection();
  if (field->is_repeated() && i < 0) {
    Json values = Json::array();
    for (int n = 0; n < from.FieldSize(message, field); ++n) {
      values.push_back(ValueOf(message, field, n));
    }
    return values;
  }
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return i < 0 ? from.GetString(message, field) : from.GetRepeatedString(message, field, i);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return Shortest(i < 0 ? from.GetFloat(message, field)
                            : from.GetRepeatedFloat(message, field, i));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return FieldsOf(i < 0 ? from.GetMessage(message, field)
                            : from.GetRepeatedMessage(message, field, i));
    case FieldDescriptor::CPPTYPE_INT32:
      return i < 0 ? from.GetInt32(message, field) : from.GetRepeatedInt32(message, field, i);
    case FieldDescriptor::CPPTYPE_INT64:
      return from.GetInt64(message, field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return from.GetDouble(message, field);
    case FieldDescriptor::CPPTYPE_BOOL:
      return from.GetBool(message, field);
    default:
      return NameOf(*field->enum_type(), from.GetEnumValue(message, field));
  }
}

Json FieldsOf(const Message& message, std::initializer_list<const char*> names) {
  Json json;
  for (const char* const name : names) {
    json[name] = ValueOf(message, message.GetDescriptor()->FindFieldByName(name));
  }
  return json;
}
// All of them.
Json FieldsOf(const Message& message) {
  Json json;
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* const field = message.GetDescriptor()->field(i);
    json[field->name()] = ValueOf(message, field);
  }
  return json;
}

// Adds the alignment of a text, a Hypothesis or a PairScore.
template <typename Aligned>
void AddAlignment(const Aligned& aligned, Json* json) {
  if (!aligned.has_aligned_text()) return;
  const v1::AlignedText& text = aligned.aligned_text();
  Json points = Json::array(), words = Json::array(), attention = Json::array();
  for (const v1::AlignmentPoint& point : aligned.alignment()) {
    points.push_back({{"source", point.source_token()},
                      {"target", point.target_token()},
                      {"probability", Shortest(point.probability())},
                      {"link", point.link()},
                      {"mutual", point.mutual()}});
  }
  for (const v1::WordLink& word : text.words()) {
    words.push_back({{"source", {word.source_begin(), word.source_end()}},
                     {"target", {word.target_begin(), word.target_end()}},
                     {"probability", Shortest(word.probability())}});
  }
  Json& alignment =
      (*json)["alignment"] = {{"points", std::move(points)}, {"words", std::move(words)}};
  alignment.update(FieldsOf(text, {"source_tokens", "target_tokens"}));
  if (text.attention().empty()) return;
  for (const v1::AttentionBlock& block : text.attention()) {
    Json& one = attention.emplace_back();
    one = {{"source", {block.source_begin(), block.source_end()}},
           {"target", {block.target_begin(), block.target_end()}}};
    one.update(FieldsOf(block, {"probabilities"}));
  }
  alignment["attention"] = std::move(attention);
}

Json FaultsToJson(const v1::Quality& quality) {
  Json json = Json::array();
  for (const v1::LiteralFault& fault : quality.literals()) {
    const bool changed = fault.kind() == v1::LiteralFault::KIND_CHANGED;
    Json one = {{"kind", changed ? "changed" : "missing"},
                {"text", fault.text()},
                {"source", {fault.source_begin(), fault.source_end()}}};
    if (changed) {
      one["found"] = fault.found();
      one["target"] = {fault.target_begin(), fault.target_end()};
    }
    json.push_back(std::move(one));
  }
  return json;
}

Json QualityToJson(const v1::Quality& quality) {
  Json json = FieldsOf(quality, {"mean_log_prob", "min_log_prob"});
  json["literals"] = FaultsToJson(quality);
  if (!quality.has_score()) return json;
  json["score"] = Shortest(quality.score());
  Json& doubtful = json["doubtful"] = Json::array();
  for (const v1::DoubtfulWord& word : quality.doubtful()) {
    doubtful.push_back(
        {{"target", {word.begin(), word.end()}}, {"probability", Shortest(word.probability())}});
  }
  return json;
}

Json HypothesisToJson(const v1::Hypothesis& hypothesis) {
  Json json = FieldsOf(hypothesis, {"text", "score", "tokens", "token_ids", "finish_reason"});
  if (hypothesis.has_quality()) json["quality"] = QualityToJson(hypothesis.quality());
  AddAlignment(hypothesis, &json);
  return json;
}

Json Percentiles(const Latencies& latencies) {
  Json json;
  for (const auto& [name, p] : kPercentiles) json[name] = Percentile(latencies, p);
  return json;
}

}  // namespace

Json ToJson(const std::string& source, const v1::Translation& translation,
            const std::string& model) {
  Json hypotheses = Json::array();
  for (const v1::Hypothesis& hypothesis : translation.hypotheses()) {
    hypotheses.push_back(HypothesisToJson(hypothesis));
  }
  Json json = {{"source", source},
               {"hypotheses", std::move(hypotheses)},
               {"truncated", translation.truncated()},
               {"divided", translation.divided()},
               {"source_tokens", translation.source_tokens()},
               {"model", model}};
  for (const v1::MemoryMatch& match : translation.memory_matches()) {
    json["memory_matches"].push_back(
        FieldsOf(match, {"memory_id", "memory_version", "kind", "percent", "source", "target"}));
  }
  return json;
}

Json ToJson(const std::string& source, const absl::Status& error) {
  return {{"source", source},
          {"error",
           {{"code", absl::StatusCodeToString(error.code())},
            {"message", std::string(error.message().data(), error.message().size())}}}};
}

std::string ToLine(const Json& json) { return WriteJson(json); }

Json ToJson(const v1::ScorePair& pair, const v1::PairScore& score) {
  Json json = FieldsOf(pair);
  json.update(FieldsOf(score, {"score", "log_prob", "perplexity", "tokens", "token_scores"}));
  if (score.has_quality()) json["quality"] = QualityToJson(score.quality());
  AddAlignment(score, &json);
  return json;
}

std::string AlignedWords(const std::string& source, const std::string& target,
                         const v1::AlignedText& text) {
  std::string lines;
  for (const v1::WordLink& word : text.words()) {
    const std::string from =
        source.substr(word.source_begin(), word.source_end() - word.source_begin());
    const std::string to =
        target.substr(word.target_begin(), word.target_end() - word.target_begin());
    char probability[16] = {};
    std::snprintf(probability, sizeof(probability), "%.2f",
                  static_cast<double>(word.probability()));
    lines += std::string("  ") + from + " -> " + to + "  " + probability + "\n";
  }
  return lines;
}

Json ToJson(const std::string& text, const Message& about) {
  Json json = {{"text", text}};
  json.update(FieldsOf(about));
  return json;
}

std::string GuessesOf(const v1::DetectedText& detected) {
  std::string line;
  for (const v1::LanguageGuess& guess : detected.languages()) {
    absl::StrAppendFormat(&line, "%s%s %.2f", line.empty() ? "" : "  ", guess.language(),
                          guess.confidence());
  }
  return line.empty() ? "und" : line;
}

Json ToJson(const v1::Model& model) {
  Json json = FieldsOf(model, {"name", "version", "architecture", "precision", "language_pairs",
                               "source_languages", "target_languages", "max_source_tokens",
                               "vocabulary_size", "is_default", "state", "versions"});
  for (Json& version : json["versions"]) {
    if (version["failure"] == "") version.erase("failure");
  }
  return json;
}

Json ToJson(const v1::Glossary& glossary) {
  Json json = FieldsOf(glossary, {"id", "name", "version", "shared", "read_only", "temporary"});
  Json& dictionaries = json["dictionaries"] = Json::array();
  for (const v1::GlossaryDictionary& dictionary : glossary.dictionaries()) {
    Json& one = dictionaries.emplace_back();
    one = FieldsOf(dictionary, {"source_language", "target_language", "entry_count"});
    Json& entries = one["entries"] = Json::array();
    for (const v1::GlossaryEntry& entry : dictionary.entries()) {
      entries.push_back(FieldsOf(entry, {"source", "targets", "ignore_case", "inflect"}));
      Json& targets = entries.back()["targets"];
      if (!entry.target().empty()) targets.insert(targets.begin(), entry.target());
    }
  }
  return json;
}

Json ToJson(const v1::TranslationMemory& memory) {
  return FieldsOf(memory, {"id", "name", "version", "shared", "read_only", "temporary",
                           "source_language", "target_language", "segment_count"});
}

Json ToJson(const LoadReport& report) {
  Json json = {{"seconds", report.seconds},
               {"requests", report.requests},
               {"texts", report.texts},
               {"source_tokens", report.source_tokens},
               {"requests_per_second", report.PerSecond(report.requests)},
               {"good_per_second", report.PerSecond(report.good)},
               {"texts_per_second", report.PerSecond(report.texts)},
               {"source_tokens_per_second", report.PerSecond(report.source_tokens)},
               {"latency_seconds", Percentiles(report.latencies)}};
  if (!report.document_latencies.empty()) {
    json["document_latency_seconds"] = Percentiles(report.document_latencies);
  }
  if (!report.batch_latencies.empty()) {
    json["batch_latency_seconds"] = Percentiles(report.batch_latencies);
  }
  json["codes"] = Json(report.codes);
  return json;
}

std::string NameOf(const google::protobuf::EnumDescriptor& type, int number) {
  const auto* const value = number == 0 ? nullptr : type.FindValueByNumber(number);
  if (value == nullptr) return "unknown";
  const size_t prefix = type.value(0)->name().rfind('_') + 1;  // of FINISH_REASON_UNSPECIFIED
  return absl::AsciiStrToLower(value->name().substr(prefix));
}

std::string NameOf(v1::Model::State state) { return NameOf(*v1::Model::State_descriptor(), state); }

}  // namespace dragoman
