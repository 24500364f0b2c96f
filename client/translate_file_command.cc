// dragoman translate-file: translates files and folders of files, each into a file of its own.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/commands.h"
#include "client/file_list.h"
#include "client/file_translator.h"
#include "client/json.h"
#include "client/progress.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr char kTranslateFileDescription[] =
    "Translates files: their text, and nothing else of them.  report.docx becomes report.de.docx.";
constexpr char kTranslateFileNotes[] =
    "\nOf two PATHs the second is the output.  With --output-directory, or with more of them, all "
    "are\n"
    "inputs; of a folder, every file in it whose format is known.  An output that is there "
    "already\n"
    "is kept.\n"
    "What is translated is kept in OUTPUT.part until the output is complete: if the command is\n"
    "stopped, the next one goes on where it was.\n"
    "\n"
    "  dragoman translate-file -t de report.md\n"
    "  dragoman translate-file -t de report.md bericht.md\n"
    "  dragoman translate-file -t de docs --output-directory docs-de";

struct TranslateFileFlags {
  ServerFlags server;
  RequestFlags request;
  FileListOptions list;
  FileTranslatorOptions translator;
  std::vector<std::string> paths;
  std::string report = "text";
  double max_wait_seconds = 60.0;
  bool overwrite = false;
};

absl::StatusOr<std::vector<FileToTranslate>> FilesOf(const TranslateFileFlags& flags,
                                                     std::vector<std::string>* skipped) {
  const std::vector<std::string>& paths = flags.paths;
  if (paths.size() != 2 || !flags.list.output_directory.empty()) {
    return ListFiles(paths, flags.list, skipped);
  }
  ASSIGN_OR_RETURN(FileToTranslate file, ListFile(paths[0], paths[1], flags.list));
  std::error_code ignored;
  const bool partial = std::filesystem::exists(file.output + ".part", ignored);
  if (std::filesystem::exists(file.output, ignored) && !partial && !flags.overwrite) {
    return InvalidArgumentError(
        file.output,
        " exists: --overwrite replaces it; to translate both files, give an "
        "--output-directory");
  }
  return std::vector<FileToTranslate>{std::move(file)};
}

// Whether the output of a file is there, complete.
bool IsDone(const FileToTranslate& file) {
  std::error_code ignored;
  return std::filesystem::exists(file.output, ignored) &&
         !std::filesystem::exists(file.output + ".part", ignored);
}

// What is counted, by its name in JSON.
constexpr std::pair<const char*, int64_t FileReport::*> kCounts[] = {
    {"segments", &FileReport::segments},
    {"words", &FileReport::words},
    {"earlier_segments", &FileReport::earlier},
    {"untranslated_segments", &FileReport::untranslated},
    {"literal_faults", &FileReport::faults}};

void AddCounts(const FileReport& report, Json* json) {
  for (const auto& [name, count] : kCounts) (*json)[name] = report.*count;
}

Json ToJson(const FileReport& report) {
  Json json = {{"input", report.input}, {"output", report.output}, {"format", report.format}};
  if (report.kept) json["kept"] = true;
  AddCounts(report, &json);
  json["warnings"] = report.warnings;
  if (!report.error.ok()) json["error"] = report.error.ToString();
  return json;
}

FileReport SumOf(const std::vector<FileReport>& reports) {
  FileReport sum;
  for (const FileReport& report : reports) {
    for (const auto& [name, count] : kCounts) sum.*count += report.*count;
  }
  return sum;
}

void PrintJson(const std::vector<FileReport>& reports, std::ostream* out) {
  Json json = {{"files", Json::array()}};
  for (const FileReport& report : reports) json["files"].push_back(ToJson(report));
  AddCounts(SumOf(reports), &json);
  *out << ToLine(json) << "\n";
}

std::string SizeOf(const FileReport& report) {
  std::string size = absl::StrCat(report.segments, " segments, ", report.words, " words");
  if (report.earlier > 0) absl::StrAppend(&size, ", ", report.earlier, " from an earlier run");
  if (report.untranslated > 0) absl::StrAppend(&size, ", ", report.untranslated, " untranslated");
  if (report.faults > 0) absl::StrAppend(&size, ", ", report.faults, " literals missing");
  return size;
}

void PrintText(const std::vector<FileReport>& reports, const Console& console) {
  for (const FileReport& report : reports) {
    if (!report.error.ok()) continue;
    console.out << report.input << " -> " << report.output << ": "
                << (report.kept ? "is there already" : SizeOf(report)) << "\n";
  }
  if (reports.size() > 1) {
    console.out << reports.size() << " files: " << SizeOf(SumOf(reports)) << "\n";
  }
}

// Prints the report and all warnings and errors, and returns the exit code for them.
ExitCode Report(const TranslateFileFlags& flags, const std::vector<FileReport>& reports,
                const Console& console) {
  ExitCode code = kExitOk;
  for (const FileReport& report : reports) {
    for (const std::string& warning : report.warnings) {
      console.err << "dragoman: " << warning << "\n";
    }
    if (report.failed > 0 || report.refused) code = kExitRefused;
  }
  for (const FileReport& report : reports) {
    if (report.error.ok()) continue;
    console.err << "dragoman: " << report.error.message() << "\n";
    if (code == kExitOk) code = kExitUsage;
  }
  if (flags.report == "json") {
    PrintJson(reports, &console.out);
  } else {
    PrintText(reports, console);
  }
  return code;
}

Outcome TranslateFiles(TranslateFileFlags flags, const Console& console) {
  v1::TranslateRequest request = flags.request.Request();
  request.mutable_output()->set_quality(true);
  flags.list.target_language = request.target_language();
  flags.translator.document.source_language = request.source_language();
  flags.translator.document.target_language = request.target_language();
  flags.translator.max_wait = absl::Seconds(flags.max_wait_seconds);
  std::vector<std::string> skipped;
  ASSIGN_OR_RETURN(const auto files, FilesOf(flags, &skipped));
  if (!skipped.empty()) {
    const std::string more =
        skipped.size() > 1 ? absl::StrCat(" and ", skipped.size() - 1, " more") : "";
    console.err << "dragoman: skipped, as not what the suffix says: " << skipped[0] << more << "\n";
  }
  std::vector<FileToTranslate> wanted;
  std::vector<FileReport> kept;
  std::error_code error;
  int64_t bytes = 0;
  for (const FileToTranslate& file : files) {
    if (!flags.overwrite && IsDone(file)) {
      kept.push_back({.input = file.input, .output = file.output, .kept = true});
      kept.back().format = std::string(file.format->name);
    } else {
      wanted.push_back(file);
      const auto size = std::filesystem::file_size(file.input, error);
      if (!error) bytes += static_cast<int64_t>(size);
    }
  }
  ASSIGN_OR_RETURN(const auto client, flags.server.Connect(console));
  std::optional<Progress> progress;
  if (console.err_is_terminal) progress.emplace(&console.err, bytes, absl::Now(), "segments");
  std::vector<FileReport> reports;
  FileTranslator translator(client.get(), request, flags.translator,
                            progress.has_value() ? &*progress : nullptr);
  const absl::Status status = translator.Translate(wanted, &reports);
  if (progress.has_value()) progress->Clear();
  if (!status.ok()) {
    const ExitCode code = ReportFailedTranslation(console, status, client.get());
    const std::string at = translator.FailedAt();
    if (!at.empty()) console.err << "  at " << at << "\n";
    return code;
  }
  reports.insert(reports.begin(), kept.begin(), kept.end());
  return Report(flags, reports, console);
}

}  // namespace

void AddTranslateFileCommand(CLI::App* app, const Console& console, ExitCode* exit_code) {
  auto flags = std::make_shared<TranslateFileFlags>();
  CLI::App* command =
      app->add_subcommand("translate-file", kTranslateFileDescription)->footer(kTranslateFileNotes);
  flags->server.AddTo(command);
  flags->request.AddTo(command);
  // What a passage is written in is known; it begins as it likes.
  for (const char* name : {"--markup", "--target-prefix"}) {
    command->remove_option(command->get_option(name));
  }
  command->get_option("--target-language")->required();
  command->add_option("PATH", flags->paths, "files and folders to translate")->required();
  command->add_option("--output-directory", flags->list.output_directory,
                      "DIRECTORY for the translations, with the folders of the inputs");
  command->add_option("--format", flags->list.format,
                      "what all the files are, whatever their names: text, ...");
  command->add_option("--encoding", flags->translator.document.encoding,
                      "of text files that do not say it: windows-1252, Shift_JIS, ...");
  command
      ->add_option("--columns", flags->translator.document.columns,
                   "of tables (CSV): the names or numbers of those to translate: name,2")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_flag("--overwrite", flags->overwrite, "replace outputs that are there already");
  command->add_flag("--skip-errors", flags->translator.skip_errors,
                    "leave what cannot be translated as it is, instead of giving up its file");
  command
      ->add_option("--report", flags->report,
                   "what to print in the end: text, or json with all counts and warnings")
      ->check(CLI::IsMember({"text", "json"}));
  command
      ->add_option("--max-wait", flags->max_wait_seconds,
                   "seconds to keep retrying while the server is busy, or unreachable after it has "
                   "answered before")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->callback([flags, &console, exit_code] {
    *exit_code = CodeOf(TranslateFiles(*flags, console), console);
  });
}

}  // namespace dragoman
