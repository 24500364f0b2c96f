// dragoman pull: fetches a model from the Hugging Face Hub, or from another index (model_index.h).
//
// All files are fetched into DIRECTORY.partial, and each is checked against its digest.  The
// weights come last: the server is asked before whether it can serve what the other files describe,
// and in the end whether it can serve all of it (server_check.h).
//
// Only then a single rename puts them in the place of DIRECTORY.  So DIRECTORY is a complete model,
// the old one or the new one, or does not exist, and an interrupted pull continues with
// DIRECTORY.partial.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/commands.h"
#include "client/credentials.h"
#include "client/download_bar.h"
#include "client/hub.h"
#include "client/json.h"
#include "client/model_files.h"
#include "client/model_index.h"
#include "client/partial_directory.h"
#include "client/server_check.h"
#include "client/text_table.h"
#include "engine/base/json.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

constexpr char kRecord[] = "pull.json";  // a record of what was pulled: repository, commit, files

struct PullFlags {
  std::string repository;
  std::string directory;
  std::string revision = "main";
  std::string index;  // the address of a mirror
  int64_t max_unannounced = HubAccess().max_unannounced;
  bool check = true;                  // whether to ask the server
  std::optional<IndexedModel> other;  // if the model is not on the Hub
};

class Pull {
 public:
  Pull(const PullFlags& flags, const HubAccess& access, std::ostream* progress)
      : flags_(flags), hub_(access), progress_(*progress) {}

  absl::Status Run() {
    if (flags_.other.has_value()) {
      ASSIGN_OR_RETURN(repository_, FindInIndex(*flags_.other));
      files_ = repository_.files;
    } else {
      RETURN_IF_ERROR(ChooseFromHub());
    }
    RETURN_IF_ERROR(CheckDirectory());
    if (flags_.other.has_value() && IsRecorded()) return PartialDirectory::Clear(flags_.directory);
    ASSIGN_OR_RETURN(partial_, PartialDirectory::Open(flags_.directory));
    RETURN_IF_ERROR(FetchAll());
    RETURN_IF_ERROR(CheckAll());
    return partial_->Publish();
  }

  const HubRepository& repository() const { return repository_; }
  const std::vector<HubFile>& files() const { return files_; }
  // Whether nothing had to be fetched.
  bool was_there() const { return fetched_ == 0; }
  // What the server says of it; nothing if it was not asked.
  const std::optional<ServerCheck>& check() const { return check_; }

 private:
  absl::Status ChooseFromHub() {
    ASSIGN_OR_RETURN(repository_, hub_.List(flags_.repository, flags_.revision));
    std::vector<std::string> names;
    for (const HubFile& file : repository_.files) names.push_back(file.name);
    ASSIGN_OR_RETURN(const ModelFiles chosen, ChooseFiles(names));
    for (const std::string& name : chosen.files) RETURN_IF_ERROR(Want(name));
    index_ = chosen.index;
    weights_ = chosen.described ? chosen.files.back() : "";
    return absl::OkStatus();
  }

  absl::Status Want(const std::string& name) {
    const HubFile* const file = repository_.Find(name);
    if (file == nullptr) {
      return FailedPreconditionError("the repository lacks ", name,
                                     ", which its index of the weights names");
    }
    files_.push_back(*file);
    return absl::OkStatus();
  }

  // A directory that this command did not create is not replaced.
  absl::Status CheckDirectory() const {
    const std::string& directory = flags_.directory;
    std::error_code error;
    if (!fs::exists(fs::symlink_status(directory, error))) return absl::OkStatus();
    if (fs::is_directory(fs::symlink_status(directory, error)) && fs::is_empty(directory, error)) {
      return absl::OkStatus();
    }
    const absl::StatusOr<nlohmann::json> json = Record();
    bool ours = json.ok() && TextIn(*json, "repository") == repository_.name;
    const nlohmann::json known = ours ? Member(*json, "files") : nlohmann::json();
    for (fs::directory_iterator it(directory, error), end; !error && it != end;
         it.increment(error)) {
      const std::string name = it->path().filename().string();
      ours = ours && (name == kRecord || absl::c_linear_search(known, name));
    }
    if (ours) return absl::OkStatus();
    return absl::AlreadyExistsError(
        absl::StrCat(directory, " already exists with other content; give another --directory"));
  }

  absl::Status CheckSpace() const {
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
    return FailedPreconditionError(partial_->path(), ": wants ", SizeText(missing),
                                   ", but the disk has ",
                                   SizeText(static_cast<int64_t>(space.available)));
  }

  absl::Status Fetch(const HubFile& file) {
    const std::string path = partial_->Path(file.name);
    const std::string before = flags_.directory + "/" + file.name;
    DownloadBar bar(&progress_, file.name, file.size);
    if (!IsFile(path, file)) {
      std::error_code error;
      fs::remove(path, error);
      // A file that has not changed since the last pull need not be fetched again.
      const bool same = !file.digest().empty() && IsFile(before, file);
      if (same) fs::create_hard_link(before, path, error);
      if (!same || error) {
        RETURN_IF_ERROR(
            hub_.Fetch(repository_, file, path, [&bar](int64_t bytes) { bar.Show(bytes); }));
        ++fetched_;
      }
    }
    std::error_code error;
    const uintmax_t size = fs::file_size(path, error);
    bar.Finish(error ? file.size : static_cast<int64_t>(size));
    return absl::OkStatus();
  }

  absl::Status FetchAll() {
    std::vector<std::string> keep;
    RETURN_IF_ERROR(CheckSpace());
    for (size_t i = 0; i < files_.size(); ++i) {
      if (files_[i].name == weights_) RETURN_IF_ERROR(CheckBeforeWeights());
      RETURN_IF_ERROR(Fetch(files_[i]));
      const std::string path = partial_->Path(files_[i].name);
      if (files_[i].name == index_) {
        ASSIGN_OR_RETURN(const std::string text, ReadUtf8File(path));
        ASSIGN_OR_RETURN(const std::vector<std::string> shards, ShardsOf(text));
        for (const std::string& shard : shards) RETURN_IF_ERROR(Want(shard));
        RETURN_IF_ERROR(CheckSpace());
      }
      std::vector<std::string> unpacked;
      if (flags_.other.has_value()) {
        ASSIGN_OR_RETURN(unpacked, UnpackModel(path));
      }
      if (unpacked.empty()) unpacked = {files_[i].name};
      keep.insert(keep.end(), unpacked.begin(), unpacked.end());
    }
    RETURN_IF_ERROR(WriteRecord(keep));
    keep.push_back(kRecord);
    return partial_->KeepOnly(keep);
  }

  absl::Status CheckBeforeWeights() const {
    if (!flags_.check) return absl::OkStatus();
    const std::optional<ServerCheck> check = CheckWithServer(partial_->path(), true);
    if (!check.has_value() || check->servable) return absl::OkStatus();
    return FailedPreconditionError("nothing more is fetched, for ",
                                   absl::StripTrailingAsciiWhitespace(check->report));
  }

  absl::Status CheckAll() {
    if (flags_.check) check_ = CheckWithServer(partial_->path(), false);
    if (!check_.has_value()) return absl::OkStatus();
    if (!check_->servable) {
      return FailedPreconditionError(flags_.directory,
                                     ": is left as it was, for the server refuses this:\n",
                                     absl::StripTrailingAsciiWhitespace(check_->report));
    }
    absl::StrReplaceAll({{partial_->path(), flags_.directory}}, &check_->report);
    return absl::OkStatus();
  }

  absl::StatusOr<nlohmann::json> Record() const {
    return ReadJsonObject(flags_.directory + "/" + kRecord);
  }

  // Whether the directory has this version already, of which there are no digests.
  bool IsRecorded() const {
    const absl::StatusOr<nlohmann::json> record = Record();
    if (!record.ok() || TextIn(*record, "commit") != repository_.commit) return false;
    const nlohmann::json& names = Member(*record, "files");
    return absl::c_all_of(names, [this](const nlohmann::json& name) {
      std::error_code error;
      return name.is_string() &&
             fs::exists(flags_.directory + "/" + name.get<std::string>(), error);
    });
  }

  absl::Status WriteRecord(const std::vector<std::string>& names) const {
    const Json record = {
        {"repository", repository_.name}, {"commit", repository_.commit}, {"files", names}};
    std::ofstream out(partial_->Path(kRecord));
    out << WriteJson(record, 2) << "\n";
    out.close();
    return out ? absl::OkStatus() : FailedPreconditionError(partial_->path(), ": cannot write");
  }

  const PullFlags& flags_;
  Hub hub_;
  std::ostream& progress_;
  HubRepository repository_;
  std::vector<HubFile> files_;  // those to fetch
  std::string index_;           // the index of sharded weights among them; "" if there is none
  std::string weights_;         // the first file of the weights, before which the server is asked
  int fetched_ = 0;
  std::optional<ServerCheck> check_;
  std::unique_ptr<PartialDirectory> partial_;
};

// Says what the server makes of it; its memory and speed on this machine, if it can be served.
ExitCode Report(const PullFlags& flags, const Pull& pull, const Console& console) {
  int64_t bytes = 0;
  for (const HubFile& file : pull.files()) bytes += std::max<int64_t>(file.size, 0);
  console.err << flags.directory << ": " << (pull.was_there() ? "already here, " : "")
              << pull.files().size() << (pull.files().size() == 1 ? " file, " : " files, ");
  if (bytes > 0) console.err << SizeText(bytes) << ", ";
  console.err << pull.repository().name << " at " << pull.repository().commit << "\n";
  std::optional<ServerCheck> check = pull.check();
  if (flags.check && !check.has_value()) check = CheckWithServer(flags.directory, false);
  if (check.has_value()) {
    console.err << check->report;
    if (!check->servable) return kExitRefused;
  }
  const std::string name =
      flags.other.has_value() ? flags.other->languages : ModelName(flags.repository);
  console.out << "dragoman-server --model " << name << "=" << flags.directory << "\n";
  return kExitOk;
}

Outcome RunPull(PullFlags flags, const Console& console) {
  HubAccess access = HubAccess::FromEnvironment();
  access.max_unannounced = flags.max_unannounced;
  const std::string page = access.endpoint + "/";
  if (flags.repository.starts_with(page)) flags.repository.erase(0, page.size());
  flags.other = ParseIndexedModel(flags.repository, flags.index);
  if (!flags.other.has_value()) {
    RETURN_IF_ERROR(CheckRepositoryName(flags.repository));
    if (!access.token.empty()) RETURN_IF_ERROR(CheckToken(access.token));
  }
  if (flags.directory.empty()) {
    flags.directory = flags.other.has_value()
                          ? flags.other->Directory()
                          : "models/" + flags.repository.substr(flags.repository.rfind('/') + 1);
  }
  while (flags.directory.size() > 1 && flags.directory.ends_with('/')) flags.directory.pop_back();
  Pull pull(flags, access, &console.err);
  const absl::Status status = pull.Run();
  if (status.ok()) return Report(flags, pull, console);
  console.err << "dragoman: " << status.message() << "\n";
  return absl::IsUnavailable(status) ? kExitUnreachable : kExitRefused;
}

}  // namespace

void AddPullCommand(CLI::App* app, const Console& console, ExitCode* exit_code) {
  auto flags = std::make_shared<PullFlags>();
  CLI::App* command = app->add_subcommand(
      "pull",
      "Fetches a model: only what the server needs, each file checked. An interrupted pull "
      "continues where it stopped. HF_ENDPOINT and HF_TOKEN mean the same as for Hugging Face's "
      "own tools. Prints the server's command line.");
  command->add_option("MODEL", flags->repository, kModelIndexHelp)->required();
  command->add_option("--directory", flags->directory, "where to put it [models/NAME]");
  command->add_option("--revision", flags->revision, "a branch, tag or commit")
      ->capture_default_str();
  command->add_flag("!--no-check", flags->check,
                    "do not ask dragoman-server whether it can serve the model");
  command->add_option("--index", flags->index,
                      "URL of a mirror of the index, for a model that is not on the Hub");
  command
      ->add_option("--max-unannounced", flags->max_unannounced,
                   "the most bytes of a file whose size nobody says")
      ->capture_default_str();
  command->callback(
      [flags, &console, exit_code] { *exit_code = CodeOf(RunPull(*flags, console), console); });
}

}  // namespace dragoman
