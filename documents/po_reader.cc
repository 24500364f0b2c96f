// gettext's PO and POT: the entries that have no translation yet.
//
//   #: menu.c:12
//   msgid "One file"
//   msgid_plural "%d files"
//   msgstr[0] ""          <- "One file"
//   msgstr[1] ""          <- "%d files"
//
// How many plural forms there are is what the header says (Plural-Forms), or in a template, which
// does not say it, what is usual in the target language; missing forms are added, and those too
// many are left out.  What a header lacks, or has as a template, and tools need is filled in: the
// language, its plural forms and the encoding.  Comments, flags and obsolete entries stay as they
// are; an entry that is fuzzy and empty is translated, and stays fuzzy.

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "documents/inline_text.h"
#include "documents/message_format.h"
#include "documents/passage_list.h"
#include "documents/plural_forms.h"
#include "documents/readers.h"
#include "documents/source_text.h"
#include "engine/base/patience.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr size_t kPoWidth = 79;  // of a line

// A string of an entry: one or more quoted pieces.
struct PoString {
  size_t begin = 0, end = 0;  // of its pieces, with their quotes
  std::string text;
  bool present = false;
};

struct PoEntry {
  int line = 0;
  bool message = false;  // MessageFormat of Java reads it
  PoString context, id, plural;
  std::vector<std::pair<size_t, PoString>> forms;  // of msgstr, or msgstr[number]
};

std::string QuotePo(std::string_view text) {
  return absl::StrReplaceAll(
      std::string(text),
      {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}, {"\t", "\\t"}, {"\r", "\\r"}});
}

// The pieces of a string, as gettext cuts them: one, or an empty one and then lines.
std::string SpellPo(std::string_view text, std::string_view newline) {
  const size_t first = text.find('\n');
  const std::string whole = QuotePo(text);
  const bool lines = first != text.npos && first + 1 < text.size();
  if (!lines && whole.size() + 8 <= kPoWidth) return absl::StrCat("\"", whole, "\"");
  std::string out = "\"\"", piece;
  const auto finish = [&] {
    if (!piece.empty()) absl::StrAppend(&out, std::string(newline), "\"", piece, "\"");
    piece.clear();
  };
  while (!text.empty()) {
    // A word, with the white space behind it.
    const size_t space = std::min(text.find_first_of(" \n"), text.size());
    const size_t end = std::min(space + 1, text.size());
    const std::string word = QuotePo(text.substr(0, end));
    if (piece.size() + word.size() + 2 > kPoWidth) finish();
    piece += word;
    if (space < text.size() && text[space] == '\n') finish();
    text.remove_prefix(end);
  }
  finish();
  return out;
}

class PoReader {
 public:
  PoReader(std::string_view part, const DocumentOptions& options)
      : part_(part),
        source_(options.source_language),
        language_(options.target_language),
        patience_(options),
        forms_(UsualPluralForms(options.target_language)) {}

  Passages Read() && {
    size_t at = 0;
    if (!language_.empty()) passages_.AddBeforeNext(Replacement(at, at, 1, NewHeader()));
    for (line_ = 1; at < part_.size(); ++line_) {
      const size_t end = std::min(part_.find('\n', at), part_.size());
      if (!patience_.Lasts(end + 1 - at)) return patience_.status();
      RETURN_IF_ERROR(ReadLine(at, end));
      at = end + 1;
    }
    RETURN_IF_ERROR(Finish());
    return passages_.Take();
  }

 private:
  absl::Status ReadLine(size_t begin, size_t end) {
    size_t at = SkipBlanks(begin, end);
    if (at == end) return absl::OkStatus();
    if (part_[at] == '#') {
      // Comments stand in front of an entry.
      if (!entry_.forms.empty()) RETURN_IF_ERROR(Finish());
      const std::string_view comment = part_.substr(at, end - at);
      if (comment.starts_with("#,") && comment.find(" java-format") != comment.npos) {
        entry_.message = true;
      }
      return absl::OkStatus();
    }
    if (part_[at] == '"') {
      if (value_ == nullptr) return DamagedLine(line_, "want a keyword in front of the string");
      return ReadPiece(at, end);
    }
    const size_t keyword_end = std::min(part_.find_first_of(" \t\r\"", at), end);
    const std::string_view keyword = part_.substr(at, keyword_end - at);
    RETURN_IF_ERROR(Begin(keyword));
    // The string may begin in a later line.
    at = part_.find_first_not_of(" \t\r\n", keyword_end);
    if (at == part_.npos || part_[at] != '"') return DamagedLine(line_, "want a string in quotes");
    value_->begin = at;
    value_->present = true;
    return at < end ? ReadPiece(at, end) : absl::OkStatus();
  }

  size_t SkipBlanks(size_t at, size_t end) const {
    return std::min(part_.find_first_not_of(" \t\r", at), end);
  }

  absl::Status Begin(std::string_view keyword) {
    if (keyword == "domain") {
      RETURN_IF_ERROR(Finish());
      domain_ = {};
      return Take(&domain_, keyword);
    }
    if (keyword == "msgctxt" || (keyword == "msgid" && entry_.id.present)) {
      RETURN_IF_ERROR(Finish());
    }
    if (entry_.line == 0) entry_.line = line_;
    if (keyword == "msgctxt") return Take(&entry_.context, keyword);
    if (keyword == "msgid") return Take(&entry_.id, keyword);
    if (!entry_.id.present) return DamagedLine(line_, "want msgid first");
    if (keyword == "msgid_plural") return Take(&entry_.plural, keyword);
    size_t number = 0;
    if (keyword != "msgstr") {
      const bool one_digit = keyword.size() == 9 && keyword.starts_with("msgstr[") &&
                             keyword[7] >= '0' && keyword[7] <= '9' && keyword[8] == ']';
      if (!one_digit) {
        return DamagedLine(line_, "unknown keyword ", std::string(keyword));
      }
      number = static_cast<size_t>(keyword[7] - '0');
      if (!entry_.plural.present) return DamagedLine(line_, "want msgid_plural first");
    } else if (entry_.plural.present) {
      return DamagedLine(line_, "want msgstr[0]");
    }
    if (number != entry_.forms.size()) return DamagedLine(line_, "is not the next msgstr");
    entry_.forms.emplace_back(number, PoString());
    value_ = &entry_.forms.back().second;
    return absl::OkStatus();
  }

  absl::Status Take(PoString* value, std::string_view keyword) {
    if (value->present) {
      return DamagedLine(line_, "has a second ", std::string(keyword));
    }
    value_ = value;
    return absl::OkStatus();
  }

  absl::Status ReadPiece(size_t at, size_t end) {
    for (++at; at < end && part_[at] != '"'; ++at) {
      if (part_[at] != '\\') {
        value_->text += part_[at];
        continue;
      }
      if (++at == end) break;
      AppendEscape(&at, end);
    }
    if (at >= end) return DamagedLine(line_, "has a string without its closing quote");
    value_->end = at + 1;
    if (SkipBlanks(at + 1, end) != end) return DamagedLine(line_, "has more behind the string");
    return absl::OkStatus();
  }

  // Appends the character that the escape whose letter is at *at stands for.
  void AppendEscape(size_t* at, size_t end) {
    static constexpr std::string_view kLetters = "ntrabfv", kCharacters = "\n\t\r\a\b\f\v";
    const char c = part_[*at];
    const size_t found = kLetters.find(c);
    if (found != kLetters.npos) {
      value_->text += kCharacters[found];
    } else if (c >= '0' && c <= '7') {
      unsigned code = 0;
      size_t digits = 0;
      for (; digits < 3 && *at + digits < end && part_[*at + digits] >= '0' &&
             part_[*at + digits] <= '7';
           ++digits) {
        code = code * 8 + static_cast<unsigned>(part_[*at + digits] - '0');
      }
      *at += digits - 1;
      if (code < 0x80) value_->text += static_cast<char>(code);
    } else {
      value_->text += c;
    }
  }

  // The entry that was read.
  absl::Status Finish() {
    if (entry_.line == 0) return absl::OkStatus();
    PoEntry entry = std::exchange(entry_, {});
    value_ = nullptr;
    if (!entry.id.present) return DamagedLine(entry.line, "has no msgid");
    if (entry.forms.empty()) return DamagedLine(entry.line, "has no msgstr");
    if (entry.id.text.empty() && !entry.context.present) return ReadHeader(entry);
    if (entry.plural.present) {
      AddPlural(entry);
    } else if (PoString& form = entry.forms[0].second; form.text.empty()) {
      AddPassage(form.begin, form.end, entry, entry.id.text, "");
    }
    return absl::OkStatus();
  }

  absl::Status ReadHeader(const PoEntry& entry) {
    const std::string& header = entry.forms[0].second.text;
    const std::string charset = After(header, "charset=");
    if (!charset.empty() && charset != "CHARSET" && !IsNamed(charset, "utf-8") &&
        !IsNamed(charset, "utf8") && !IsNamed(charset, "us-ascii") && !IsNamed(charset, "ascii")) {
      return DamagedLine(entry.line, "is encoded in ", charset, ", want UTF-8");
    }
    // One in the source language, which becomes one of the translation.
    const bool copy = !source_.empty() && !language_.empty() &&
                      IsSameLanguage(After(header, "Language: "), source_) &&
                      !IsSameLanguage(source_, language_);
    FillHeader(entry, copy);
    const std::string forms = copy ? "" : After(header, "nplurals=");
    if (forms.size() == 1 && forms[0] >= '1' && forms[0] <= '6') {
      forms_ = static_cast<size_t>(forms[0] - '0');
    }
    return absl::OkStatus();
  }

  static bool IsSameLanguage(std::string_view tag, std::string_view other) {
    return IsNamed(tag.substr(0, tag.find_first_of("-_")),
                   other.substr(0, other.find_first_of("-_")));
  }

  static std::string After(const std::string& header, std::string_view name) {
    const size_t at = header.find(name);
    if (at == header.npos) return "";
    const std::string value = header.substr(at + name.size());
    return value.substr(0, value.find_first_of(" ;\n\t"));
  }

  std::string HeaderField(std::string_view name, std::string_view value) const {
    return absl::StrCat("\"", std::string(name), ": ", std::string(value), "\\n\"");
  }
  std::string LanguageField() const {
    return HeaderField("Language", absl::StrReplaceAll(language_, {{"-", "_"}}));
  }
  std::string PluralField() const {
    return HeaderField("Plural-Forms", UsualPluralRule(language_));
  }

  // Of a file that has none.
  std::string NewHeader() const {
    std::string header = absl::StrCat("msgid \"\"", newline_, "msgstr \"\"", newline_);
    for (const std::string& field :
         {LanguageField(), HeaderField("MIME-Version", "1.0"),
          HeaderField("Content-Type", "text/plain; charset=UTF-8"),
          HeaderField("Content-Transfer-Encoding", "8bit"), has_plurals_ ? PluralField() : ""}) {
      if (!field.empty()) absl::StrAppend(&header, field, newline_);
    }
    return header + newline_;
  }

  // Notes the header with what it lacks, for when there is something to be translated.
  void FillHeader(const PoEntry& entry, bool copy) {
    passages_.AddBeforeNext(std::nullopt);
    if (language_.empty()) return;
    const PoString& value = entry.forms[0].second;
    const std::string was(part_.substr(value.begin, value.end - value.begin));
    std::string header = absl::StrReplaceAll(
        was, {{"charset=CHARSET", "charset=UTF-8"},
              {"\"Language: \\n\"", LanguageField()},
              {"\"Language:\\n\"", LanguageField()},
              {"nplurals=INTEGER; plural=EXPRESSION;", UsualPluralRule(language_)}});
    for (const std::string& field : {LanguageField(), PluralField()}) {
      const size_t at = header.find(field.substr(0, field.find(':') + 1));
      const size_t end = header.find("\\n\"", at);
      if (copy && at != header.npos && end != header.npos) header.replace(at, end + 3 - at, field);
    }
    if (!value.text.empty() && !value.text.ends_with('\n')) header.insert(header.size() - 1, "\\n");
    const auto lacks = [&](std::string_view name) { return header.find(name) == header.npos; };
    const size_t fields = header.size();
    if (lacks("charset=")) {
      absl::StrAppend(&header, newline_, HeaderField("Content-Type", "text/plain; charset=UTF-8"));
    }
    if (lacks("Language:")) absl::StrAppend(&header, newline_, LanguageField());
    if (has_plurals_ && lacks("Plural-Forms:")) absl::StrAppend(&header, newline_, PluralField());
    if (header.size() == fields && !value.text.ends_with('\n')) header = was;
    if (header == was) return;
    passages_.AddBeforeNext(Replacement(value.begin, value.end, entry.line, header));
  }

  void AddPlural(const PoEntry& entry) {
    const auto& forms = entry.forms;
    const size_t last = forms.back().second.end;
    const bool untranslated = std::all_of(
        forms.begin(), forms.end(), [](const auto& form) { return form.second.text.empty(); });
    // In Russian, the first form is that of 21, too, and must say the number.
    const std::string rule = UsualPluralRule(language_);
    const bool many = rule.substr(0, rule.find('?')).find('%') != rule.npos;
    const bool says = entry.id.text.find_first_of("%{") != entry.id.text.npos;
    const std::string& one = forms_ > 1 && (says || !many) ? entry.id.text : entry.plural.text;
    for (size_t i = 0; i < std::max(forms.size(), std::min(forms_, kMostForms)); ++i) {
      const std::string& text = i == 0 ? one : entry.plural.text;
      if (i >= forms.size()) {
        AddPassage(last, last, entry, text, absl::StrCat(newline_, "msgstr[", i, "] "));
      } else if (i + 1 == forms_ && forms.size() > forms_ && untranslated) {
        return AddPassage(forms[i].second.begin, last, entry, text, "");
      } else if (const PoString& form = forms[i].second; form.text.empty()) {
        AddPassage(form.begin, form.end, entry, text, "");
      }
    }
  }

  void AddPassage(size_t begin, size_t end, const PoEntry& entry, const std::string& text,
                  const std::string& keyword) {
    if (!HasWords(text)) return;
    const auto spell = [](std::string_view characters) { return std::string(characters); };
    std::optional<Passage> message;
    if (entry.message) {
      message = MessageFormatPassage(begin, end, entry.line, text, true, spell, &patience_);
    }
    Passage passage = message.has_value() ? *std::move(message)
                                          : PlainPassage(begin, end, entry.line, text, spell);
    passage.write = [keyword, newline = newline_,
                     write = std::move(passage.write)](std::string_view translation) {
      return absl::StrCat(keyword, SpellPo(write(translation), newline));
    };
    passage.bilingual = true;
    passages_.Add(std::move(passage));
  }

  const std::string_view part_;
  const bool has_plurals_ = part_.find("msgid_plural") != part_.npos;
  const std::string source_, language_;  // of the texts, and of the translation
  const std::string newline_ = part_.find("\r\n") == part_.npos ? "\n" : "\r\n";
  Patience patience_;
  size_t forms_;  // of a plural
  int line_ = 1;
  PoEntry entry_;
  PoString domain_;
  PoString* value_ = nullptr;  // that the next piece belongs to
  PassageList passages_{&patience_};
};

}  // namespace

Passages ReadPo(std::string_view part, const DocumentOptions& options) {
  return PoReader(part, options).Read();
}

}  // namespace dragoman
