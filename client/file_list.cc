#include "client/file_list.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

// Null: none.
const DocumentFormat* FormatOf(const fs::path& path, const FileListOptions& options) {
  return FindDocumentFormat(options.format.empty() ? path.filename().string() : options.format);
}

absl::StatusOr<const DocumentFormat*> WantFormat(const fs::path& path,
                                                 const FileListOptions& options) {
  const DocumentFormat* const format = FormatOf(path, options);
  if (format != nullptr) return format;
  return InvalidArgumentError(path.string(), ": the format ",
                              options.format.empty() ? "" : options.format + " ",
                              "is not known, want ", DocumentFormatNames());
}

// "report.de.docx", in `directory`.
std::string OutputName(const fs::path& input, const fs::path& directory,
                       const FileListOptions& options) {
  return (directory / TranslatedName(input.filename().string(), options.target_language)).string();
}

bool IsHidden(const fs::path& path) { return path.filename().string().starts_with("."); }

// Whether it is one of the format, not of another that has the same suffix.
bool BeginsAs(const fs::path& path, const DocumentFormat& format) {
  if (format.begins == nullptr) return true;
  std::string bytes(4096, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(file.gcount()));
  return format.begins(bytes);
}

// Whether it looks like the output of an earlier run: report.de.docx.
bool IsTranslation(const fs::path& path, const FileListOptions& options) {
  return path.stem().extension() == "." + options.target_language;
}

absl::Status AddDirectory(const fs::path& root, const FileListOptions& options,
                          std::vector<FileToTranslate>* files, std::vector<std::string>* skipped) {
  std::error_code error;
  std::vector<fs::path> found;
  auto entry = fs::recursive_directory_iterator(root, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const fs::path& path = entry->path();
    std::error_code ignored;
    const bool is_output = !options.output_directory.empty() &&
                           fs::equivalent(path, options.output_directory, ignored);
    if (IsHidden(path) || is_output) {
      entry.disable_recursion_pending();
    } else if (const DocumentFormat* const format = FormatOf(path, options);
               entry->is_regular_file(ignored) && format != nullptr &&
               !IsTranslation(path, options)) {
      found.push_back(path);
    }
  }
  if (error) return NotFoundError(root.string(), ": ", error.message());
  absl::c_sort(found);
  for (const fs::path& path : found) {
    if (options.format.empty() && !BeginsAs(path, *FormatOf(path, options))) {
      if (skipped != nullptr) skipped->push_back(path.string());
      continue;
    }
    const fs::path directory =
        options.output_directory.empty()
            ? path.parent_path()
            : fs::path(options.output_directory) / path.parent_path().lexically_relative(root);
    files->push_back({path.string(), OutputName(path, directory.lexically_normal(), options),
                      FormatOf(path, options)});
  }
  return absl::OkStatus();
}

absl::Status CheckOutputs(const std::vector<FileToTranslate>& files) {
  std::set<std::string> outputs;
  for (const FileToTranslate& file : files) {
    if (!outputs.insert(file.output).second) {
      return InvalidArgumentError("two files would be translated to ", file.output);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FileToTranslate> ListFile(const std::string& input, const std::string& output,
                                         const FileListOptions& options) {
  std::error_code error;
  if (!fs::exists(input, error)) return NotFoundError(input, ": no such file");
  if (fs::is_directory(input, error)) {
    return InvalidArgumentError(input, " is a directory: want --output-directory instead of ",
                                output);
  }
  if (fs::equivalent(input, output, error)) {
    return InvalidArgumentError(input, " would be replaced");
  }
  ASSIGN_OR_RETURN(const DocumentFormat* const format, WantFormat(input, options));
  return FileToTranslate{input, output, format};
}

absl::StatusOr<std::vector<FileToTranslate>> ListFiles(const std::vector<std::string>& paths,
                                                       const FileListOptions& options,
                                                       std::vector<std::string>* skipped) {
  std::vector<FileToTranslate> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      RETURN_IF_ERROR(AddDirectory(path, options, &files, skipped));
      continue;
    }
    const fs::path directory = options.output_directory.empty()
                                   ? fs::path(path).parent_path()
                                   : fs::path(options.output_directory);
    ASSIGN_OR_RETURN(FileToTranslate file,
                     ListFile(path, OutputName(path, directory, options), options));
    files.push_back(std::move(file));
  }
  RETURN_IF_ERROR(CheckOutputs(files));
  return files;
}

}  // namespace dragoman
