#include "engine/decode/replay.h"

#include <utility>

namespace dragoman {
namespace {

// The steps that a hypothesis took: one that was not ended by eos has none after its last token.
size_t StepsOf(const Hypothesis& hypothesis) {
  const bool ends = hypothesis.token_log_probs.size() > hypothesis.tokens.size();
  return hypothesis.tokens.size() + (ends ? 1 : 0);
}

}  // namespace

SentenceShape Replay::ShapeOf(const Job& job) {
  return {.source_tokens = static_cast<int>(job.source.size()),
          .max_steps = job.options.max_length,
          .max_hypotheses = 1};
}

Replay::Replay(const Job& job, std::vector<Hypothesis> hypotheses)
    : job_(job), options_(job.options), hypotheses_(std::move(hypotheses)) {
  options_.sampling = false;
  for (const AttentionHead& head : job.heads) {
    (head.kind == AttentionKind::kEncoder ? encoder_
     : head.kind == AttentionKind::kCross ? cross_
                                          : decoder_)
        .push_back(head);
  }
  const size_t source = job.source.size();
  for (Hypothesis& each : hypotheses_) {
    const size_t steps = StepsOf(each);
    each.cross_heads.resize(steps * cross_.size() * source);
    each.decoder_heads.resize(steps * decoder_.size() * steps);
  }
  hypotheses_.front().encoder_heads.resize(encoder_.size() * source * source);
}

PartialEncoding Replay::Source() {
  PartialEncoding encoding;
  encoding.source.Add(job_.source);
  encoding.heads = encoder_;
  encoding.attention = hypotheses_.front().encoder_heads.data();
  return encoding;
}

int Replay::rows() const { return static_cast<int>(StepsOf(hypothesis())); }

StepRow Replay::Row(int i, SentenceState* state) {
  const int32_t start = job_.options.start_id.value_or(job_.rules->decoder_start_id);
  StepRow row{i == 0 ? start : hypothesis().tokens[i - 1], state, 0, job_.shortlist, ranks()};
  const size_t source = job_.source.size(), steps = StepsOf(hypothesis());
  if (!cross_.empty()) {
    row.cross_heads = {cross_, hypothesis().cross_heads.data() + i * cross_.size() * source,
                       source};
  }
  if (!decoder_.empty()) {
    row.decoder_heads = {decoder_, hypothesis().decoder_heads.data() + i * decoder_.size() * steps,
                         steps};
  }
  return row;
}

RankTask Replay::Ranking(int i) const {
  return {.options = &options_,
          .rules = job_.rules.get(),
          .tokens = absl::MakeConstSpan(hypothesis().tokens).first(i),
          .k = job_.candidates};
}

void Replay::Add(absl::Span<const Candidate> candidates) {
  std::vector<RankedToken>& step = hypothesis().candidates.emplace_back();
  for (const Candidate& each : candidates) step.push_back({each.token, each.log_prob});
}

}  // namespace dragoman
