// dragoman score: how probable given translations are according to a model.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/client_command.h"
#include "client/json.h"
#include "client/line_reader.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr char kScoreDescription[] =
    "Scores translations: SOURCE TARGET or, without them, a line of standard input for each pair,\n"
    "the two separated by a tab.";
constexpr char kScoreNotes[] =
    "\nText output is a line per pair: the mean log-probability of the target's tokens and its "
    "end.\n"
    "JSON output is an object per pair, with all of them and the perplexity.";
constexpr int kMaxPairs = 32;         // per request
constexpr size_t kMaxBytes = 16'000;  // per request, unless it holds a single pair

struct ScoreFlags {
  ServerFlags server;
  ModelFlags model;
  AlignmentFlags alignment;
  bool json = false;
  std::vector<std::string> pair;
};

// Collects pairs and prints their scores in order.
class Scorer {
 public:
  Scorer(const ScoreFlags& flags, const Console& console, TranslationClient* client)
      : flags_(flags), console_(console), client_(client) {}

  absl::Status Add(std::string source, std::string target) {
    const size_t size = source.size() + target.size();
    if (request_.pairs_size() == kMaxPairs || (bytes_ > 0 && bytes_ + size > kMaxBytes)) {
      RETURN_IF_ERROR(Flush());
    }
    bytes_ += size;
    v1::ScorePair* const pair = request_.add_pairs();
    pair->set_source(std::move(source));
    pair->set_target(std::move(target));
    return absl::OkStatus();
  }

  absl::Status Flush() {
    if (request_.pairs_size() == 0) return absl::OkStatus();
    flags_.model.Set(&request_);
    flags_.alignment.Set(&request_);
    request_.set_quality(flags_.json);
    ASSIGN_OR_RETURN(const v1::ScoreResponse response, client_->Score(request_));
    for (int i = 0; i < response.scores_size(); ++i) {
      if (flags_.json) {
        console_.out << ToJson(request_.pairs(i), response.scores(i)) << std::endl;
      } else {
        const v1::ScorePair& pair = request_.pairs(i);
        console_.out << response.scores(i).score() << "\n"
                     << AlignedWords(pair.source(), pair.target(),
                                     response.scores(i).aligned_text())
                     << std::flush;
      }
    }
    request_.clear_pairs();
    bytes_ = 0;
    return absl::OkStatus();
  }

 private:
  const ScoreFlags& flags_;
  const Console& console_;
  TranslationClient* const client_;
  v1::ScoreRequest request_;
  size_t bytes_ = 0;
};

absl::Status AddLines(int fd, Scorer* scorer) {
  LineReader reader(fd, kMaxLineBytes);
  for (int64_t number = 1;; ++number) {
    if (!reader.Ready()) RETURN_IF_ERROR(scorer->Flush());
    ASSIGN_OR_RETURN(std::optional<std::string> line, reader.Next());
    if (!line.has_value()) return scorer->Flush();
    const size_t tab = line->find('\t');
    if (tab == std::string::npos || line->find('\t', tab + 1) != std::string::npos) {
      return InvalidArgumentError("line ", number,
                                  " does not have exactly one tab, want SOURCE tab TARGET");
    }
    RETURN_IF_ERROR(scorer->Add(line->substr(0, tab), line->substr(tab + 1)));
  }
}

Outcome RunScore(const ScoreFlags& flags, const Console& console, TranslationClient* client) {
  if (!flags.pair.empty() && flags.pair.size() != 2) {
    return absl::InvalidArgumentError("want SOURCE and TARGET");
  }
  Scorer scorer(flags, console, client);
  absl::Status status;
  if (flags.pair.empty()) {
    SayThatLinesAreRead(console);
    status = AddLines(console.in, &scorer);
  } else {
    status = scorer.Add(flags.pair[0], flags.pair[1]);
    if (status.ok()) status = scorer.Flush();
  }
  return status.ok() ? kExitOk : ReportFailedTranslation(console, status, client);
}

}  // namespace

void AddScoreCommand(CLI::App* app, const Console& console, ExitCode* exit_code) {
  const auto [command, flags] =
      AddClientCommand<ScoreFlags>(app, "score", kScoreDescription, RunScore, console, exit_code);
  command->footer(kScoreNotes);
  flags->model.AddTo(command);
  flags->alignment.AddTo(command);
  AddOutputFlag(command, &flags->json);
  command->add_option("PAIR", flags->pair, "SOURCE TARGET");
}

}  // namespace dragoman
