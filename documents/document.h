// A file that is translated: the passages of it that are, and how their translations take their
// place.
//
//   hello.md      # One *dog*            passage   One <x1>dog</x1>        markup: XML
//   hello.de.md   # Ein *Hund*           becomes   Ein <x1>Hund</x1>
//
// Splice, never serialize: a passage is a stretch of bytes of the file, and every byte outside of
// the passages is the byte that came.  Passages are translated as any text is, in the markup that
// they are said to have; so a format needs a reader alone, which finds the passages, and gives each
// a function that writes its translation in the syntax of the file.
//
// A container (a zip of XML files) has parts; any other file is one part.  Parts are read and
// written one after another, so that the memory is that of the largest one.
//
// Nothing here knows of models, servers or threads.

#ifndef DRAGOMAN_DOCUMENTS_DOCUMENT_H_
#define DRAGOMAN_DOCUMENTS_DOCUMENT_H_

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace dragoman {

enum class PassageMarkup { kNone, kHtml, kXml };

// A stretch of a part that is translated.
struct Passage {
  size_t begin = 0;  // bytes [begin, end) of the part; of passages in order, none overlaps another
  size_t end = 0;
  int line = 1;      // of the part
  std::string text;  // what is translated; UTF-8; empty: nothing, `write` is called in any case
  PassageMarkup markup = PassageMarkup::kNone;
  // The bytes that take the place of [begin, end), from the translation of `text`.  Null: the
  // translation as it is.
  std::function<std::string(std::string_view translation)> write;
  // The source stands elsewhere, and [begin, end) is where its translation belongs.  If not, a
  // translation that is `text` itself leaves the bytes that came.
  bool bilingual = false;
};

// Of the passages of a part, one for each; none: the bytes that came stay.
using PassageTranslations = std::vector<std::optional<std::string>>;

struct DocumentOptions {
  std::string source_language;  // as BCP-47 tags; "": not known
  std::string target_language;
  std::string encoding;  // of a text file, as iconv or a browser has it; "": as the file says
  std::vector<std::string> columns;     // CSV: names or numbers (from 1) of those to be translated
  size_t max_part_bytes = 256 << 20;    // of a part after decompression
  size_t max_total_bytes = 1024 << 20;  // of all parts
  // Of memory that is taken for a part while it is translated, as readers count it (patience.h).
  size_t max_memory = size_t{4} << 30;
  // Called before more is taken than ever before, with what is then taken in all; an error ends the
  // document with the same error.  Null: there is enough.
  std::function<absl::Status(size_t bytes)> reserve;
  // Asked now and then while a part is read or written; an error ends that with the same error.
  // Null: nobody is asked.
  std::function<absl::Status()> wanted;
  // Is told what of a part is damaged and stays as it is, with its line.  Null: nobody is.
  std::function<void(const std::string& what)> warn;
  size_t wanted_step = 64 << 10;  // bytes that are done between two times
};

// Finds the passages of a part, in order, which is UTF-8 (of properties, also ISO-8859-1).
// INVALID_ARGUMENT, with the line, if it is damaged; RESOURCE_EXHAUSTED if it takes more than
// max_memory; the error of DocumentOptions::wanted.
using PassageReader = absl::StatusOr<std::vector<Passage>> (*)(std::string_view part,
                                                               const DocumentOptions& options);

// Whether a passage has got a translation without characters or, if it has letters, without letters
// and digits.  It counts as not translated, so that no sentence vanishes from a file.
bool IsLost(const Passage& passage, std::string_view translation);

class Patience;  // patience.h

// The part with `translations`, mended (mending.h), in the places of the passages.  It is cut off
// if `patience` does not last; null: it does.
std::string Splice(std::string_view part, absl::Span<const Passage> passages,
                   const PassageTranslations& translations, Patience* patience = nullptr);

// Whether any of them is translated.
bool HasText(absl::Span<const Passage> passages);

// A file on its way from one language to another.
class Document {
 public:
  virtual ~Document() = default;

  // The passages of the next part that has text, until that part is written; none at the end, when
  // the output is complete.  INVALID_ARGUMENT if the file is damaged or exceeds a limit,
  // RESOURCE_EXHAUSTED if that is max_memory.  REQUIRES: the part before was written.
  virtual absl::StatusOr<std::optional<absl::Span<const Passage>>> Next() = 0;
  // The name of that part in the container; "" for other files.
  virtual std::string_view part() const = 0;
  // Writes that part.  INTERNAL, and no output, if it would not be of the format.
  virtual absl::Status Write(const PassageTranslations& translations) = 0;
};

// What names of files end with: ".docx", in lower case, the most usual one first.
class Suffixes {
 public:
  template <typename... Each>
  constexpr explicit Suffixes(Each... each) : each_{each...}, size_(sizeof...(each)) {}

  constexpr const std::string_view* begin() const { return each_.data(); }
  constexpr const std::string_view* end() const { return each_.data() + size_; }
  constexpr std::string_view operator[](size_t i) const { return each_[i]; }

 private:
  std::array<std::string_view, 4> each_;
  size_t size_;
};

// One kind of file.
struct DocumentFormat {
  std::string_view name;  // "docx"
  Suffixes suffixes;
  std::string_view media_type;
  PassageReader reader = nullptr;  // of a file that is one part
  // Of a container: reads `input` and writes `output`, which are paths.
  absl::StatusOr<std::unique_ptr<Document>> (*open)(const std::string& input,
                                                    const std::string& output,
                                                    const DocumentOptions& options) = nullptr;
  // The reader refuses what is not of the format; so it reads what was written, too.
  bool strict = false;
  // The passages are strings of a program (LITERALS_STRINGS): see program_text.h.
  bool strings = false;
  // Whether a file with its suffix may be one, by its first bytes: others have the suffix, too.
  // Null: it is one.
  bool (*begins)(std::string_view bytes) = nullptr;
};

// All formats (formats.cc).
absl::Span<const DocumentFormat> DocumentFormats();
// Their names: "text, html, ...".
std::string DocumentFormatNames();
// The format of a file by its name, media type or suffix; null: none.
const DocumentFormat* FindDocumentFormat(std::string_view name);

// The name of a file's translation: "report.de.docx" of "report.docx".
std::string TranslatedName(const std::string& file_name, const std::string& language);

// Opens `input`, a path, as a file of the format; the translation is written to `output`, which is
// replaced.
absl::StatusOr<std::unique_ptr<Document>> OpenDocument(const DocumentFormat& format,
                                                       const std::string& input,
                                                       const std::string& output,
                                                       const DocumentOptions& options);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_DOCUMENT_H_
