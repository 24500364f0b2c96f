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

Json Shortest(const google::protobuf::RepeatedField<float>& values) {
  Json json = Json::array();
  for (const float value : values) json.push_back(Shortest(value));
  return json;
}

Json TokensToJson(const google::protobuf::RepeatedPtrField<v1::AlignedToken>& tokens) {
  Json json = Json::array();
  for (const v1::AlignedToken& token : tokens) {
    json.push_back({{"piece", token.piece()}, {"begin", token.begin()}, {"end", token.end()}});
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
  (*json)["alignment"] = {{"points", std::move(points)},
                          {"words", std::move(words)},
                          {"source_tokens", TokensToJson(text.source_tokens())},
                          {"target_tokens", TokensToJson(text.target_tokens())}};
  if (text.attention().empty()) return;
  for (const v1::AttentionBlock& block : text.attention()) {
    attention.push_back({{"source", {block.source_begin(), block.source_end()}},
                         {"target", {block.target_begin(), block.target_end()}},
                         {"probabilities", Shortest(block.probabilities())}});
  }
  (*json)["alignment"]["attention"] = std::move(attention);
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
  Json json = {{"mean_log_prob", Shortest(quality.mean_log_prob())},
               {"min_log_prob", Shortest(quality.min_log_prob())},
               {"literals", FaultsToJson(quality)}};
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
  Json json = {
      {"text", hypothesis.text()},
      {"score", Shortest(hypothesis.score())},
      {"tokens", Json(hypothesis.tokens())},
      {"token_ids", Json(hypothesis.token_ids())},
      {"finish_reason", NameOf(*v1::FinishReason_descriptor(), hypothesis.finish_reason())}};
  if (hypothesis.has_quality()) json["quality"] = QualityToJson(hypothesis.quality());
  AddAlignment(hypothesis, &json);
  return json;
}

Json VersionsOf(const v1::Model& model) {
  Json versions = Json::array();
  for (const v1::ModelVersion& version : model.versions()) {
    Json json = {{"label", version.label()},
                 {"version", version.version()},
                 {"state", NameOf(version.state())},
                 {"percent", version.percent()}};
    if (!version.failure().empty()) json["failure"] = version.failure();
    versions.push_back(std::move(json));
  }
  return versions;
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
        {{"memory_id", match.memory_id()},
         {"memory_version", match.memory_version()},
         {"kind", NameOf(*v1::MemoryMatch::Kind_descriptor(), match.kind())},
         {"percent", match.percent()},
         {"source", match.source()},
         {"target", match.target()}});
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
  Json json = {{"source", pair.source()},
               {"target", pair.target()},
               {"score", Shortest(score.score())},
               {"log_prob", Shortest(score.log_prob())},
               {"perplexity", Shortest(score.perplexity())},
               {"tokens", Json(score.tokens())},
               {"token_scores", Shortest(score.token_scores())}};
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

Json ToJson(const std::string& text, const v1::TokenizedText& tokens) {
  return {
      {"text", text}, {"tokens", Json(tokens.tokens())}, {"token_ids", Json(tokens.token_ids())}};
}

Json ToJson(const std::string& text, const v1::DetectedText& detected) {
  Json languages = Json::array();
  for (const v1::LanguageGuess& guess : detected.languages()) {
    languages.push_back({{"language", guess.language()}, {"confidence", guess.confidence()}});
  }
  return {{"text", text}, {"languages", languages}};
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
  Json pairs = Json::array();
  for (const v1::LanguagePair& pair : model.language_pairs()) {
    pairs.push_back({{"source", pair.source()}, {"target", pair.target()}});
  }
  return {{"name", model.name()},
          {"version", model.version()},
          {"architecture", model.architecture()},
          {"precision", model.precision()},
          {"language_pairs", std::move(pairs)},
          {"source_languages", model.source_languages()},
          {"target_languages", model.target_languages()},
          {"max_source_tokens", model.max_source_tokens()},
          {"vocabulary_size", model.vocabulary_size()},
          {"is_default", model.is_default()},
          {"state", NameOf(model.state())},
          {"versions", VersionsOf(model)}};
}

Json ToJson(const v1::Glossary& glossary) {
  Json dictionaries = Json::array();
  for (const v1::GlossaryDictionary& dictionary : glossary.dictionaries()) {
    Json entries = Json::array();
    for (const v1::GlossaryEntry& entry : dictionary.entries()) {
      Json targets = Json::array();
      if (!entry.target().empty()) targets.push_back(entry.target());
      for (const std::string& target : entry.targets()) targets.push_back(target);
      entries.push_back({{"source", entry.source()},
                         {"targets", std::move(targets)},
                         {"ignore_case", entry.ignore_case()},
                         {"inflect", entry.inflect()}});
    }
    dictionaries.push_back({{"source_language", dictionary.source_language()},
                            {"target_language", dictionary.target_language()},
                            {"entry_count", dictionary.entry_count()},
                            {"entries", std::move(entries)}});
  }
  return {{"id", glossary.id()},
          {"name", glossary.name()},
          {"version", glossary.version()},
          {"shared", glossary.shared()},
          {"read_only", glossary.read_only()},
          {"temporary", glossary.temporary()},
          {"dictionaries", std::move(dictionaries)}};
}

Json ToJson(const v1::TranslationMemory& memory) {
  return {{"id", memory.id()},
          {"name", memory.name()},
          {"version", memory.version()},
          {"shared", memory.shared()},
          {"read_only", memory.read_only()},
          {"temporary", memory.temporary()},
          {"source_language", memory.source_language()},
          {"target_language", memory.target_language()},
          {"segment_count", memory.segment_count()}};
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
