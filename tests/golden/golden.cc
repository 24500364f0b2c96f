#include "tests/golden/golden.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace dragoman::golden {
namespace {

using nlohmann::json;

constexpr char kExpectedRoot[] = "tests/golden/expected/";
constexpr char kModelRoot[] = "tests/golden/models/";

json ReadJson(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  return json::parse(file);
}

EarlyStopping ReadEarlyStopping(const json& value) {
  if (value == "never") return EarlyStopping::kNever;
  return value == true ? EarlyStopping::kFull : EarlyStopping::kHeuristic;
}

std::optional<int32_t> ReadId(const json& values, const char* key) {
  if (!values.contains(key) || values[key].is_null()) return std::nullopt;
  return values[key].get<int32_t>();
}

// Reads the arguments of transformers' generate(), which override the model's generation_config.
// Their max_length and min_length count the decoder start; ours do not.
WholeSearch OptionsFrom(const json& generation_config, const json& arguments) {
  json values = generation_config;
  values.update(arguments);
  WholeSearch options;
  options.eos_id = values.at("eos_token_id");
  options.decoder_start_id = values.at("decoder_start_token_id");
  options.beam_size = values.value("num_beams", 1);
  options.num_hypotheses = values.value("num_return_sequences", 1);
  options.max_length = values.value("max_length", 20) - 1;
  if (values.contains("max_new_tokens")) options.max_length = values["max_new_tokens"];
  options.min_length = std::max(0, values.value("min_length", 0) - 1);
  options.length_penalty = values.value("length_penalty", 1.0f);
  if (values.contains("early_stopping")) {
    options.early_stopping = ReadEarlyStopping(values["early_stopping"]);
  }
  options.no_repeat_ngram_size = values.value("no_repeat_ngram_size", 0);
  options.repetition_penalty = values.value("repetition_penalty", 1.0f);
  options.renormalize_logits = values.value("renormalize_logits", false);
  options.forced_bos_id = ReadId(values, "forced_bos_token_id");
  options.forced_eos_id = ReadId(values, "forced_eos_token_id");
  for (const json& word : values.value("bad_words_ids", json::array())) {
    const std::vector<int32_t> ids = word;
    if (ids != std::vector<int32_t>{options.eos_id}) options.bad_words_ids.push_back(ids);
  }
  return options;
}

Expected ExpectedFrom(const json& value, const WholeSearch& options) {
  Expected expected;
  std::vector<int32_t> ids = value.at("ids");
  if (ids.empty() || ids.front() != options.decoder_start_id) {
    throw std::runtime_error("ids do not begin with the decoder start: " + value.dump());
  }
  ids.erase(ids.begin());
  expected.ends_in_eos = !ids.empty() && ids.back() == options.eos_id;
  if (expected.ends_in_eos) ids.pop_back();
  expected.tokens = ids;
  if (!value.at("score").is_null()) expected.score = value["score"].get<float>();
  if (value.contains("logprob_sum")) expected.raw_log_prob = value["logprob_sum"].get<float>();
  expected.text = value.at("text");
  return expected;
}

std::vector<Expected> ExpectedFromAll(const json& values, const WholeSearch& options) {
  std::vector<Expected> expected;
  for (const json& value : values) expected.push_back(ExpectedFrom(value, options));
  return expected;
}

// A negative length penalty gives scores of several hundred, which float32 does not resolve to
// 1e-4; so the tolerance has a relative part.
constexpr float kScoreTolerance = 1e-4f;
constexpr float kRoundingTolerance = 4e-6f;

bool Near(float have, float want, float tolerance) {
  return std::abs(have - want) <= tolerance + 2e-6f * std::abs(want);
}

bool ScoresAgree(const WholeSearch& options, const Expected& want, const Hypothesis& have,
                 float tolerance) {
  if (want.score.has_value()) return Near(have.score, *want.score, tolerance);
  // A forced token counts as certain.
  const bool reports_raw = !options.renormalize_logits && !options.forced_bos_id.has_value() &&
                           have.finish_reason == FinishReason::kEos;
  if (!reports_raw || !want.raw_log_prob.has_value()) return true;
  const float length = static_cast<float>(have.token_log_probs.size());
  return Near(have.log_prob / length, *want.raw_log_prob / length, tolerance);
}

Golden LoadEnDe() {
  const json file = ReadJson(std::string(kExpectedRoot) + kEnDe + "/golden.json");
  Golden golden;
  golden.model_directory = std::string(kModelRoot) + kEnDe;
  const json defaults = ReadJson(golden.model_directory + "/generation_config.json");
  Setting beam{"beam4", OptionsFrom(defaults, {{"num_beams", 4}, {"num_return_sequences", 4}}), {}};
  Setting greedy{"greedy", OptionsFrom(defaults, {{"num_beams", 1}}), {}};
  for (const json& value : file.at("inputs")) {
    golden.inputs.push_back({value.at("text"), value.at("input_ids"), {}, "", ""});
    beam.outputs.push_back(ExpectedFromAll(value.at("beam4"), beam.options));
    greedy.outputs.push_back({ExpectedFrom(value.at("greedy"), greedy.options)});
  }
  golden.settings = {beam, greedy};
  return golden;
}

}  // namespace

Golden LoadGolden(const std::string& name) {
  if (name == kEnDe) return LoadEnDe();
  const std::string directory = kExpectedRoot + name;
  const json file = ReadJson(directory + "/golden.json");
  Golden golden;
  golden.model_directory = kModelRoot + name;
  const json defaults = ReadJson(golden.model_directory + "/generation_config.json");
  for (const json& value : file.at("inputs")) {
    golden.inputs.push_back({value.at("text"), value.at("input_ids"), value.at("decoder_input_ids"),
                             directory + "/" + value.at("encoder_npy").get<std::string>(),
                             directory + "/" + value.at("logits_npy").get<std::string>()});
  }
  for (const json& value : file.at("settings")) {
    Setting setting{value.at("name"), OptionsFrom(defaults, value.at("kwargs")), {}};
    for (const json& output : file.at("outputs").at(setting.name)) {
      const char* semantics = output.contains("vectorized") ? "vectorized" : "legacy";
      setting.outputs.push_back(ExpectedFromAll(output.at(semantics), setting.options));
    }
    golden.settings.push_back(setting);
  }
  return golden;
}

float LogitsTolerance(const std::string& name) {
  return name.find("rand") == std::string::npos ? 1e-4f : 5e-4f;
}

Comparison Compare(const WholeSearch& options, const std::vector<Expected>& expected,
                   const std::vector<Hypothesis>& found) {
  std::ostringstream difference;
  if (found.size() != expected.size()) {
    difference << found.size() << " hypotheses, want " << expected.size();
    return {Agreement::kDifferent, difference.str()};
  }
  bool all_same = true;
  bool all_tied = true;
  for (size_t i = 0; i < found.size(); ++i) {
    const Hypothesis& have = found[i];
    const Expected& want = expected[i];
    const bool ends_in_eos = have.token_log_probs.size() > have.tokens.size();
    const bool same_tokens = have.tokens == want.tokens && ends_in_eos == want.ends_in_eos;
    const bool same = same_tokens && ScoresAgree(options, want, have, kScoreTolerance);
    all_same = all_same && same;
    all_tied =
        all_tied &&
        (same || (want.score.has_value() && ScoresAgree(options, want, have, kRoundingTolerance)));
    if (!same) {
      difference << "hypothesis " << i << " is " << json(have.tokens) << (ends_in_eos ? " eos" : "")
                 << " with " << have.score << ", want " << json(want.tokens)
                 << (want.ends_in_eos ? " eos" : "") << " with " << want.score.value_or(0.0f)
                 << "; ";
    }
  }
  if (all_same) return {};
  return {all_tied ? Agreement::kTied : Agreement::kDifferent, difference.str()};
}

}  // namespace dragoman::golden
