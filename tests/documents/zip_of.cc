#include "tests/documents/zip_of.h"

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/mapped_file.h"
#include "engine/base/status.h"
#include "engine/base/zip_archive.h"
#include "engine/base/zip_writer.h"

namespace dragoman {

std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  DRAGOMAN_CHECK(file.is_open());
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

// A file is removed before it is written again: file systems wait for the disk when one is
// replaced.
void WriteBytes(const std::string& path, std::string_view bytes) {
  std::filesystem::remove(path);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string TemporaryPath(const std::string& suffix) {
  static int number = 0;
  static const std::string* const directory = [] {
    std::string name = (std::filesystem::temp_directory_path() / "documents-XXXXXX").string();
    DRAGOMAN_CHECK(mkdtemp(name.data()) != nullptr);
    std::atexit([] { std::filesystem::remove_all(*directory); });
    return new std::string(name);
  }();
  return absl::StrCat(*directory, "/", ++number, suffix);
}

void WriteZip(const std::string& path, const std::vector<ZipMember>& members) {
  std::filesystem::remove(path);
  auto writer = ZipWriter::Create(path);
  DRAGOMAN_CHECK(writer.ok());
  for (const ZipMember& member : members) {
    const ZipArchive::Entry entry = {.name = member.name, .method = member.method, .date = 0x21};
    DRAGOMAN_CHECK((*writer)->Replace(entry, member.content).ok());
  }
  DRAGOMAN_CHECK((*writer)->Finish().ok());
}

std::vector<ZipMember> ReadZip(const std::string& path) {
  const auto file = MappedFile::Open(path);
  DRAGOMAN_CHECK(file.ok());
  const auto zip = ZipArchive::Open((*file)->bytes(), 100'000);
  DRAGOMAN_CHECK(zip.ok());
  std::vector<ZipMember> members;
  for (const ZipArchive::Entry& entry : zip->entries()) {
    const std::string content = zip->Read(entry).value_or("damaged");
    const auto* const packed = reinterpret_cast<const char*>(entry.packed.data());
    members.push_back(
        {entry.name, content, entry.method, std::string(packed, entry.packed.size())});
  }
  return members;
}

std::string ReadMember(const std::string& path, const std::string& name) {
  for (ZipMember& member : ReadZip(path)) {
    if (member.name == name) return std::move(member.content);
  }
  return "no " + name;
}

std::string Same(const std::string& text) { return text; }

std::string Upper(const std::string& text) {
  std::string out;
  char until = '\0';
  for (const char c : text) {
    if (c == '<') until = '>';
    if (c == '&') until = ';';
    const auto upper = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    out += until == '\0' && c > 0 ? upper : c;
    if (c == until) until = '\0';
  }
  return out;
}

Translated TranslateFile(const std::string& input, const Translation& translation,
                         const DocumentOptions& options) {
  const DocumentFormat* const format = FindDocumentFormat(input);
  DRAGOMAN_CHECK(format != nullptr);
  Translated result;
  result.output = TemporaryPath(std::string(format->suffixes[0]));
  auto document = OpenDocument(*format, input, result.output, options);
  if (!document.ok()) {
    result.status = document.status();
    return result;
  }
  while (true) {
    const auto passages = (*document)->Next();
    result.status = passages.status();
    if (!passages.ok() || !passages->has_value()) return result;
    PassageTranslations translations;
    size_t end = 0;
    for (const Passage& passage : **passages) {
      DRAGOMAN_CHECK(passage.begin >= end && passage.end >= passage.begin);
      end = passage.end;
      if (!passage.text.empty()) result.texts.push_back(passage.text);
      translations.push_back(translation(passage.text));
    }
    result.status = (*document)->Write(translations);
    if (!result.status.ok()) return result;
  }
}

}  // namespace dragoman
