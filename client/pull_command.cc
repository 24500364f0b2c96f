// dragoman pull: fetches a model from the Hugging Face Hub.
//
// All files are fetched into DIRECTORY.partial, and each is checked against its digest.  When the
// last one is complete, a single rename turns it into DIRECTORY. So DIRECTORY is a complete model
// or does not exist, and an interrupted pull continues with DIRECTORY.partial.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/commands.h"
#include "client/credentials.h"
#include "client/hub.h"
#include "client/json.h"
#include "client/model_files.h"
#include "client/partial_directory.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

constexpr char kRecord[] = "pull.json";  // a record of what was pulled: repository, commit, files

struct PullFlags {
  std::string repository;
  std::string directory;
  std::string revision = "main";
};

std::string Megabytes(int64_t bytes) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << static_cast<double>(bytes) / 1e6 << " MB";
  return text.str();
}

// On a terminal, a line that is redrawn as a file grows; elsewhere, a line when it is complete.
class ProgressBar {
 public:
  ProgressBar(std::ostream* out, const HubFile& file)
      : out_(*out), name_(file.name), size_(file.size), terminal_(isatty(STDERR_FILENO) == 1) {}

  void Show(int64_t bytes) {
    if (!terminal_ || absl::Now() - drawn_ < absl::Milliseconds(100)) return;
    drawn_ = absl::Now();
    Draw(bytes);
  }
  void Finish() {
    if (terminal_) {
      Draw(size_);
    } else {
      out_ << name_ << " " << Megabytes(size_);
    }
    out_ << std::endl;
  }

 private:
  void Draw(int64_t bytes) {
    constexpr int64_t kWidth = 30;
    const int64_t done =
        size_ > 0 ? std::clamp<int64_t>(kWidth * bytes / size_, 0, kWidth) : kWidth;
    out_ << "\r" << std::left << std::setw(28) << name_ << " [" << std::string(done, '=')
         << std::string(kWidth - done, ' ') << "] " << Megabytes(bytes) << " of "
         << Megabytes(size_) << std::flush;
  }

  std::ostream& out_;
  const std::string name_;
  const int64_t size_;
  const bool terminal_;
  absl::Time drawn_;
};

absl::StatusOr<std::string> ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(path + ": cannot read");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

class Pull {
 public:
  Pull(const PullFlags& flags, const HubAccess& access, std::ostream* progress)
      : flags_(flags), hub_(access), progress_(*progress) {}

  absl::Status Run();

  const HubRepository& repository() const { return repository_; }
  const std::vector<HubFile>& files() const { return files_; }

 private:
  absl::Status Want(const std::string& name);
  absl::Status CheckDirectory() const;
  absl::Status CheckSpace() const;
  absl::Status Fetch(const HubFile& file);
  absl::Status FetchAll(const std::string& index);
  absl::Status WriteRecord() const;

  const PullFlags& flags_;
  Hub hub_;
  std::ostream& progress_;
  HubRepository repository_;
  std::vector<HubFile> files_;  // those to fetch
  std::unique_ptr<PartialDirectory> partial_;
};

absl::Status Pull::Run() {
  ASSIGN_OR_RETURN(repository_, hub_.List(flags_.repository, flags_.revision));
  std::vector<std::string> names;
  for (const HubFile& file : repository_.files) names.push_back(file.name);
  ASSIGN_OR_RETURN(const ModelFiles chosen, ChooseFiles(names));
  for (const std::string& name : chosen.files) RETURN_IF_ERROR(Want(name));
  RETURN_IF_ERROR(CheckDirectory());
  ASSIGN_OR_RETURN(partial_, PartialDirectory::Open(flags_.directory));
  RETURN_IF_ERROR(FetchAll(chosen.index));
  RETURN_IF_ERROR(WriteRecord());
  return partial_->Publish();
}

absl::Status Pull::Want(const std::string& name) {
  const HubFile* const file = repository_.Find(name);
  if (file == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("the repository lacks ", name, ", which its index of the weights names"));
  }
  files_.push_back(*file);
  return absl::OkStatus();
}

// A directory that this command did not create is not replaced.
absl::Status Pull::CheckDirectory() const {
  const std::string& directory = flags_.directory;
  std::error_code error;
  if (!fs::exists(fs::symlink_status(directory, error))) return absl::OkStatus();
  if (fs::is_directory(fs::symlink_status(directory, error)) && fs::is_empty(directory, error)) {
    return absl::OkStatus();
  }
  const absl::StatusOr<std::string> record = ReadText(directory + "/" + kRecord);
  const Json json = record.ok() ? Json::parse(*record, nullptr, false) : Json();
  bool ours = json.is_object() && json.value("repository", Json()) == repository_.name;
  const Json known = ours ? json.value("files", Json::array()) : Json::array();
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    ours = ours && (name == kRecord || std::find(known.begin(), known.end(), name) != known.end());
  }
  if (ours) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat(directory, " already exists with other content; give another --directory"));
}

absl::Status Pull::CheckSpace() const {
  int64_t missing = 0;
  for (const HubFile& file : files_) {
    std::error_code error;
    const uintmax_t there = fs::file_size(partial_->Path(file.name), error);
    missing += std::max<int64_t>(file.size, 0) - (error ? 0 : static_cast<int64_t>(there));
  }
  std::error_code error;
  const fs::space_info space = fs::space(partial_->path(), error);
  if (error || missing < 0 || space.available > static_cast<uintmax_t>(missing)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat(partial_->path(), ": wants ", Megabytes(missing), ", but the disk has ",
                   Megabytes(static_cast<int64_t>(space.available))));
}

absl::Status Pull::FetchAll(const std::string& index) {
  std::vector<std::string> keep;
  RETURN_IF_ERROR(CheckSpace());
  for (size_t i = 0; i < files_.size(); ++i) {
    RETURN_IF_ERROR(Fetch(files_[i]));
    keep.push_back(files_[i].name);
    if (files_[i].name != index) continue;
    ASSIGN_OR_RETURN(const std::string text, ReadText(partial_->Path(index)));
    ASSIGN_OR_RETURN(const std::vector<std::string> shards, ShardsOf(text));
    for (const std::string& shard : shards) RETURN_IF_ERROR(Want(shard));
    RETURN_IF_ERROR(CheckSpace());
  }
  return partial_->KeepOnly(keep);
}

absl::Status Pull::Fetch(const HubFile& file) {
  const std::string path = partial_->Path(file.name);
  const std::string before = flags_.directory + "/" + file.name;
  ProgressBar bar(&progress_, file);
  if (!IsFile(path, file)) {
    std::error_code error;
    fs::remove(path, error);
    // A file that has not changed since the last pull need not be fetched again.
    const bool same = !file.digest().empty() && IsFile(before, file);
    if (same) fs::create_hard_link(before, path, error);
    if (!same || error) {
      RETURN_IF_ERROR(
          hub_.Fetch(repository_, file, path, [&bar](int64_t bytes) { bar.Show(bytes); }));
    }
  }
  bar.Finish();
  return absl::OkStatus();
}

absl::Status Pull::WriteRecord() const {
  Json record = {{"repository", repository_.name}, {"commit", repository_.commit}};
  for (const HubFile& file : files_) record["files"].push_back(file.name);
  std::ofstream out(partial_->Path(kRecord));
  out << record.dump(2) << "\n";
  out.close();
  return out ? absl::OkStatus()
             : absl::FailedPreconditionError(partial_->path() + ": cannot write");
}

ExitCode RunPull(PullFlags flags, const Console& console) {
  const HubAccess access = HubAccess::FromEnvironment();
  const std::string page = access.endpoint + "/";
  if (flags.repository.starts_with(page)) flags.repository.erase(0, page.size());
  absl::Status status = CheckRepositoryName(flags.repository);
  if (status.ok() && !access.token.empty()) status = CheckToken(access.token);
  if (!status.ok()) return ReportUsage(console, status);
  if (flags.directory.empty()) {
    flags.directory = "models/" + flags.repository.substr(flags.repository.rfind('/') + 1);
  }
  while (flags.directory.size() > 1 && flags.directory.ends_with('/')) flags.directory.pop_back();
  Pull pull(flags, access, &console.err);
  status = pull.Run();
  if (!status.ok()) {
    console.err << "dragoman: " << status.message() << "\n";
    return absl::IsUnavailable(status) ? kExitUnreachable : kExitRefused;
  }
  int64_t bytes = 0;
  for (const HubFile& file : pull.files()) bytes += std::max<int64_t>(file.size, 0);
  console.err << flags.directory << ": " << pull.files().size() << " files, " << Megabytes(bytes)
              << ", " << pull.repository().name << " at " << pull.repository().commit << "\n";
  console.out << "dragoman-server --model " << ModelName(flags.repository) << "=" << flags.directory
              << "\n";
  return kExitOk;
}

}  // namespace

void AddPullCommand(CLI::App* app, const Console& console, ExitCode* exit_code) {
  auto flags = std::make_shared<PullFlags>();
  CLI::App* command = app->add_subcommand(
      "pull",
      "Fetches a model from the Hugging Face Hub: only what the server needs, each file checked. "
      "An interrupted pull continues where it stopped. HF_ENDPOINT and HF_TOKEN mean the same as "
      "for Hugging Face's own tools. Prints the server's command line.");
  command->add_option("REPOSITORY", flags->repository, "OWNER/NAME, as on huggingface.co")
      ->required();
  command->add_option("--directory", flags->directory, "where to put it [models/NAME]");
  command->add_option("--revision", flags->revision, "a branch, tag or commit")
      ->capture_default_str();
  command->callback([flags, &console, exit_code] { *exit_code = RunPull(*flags, console); });
}

}  // namespace dragoman
