#include "tests/documents/scripted_reader.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "documents/text_encoding.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

// The end of what is not translated and begins the text; 0 if nothing does.
size_t KeptSize(std::string_view text, PassageMarkup markup) {
  const auto until = [&](std::string_view end) {
    const size_t at = text.find(end);
    return at == text.npos ? size_t{0} : at + end.size();
  };
  if (text.starts_with('{')) return until("}");
  if (markup == PassageMarkup::kNone) return 0;
  if (text.starts_with('&')) return until(";");
  const size_t tag = text.starts_with('<') ? until(">") : 0;
  if (text.substr(0, tag).find("translate=\"no\"") == text.npos) return tag;
  return until("</" + std::string(text.substr(1, text.find(' ') - 1)) + ">");
}

// The tags and words of a text.
std::vector<std::string> Pieces(const Passage& passage) {
  std::vector<std::string> pieces;
  for (std::string_view rest = passage.text; !rest.empty();) {
    const bool tag = passage.markup != PassageMarkup::kNone && rest[0] == '<';
    const size_t end =
        tag ? rest.find('>') + 1 : std::min(rest.find_first_of(" <", 1), rest.size());
    pieces.emplace_back(rest.substr(0, end == 0 ? rest.size() : end));
    rest.remove_prefix(pieces.back().size());
  }
  return pieces;
}

std::string Joined(const std::vector<std::string>& pieces) {
  std::string out;
  for (const std::string& piece : pieces) out += piece + " ";
  return out;
}

// What a reader promises of its passages; "" if all is true.
std::string FaultOfPassages(std::string_view part, absl::Span<const Passage> passages) {
  size_t end = 0;
  const auto ends = [](char c) { return c == '\n' || c == '\r'; };
  const auto lines = std::count_if(part.begin(), part.end(), ends) + 1;
  for (const Passage& passage : passages) {
    const bool in_order = end <= passage.begin && passage.begin <= passage.end;
    if (!in_order || passage.end > part.size()) return "a passage is out of its place";
    if (!IsValidUtf8(passage.text)) return "a passage is not UTF-8";
    if (passage.line < 1 || passage.line > lines) return "a passage is in no line";
    end = passage.end;
  }
  return "";
}

}  // namespace

DocumentOptions ReaderOptions(const DocumentFormat& format) {
  if (format.name == "tmx" || format.name == "xcstrings")
    return {.source_language = "en", .target_language = "de"};
  return {.source_language = "xx", .columns = {"text"}};
}

std::string FaultOf(const DocumentFormat& format, std::string_view bytes) {
  const DocumentOptions options = ReaderOptions(format);
  std::string part(bytes);
  if (!DecodeText(format.name, "", &part).ok()) return "";
  const auto passages = format.reader(part, options);
  if (!passages.ok()) {
    const bool said =
        absl::IsInvalidArgument(passages.status()) && !passages.status().message().empty();
    return said ? "" : passages.status().ToString();
  }
  if (std::string fault = FaultOfPassages(part, *passages); !fault.empty()) return fault;
  PassageTranslations none(passages->size()), texts, empty(passages->size(), "");
  bool all_have_text = true, bilingual = false;
  for (const Passage& passage : *passages) {
    all_have_text = all_have_text && !passage.text.empty();
    bilingual = bilingual || passage.bilingual;
    texts.push_back(passage.text);
  }
  const std::string untouched = Splice(part, *passages, none);
  if (all_have_text && untouched != part) return "what is not translated changes";
  if (all_have_text && !bilingual && Splice(part, *passages, texts) != part)
    return "a text that is its own translation changes";
  if (Splice(part, *passages, empty) != untouched) return "an empty translation takes a place";
  std::vector<std::pair<std::string, ScriptedTranslator>> translators = BadTranslators();
  translators.emplace_back("upper case", [](const Passage& passage) {
    return UpperCase(passage.text, passage.markup) + " Q";
  });
  for (const auto& [name, translate] : translators) {
    PassageTranslations translations;
    for (const Passage& passage : *passages) translations.push_back(translate(passage));
    const std::string out = Splice(part, *passages, translations);
    const auto again = format.reader(out, options);
    if (!again.ok()) return absl::StrCat(name, ": ", again.status().ToString(), "\n", out);
  }
  return "";
}

std::string UpperCase(std::string_view text, PassageMarkup markup) {
  std::string out;
  while (!text.empty()) {
    const size_t kept = KeptSize(text, markup);
    if (kept > 0) {
      out += text.substr(0, kept);
    } else {
      out += absl::ascii_toupper(static_cast<unsigned char>(text[0]));
    }
    text.remove_prefix(std::max<size_t>(kept, 1));
  }
  return out;
}

std::vector<std::string> TextsOf(PassageReader reader, std::string_view part,
                                 const DocumentOptions& options) {
  const auto passages = reader(part, options);
  if (!passages.ok()) return {std::string(passages.status().message())};
  std::vector<std::string> texts;
  for (const Passage& passage : *passages) {
    if (!passage.text.empty()) texts.push_back(passage.text);
  }
  return texts;
}

std::string TranslatedBy(const std::function<std::string(const Passage&)>& translate,
                         PassageReader reader, std::string_view part,
                         const DocumentOptions& options) {
  const auto passages = reader(part, options);
  if (!passages.ok()) return std::string(passages.status().message());
  PassageTranslations translations;
  for (const Passage& passage : *passages) translations.push_back(translate(passage));
  return Splice(part, *passages, translations);
}

std::string InUpperCase(PassageReader reader, std::string_view part,
                        const DocumentOptions& options) {
  return TranslatedBy(
      [](const Passage& passage) { return UpperCase(passage.text, passage.markup); }, reader, part,
      options);
}

std::string Unchanged(PassageReader reader, std::string_view part, const DocumentOptions& options) {
  return TranslatedBy([](const Passage& passage) { return passage.text; }, reader, part, options);
}

std::vector<std::pair<std::string, ScriptedTranslator>> BadTranslators() {
  return {{"nothing", [](const Passage&) { return ""; }},
          {"white space", [](const Passage&) { return " \n\n "; }},
          {"a word", [](const Passage&) { return "ja"; }},
          {"lines", [](const Passage& passage) { return passage.text + "\n\nq\r\n\n"; }},
          {"twice", [](const Passage& passage) { return passage.text + " " + passage.text; }},
          {"backwards",
           [](const Passage& passage) {
             std::vector<std::string> pieces = Pieces(passage);
             std::reverse(pieces.begin(), pieces.end());
             return Joined(pieces);
           }},
          {"half", [](const Passage& passage) {
             std::vector<std::string> pieces = Pieces(passage);
             pieces.resize((pieces.size() + 1) / 2);
             return Joined(pieces);
           }}};
}

}  // namespace dragoman
