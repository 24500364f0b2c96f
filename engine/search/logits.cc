// Ranking a row in a single pass.  A vocabulary of 32,000 arrives in tiles of 512 logits.  Of this
// row the best two are wanted; token 7 is banned, and token 900 was generated before, so a
// repetition penalty applies to it:
//
//   specials    7 (banned), 900 (penalized): known before the first tile
//   tile 0      7 is taken out and reads -inf; log-sum-exp and the two largest of the rest are kept
//   tile 1      900 is taken out; the two largest of both tiles are kept
//   ...
//   Finish      log-sum-exp of everything = ordinary tokens + specials; the penalty is applied to
//               900; the two largest and 900 are ranked together
//
// So each of the many ordinary tokens costs a maximum, a sum and a comparison with the k-th best,
// and the work of Hugging Face's processors shrinks to a few operations at the end.

#include "engine/search/logits.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "engine/base/elementary.h"
#include "engine/base/status.h"
#include "engine/math/kernels.h"
#include "engine/text/piece_index.h"

namespace dragoman {
namespace {

// The input_ids of Hugging Face's processors: the decoder start, then the tokens.
class Sequence {
 public:
  Sequence(int32_t start, absl::Span<const int32_t> tokens) : start_(start), tokens_(tokens) {}

  size_t size() const { return 1 + tokens_.size(); }
  int32_t operator[](size_t i) const { return i == 0 ? start_ : tokens_[i - 1]; }

 private:
  int32_t start_;
  absl::Span<const int32_t> tokens_;
};

// The only token allowed in the next step, if it is forced.
std::optional<int32_t> ForcedToken(const SearchOptions& options, size_t length) {
  if (static_cast<int>(length) + 1 == options.max_length && options.forced_eos_id.has_value()) {
    return options.forced_eos_id;
  }
  return length == 0 ? options.forced_bos_id : std::nullopt;
}

// Calls ban(token) for every token that would complete an n-gram that already occurs in the
// sequence.
template <typename Ban>
void ForEachRepeatedNgram(const Sequence& sequence, size_t n, Ban ban) {
  if (sequence.size() < n) return;
  const size_t prefix = n - 1;
  const size_t suffix_begin = sequence.size() - prefix;
  for (size_t begin = 0; begin + prefix < sequence.size(); ++begin) {
    size_t same = 0;
    while (same < prefix && sequence[begin + same] == sequence[suffix_begin + same]) ++same;
    if (same == prefix) ban(sequence[begin + prefix]);
  }
}

// Whether the sequence ends with all tokens of a bad word but the last.
bool BadWordIsNext(const Sequence& sequence, const std::vector<int32_t>& word) {
  const size_t prefix = word.size() - 1;
  // As in Hugging Face, the sequence must be longer than the prefix of the bad word, unless that is
  // empty.
  if (prefix > 0 && word.size() > sequence.size()) return false;
  const size_t suffix_begin = sequence.size() - prefix;
  for (size_t i = 0; i < prefix; ++i) {
    if (word[i] != sequence[suffix_begin + i]) return false;
  }
  return true;
}

// "CTRL", Keskar et al. 2019, section 4.1, for scores of either sign.
float Penalize(float score, float penalty) {
  return score < 0.0f ? score * penalty : score / penalty;
}

}  // namespace

TileMass LogSum::Add(absl::Span<const float> x) {
  const float max = MaxOf(x);
  if (max == -kInfinity) return {};
  if (max > max_) {
    sum_ *= ExpOf(static_cast<double>(max_) - max);
    max_ = max;
  }
  if (max_ == kInfinity) return {};
  const double sum = SumExp(x, max_);
  sum_ += sum;
  return {max_, sum};
}

float LogSum::value() const {
  return std::isfinite(max_) ? static_cast<float>(max_ + LogOf(sum_)) : max_;
}

void RowRanker::Start(const RankTask& task) {
  task_ = task;
  options_ = task.options;
  parent_ = task.parent;
  k_ = static_cast<size_t>(task.k);
  draws_ = options_->sampling && !task.plain;
  const std::optional<int32_t> forced =
      task.plain ? std::nullopt : ForcedToken(*options_, task.tokens.size());
  forced_ = forced.has_value();
  forced_token_ = forced.value_or(0);
  all_banned_ = false;
  specials_.clear();
  next_special_ = 0;
  ordinary_ = LogSum();
  top_.clear();
  if (draws_) sampler_.Start(*options_, task.k, task.random_key);
  selected_.clear();
  if (forced_) return;

  for (const int32_t token : task.wanted) SetAside({.token = token, .wanted = true});
  if (!task.plain) Process(task.tokens);
  MergeSpecials();
}

// Sets aside the tokens that the processors affect.
void RowRanker::Process(absl::Span<const int32_t> tokens) {
  const SearchOptions& options = *options_;
  const SearchRules& rules = *task_.rules;
  const Sequence sequence(options.start_id.value_or(rules.decoder_start_id), tokens);
  if (options.repetition_penalty != 1.0f) {
    for (size_t i = 0; i < sequence.size(); ++i) {
      SetAside({.token = sequence[i], .penalized = true});
    }
  }
  const auto ban = [this](int32_t token) { SetAside({.token = token, .banned = true}); };
  if (options.no_repeat_ngram_size > 0) {
    ForEachRepeatedNgram(sequence, options.no_repeat_ngram_size, ban);
  }
  for (const std::vector<int32_t>& word : rules.bad_words_ids) {
    if (BadWordIsNext(sequence, word)) ban(word.back());
  }
  if (!rules.banned_phrases.empty()) {
    phrase_ends_.clear();
    for (const std::string& phrase : rules.banned_phrases) {
      rules.pieces->FindLast(phrase, tokens, &phrase_ends_);
    }
    for (const int32_t token : phrase_ends_) ban(token);
  }
  if (static_cast<int>(tokens.size()) < options.min_length) ban(rules.eos_id);
  if (options.disable_unk && rules.unknown_id >= 0) ban(rules.unknown_id);
}

// Sorts the specials and merges duplicates.
void RowRanker::MergeSpecials() {
  absl::c_sort(specials_, [](const Special& a, const Special& b) { return a.token < b.token; });
  size_t merged = 0;
  for (const Special& special : specials_) {
    if (merged > 0 && specials_[merged - 1].token == special.token) {
      specials_[merged - 1].banned |= special.banned;
      specials_[merged - 1].penalized |= special.penalized;
      specials_[merged - 1].wanted |= special.wanted;
    } else {
      specials_[merged++] = special;
    }
  }
  specials_.resize(merged);
}

void RowRanker::Add(int first_token, absl::Span<float> logits) {
  if (forced_) return;
  const int end = first_token + static_cast<int>(logits.size());
  for (; next_special_ < specials_.size() && specials_[next_special_].token < end;
       ++next_special_) {
    Special& special = specials_[next_special_];
    if (special.token < first_token) continue;  // negative: outside of any vocabulary
    if (draws_)
      special.position = static_cast<int32_t>(sampler_.size()) + special.token - first_token;
    special.logit = std::exchange(logits[special.token - first_token], -kInfinity);
  }
  AddOrdinary([first_token](int i) { return first_token + i; }, logits);
}

void RowRanker::AddSelected(absl::Span<const int32_t> tokens, absl::Span<float> logits) {
  if (forced_ || tokens.empty()) return;
  auto token = tokens.begin();
  for (; next_special_ < specials_.size() && specials_[next_special_].token <= tokens.back();
       ++next_special_) {
    Special& special = specials_[next_special_];
    token = std::lower_bound(token, tokens.end(), special.token);
    if (*token != special.token) continue;  // not in the shortlist
    if (draws_) {
      special.position = static_cast<int32_t>(sampler_.size() + (token - tokens.begin()));
    }
    special.logit = std::exchange(logits[token - tokens.begin()], -kInfinity);
  }
  if (draws_) selected_.insert(selected_.end(), tokens.begin(), tokens.end());
  AddOrdinary([tokens](int i) { return tokens[i]; }, logits);
}

// Adds logits[i] of token_at(i) for all i, with -inf in place of the specials.
template <typename TokenAt>
void RowRanker::AddOrdinary(TokenAt token_at, absl::Span<const float> logits) {
  const TileMass mass = ordinary_.Add(logits);
  if (draws_) return sampler_.Append(logits, mass);
  if (k_ == 0) return;
  if (above_.size() < logits.size()) above_.resize(logits.size());
  const float threshold = top_.size() == k_ ? top_.back().log_prob : -kInfinity;
  const int above = IndicesAbove(logits, threshold, above_.data());
  for (int i = 0; i < above; ++i) InsertTop(token_at(above_[i]), logits[above_[i]]);
}

void RowRanker::InsertTop(int32_t token, float logit) {
  if (top_.size() == k_) {
    if (!(logit > top_.back().log_prob)) return;
    top_.pop_back();
  }
  const auto place = absl::c_upper_bound(
      top_, logit, [](float value, const Candidate& c) { return value > c.log_prob; });
  top_.insert(place, {parent_, token, logit});
}

// The log-probability of a penalized token, before renormalization.
float RowRanker::PenalizedLogProb(float logit, float log_sum) const {
  if (!greedy()) return Penalize(logit - log_sum, options_->repetition_penalty);
  return Penalize(logit, options_->repetition_penalty) - log_sum;
}

void RowRanker::Finish(std::vector<Candidate>* out) {
  if (forced_) {
    out->insert(out->end(), draws_ ? k_ : 1, {parent_, forced_token_, 0.0f});
    return;
  }
  LogSum all = ordinary_;
  for (const Special& special : specials_) all.Add({special.logit});
  const float log_sum = all.value();
  // Renormalization divides by the mass of the tokens that are not banned, after the penalty.
  LogSum kept = ordinary_;
  for (const Special& special : specials_) {
    if (special.banned) continue;
    kept.Add(
        {special.penalized ? PenalizedLogProb(special.logit, log_sum) + log_sum : special.logit});
  }
  all_banned_ = std::isfinite(log_sum) && kept.value() == -kInfinity;
  const bool renormalizes = options_->renormalize_logits && !task_.plain;
  const float shift = renormalizes ? kept.value() : log_sum;
  if (!std::isfinite(shift) || !std::isfinite(log_sum))
    return;  // nothing but -inf and NaN, or +inf
  if (draws_) return Draw(log_sum, shift, out);

  ranked_.clear();
  for (const Candidate& candidate : top_) {
    const float log_prob = candidate.log_prob - shift;
    ranked_.push_back({log_prob, {parent_, candidate.token, log_prob}});
  }
  // Greedy search without renormalization reports the value before the penalty.
  const bool report_raw = greedy() && !renormalizes;
  for (const Special& special : specials_) {
    if (special.banned || !(special.logit > -kInfinity)) continue;
    const float rank = special.penalized
                           ? PenalizedLogProb(special.logit, log_sum) + (log_sum - shift)
                           : special.logit - shift;
    const float log_prob = report_raw ? special.logit - shift : rank;
    ranked_.push_back({rank, {parent_, special.token, log_prob}, special.wanted});
  }
  if (!specials_.empty()) {
    absl::c_sort(ranked_, [](const Ranked& a, const Ranked& b) {
      return a.rank != b.rank ? a.rank > b.rank : a.candidate.token < b.candidate.token;
    });
  }
  for (size_t i = 0; i < ranked_.size(); ++i) {
    if (i < k_ || ranked_[i].wanted) out->push_back(ranked_[i].candidate);
  }
}

// Draws k tokens from the processed row.
void RowRanker::Draw(float log_sum, float shift, std::vector<Candidate>* out) {
  for (const Special& special : specials_) {
    if (special.banned || special.position < 0) continue;
    const float logit =
        special.penalized ? PenalizedLogProb(special.logit, log_sum) + log_sum : special.logit;
    sampler_.Set(special.position, logit);
  }
  if (!sampler_.Prepare()) return;
  for (size_t draw = 0; draw < k_; ++draw) {
    const auto [position, logit] = sampler_.Draw(static_cast<int>(draw));
    const int32_t token = selected_.empty() ? static_cast<int32_t>(position) : selected_[position];
    const auto special = absl::c_lower_bound(
        specials_, token, [](const Special& a, int32_t value) { return a.token < value; });
    const bool touched = special != specials_.end() && special->token == token;
    out->push_back({parent_, token, (touched ? special->logit : logit) - shift});
  }
}

}  // namespace dragoman
