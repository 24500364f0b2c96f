// A step, by example.  Three sentences are in the batch: A with beam 2, B greedy, and C, which
// pauses.
//
//   gather     rows:  A hypothesis 0 | A hypothesis 1 | B hypothesis 0        (none of C)
//   network    one decoder step over the three rows
//   rank       a ranker for each row sees its logits tile by tile (logits.h)
//   advance    A's search takes the candidates of its two rows, B's those of its one row
//   fork       each sentence's state follows: both of A's new hypotheses may descend from its old 1
//
// A search that is done returns its sentence in the same step, so no more rows are spent on it; or,
// if more is asked about its hypotheses, the sentence goes on with these (replay.h).

#include "engine/decode/decode_batch.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "engine/base/elementary.h"
#include "engine/base/status.h"
#include "engine/decode/drafts.h"
#include "engine/decode/replay.h"
#include "engine/model/network.h"
#include "engine/search/make_search.h"

namespace dragoman {

namespace {

// The sum over source tokens of log(min(1, total attention)): "Google's Neural Machine Translation
// System", Wu et al. 2016, equation 14, leaving out tokens that got no attention at all.
float CoverageOf(const SentenceState& state, int row, size_t source_tokens) {
  std::vector<float> attention;
  state.AppendAttention(row, &attention);
  float sum = 0.0f;
  for (size_t s = 0; s < source_tokens; ++s) {
    float given = 0.0f;
    for (size_t i = s; i < attention.size(); i += source_tokens) given += attention[i];
    if (given > 0.0f) sum += static_cast<float>(LogOf(std::min(given, 1.0f)));
  }
  return sum;
}

// How far each candidate of a row is behind the best of them.
void SetMargins(absl::Span<Candidate> row) {
  float best = -std::numeric_limits<float>::infinity();
  for (const Candidate& candidate : row) best = std::max(best, candidate.log_prob);
  for (Candidate& candidate : row) candidate.margin = candidate.log_prob - best;
}

// Whether the newest row of a hypothesis attends most to a source token that is marked.
bool AttendsTo(const SentenceState& state, int row, absl::Span<const char> marked) {
  if (marked.empty()) return false;
  std::vector<float> attention;
  state.AppendAttention(row, &attention);
  const auto newest = attention.end() - static_cast<std::ptrdiff_t>(marked.size());
  return marked[static_cast<size_t>(std::max_element(newest, attention.end()) - newest)] != 0;
}

// Adds to every hypothesis its attention.
void AddAttention(const SentenceState& state, size_t source_tokens,
                  std::vector<Hypothesis>* hypotheses) {
  for (Hypothesis& hypothesis : *hypotheses) {
    state.AppendAttention(hypothesis.row, &hypothesis.attention);
    // A hypothesis whose repetition was cut off has more rows than it needs.
    const size_t most = (hypothesis.tokens.size() + 1) * source_tokens;
    if (hypothesis.attention.size() > most) hypothesis.attention.resize(most);
  }
}

}  // namespace

struct DecodeBatch::Sentence {
  Sentence(JobPtr its_job, KvPool* pool)
      : job(std::move(its_job)),
        state(job->model->network().NewState(job->Shape(), pool)),
        one_by_one(!job->model->network().takes_several_tokens()) {
    if (job->options.coverage_penalty != 0.0f) {
      job->coverage = [its_state = state.get(), tokens = job->source.size()](int row) {
        return CoverageOf(*its_state, row, tokens);
      };
    }
    if (job->places_phrases()) {
      job->attention_of = [its_state = state.get()](int row) {
        return its_state->AttentionOf(row);
      };
    }
    if (Draft::IsUsed(*job)) draft = std::make_unique<Draft>(*job);
    search = MakeSearch(*job);
    std::vector<int> beginnings(search->live().size(), 0);
    if (beginnings.size() > 1) state->Fork(beginnings);
  }

  // What the search has found.
  std::vector<Hypothesis> Found(const Job& its_job) const {
    std::vector<Hypothesis> found = search->Best(its_job.options.num_hypotheses);
    if (its_job.attention) AddAttention(*state, its_job.source.size(), &found);
    return found;
  }

  JobPtr job;  // null once finished
  bool runs = true;
  std::unique_ptr<PartialEncoding> encoding;  // null once encoded
  int granted = 0;                            // stages of it to run in this turn
  std::unique_ptr<SentenceState> state;
  std::unique_ptr<Search> search;
  std::unique_ptr<Draft> draft;    // null if there is none
  std::unique_ptr<Replay> replay;  // of what the search has found; null until then
  // How many tokens of each live hypothesis the network has seen, including the decoder start.
  // Normally one less than the hypothesis has; initially, everything that the search begins with is
  // still unseen.
  int seen = 0;
  const bool one_by_one;  // the network takes one token of a hypothesis at a time
  int rows = 0;           // how many the network has been given
  // For the current step.
  int next_seen = 0;
  std::vector<int32_t> drafted;  // the tokens of the only hypothesis, and those that are proposed
  bool complete = true;          // after it the network has seen all tokens
  int rankers = 0;               // of the sentence's rows
  std::vector<Candidate> early;  // of tokens seen in earlier, incomplete steps
  JobTimes times;
  absl::Time joined;         // when its decoding began
  size_t stable_tokens = 0;  // how many have been reported to its job
  bool all_banned = false;   // the rules have left one of its hypotheses no token
};

DecodeBatch::DecodeBatch(std::shared_ptr<const Model> model, const Clock& clock, Observer* observer,
                         DecodeScratch* scratch, JobSink sink)
    : model_(std::move(model)),
      clock_(clock),
      observer_(observer),
      scratch_(scratch),
      sink_(std::move(sink)) {}

DecodeBatch::~DecodeBatch() { DRAGOMAN_CHECK(empty()); }

void DecodeBatch::Join(std::vector<JobPtr> jobs) {
  const absl::Time start = clock_();
  TokenBatch& source = scratch_->source;
  source.Clear();
  for (const JobPtr& job : jobs) source.Add(job->source);
  model_->network().Encode(source, &scratch_->encoded, &scratch_->workspace);

  const size_t first = sentences_.size();
  for (size_t i = 0; i < jobs.size(); ++i) {
    load_.rows += jobs[i]->cost.rows;
    load_.kv_bytes += jobs[i]->cost.kv_bytes;
    auto sentence = std::make_unique<Sentence>(std::move(jobs[i]), &scratch_->kv_pool);
    model_->network().Remember(
        scratch_->encoded.view().Rows(source.starts[i], source.starts[i + 1] - source.starts[i]),
        sentence->state.get(), &scratch_->workspace);
    sentences_.push_back(std::move(sentence));
  }

  const absl::Time end = clock_();
  double positions = 0;
  for (size_t i = first; i < sentences_.size(); ++i) {
    Sentence& sentence = *sentences_[i];
    const double own = sentence.job->cost.source_tokens;
    positions += own * own;
    sentence.times.queue = start - sentence.job->submitted;
    sentence.times.encode = end - start;
    sentence.joined = end;
  }
  const int tokens = static_cast<int>(source.tokens.size());
  WorkTimes* const times = sentences_.back()->job->cost.times;
  if (times != nullptr) times->encode.Learn(tokens, positions, end - start);
  observer_->OnEncode(*model_, source.sentences(), tokens, end - start);
}

void DecodeBatch::JoinUnencoded(JobPtr job, int stages) {
  load_.rows += job->cost.rows;
  load_.kv_bytes += job->cost.kv_bytes;
  auto sentence = std::make_unique<Sentence>(std::move(job), &scratch_->kv_pool);
  sentence->runs = false;
  sentence->times.queue = clock_() - sentence->job->submitted;
  sentence->encoding = std::make_unique<PartialEncoding>();
  sentence->encoding->source.Add(sentence->job->source);
  sentence->granted = stages;
  sentences_.push_back(std::move(sentence));
}

void DecodeBatch::Encode() {
  for (const auto& sentence : sentences_) {
    if (sentence->encoding != nullptr && sentence->granted > 0) Encode(sentence.get());
  }
}

void DecodeBatch::Encode(Sentence* sentence) {
  const absl::Time start = clock_();
  PartialEncoding& encoding = *sentence->encoding;
  const JobCost& cost = sentence->job->cost;
  const int stages = cost.encode_stages;
  const int before = encoding.next_stage;
  for (; sentence->granted > 0 && encoding.next_stage < stages; --sentence->granted) {
    model_->network().EncodeStage(&encoding, &scratch_->workspace);
  }
  const double tokens = 1.0 * cost.source_tokens * (encoding.next_stage - before) / stages;
  const bool done = encoding.next_stage == stages;
  if (done) {
    if (sentence->replay == nullptr) {
      model_->network().Remember(encoding.encoded.view(), sentence->state.get(),
                                 &scratch_->workspace);
    } else {
      sentence->replay->SetEncoded(std::move(encoding.encoded));
      BeginHypothesis(sentence);
    }
    sentence->encoding = nullptr;
    sentence->runs = true;
  }
  sentence->joined = clock_();
  sentence->times.encode += sentence->joined - start;
  if (cost.times != nullptr) {
    cost.times->encode.Learn(tokens, tokens * cost.source_tokens, sentence->joined - start);
  }
  if (done) {
    observer_->OnEncode(*model_, 1, cost.source_tokens, sentence->times.encode);
  }
}

void DecodeBatch::DropUnwanted() {
  const absl::Time now = clock_();
  for (const auto& sentence : sentences_) {
    if (absl::Status wanted = sentence->job->request->Wanted(now); !wanted.ok()) {
      Finish(sentence.get(), std::move(wanted));
    }
  }
  std::erase_if(sentences_, [](const auto& sentence) { return sentence->job == nullptr; });
}

void DecodeBatch::Step() {
  const absl::Time start = clock_();
  GatherRows();
  std::vector<RowRanker>& rankers = scratch_->rankers;
  model_->network().Step(
      scratch_->rows,
      [&rankers](const LogitsTile& tile) {
        for (int r = 0; r < tile.logits.rows(); ++r) {
          RowRanker& ranker = rankers[tile.first_row + r];
          if (tile.tokens.empty()) {
            ranker.Add(tile.first_token, tile.logits.Row(r));
          } else {
            ranker.AddSelected(tile.tokens, tile.logits.Row(r));
          }
        }
      },
      &scratch_->workspace);

  int sentences = 0, ranker = 0;
  double positions = 0;  // that the rows attended to
  WorkTimes* times = nullptr;
  for (const auto& sentence : sentences_) {
    if (!sentence->runs) continue;
    ++sentences;
    const JobCost& cost = sentence->job->cost;
    times = cost.times;
    positions += 1.0 * cost.rows * (cost.source_tokens + sentence->times.steps);
    Advance(sentence.get(), ranker);
    ranker += sentence->rankers;
  }
  const int rows = static_cast<int>(scratch_->rows.size());
  const absl::Duration took = clock_() - start;
  if (times != nullptr) times->step.Learn(rows, positions, took);
  observer_->OnDecodeStep(*model_, sentences, rows, took);
  for (const auto& sentence : sentences_) {
    if (!sentence->search->done()) continue;
    const bool goes_on =
        sentence->replay == nullptr ? BeginReplay(sentence.get()) : !sentence->replay->done();
    if (!goes_on) Finish(sentence.get(), absl::OkStatus());
  }
  std::erase_if(sentences_, [](const auto& sentence) { return sentence->job == nullptr; });
}

void DecodeBatch::AppendResidents(std::vector<Resident>* residents) const {
  for (const auto& sentence : sentences_) {
    const PartialEncoding* const encoding = sentence->encoding.get();
    const int stages_left =
        encoding == nullptr ? 0 : sentence->job->cost.encode_stages - encoding->next_stage;
    residents->push_back(
        {.job = sentence->job.get(), .stages_left = stages_left, .step = sentence->times.steps});
  }
}

size_t DecodeBatch::SetRunning(absl::Span<const Resident> residents, size_t first) {
  for (const auto& sentence : sentences_) {
    const Resident& resident = residents[first++];
    sentence->runs = resident.runs && sentence->encoding == nullptr;
    sentence->granted = resident.encode_stages;
  }
  return first;
}

bool DecodeBatch::runs() const {
  return absl::c_any_of(sentences_, [](const auto& sentence) { return sentence->runs; });
}

// For the running sentences: one row for every token that a live hypothesis has and the network has
// not seen, and a ranker for each row that is scored.
void DecodeBatch::GatherRows() {
  scratch_->rows.clear();
  scratch_->ranked = 0;
  for (const auto& sentence : sentences_) {
    if (sentence->runs) GatherRows(sentence.get());
  }
}

void DecodeBatch::GatherRows(Sentence* sentence) {
  if (sentence->replay != nullptr) return GatherReplay(sentence);
  const Search& search = *sentence->search;
  const Job& job = *sentence->job;
  const int first_ranked = scratch_->ranked;
  const int seen = sentence->seen;
  for (size_t i = 0; i < search.live().size(); ++i) {
    const LiveHypothesis& live = search.live()[i];
    const absl::Span<const int32_t> tokens = TokensOf(live, sentence);
    const int all = static_cast<int>(live.tokens.size()) + 1;
    const int end = sentence->one_by_one ? seen + 1 : static_cast<int>(tokens.size()) + 1;
    for (int t = seen; t < end; ++t) {
      const bool newest = t + 1 >= all;
      const bool scored = newest || search.ranks_prefix();
      scratch_->rows.push_back(
          {t == 0 ? job.options.start_id.value_or(job.rules->decoder_start_id) : tokens[t - 1],
           sentence->state.get(), static_cast<int>(i), job.shortlist, scored});
      if (!scored) continue;
      RankTask task = {.options = &job.options,
                       .rules = job.rules.get(),
                       .tokens = tokens.first(t),
                       .parent = static_cast<int>(i),
                       .plain = job.score_prefix};
      if (newest) {
        task.k = std::max(search.candidates_per_row(), job.margins ? 1 : 0);
        task.wanted = search.wanted(static_cast<int>(i));
        const size_t place = static_cast<size_t>(t);
        if (job.draft_loss > 0.0f && place < tokens.size()) task.wanted = tokens.subspan(place, 1);
        task.random_key = MixKey(MixKey(job.random_key, t), live.draw);
      } else {
        task.k = job.margins ? 1 : 0;
        task.wanted = tokens.subspan(t, 1);
      }
      NextRanker()->Start(task);
    }
    sentence->complete = end >= all;
    sentence->next_seen = end;
  }
  sentence->rankers = scratch_->ranked - first_ranked;
}

// The tokens that a hypothesis has, and those that a draft proposes.
absl::Span<const int32_t> DecodeBatch::TokensOf(const LiveHypothesis& live, Sentence* sentence) {
  if (sentence->draft == nullptr) return live.tokens;
  const absl::Span<const int32_t> proposed = sentence->draft->Propose(live.tokens);
  sentence->drafted.assign(live.tokens.begin(), live.tokens.end());
  sentence->drafted.insert(sentence->drafted.end(), proposed.begin(), proposed.end());
  return sentence->drafted;
}

RowRanker* DecodeBatch::NextRanker() {
  std::vector<RowRanker>& rankers = scratch_->rankers;
  if (static_cast<int>(rankers.size()) == scratch_->ranked) rankers.emplace_back();
  return &rankers[scratch_->ranked++];
}

// Sets the margins of the candidates of the sentence's i-th row, which begin at `first`.  A row of
// a given translation keeps only its own token: the best one was there for its margin.
void DecodeBatch::FinishMargins(const Sentence& sentence, int i, size_t first,
                                std::vector<Candidate>* candidates) {
  SetMargins(absl::MakeSpan(*candidates).subspan(first));
  const Job& job = *sentence.job;
  if (!job.score_prefix) return;
  const size_t place = static_cast<size_t>(sentence.seen + i);
  const int32_t given = place < job.prefix.size() ? job.prefix[place] : job.rules->eos_id;
  const auto begin = candidates->begin() + static_cast<std::ptrdiff_t>(first);
  candidates->erase(std::remove_if(begin, candidates->end(),
                                   [given](const Candidate& each) { return each.token != given; }),
                    candidates->end());
}

// Extends the sentence's hypotheses according to the ranking of their rows.
void DecodeBatch::Advance(Sentence* sentence, int first_ranker) {
  if (sentence->replay != nullptr) return AdvanceReplay(sentence, first_ranker);
  if (sentence->draft != nullptr) return AdvanceDraft(sentence, first_ranker);
  std::vector<Candidate>& candidates =
      sentence->complete && sentence->early.empty() ? scratch_->candidates : sentence->early;
  if (&candidates == &scratch_->candidates) candidates.clear();
  for (int i = 0; i < sentence->rankers; ++i) {
    RowRanker& ranker = scratch_->rankers[first_ranker + i];
    const size_t first = candidates.size();
    ranker.Finish(&candidates);
    if (sentence->job->margins) FinishMargins(*sentence, i, first, &candidates);
    sentence->all_banned |= ranker.all_banned();
  }
  Search& search = *sentence->search;
  // A hypothesis' rows are adjacent; its continuations are ranked by the newest.
  const int new_rows = sentence->next_seen - sentence->seen;
  for (Candidate& candidate : candidates) {
    candidate.row = sentence->rows + (candidate.parent + 1) * new_rows - 1;
  }
  sentence->rows += new_rows * static_cast<int>(search.live().size());
  sentence->seen = sentence->next_seen;
  ++sentence->times.steps;
  if (!sentence->complete) return;
  search.Advance(candidates);

  std::vector<int>& parents = scratch_->parents;
  parents.clear();
  for (const LiveHypothesis& next : search.live()) parents.push_back(next.parent);
  sentence->state->Fork(parents);
  if (sentence->job->on_stable != nullptr && !search.done()) TellStable(sentence);
}

// Lets the search choose after the newest token, and after each of those that were proposed, until
// it chooses another one.
void DecodeBatch::AdvanceDraft(Sentence* sentence, int first_ranker) {
  Search& search = *sentence->search;
  const int before = static_cast<int>(search.live().front().tokens.size());
  const int first_row = sentence->rows + sentence->next_seen - sentence->seen - sentence->rankers;
  std::vector<Candidate>& candidates = scratch_->candidates;
  int chosen = 0;  // tokens, of which the last one was not proposed
  for (bool as_proposed = true; as_proposed && chosen < sentence->rankers; ++chosen) {
    RowRanker& ranker = scratch_->rankers[first_ranker + chosen];
    candidates.clear();
    ranker.Finish(&candidates);
    if (sentence->job->margins) FinishMargins(*sentence, chosen, 0, &candidates);
    sentence->all_banned |= ranker.all_banned();
    for (Candidate& candidate : candidates) candidate.row = first_row + chosen;
    if (sentence->job->draft_loss > 0.0f) {
      KeepDrafted(*sentence, chosen, static_cast<size_t>(before + chosen), &candidates);
    }
    search.Advance(candidates);
    as_proposed = !search.done() && chosen + 1 < sentence->rankers &&
                  search.live().front().tokens.back() == sentence->drafted[before + chosen];
  }
  sentence->draft->Chosen(chosen - 1);
  sentence->times.kept += chosen - 1;
  ++sentence->times.steps;
  sentence->rows += sentence->next_seen - sentence->seen;
  sentence->seen = before + chosen;
  if (search.done()) return;
  if (sentence->seen < sentence->next_seen) {
    sentence->state->Rewind(sentence->seen, first_row + chosen - 1);
  }
  if (sentence->job->on_stable != nullptr) TellStable(sentence);
}

// Leaves the proposed token at this place alone among the candidates if it may be kept (drafts.h),
// else the best one.
void DecodeBatch::KeepDrafted(const Sentence& sentence, int chosen, size_t place,
                              std::vector<Candidate>* candidates) {
  const auto less_likely = [](const Candidate& a, const Candidate& b) {
    return a.log_prob != b.log_prob ? a.log_prob < b.log_prob : a.token > b.token;
  };
  if (candidates->empty()) return;
  Candidate kept = *absl::c_max_element(*candidates, less_likely);
  const Job& job = *sentence.job;
  for (const Candidate& candidate : *candidates) {
    if (place >= sentence.drafted.size() || candidate.token != sentence.drafted[place]) continue;
    const bool likely = candidate.log_prob >= kept.log_prob - sentence.draft->MostLoss(chosen == 0);
    if (!likely || candidate.token == kept.token) continue;
    if (!AttendsTo(*sentence.state, candidate.row, job.changed)) kept = candidate;
  }
  candidates->assign(1, kept);
}

void DecodeBatch::TellStable(Sentence* sentence) {
  const SearchOptions& options = sentence->job->options;
  // With consensus, any of the hypotheses may become the best one.
  const int n = options.mbr_candidates > 0 ? options.num_hypotheses : 1;
  const absl::Span<const int32_t> stable = sentence->search->StablePrefix(n);
  if (stable.size() <= sentence->stable_tokens) return;
  sentence->stable_tokens = stable.size();
  sentence->job->on_stable(stable);
}

// For a sentence whose search is done.  Returns false if there is nothing to replay.
bool DecodeBatch::BeginReplay(Sentence* sentence) {
  const Job& job = *sentence->job;
  if (!Replay::IsAskedFor(job)) return false;
  std::vector<Hypothesis> found = sentence->Found(job);
  if (found.empty()) return false;
  sentence->times.decode += clock_() - sentence->joined;
  sentence->state = nullptr;  // gives back the memory that the next one takes
  sentence->replay = std::make_unique<Replay>(job, std::move(found));
  sentence->encoding = std::make_unique<PartialEncoding>(sentence->replay->Source());
  sentence->granted = 0;
  sentence->runs = false;
  return true;
}

void DecodeBatch::BeginHypothesis(Sentence* sentence) {
  const Network& network = model_->network();
  sentence->state = nullptr;
  sentence->state = network.NewState(Replay::ShapeOf(*sentence->job), &scratch_->kv_pool);
  network.Remember(sentence->replay->encoded(), sentence->state.get(), &scratch_->workspace);
  sentence->seen = 0;
}

void DecodeBatch::GatherReplay(Sentence* sentence) {
  Replay& replay = *sentence->replay;
  const int first_ranked = scratch_->ranked;
  const int end = sentence->one_by_one ? sentence->seen + 1 : replay.rows();
  for (int i = sentence->seen; i < end; ++i) {
    scratch_->rows.push_back(replay.Row(i, sentence->state.get()));
    if (replay.ranks()) NextRanker()->Start(replay.Ranking(i));
  }
  sentence->next_seen = end;
  sentence->rankers = scratch_->ranked - first_ranked;
}

void DecodeBatch::AdvanceReplay(Sentence* sentence, int first_ranker) {
  Replay& replay = *sentence->replay;
  for (int i = 0; i < sentence->rankers; ++i) {
    scratch_->candidates.clear();
    scratch_->rankers[first_ranker + i].Finish(&scratch_->candidates);
    replay.Add(scratch_->candidates);
  }
  sentence->seen = sentence->next_seen;
  if (sentence->seen < replay.rows()) return;
  replay.Next();
  if (!replay.done()) BeginHypothesis(sentence);
}

// Releases what the sentence had reserved and ends its job.
void DecodeBatch::Finish(Sentence* sentence, absl::Status status) {
  const JobPtr job = std::move(sentence->job);
  load_.rows -= job->cost.rows;
  load_.kv_bytes -= job->cost.kv_bytes;
  JobResult result;
  result.times = sentence->times;
  if (sentence->encoding == nullptr) result.times.decode += clock_() - sentence->joined;
  if (status.ok()) {
    result.hypotheses =
        sentence->replay != nullptr ? sentence->replay->Take() : sentence->Found(*job);
    if (result.hypotheses.empty()) {
      status = sentence->all_banned
                   ? InvalidField("options",
                                  "ban every token that could come next, want at least one allowed")
                   : absl::InternalError("the model gives no finite score to any translation");
    }
  }
  result.status = std::move(status);
  sink_(job.get(), std::move(result));
}

}  // namespace dragoman
