// PHP arrays with texts, as Laravel, Symfony and others keep them: the strings that are values.
//
//   <?php
//   return [
//       'welcome' => 'It\'s you, :name!',        // a comment
//       'lines' => ["one $n\n", 'two'],
//   ];
//
// A file that does more than return an array, set the elements of one ($lang['key'] = '...') or
// define constants (define('KEY', '...')) is a program, and refused.  Strings that are parts of
// expressions, and variables in strings, stay as they are.

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "documents/inline_text.h"
#include "documents/passage_list.h"
#include "documents/readers.h"
#include "documents/source_text.h"
#include "engine/base/patience.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

constexpr size_t kMostVariable = 1000;  // bytes

bool IsPhpNameStart(char c) {
  return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80) != 0;
}
bool IsPhpName(char c) { return IsPhpNameStart(c) || (c >= '0' && c <= '9'); }

struct PhpToken {
  enum Kind { kEnd, kString, kName, kVariable, kOther } kind = kEnd;
  size_t begin = 0, end = 0;
};

class PhpReader {
 public:
  PhpReader(std::string_view part, const DocumentOptions& options)
      : part_(part), patience_(options), lines_(part) {}

  // Whether the first statement returns something, or sets an element of an array.
  bool BeginsArray() {
    PhpToken token, next;
    if (!Begin().ok() || !Next(&token).ok() || !Next(&next).ok()) return false;
    return Of(token) == "return" || (token.kind == PhpToken::kVariable && Of(next) == "[");
  }

  Passages Read() && {
    RETURN_IF_ERROR(Begin());
    PhpToken before, token;
    RETURN_IF_ERROR(Next(&token));
    while (token.kind != PhpToken::kEnd) {
      PhpToken next;
      RETURN_IF_ERROR(Next(&next));
      if (!patience_.Lasts(next.end - token.begin)) return patience_.status();
      RETURN_IF_ERROR(Take(before, token, next));
      before = std::exchange(token, next);
    }
    if (!open_.empty()) return DamagedAt(part_, part_.size(), "has a bracket that is not closed");
    return passages_.Take();
  }

 private:
  absl::Status Begin() {
    if (part_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    at_ = std::min(part_.find_first_not_of(" \t\r\n", at_), part_.size());
    if (!part_.substr(at_).starts_with("<?php")) return DamagedAt(part_, at_, "want <?php");
    at_ += 5;
    return absl::OkStatus();
  }

  std::string_view Of(const PhpToken& token) const {
    return part_.substr(token.begin, token.end - token.begin);
  }

  absl::Status Next(PhpToken* token) {
    RETURN_IF_ERROR(SkipComments(part_, /*hashes=*/true, &at_));
    *token = {PhpToken::kOther, at_, at_};
    if (at_ >= part_.size()) {
      token->kind = PhpToken::kEnd;
      return absl::OkStatus();
    }
    const std::string_view rest = part_.substr(at_);
    if (rest[0] == '\'' || rest[0] == '"') {
      token->kind = PhpToken::kString;
      for (++at_; at_ < part_.size() && part_[at_] != rest[0]; ++at_) at_ += part_[at_] == '\\';
      if (at_ >= part_.size()) {
        return DamagedAt(part_, token->begin, "has a string without its closing quote");
      }
      ++at_;
    } else if (rest.starts_with("<<<")) {
      const size_t size = HeredocSize(rest);
      if (size > 3) token->kind = PhpToken::kString;
      at_ += size;
    } else if (rest.starts_with("?>")) {
      token->kind = PhpToken::kEnd;
      at_ = part_.size();
    } else if (IsPhpNameStart(rest[0]) || rest[0] == '$') {
      token->kind = rest[0] == '$' ? PhpToken::kVariable : PhpToken::kName;
      for (++at_; at_ < part_.size() && IsPhpName(part_[at_]);) ++at_;
    } else {
      at_ += rest.starts_with("=>") || rest.starts_with("==") ? 2 : 1;
    }
    token->end = at_;
    return absl::OkStatus();
  }

  // "<<<NAME", "<<<'NAME'" and what follows, up to the NAME that begins a line and ends it.
  static size_t HeredocSize(std::string_view text) {
    const size_t quote = std::min(text.find_first_not_of(" \t", 3), text.size());
    const size_t begin = quote + (text.substr(quote, 1).find_first_of("'\"") != text.npos);
    size_t end = begin;
    while (end < text.size() && IsPhpName(text[end])) ++end;
    const std::string_view name = text.substr(begin, end - begin);
    if (name.empty()) return 3;
    for (size_t line = text.find('\n', end); line != text.npos; line = text.find('\n', line)) {
      line = std::min(text.find_first_not_of(" \t", line + 1), text.size());
      const size_t after = line + name.size();
      if (text.substr(line).starts_with(name) &&
          (after == text.size() || !IsPhpName(text[after]))) {
        return after;
      }
    }
    return text.size();
  }

  // `before` and `next` are the neighbours of the token.
  absl::Status Take(const PhpToken& before, const PhpToken& token, const PhpToken& next) {
    const std::string_view text = Of(token), last = Of(before);
    if (token.kind == PhpToken::kName && open_.empty()) {
      constexpr std::string_view kNames =
          " return array declare define defined or exit die if empty isset array_merge ";
      // A constant, in an expression.
      const bool constant = last == "." || Of(next) == "." || Of(next) == ";";
      if (!constant && !IsAmong(text, kNames)) {
        return DamagedAt(part_, token.begin, "has ", std::string(text),
                         ", want an array of strings");
      }
    } else if (text == "(" || text == "[") {
      const bool index = before.kind == PhpToken::kVariable || last == "]" || last == ")" ||
                         before.kind == PhpToken::kName;
      patience_.Takes(1);
      const bool list = last == "array" || last == "define";
      open_.push_back(text == "(" ? list : !index || last == "return");
    } else if (text == ")" || text == "]") {
      if (open_.empty()) return DamagedAt(part_, token.begin, "has a bracket that is not open");
      open_.pop_back();
    } else if (token.kind == PhpToken::kString) {
      const std::string_view follows = Of(next);
      const bool array = !open_.empty() && open_.back();
      const bool ends = follows == "," || follows == "]" || follows == ")" || follows == ";";
      const bool element =
          array && !is_name_ && (last == "=>" || last == "," || last == "[" || last == "(");
      // $lang['key'] = 'text';
      const bool assigned = open_.empty() && last == "=" && assigned_;
      if (ends && (element || assigned)) Add(token);
    }
    // Whether what is set is an element; whether the name of a constant follows.
    if (text == "=") assigned_ = last == "]";
    is_name_ = text == "(" && last == "define";
    return absl::OkStatus();
  }

  // The lines between "<<<NAME" and NAME, whose indentation is no part of them.
  void AddHeredoc(const PhpToken& token) {
    const std::string_view whole = Of(token);
    const size_t first = whole.find('\n') + 1, last = whole.rfind('\n');
    const bool quoted = whole.substr(0, first).find('\'') == whole.npos;
    const bool returns = whole[last - 1] == '\r';
    const std::string_view close = whole.substr(last + 1);
    const std::string newline = absl::StrCat(
        returns ? "\r\n" : "\n", std::string(close.substr(0, close.find_first_not_of(" \t"))));
    const std::string_view name = StripWhiteSpace(close);
    if (first > last || name.empty() || whole.substr(0, first).find(name) == whole.npos) return;
    const std::string_view body = whole.substr(first, last - returns - first);
    // The first line has a line end in front of it, which is not among the bytes.
    const std::string lines =
        absl::StrReplaceAll(absl::StrCat(returns ? "\r\n" : "\n", std::string(body)),
                            {{newline, "\n"}, {"\r\n", "\n"}});
    InlineText text(&patience_);
    if (quoted) ReadDouble(lines, &text);
    if (!quoted) text.Text(lines);
    if (!text.has_words()) return;
    const auto spell = [quoted, newline](std::string_view characters) {
      const std::string escaped =
          quoted ? absl::StrReplaceAll(std::string(characters), {{"\\", "\\\\"}, {"$", "\\$"}})
                 : std::string(characters);
      return absl::StrReplaceAll(escaped, {{"\n", newline}});
    };
    const size_t begin = token.begin + first;
    Passage passage =
        std::move(text).ToPassage(begin, begin + body.size(), lines_.At(token.begin), spell);
    passage.write = [write = std::move(passage.write), newline, body = std::string(body),
                     name = std::string(name)](std::string_view translation) {
      const std::string written = write(translation);
      // A line that begins with the name would end it.
      for (size_t at = written.find(name, 1); at != written.npos; at = written.find(name, at + 1)) {
        const size_t before = written.find_last_not_of(" \t", at - 1);
        const size_t end = at + name.size();
        const bool begins = before == written.npos || written[before] == '\n';
        if (begins && (end == written.size() || !IsPhpName(written[end]))) return body;
      }
      return written.substr(std::min(newline.find_first_not_of("\r\n"), newline.size()));
    };
    passages_.Add(std::move(passage));
  }

  void Add(const PhpToken& token) {
    if (part_[token.begin] == '<') return AddHeredoc(token);
    const bool quoted = part_[token.begin] == '"';
    InlineText text(&patience_);
    const std::string_view raw = part_.substr(token.begin + 1, token.end - token.begin - 2);
    if (quoted) {
      ReadDouble(raw, &text);
    } else {
      text.Text(absl::StrReplaceAll(std::string(raw), {{"\\\\", "\\"}, {"\\'", "'"}}));
    }
    if (!text.has_words()) return;
    passages_.Add(std::move(text).ToPassage(
        token.begin + 1, token.end - 1, lines_.At(token.begin), [quoted](std::string_view spelled) {
          const std::string characters(spelled);
          if (!quoted) return absl::StrReplaceAll(characters, {{"\\", "\\\\"}, {"'", "\\'"}});
          return absl::StrReplaceAll(characters, {{"\\", "\\\\"},
                                                  {"\"", "\\\""},
                                                  {"$", "\\$"},
                                                  {"\n", "\\n"},
                                                  {"\t", "\\t"},
                                                  {"\r", "\\r"}});
        }));
  }

  // The size of "$name", "$name->part", "$name[0]", "{$...}" or "${...}" in front of a text; 0.
  static size_t VariableSize(std::string_view text) {
    text = text.substr(0, kMostVariable);
    if (text.starts_with("{$") || text.starts_with("${")) return text.find('}') + 1;
    if (text.size() < 2 || text[0] != '$' || !IsPhpNameStart(text[1])) return 0;
    const auto name_end = [&](size_t at) {
      while (at < text.size() && IsPhpName(text[at])) ++at;
      return at;
    };
    const size_t end = name_end(1);
    const std::string_view rest = text.substr(end);
    if (rest.size() > 2 && rest.starts_with("->") && IsPhpNameStart(rest[2])) {
      return name_end(end + 2);
    }
    const size_t close = rest.starts_with('[') ? rest.find(']') : rest.npos;
    return close != rest.npos ? end + close + 1 : end;
  }

  static void ReadDouble(std::string_view raw, InlineText* out) {
    static constexpr std::string_view kLetters = "ntrvef\\$\"", kCharacters = "\n\t\r\v\x1b\f\\$\"";
    std::string text;
    for (size_t at = 0; at < raw.size();) {
      const std::string_view rest = raw.substr(at);
      const size_t letter = rest.size() > 1 ? kLetters.find(rest[1]) : rest.npos;
      if (const size_t size = VariableSize(rest); size > 0) {
        out->Text(std::exchange(text, ""));
        out->Opaque(std::string(rest.substr(0, size)), rest.substr(0, size));
        at += size;
      } else if (rest[0] == '\\' && letter != rest.npos) {
        text += kCharacters[letter];
        at += 2;
      } else if (rest[0] == '\\' && rest.size() > 1 && IsCode(rest[1])) {
        // "\x41", "\101", "\u{e9}"
        size_t code = 2;
        while (code < rest.size() && IsCodeDigit(rest[code])) ++code;
        out->Text(std::exchange(text, ""));
        out->Opaque(std::string(rest.substr(0, code)), "");
        at += code;
      } else {
        text += rest[0];
        ++at;
      }
    }
    out->Text(text);
  }
  static bool IsCode(char c) { return c == 'x' || c == 'u' || (c >= '0' && c <= '7'); }
  static bool IsCodeDigit(char c) {
    return absl::ascii_isxdigit(static_cast<unsigned char>(c)) || c == '{' || c == '}';
  }

  const std::string_view part_;
  Patience patience_;
  LineCounter lines_;
  size_t at_ = 0;
  std::vector<char> open_;  // brackets: whether each is that of an array, or of a constant
  bool assigned_ = false, is_name_ = false;
  PassageList passages_{&patience_};
};

}  // namespace

bool BeginsPhpArray(std::string_view bytes) {
  return PhpReader(bytes, DocumentOptions()).BeginsArray();
}

Passages ReadPhp(std::string_view part, const DocumentOptions& options) {
  return PhpReader(part, options).Read();
}

}  // namespace dragoman
