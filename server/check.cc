#include "server/check.h"

#include <unistd.h>

#include <algorithm>
#include <iomanip>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "engine/model/model_report.h"
#include "engine/text/language_tag.h"
#include "server/auth/principals.h"
#include "server/auth/tls.h"

namespace dragoman {
namespace {

constexpr int kHeading = 12;
constexpr size_t kMostItems = 20;

void PrintItems(const char* heading, const std::vector<std::string>& items, std::ostream* out) {
  if (items.empty()) {
    *out << std::left << std::setw(kHeading) << heading << "nothing\n";
    return;
  }
  for (size_t i = 0; i < std::min(items.size(), kMostItems); ++i) {
    *out << std::left << std::setw(kHeading) << (i == 0 ? heading : "") << items[i] << "\n";
  }
  if (items.size() > kMostItems) {
    *out << std::setw(kHeading) << ""
         << "and " << items.size() - kMostItems << " more\n";
  }
}

// Whether two tags are of the same language, whatever their scripts and regions.
bool IsSameLanguage(const std::string& a, const std::string& b) {
  const std::optional<Language> first = ParseLanguage(a), second = ParseLanguage(b);
  return first.has_value() && second.has_value() && first->language == second->language;
}

// What is found on the way through a configuration.
class Findings {
 public:
  explicit Findings(std::ostream* out) : out_(*out) {}

  bool none() const { return none_; }

  void Model(const std::string& name, const std::string& directory, const std::string& lora = "") {
    const absl::StatusOr<ModelReport> report = ReportModel(directory, lora);
    out_ << "model " << name << " (" << directory << "): ";
    if (!report.ok()) return Wrong(report.status().message());
    if (!report->missing.empty()) return Wrong("lacks " + report->missing.front());
    if (!report->unused.empty()) return Wrong("has no use for " + report->unused.front());
    out_ << "can be served\n";
    silent_ |= report->languages.empty();
    for (const LanguagePair& pair : report->languages) pairs_.push_back(pair);
  }

  void File(const std::string& what, const std::string& path) {
    if (path.empty() || access(path.c_str(), R_OK) == 0) return;
    out_ << what << ": ";
    Wrong("cannot read " + path);
  }

  void Result(const char* what, const absl::Status& status) {
    if (status.ok()) return;
    out_ << what << ": ";
    Wrong(status.message());
  }

  // Nothing can be said if some model does not tell its languages.
  void Pivot(const std::string& pivot) {
    const auto some = [&](std::string LanguagePair::*side) {
      return silent_ || absl::c_any_of(pairs_, [&](const LanguagePair& pair) {
               return (pair.*side).empty() || IsSameLanguage(pair.*side, pivot);
             });
    };
    if (pivot.empty()) return;
    const bool into = some(&LanguagePair::target), from = some(&LanguagePair::source);
    if (into && from) return;
    out_ << "pivot: ";
    Wrong(absl::StrCat("no model translates ", into ? "from" : "into", " \"", pivot, "\""));
  }

 private:
  void Wrong(absl::string_view message) {
    out_ << message << "\n";
    none_ = false;
  }

  std::ostream& out_;
  bool none_ = true;
  bool silent_ = false;  // some model does not tell its languages
  std::vector<LanguagePair> pairs_;
};

}  // namespace

bool CheckModel(const std::string& directory, bool without_weights, std::ostream* out) {
  if (without_weights) {
    const absl::Status status = CheckWithoutWeights(directory);
    *out << directory << ": " << (status.ok() ? "can" : "cannot") << " be served"
         << (status.ok() ? " if its weights are right" : ": ") << status.message() << "\n";
    return status.ok();
  }
  const absl::StatusOr<ModelReport> report = ReportModel(directory);
  if (!report.ok()) {
    *out << directory << ": cannot be served: " << report.status().message() << "\n";
    return false;
  }
  *out << directory << "\n";
  for (const auto& [heading, text] : report->lines) {
    *out << std::left << std::setw(kHeading) << heading << text << "\n";
  }
  PrintItems("missing", report->missing, out);
  PrintItems("unused", report->unused, out);
  if (!report->missing.empty() || !report->unused.empty()) {
    *out << "cannot be served\n";
    return false;
  }
  *out << "can be served: dragoman-server --model NAME=" << directory << "\n"
       << "verified: the configuration describes a network of this engine; each of its tensors is "
          "there, in its shape, and none is left over; the tokenizer's pieces are those of the "
          "vocabulary\n"
       << "not verified: what the weights translate, as none of them was read\n";
  return true;
}

bool CheckConfig(const ServerOptions& options, std::ostream* out) {
  Findings findings(out);
  for (const ModelSource& model : options.models) {
    findings.Model(model.name, model.directory, model.lora);
    findings.File("shortlist of " + model.name, model.shortlist.file);
  }
  for (const Canary& canary : options.canaries) {
    findings.Model(canary.model + "@canary", canary.directory);
  }
  // A directory of models has a pivot by default, which need not be of use.
  if (options.given.has_pivot()) findings.Pivot(options.pivot);
  FileWatcher watcher;  // which is not started
  if (options.tls.enabled()) {
    findings.Result("tls", Certificates::Open(options.tls, &watcher, [](const auto&) {}).status());
  }
  findings.Result("auth-tokens", Principals::Create(options.auth, &watcher).status());
  *out << (findings.none() ? "the configuration is right\n" : "the configuration is wrong\n");
  return findings.none();
}

}  // namespace dragoman
