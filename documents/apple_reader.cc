// Apple's .strings and .stringsdict.
//
//   /* a comment */                          <key>one</key>
//   "key" = "Hello, %@";                     <string>%d dog</string>
//
// In a .stringsdict, variables ("%#@dogs@") and the values that say how a number is written are
// kept.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "documents/inline_text.h"
#include "documents/passage_list.h"
#include "documents/readers.h"
#include "documents/source_text.h"
#include "documents/xml_inline.h"
#include "engine/base/patience.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/base/xml_events.h"

namespace dragoman {
namespace {

std::string SpellString(std::string_view text, char quote) {
  const std::string open(1, quote), escaped = "\\" + open;
  return absl::StrReplaceAll(std::string(text),
                             {{"\\", "\\\\"}, {open, escaped}, {"\n", "\\n"}, {"\t", "\\t"}});
}

// Reads "key" = "value"; and comments.
class StringsReader {
 public:
  StringsReader(std::string_view part, const DocumentOptions& options)
      : part_(part), patience_(options), lines_(part) {}

  Passages Read() && {
    for (size_t begin = at_;; begin = at_) {
      RETURN_IF_ERROR(SkipSpaces());
      if (!patience_.Lasts(at_ - begin)) return patience_.status();
      if (at_ == part_.size()) return passages_.Take();
      std::string key;
      RETURN_IF_ERROR(TakeWord(&key));
      RETURN_IF_ERROR(SkipSpaces());
      if (Peek() == '=') {
        ++at_;
        RETURN_IF_ERROR(SkipSpaces());
        RETURN_IF_ERROR(TakeValue());
        RETURN_IF_ERROR(SkipSpaces());
      }
      if (Peek() != ';') return DamagedAt(part_, std::min(at_, part_.size()), "want \";\"");
      ++at_;
    }
  }

 private:
  char Peek() const { return at_ < part_.size() ? part_[at_] : '\0'; }

  absl::Status SkipSpaces() { return SkipComments(part_, /*hashes=*/false, &at_); }

  absl::Status TakeWord(std::string* word) {
    if (Peek() == '"' || Peek() == '\'') return TakeString(word);
    const size_t end = std::min(part_.find_first_of(" \t\r\n=;\"'/", at_), part_.size());
    if (end == at_) return DamagedAt(part_, at_, "want a key");
    at_ = end;
    return absl::OkStatus();
  }

  absl::Status TakeValue() {
    const size_t begin = at_ + 1;
    const char quote = Peek();
    const bool quoted = quote == '"' || quote == '\'';
    std::string text;
    RETURN_IF_ERROR(TakeWord(&text));
    if (quoted && HasWords(text)) {
      passages_.Add(
          PlainPassage(begin, at_ - 1, lines_.At(begin), text,
                       [quote](std::string_view said) { return SpellString(said, quote); }));
    }
    return absl::OkStatus();
  }

  absl::Status TakeString(std::string* text) {
    const size_t open = at_;
    for (++at_; at_ < part_.size() && part_[at_] != part_[open]; ++at_) {
      if (part_[at_] != '\\' || at_ + 1 == part_.size()) {
        *text += part_[at_];
        continue;
      }
      const char c = part_[++at_];
      const auto code =
          c == 'U' || c == 'u' ? ParseCode(part_.substr(at_ + 1, 4), 16) : std::nullopt;
      if (code.has_value()) {
        AppendUtf8(*code, text);
        at_ += part_.substr(at_ + 1, 4).size();
      } else {
        *text += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
      }
    }
    if (at_ == part_.size())
      return DamagedAt(part_, open, "has a string without its closing quote");
    ++at_;
    return absl::OkStatus();
  }

  const std::string_view part_;
  Patience patience_;
  LineCounter lines_;
  size_t at_ = 0;
  PassageList passages_{&patience_};
};

// The text of a <string>, with its variables, "%#@dogs@" and "%1$#@dogs@", kept.
InlineText WithVariables(std::string_view text, Patience* patience) {
  InlineText out(patience);
  for (size_t at; patience->Lasts(1) && (at = text.find("#@")) != text.npos;) {
    const size_t percent = text.rfind('%', at);
    const size_t close = text.find('@', at + 2);
    if (percent == text.npos || close == text.npos ||
        text.substr(percent + 1, at - percent - 1).find_first_not_of("0123456789$") != text.npos) {
      break;
    }
    out.Text(text.substr(0, percent));
    out.Empty(EscapeXml(text.substr(percent, close + 1 - percent)));
    text.remove_prefix(close + 1);
  }
  out.Text(text);
  return out;
}

}  // namespace

Passages ReadAppleStrings(std::string_view part, const DocumentOptions& options) {
  return StringsReader(part, options).Read();
}

Passages ReadStringsdict(std::string_view part, const DocumentOptions& options) {
  Patience patience(options);
  ASSIGN_OR_RETURN(const std::vector<XmlEvent> events, ReadXmlEvents(part, &patience));
  PassageList passages(&patience);
  std::string key;
  for (size_t i = 0; i < events.size(); ++i) {
    if (!patience.Lasts(sizeof(XmlEvent))) return patience.status();
    const XmlEvent& event = events[i];
    if (event.kind != XmlEvent::kStart || (event.name != "key" && event.name != "string")) continue;
    const XmlEvent& close = events[event.partner];
    const size_t begin = event.end, end = std::max(close.begin, begin);
    std::string text = XmlText(part.substr(begin, end - begin));
    i = event.partner;
    if (event.name == "key") {
      key = std::move(text);
      continue;
    }
    if (key == "NSStringFormatSpecTypeKey" || key == "NSStringFormatValueTypeKey") continue;
    InlineText content = WithVariables(text, &patience);
    if (!content.has_words()) continue;
    passages.Add(std::move(content).ToPassage(begin, end, event.line, &EscapeXml));
  }
  return passages.Take();
}

}  // namespace dragoman
