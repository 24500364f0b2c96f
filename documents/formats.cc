// The formats, in one table; a file is opened as its entry says.

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "documents/container_formats.h"
#include "documents/document.h"
#include "documents/program_text.h"
#include "documents/readers.h"
#include "documents/source_text.h"
#include "documents/text_encoding.h"
#include "engine/base/patience.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr DocumentFormat kFormats[] = {
    {"text", Suffixes(".txt", ".text"), "text/plain", ReadText},
    {"html", Suffixes(".html", ".htm", ".xhtml"), "text/html", ReadHtml},
    {"markdown", Suffixes(".md", ".markdown", ".mdx"), "text/markdown", ReadMarkdown},
    {"srt", Suffixes(".srt"), "application/x-subrip", ReadSrt},
    {"vtt", Suffixes(".vtt"), "text/vtt", ReadVtt},
    {"po", Suffixes(".po", ".pot"), "text/x-gettext-translation", ReadPo, nullptr, true, true},
    {"xliff", Suffixes(".xlf", ".xliff"), "application/xliff+xml", ReadXliff, nullptr, true, true},
    {"tmx", Suffixes(".tmx"), "application/x-tmx+xml", ReadTmx, nullptr, true},
    {"ts", Suffixes(".ts"), "text/vnd.trolltech.linguist", ReadQtTs, nullptr, true, true,
     BeginsQtTs},
    {"ass", Suffixes(".ass", ".ssa"), "text/x-ssa", ReadAss},
    {"json", Suffixes(".json"), "application/json", ReadJson, nullptr, true, true},
    {"arb", Suffixes(".arb"), "application/x-arb+json", ReadArb, nullptr, true, true},
    {"properties", Suffixes(".properties"), "text/x-java-properties", ReadProperties, nullptr, true,
     true},
    {"yaml", Suffixes(".yml", ".yaml"), "application/yaml", ReadYaml, nullptr, true, true},
    {"android", Suffixes("strings.xml"), "application/x-android-strings+xml", ReadAndroid, nullptr,
     true, true},
    {"strings", Suffixes(".strings"), "text/x-apple-strings", ReadAppleStrings, nullptr, true,
     true},
    {"stringsdict", Suffixes(".stringsdict"), "application/x-stringsdict+xml", ReadStringsdict,
     nullptr, true, true},
    {"csv", Suffixes(".csv"), "text/csv", ReadCsv},
    {"tsv", Suffixes(".tsv", ".tab"), "text/tab-separated-values", ReadTsv},
    {"dita", Suffixes(".dita", ".ditamap"), "application/dita+xml", ReadDita, nullptr, true},
    {"xcstrings", Suffixes(".xcstrings"), "application/x-xcstrings+json", ReadXcstrings, nullptr,
     true, true},
    {"resx", Suffixes(".resx"), "application/x-resx+xml", ReadResx, nullptr, true, true},
    {"ftl", Suffixes(".ftl"), "text/x-fluent", ReadFluent, nullptr, true, true},
    {"php", Suffixes(".php"), "text/x-php", ReadPhp, nullptr, true, true, BeginsPhpArray},
    {"docx", Suffixes(".docx", ".docm", ".dotx", ".dotm"),
     "application/vnd.openxmlformats-officedocument.wordprocessingml.document", nullptr,
     OpenOfficeFile},
    {"pptx", Suffixes(".pptx", ".pptm", ".ppsx", ".potx"),
     "application/vnd.openxmlformats-officedocument.presentationml.presentation", nullptr,
     OpenOfficeFile},
    {"xlsx", Suffixes(".xlsx", ".xlsm", ".xltx"),
     "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", nullptr, OpenOfficeFile},
    {"odt", Suffixes(".odt", ".ott"), "application/vnd.oasis.opendocument.text", nullptr,
     OpenOpenDocument},
    {"odp", Suffixes(".odp", ".otp"), "application/vnd.oasis.opendocument.presentation", nullptr,
     OpenOpenDocument},
    {"ods", Suffixes(".ods", ".ots"), "application/vnd.oasis.opendocument.spreadsheet", nullptr,
     OpenOpenDocument},
    {"epub", Suffixes(".epub"), "application/epub+zip", nullptr, OpenEpub},
};

// A file that is one part.
class File : public Document {
 public:
  File(const DocumentFormat& format, std::string output, std::string bytes, DocumentOptions options)
      : format_(format),
        output_(std::move(output)),
        bytes_(std::move(bytes)),
        options_(std::move(options)),
        patience_(options_) {}

  absl::StatusOr<std::optional<absl::Span<const Passage>>> Next() override {
    if (read_) return std::nullopt;
    read_ = true;
    ASSIGN_OR_RETURN(encoding_, DecodeText(format_.name, options_.encoding, &bytes_));
    absl::StatusOr<std::vector<Passage>> passages = format_.reader(bytes_, options_);
    if (!passages.ok()) return passages.status();
    passages_ = *std::move(passages);
    if (format_.strings) {
      for (Passage& passage : passages_) passage = ProgramText(std::move(passage), &patience_);
      RETURN_IF_ERROR(patience_.status());
    }
    if (HasText(passages_)) return passages_;
    const absl::Status written = Write(PassageTranslations(passages_.size()));
    if (!written.ok()) return written;
    return std::nullopt;
  }

  std::string_view part() const override { return ""; }

  absl::Status Write(const PassageTranslations& translations) override {
    std::string out = Splice(bytes_, passages_, translations, &patience_);
    RETURN_IF_ERROR(patience_.status());
    RETURN_IF_ERROR(Check(out));
    const bool converts = !encoding_.name.empty();
    const std::string encoded =
        EncodeText(format_.name, encoding_, converts ? out : std::move(out));
    if (converts && encoded == out && !IsAscii(out) && options_.warn != nullptr) {
      options_.warn(absl::StrCat("is UTF-8 now, because ", encoding_.name, " lacks characters"));
    }
    std::ofstream file(output_, std::ios::binary | std::ios::trunc);
    file.write(encoded.data(), static_cast<std::streamsize>(encoded.size()));
    file.close();
    if (!file) return UnavailableError("cannot write ", output_);
    return absl::OkStatus();
  }

 private:
  // A translation that was spelled wrong is found here rather than by who reads the file.
  absl::Status Check(std::string_view out) {
    if (!format_.strict || out == bytes_) return absl::OkStatus();
    passages_ = std::vector<Passage>();  // the memory is that of one of both
    DocumentOptions options = options_;
    options.warn = nullptr;
    options.max_memory *= 2;  // the translation may be longer
    const absl::Status read = format_.reader(out, options).status();
    if (!absl::IsInvalidArgument(read)) return read;
    return InternalError("the translation is not ", std::string(format_.name),
                         " that can be read: ", read.message());
  }

  const DocumentFormat format_;
  const std::string output_;
  TextEncoding encoding_;
  std::string bytes_;  // in UTF-8 when they are read
  const DocumentOptions options_;
  Patience patience_;
  std::vector<Passage> passages_;
  bool read_ = false;
};

}  // namespace

absl::Span<const DocumentFormat> DocumentFormats() { return kFormats; }

std::string DocumentFormatNames() {
  std::string names;
  for (const DocumentFormat& format : kFormats) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", std::string(format.name));
  }
  return names;
}

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
  if (!file) return NotFoundError("cannot read ", input);
  if (static_cast<size_t>(file.tellg()) > options.max_part_bytes) {
    return InvalidArgumentError(input, " has ", static_cast<size_t>(file.tellg()),
                                " bytes, the most is ", options.max_part_bytes);
  }
  file.seekg(0);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return std::make_unique<File>(format, output, std::move(bytes), options);
}

}  // namespace dragoman
