#include "server/check.h"

#include <algorithm>
#include <iomanip>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/model/model_report.h"

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

}  // namespace

bool CheckModel(const std::string& directory, std::ostream* out) {
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
  *out << "can be served: dragoman-server --model NAME=" << directory << "\n";
  return true;
}

}  // namespace dragoman
