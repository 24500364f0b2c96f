#include "tests/decode/test_jobs.h"

#include <utility>

#include "engine/base/status.h"

namespace dragoman {

std::shared_ptr<const Model> TrainedModel() {
  static const auto* const model = [] {
    auto loaded = Model::Load("toy", "tests/golden/models/marian-trained",
                              {.precision = Precision::kFloat32});
    if (!loaded.ok()) std::fprintf(stderr, "%s\n", loaded.status().ToString().c_str());
    DRAGOMAN_CHECK(loaded.ok());
    return new std::shared_ptr<const Model>(*std::move(loaded));
  }();
  return *model;
}

const std::vector<std::string>& TestSentences() {
  static const auto* const sentences = new std::vector<std::string>{
      "The old teacher sees a small house.",
      "Anna buys the red apple today.",
      "Why does nobody understand the question?",
      "The bridge is not expensive!",
      "In 1984 the young doctor visits five apples.",
      "The river, the sea, and the mountain are cold; nobody knows why.",
      "Hello",
      "\"The minister forgets an important letter\", says O'Neill. The beautiful language",
      "a",
      ">>deu<< The cat is old.",
      "The small house sees the old teacher, and the young doctor buys a red bridge.",
      "Nobody knows.",
  };
  return *sentences;
}

WholeSearch TestSearch(int beam_size, int max_length) {
  const std::shared_ptr<const Model> model = TrainedModel();
  const GenerationConfig& generation = model->generation();
  WholeSearch options;
  options.beam_size = beam_size;
  options.num_hypotheses = beam_size;
  options.max_length = max_length;
  options.length_penalty = generation.options.length_penalty.value_or(options.length_penalty);
  options.early_stopping = generation.options.early_stopping.value_or(options.early_stopping);
  options.forced_eos_id = generation.options.forced_eos_id;
  options.bad_words_ids = generation.bad_words_ids;
  options.eos_id = model->spec().eos_id;
  options.decoder_start_id = model->spec().decoder_start_id;
  return options;
}

JobPtr MakeJob(const std::string& text, const WholeSearch& options,
               std::function<void(JobResult)> on_done, std::shared_ptr<RequestState> request) {
  auto job = std::make_unique<Job>();
  job->model = TrainedModel();
  job->request = request != nullptr ? std::move(request)
                                    : std::make_shared<RequestState>(absl::InfiniteFuture());
  job->source = job->model->tokenizer().Encode(text).ids;
  job->options = options;
  job->rules = std::make_shared<SearchRules>(options);
  job->on_done = std::move(on_done);
  Price(1.25, nullptr, job.get());
  return job;
}

JobPtr CostOnly(const JobCost& cost, std::shared_ptr<RequestState> request,
                std::function<void(JobResult)> on_done) {
  auto job = std::make_unique<Job>();
  job->request = std::move(request);
  job->cost = cost;
  job->on_done = std::move(on_done);
  return job;
}

std::string Bytes(const std::vector<Hypothesis>& hypotheses) {
  std::string bytes;
  const auto append = [&bytes](const void* data, size_t size) {
    bytes.append(reinterpret_cast<const char*>(&size), sizeof(size));
    bytes.append(static_cast<const char*>(data), size);
  };
  for (const Hypothesis& h : hypotheses) {
    append(h.tokens.data(), h.tokens.size() * sizeof(h.tokens[0]));
    append(h.token_log_probs.data(), h.token_log_probs.size() * sizeof(h.token_log_probs[0]));
    append(&h.log_prob, sizeof(h.log_prob));
    append(&h.score, sizeof(h.score));
    append(&h.finish_reason, sizeof(h.finish_reason));
    append(h.attention.data(), h.attention.size() * sizeof(float));
  }
  return bytes;
}

}  // namespace dragoman
