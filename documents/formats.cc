// The formats, in one table; a file is opened as its entry says.

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "documents/container_formats.h"
#include "documents/document.h"
#include "documents/readers.h"

namespace dragoman {
namespace {

constexpr std::string_view kTextSuffixes[] = {".txt", ".text"};

constexpr std::string_view kDocxSuffixes[] = {".docx", ".docm", ".dotx", ".dotm"};
constexpr std::string_view kPptxSuffixes[] = {".pptx", ".pptm", ".ppsx", ".potx"};
constexpr std::string_view kXlsxSuffixes[] = {".xlsx", ".xlsm", ".xltx"};
constexpr std::string_view kOdtSuffixes[] = {".odt", ".ott"};
constexpr std::string_view kOdpSuffixes[] = {".odp", ".otp"};
constexpr std::string_view kOdsSuffixes[] = {".ods", ".ots"};
constexpr std::string_view kEpubSuffixes[] = {".epub"};

constexpr DocumentFormat kFormats[] = {
    {.name = "text", .suffixes = kTextSuffixes, .media_type = "text/plain", .reader = ReadText},
    {.name = "docx",
     .suffixes = kDocxSuffixes,
     .media_type = "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
     .open = OpenOfficeFile},
    {.name = "pptx",
     .suffixes = kPptxSuffixes,
     .media_type = "application/vnd.openxmlformats-officedocument.presentationml.presentation",
     .open = OpenOfficeFile},
    {.name = "xlsx",
     .suffixes = kXlsxSuffixes,
     .media_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
     .open = OpenOfficeFile},
    {.name = "odt",
     .suffixes = kOdtSuffixes,
     .media_type = "application/vnd.oasis.opendocument.text",
     .open = OpenOpenDocument},
    {.name = "odp",
     .suffixes = kOdpSuffixes,
     .media_type = "application/vnd.oasis.opendocument.presentation",
     .open = OpenOpenDocument},
    {.name = "ods",
     .suffixes = kOdsSuffixes,
     .media_type = "application/vnd.oasis.opendocument.spreadsheet",
     .open = OpenOpenDocument},
    {.name = "epub",
     .suffixes = kEpubSuffixes,
     .media_type = "application/epub+zip",
     .open = OpenEpub},
};

// A file that is one part.
class File : public Document {
 public:
  File(PassageReader reader, std::string output, std::string bytes, DocumentOptions options)
      : reader_(reader),
        output_(std::move(output)),
        bytes_(std::move(bytes)),
        options_(std::move(options)) {}

  absl::StatusOr<std::optional<std::vector<Passage>>> Next() override {
    if (read_) return std::nullopt;
    read_ = true;
    absl::StatusOr<std::vector<Passage>> passages = reader_(bytes_, options_);
    if (!passages.ok()) return passages.status();
    passages_ = *std::move(passages);
    if (!passages_.empty()) return passages_;
    const absl::Status written = Write({});
    if (!written.ok()) return written;
    return std::nullopt;
  }

  std::string_view part() const override { return ""; }

  absl::Status Write(absl::Span<const std::string> translations) override {
    std::ofstream file(output_, std::ios::binary | std::ios::trunc);
    const std::string out = Splice(bytes_, passages_, translations);
    file.write(out.data(), static_cast<std::streamsize>(out.size()));
    file.close();
    if (!file) return absl::UnavailableError(absl::StrCat("cannot write ", output_));
    return absl::OkStatus();
  }

 private:
  const PassageReader reader_;
  const std::string output_, bytes_;
  const DocumentOptions options_;
  std::vector<Passage> passages_;
  bool read_ = false;
};

}  // namespace

absl::Span<const DocumentFormat> DocumentFormats() { return kFormats; }

const DocumentFormat* FindDocumentFormat(std::string_view name) {
  std::string lower(name);
  absl::AsciiStrToLower(&lower);
  const auto names = [&](const DocumentFormat& format) {
    const auto ends = [&](std::string_view suffix) { return lower.ends_with(suffix); };
    return lower == format.name || lower == format.media_type ||
           std::any_of(format.suffixes.begin(), format.suffixes.end(), ends);
  };
  const auto found = std::find_if(std::begin(kFormats), std::end(kFormats), names);
  return found == std::end(kFormats) ? nullptr : found;
}

absl::StatusOr<std::unique_ptr<Document>> OpenDocument(const DocumentFormat& format,
                                                       const std::string& input,
                                                       const std::string& output,
                                                       const DocumentOptions& options) {
  if (format.open != nullptr) return format.open(input, output, options);
  std::ifstream file(input, std::ios::binary | std::ios::ate);
  if (!file) return absl::NotFoundError(absl::StrCat("cannot read ", input));
  if (static_cast<size_t>(file.tellg()) > options.max_part_bytes) {
    return absl::InvalidArgumentError(absl::StrCat(input, " has ",
                                                   static_cast<size_t>(file.tellg()),
                                                   " bytes, the most is ", options.max_part_bytes));
  }
  file.seekg(0);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return std::make_unique<File>(format.reader, output, std::move(bytes), options);
}

}  // namespace dragoman
