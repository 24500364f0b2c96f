#include "client/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "client/json.h"
#include "engine/base/json.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

std::string HeadLine(const std::string& what) { return ToLine({{"journal", what}}); }

std::optional<JournalEntry> ReadEntry(const std::string& line) {
  const absl::StatusOr<nlohmann::json> json = ParseJsonObject(line, "the journal");
  if (!json.ok()) return std::nullopt;
  JournalEntry entry;
  for (const auto& [name, field] : {std::pair("source", &entry.source),
                                    {"version", &entry.version},
                                    {"text", &entry.answer.text},
                                    {"error", &entry.answer.error},
                                    {"warning", &entry.answer.warning}}) {
    if (!json->contains(name)) continue;
    if (!json->at(name).is_string()) return std::nullopt;
    *field = json->at(name).get<std::string>();
  }
  const nlohmann::json& faults = Member(*json, "faults");
  if (faults.is_number_integer()) entry.answer.faults = faults.get<int>();
  entry.answer.stays = json->contains("stays");
  return entry;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Journal>> Journal::Open(const std::string& path,
                                                       const std::string& what) {
  const int lock = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock < 0) return UnavailableError(path, ": ", std::strerror(errno));
  auto journal = std::unique_ptr<Journal>(new Journal(path, lock));
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    return FailedPreconditionError(path, ": another process is translating this file");
  }
  RETURN_IF_ERROR(journal->Start(what));
  return journal;
}

Journal::~Journal() { close(lock_); }

absl::Status Journal::Start(const std::string& what) {
  ASSIGN_OR_RETURN(file_, ResumeOutputFile(path_));
  in_.open(path_, std::ios::binary);
  std::string head;
  if (std::getline(in_, head) && head == HeadLine(what)) {
    taken_ = head.size() + 1;
    Read();
    return absl::OkStatus();
  }
  Cut();
  *file_.stream << HeadLine(what) << "\n";
  return Flush();
}

void Journal::Read() {
  std::string line;
  next_.reset();
  if (std::getline(in_, line)) next_ = ReadEntry(line);
  if (!next_.has_value()) return Cut();
  next_bytes_ = line.size() + 1;
  empty_ = false;
}

std::optional<JournalEntry> Journal::Take(const std::string& source) {
  if (!next_.has_value()) return std::nullopt;
  if (next_->source != source) {
    Cut();
    return std::nullopt;
  }
  taken_ += next_bytes_;
  std::optional<JournalEntry> taken = std::move(next_);
  Read();
  return taken;
}

void Journal::Cut() {
  next_.reset();
  in_.close();
  std::error_code error;
  std::filesystem::resize_file(path_, taken_, error);
  if (error) file_.stream->setstate(std::ios::failbit);  // Flush reports it
}

void Journal::Add(const JournalEntry& entry) {
  Json line = {{"source", entry.source}, {"version", entry.version}};
  const PassageAnswer& answer = entry.answer;
  if (answer.error.empty()) line["text"] = answer.text;
  if (!answer.error.empty()) line["error"] = answer.error;
  if (!answer.warning.empty()) line["warning"] = answer.warning;
  if (answer.faults > 0) line["faults"] = answer.faults;
  if (answer.stays) line["stays"] = true;
  *file_.stream << ToLine(line) << "\n";
  empty_ = false;
}

absl::Status Journal::Flush() {
  if (file_.stream->flush()) return absl::OkStatus();
  return UnavailableError(path_, ": cannot be written");
}

void Journal::Remove() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace dragoman
