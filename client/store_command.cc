// dragoman store: looks after what servers keep (store/database.h), without a server.

#include <filesystem>
#include <iostream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/commands.h"
#include "engine/base/status.h"
#include "store/copy.h"

namespace dragoman {
namespace {

struct StoreFlags {
  std::string from, to;
};

using Act = absl::StatusOr<RowCounts> (*)(const StoreFlags& flags,
                                          std::vector<std::string>* faults);

std::string FileStore(const std::string& path) { return "sqlite:" + path; }

// A store that is reached now; a file is made if it is not there.
absl::StatusOr<std::unique_ptr<Database>> OpenNow(const std::string& store) {
  ASSIGN_OR_RETURN(std::unique_ptr<Database> database, Database::Open(store));
  RETURN_IF_ERROR(database->fault());
  return database;
}

// NOT_FOUND if it is a file that is not there.
absl::Status CheckIsThere(absl::string_view store) {
  std::error_code ignored;
  if (!absl::ConsumePrefix(&store, "sqlite:")) return absl::OkStatus();
  if (std::filesystem::exists(std::string(store), ignored)) return absl::OkStatus();
  return NotFoundError(store, ": there is no such file");
}

absl::StatusOr<std::unique_ptr<Database>> OpenOld(const std::string& store) {
  RETURN_IF_ERROR(CheckIsThere(store));
  return OpenNow(store);
}

absl::StatusOr<std::unique_ptr<Database>> NewFile(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    return absl::AlreadyExistsError(absl::StrCat(path, " is there already, want a new file"));
  }
  return OpenNow(FileStore(path));
}

absl::StatusOr<RowCounts> Backup(const StoreFlags& flags, std::vector<std::string>*) {
  ASSIGN_OR_RETURN(const auto from, OpenOld(flags.from));
  ASSIGN_OR_RETURN(const auto to, NewFile(flags.to));
  return CopyStore(from.get(), to.get());
}

absl::StatusOr<RowCounts> Restore(const StoreFlags& flags, std::vector<std::string>*) {
  ASSIGN_OR_RETURN(const auto from, OpenOld(FileStore(flags.from)));
  ASSIGN_OR_RETURN(const auto to, OpenNow(flags.to));
  return CopyStore(from.get(), to.get());
}

absl::StatusOr<RowCounts> Check(const StoreFlags& flags, std::vector<std::string>*) {
  ASSIGN_OR_RETURN(const auto store, OpenOld(flags.from));
  return CheckStore(store.get());
}

absl::StatusOr<RowCounts> Salvage(const StoreFlags& flags, std::vector<std::string>* faults) {
  absl::string_view path = flags.from;
  if (!absl::ConsumePrefix(&path, "sqlite:")) {
    return absl::InvalidArgumentError("only a file can be salvaged, want sqlite:PATH");
  }
  RETURN_IF_ERROR(CheckIsThere(flags.from));
  ASSIGN_OR_RETURN(const auto to, NewFile(flags.to));
  return SalvageStore(std::string(path), to.get(), faults);
}

struct Subcommand {
  const char* name;
  const char* help;
  Act act;
  const char* from;
  const char* to;  // null: it has none
};

constexpr Subcommand kSubcommands[] = {
    {"backup", "Writes all that a store has, as it is at one time, to a new file", &Backup, "STORE",
     "FILE"},
    {"restore", "Puts what a backup has into an empty store, of whichever kind", &Restore, "FILE",
     "STORE"},
    {"check", "Reads all that a store has", &Check, "STORE", nullptr},
    {"salvage", "Copies what can be read of a damaged file to a new one", &Salvage, "STORE",
     "FILE"}};

ExitCode RunStore(Act act, const StoreFlags& flags, const Console& console) {
  std::vector<std::string> faults;
  const absl::StatusOr<RowCounts> counts = act(flags, &faults);
  if (!counts.ok()) return ReportError(console, counts.status());
  for (const auto& [table, rows] : *counts) console.out << table << ": " << rows << " rows\n";
  console.out << std::flush;
  for (const std::string& fault : faults) console.err << fault << "\n";
  return faults.empty() ? kExitOk : kExitUsage;
}

}  // namespace

void AddStoreCommand(CLI::App* app, const Console& console, ExitCode* exit_code) {
  CLI::App* const store =
      app->add_subcommand("store",
                          "Backs up, restores and checks what servers keep: memory, sqlite:PATH or "
                          "postgresql://USER@HOST/DATABASE");
  store->require_subcommand(1);
  for (const Subcommand& each : kSubcommands) {
    auto flags = std::make_shared<StoreFlags>();
    CLI::App* const command = store->add_subcommand(each.name, each.help);
    command->add_option(each.from, flags->from)->required();
    if (each.to != nullptr) command->add_option(each.to, flags->to)->required();
    command->callback([flags, act = each.act, &console, exit_code] {
      *exit_code = RunStore(act, *flags, console);
    });
  }
}

}  // namespace dragoman
