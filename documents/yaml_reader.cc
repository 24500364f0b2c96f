// YAML with texts, as Rails keeps them: the strings that are values.
//
//   en:
//     greeting: Hello, %{name}!
//     note: "It's here"
//     about: |
//       One.
//       Two.
//
// yaml-cpp says where a scalar begins and what it means; where it ends is found by its style, which
// is kept.  One whose bytes do not spell what yaml-cpp read, for example because of its tag,
// stays as it is.  If a key at the top is the source language, it becomes the target language.
//
// A character that is not shown, or that YAML 1.1 takes for a line break, is escaped: "\u2028".

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <exception>
#include <istream>
#include <optional>
#include <streambuf>
#include <utility>

#include "absl/strings/str_cat.h"
#include "documents/inline_text.h"
#include "documents/passage_list.h"
#include "documents/readers.h"
#include "documents/source_text.h"
#include "engine/base/patience.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

// Thrown from within the library's parser, and caught where the parser is called.
struct Refused {
  absl::Status status;
};

constexpr size_t kMostYamlDepth = 100;
constexpr size_t kBytesOfAnchor = 128;  // of the parser, for each

std::string Doubled(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "''" : std::string(1, c);
  return out + "'";
}

// Whether a character means itself in a scalar of any style.
bool IsShown(char32_t c) {
  return (c >= 0x20 && c < 0x7f) ||
         (c >= 0xa0 && c < 0xfffe && c != 0x2028 && c != 0x2029 && c != 0xfeff) || c >= 0x10000;
}

bool AreShown(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (!IsShown(NextCodePoint(text, &at))) return false;
  }
  return true;
}

std::string Escaped(std::string_view text) {
  const auto write = [](char32_t c, std::string* out) {
    if (IsShown(c)) AppendUtf8(c, out);
    return IsShown(c);
  };
  return absl::StrCat("\"", WithEscapes(text, "\n\t\"\\", "nt\"\\", write), "\"");
}

// A value as yaml-cpp gives it.  Before version 0.8 it reads "\_" and "\N" as the bytes A0 and 85,
// which are U+00A0 and U+0085 in ISO-8859-1; nothing else is not UTF-8 in it.
std::string ValueOf(const std::string& given) {
  std::string value;
  for (size_t at = 0; at < given.size();) {
    const size_t begin = at;
    const char32_t c = NextCodePoint(given, &at);
    const bool byte = c == kNoCharacter && at == begin + 1;
    AppendUtf8(byte ? static_cast<unsigned char>(given[begin]) : c, &value);
  }
  return value;
}

bool IsWord(std::string_view text) {  // that is no string
  for (const std::string_view word :
       {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}) {
    if (IsNamed(text, word)) return true;
  }
  return false;
}

// Whether a key is the language, with or without a region: "en", "en-US", "es-419".
bool NamesLanguage(std::string_view key, std::string_view language) {
  const std::string_view name = key.substr(0, key.find_first_of("-_"));
  const std::string_view region = key.substr(std::min(name.size() + 1, key.size()));
  const auto letter = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  return IsNamed(key, language) ||
         (IsNamed(name, language.substr(0, language.find_first_of("-_"))) &&
          (region.size() == 2 || region.size() == 3) &&
          std::all_of(region.begin(), region.end(), letter));
}

std::string SpellSingle(std::string_view text) {
  return AreShown(text) ? Doubled(text) : Escaped(text);
}

// Without quotes if nothing in it means anything else; "flow": between brackets or braces.
std::string SpellPlain(std::string_view text, bool flow) {
  const bool plain =
      !text.empty() && !IsWord(text) && HasWords(text) &&
      std::string_view("-?:,[]{}#&*!|>'\"%@`~+.0123456789 ").find(text[0]) == text.npos &&
      AreShown(text) && (!flow || text.find_first_of(",:?[]{}") == text.npos) &&
      text.find(": ") == text.npos && text.find(" #") == text.npos && !text.ends_with(':') &&
      !text.ends_with(' ');
  return plain ? std::string(text) : SpellSingle(text);
}

size_t SpacesInFront(std::string_view text) {
  return std::min(text.find_first_not_of(" \t"), text.size());
}

// With a space for each character that a block cannot have.
std::string OnlyShown(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = NextCodePoint(text, &at);
    AppendUtf8(IsShown(c) || c == '\n' || c == '\t' ? c : ' ', &out);
  }
  return out;
}

// Behind the anchor of a scalar, and the tag that says that it is a string: "!" (as older versions
// of psych write it) or "!!str".
size_t BehindTag(std::string_view part, size_t at) {
  if (part.substr(std::min(at, part.size())).starts_with('&')) {
    at = std::min(part.find_first_not_of(' ', part.find(' ', at)), part.size());
  }
  for (const std::string_view tag : {"! ", "!!str ", "!<tag:yaml.org,2002:str> "}) {
    if (part.substr(std::min(at, part.size())).starts_with(tag)) {
      return std::min(part.find_first_not_of(' ', at + tag.size()), part.size());
    }
  }
  return at;
}

// A scalar whose bytes were found.
struct Scalar {
  size_t begin = 0, end = 0;
  std::string text;
  Spelling spell;
};

// Finds the bytes of a scalar that begins at `at` and means `value`.
class ScalarFinder {
 public:
  ScalarFinder(std::string_view part, size_t at, const std::string& value, bool flow)
      : part_(part), at_(at), value_(value), flow_(flow) {}

  std::optional<Scalar> Find() const {
    if (at_ >= part_.size()) return std::nullopt;
    switch (part_[at_]) {
      case '\'':
        return Quoted('\'', &SpellSingle);
      case '"':
        return Quoted('"', &Escaped);
      case '|':
      case '>':
        return Block();
      default:
        return Plain();
    }
  }

 private:
  std::optional<Scalar> Quoted(char quote, std::string (*spell)(std::string_view)) const {
    for (size_t end = at_ + 1; end < part_.size(); ++end) {
      if (quote == '"' && part_[end] == '\\') {
        ++end;
      } else if (part_[end] == quote) {
        const bool doubled = quote == '\'' && part_.substr(end + 1).starts_with('\'');
        if (!doubled) return Scalar{at_, end + 1, value_, spell};
        ++end;
      }
    }
    return std::nullopt;
  }

  // A line break is a space; with empty lines, it is as many line breaks as there are of these.
  std::optional<Scalar> Plain() const {
    size_t end = at_;
    for (size_t i = 0; i < value_.size();) {
      if (end < part_.size() && part_[end] == value_[i]) {
        ++end;
        ++i;
        continue;
      }
      const size_t next = std::min(part_.find_first_not_of(" \t\r\n", end), part_.size());
      const std::string_view space = part_.substr(end, next - end);
      const auto lines = static_cast<size_t>(std::count(space.begin(), space.end(), '\n'));
      const std::string folded = lines == 1 ? " " : std::string(lines - (lines > 0), '\n');
      if (lines == 0 || value_.compare(i, folded.size(), folded) != 0) {
        // The space in front of the line break may have been taken already.
        return std::nullopt;
      }
      i += folded.size();
      end = next;
    }
    const auto spell = [flow = flow_](std::string_view text) { return SpellPlain(text, flow); };
    return Scalar{at_, end, value_, spell};
  }

  // The lines of a block are indented like its first one.
  std::optional<Scalar> Block() const {
    const bool folded = part_[at_] == '>';
    size_t begin = part_.find('\n', at_);
    if (begin == part_.npos) return std::nullopt;
    ++begin;
    const size_t first = part_.find_first_not_of(" \r\n", begin);
    if (first == part_.npos) return std::nullopt;
    const size_t line = part_.rfind('\n', first) + 1;
    const std::string indent(part_.substr(line, first - line));
    size_t end = begin;
    std::string text;
    for (size_t at = line; at < part_.size();) {
      const size_t newline = std::min(part_.find('\n', at), part_.size());
      std::string_view bytes = part_.substr(at, newline - at);
      if (bytes.ends_with('\r')) bytes.remove_suffix(1);
      const bool blank = bytes.find_first_not_of(' ') == bytes.npos;
      if (!blank && !bytes.starts_with(indent)) break;
      if (!blank) end = at + bytes.size();
      bytes.remove_prefix(std::min(indent.size(), bytes.size()));
      if (folded && bytes.starts_with(' ')) return std::nullopt;  // lines that are not folded
      absl::StrAppend(&text, text.empty() && at == line ? "" : "\n", std::string(bytes));
      at = newline + 1;
    }
    const std::string value = value_.substr(0, value_.find_last_not_of('\n') + 1);
    text.resize(text.find_last_not_of('\n') + 1);
    if (indent.empty() || (!folded && text != value)) return std::nullopt;
    const auto spell = [indent, folded](std::string_view translation) {
      std::string out;
      bool at_start = true, any = false;
      for (std::string_view text_line : SplitLines(OnlyShown(translation))) {
        if (!std::exchange(at_start, false)) out += folded ? "\n\n" : "\n";
        // White space in front would be indentation, or keep a line from being folded.
        if (folded || !any) text_line.remove_prefix(SpacesInFront(text_line));
        any = any || !text_line.empty();
        if (!text_line.empty()) absl::StrAppend(&out, indent, std::string(text_line));
      }
      return out;
    };
    return Scalar{line, end, value, spell};
  }

  const std::string_view part_;
  const size_t at_;
  const std::string& value_;
  const bool flow_;
};

// A part as the library reads it: some kilobytes at a time, and no more once nobody wants it.  It
// does not throw: the library's constructors leak what they have if that ends them.
class YamlBuffer : public std::streambuf {
 public:
  YamlBuffer(std::string_view part, Patience* patience) : part_(part), patience_(patience) {}

  // The parser has told of something: what it had kept until it knew what that is goes.
  void Told() { patience_->Returns(std::exchange(kept_, 0)); }

 protected:
  int_type underflow() override {
    const std::string_view next = part_.substr(at_, kPiece);
    size_t kept = 0;
    for (const char c : next) kept += BytesOfTokens(c);
    kept_ += kept;
    patience_->Takes(kept);
    if (!patience_->Lasts(next.size()) || next.empty()) return traits_type::eof();
    std::copy(next.begin(), next.end(), piece_);
    at_ += next.size();
    setg(piece_, piece_, piece_ + next.size());
    return traits_type::to_int_type(piece_[0]);
  }

 private:
  static constexpr size_t kPiece = 4096;
  // Of the parser, which keeps those of a whole [list], because that may be a key.
  static size_t BytesOfTokens(char c) {
    if (c == '"' || c == '\'') return 60;
    return std::string_view(",:[]{}%*&!").find(c) == std::string_view::npos ? 0 : 320;
  }

  const std::string_view part_;
  Patience* const patience_;
  size_t at_ = 0, kept_ = 0;
  char piece_[kPiece];
};

class YamlHandler final : public YAML::EventHandler {
 public:
  YamlHandler(std::string_view part, const DocumentOptions& options, Patience* patience,
              YamlBuffer* buffer)
      : part_(part), options_(options), patience_(patience), buffer_(buffer), passages_(patience) {}

  Passages TakePassages() { return passages_.Take(); }

  // The library begins the same document again and again at what it cannot read.
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (mark.pos <= document_) throw Refused{DamagedLine(mark.line + 1, "is not YAML")};
    document_ = mark.pos;
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t anchor) override { Turn(anchor); }
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override { Turn(YAML::NullAnchor); }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    Open(mark, anchor, {.flow = style == YAML::EmitterStyle::Flow});
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    Open(mark, anchor, {.map = true, .flow = style == YAML::EmitterStyle::Flow});
  }
  void OnMapEnd() override { open_.pop_back(); }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& given) override {
    const bool key = Turn(anchor);
    const std::string value = ValueOf(given);
    const size_t at = static_cast<size_t>(std::max(0, mark.pos));
    if (key && open_.size() == 1 && !options_.source_language.empty() &&
        !options_.target_language.empty() && NamesLanguage(value, options_.source_language) &&
        part_.substr(at).starts_with(value)) {
      passages_.AddBeforeNext(Replacement(at, at + value.size(), mark.line + 1,
                                          SpellPlain(options_.target_language, open_.back().flow)));
    }
    const bool plain = tag == "?" || tag.empty();
    const bool symbol = plain && value.starts_with(':') && value.find(' ') == value.npos;
    if (key || symbol || !HasWords(value) || (plain && IsWord(value))) return;
    std::optional<Scalar> scalar =
        ScalarFinder(part_, BehindTag(part_, at), value, open_.empty() ? false : open_.back().flow)
            .Find();
    if (!scalar.has_value() || (!passages_.empty() && scalar->begin < passages_.back().end)) return;
    passages_.Add(PlainPassage(scalar->begin, scalar->end, mark.line + 1, scalar->text,
                               std::move(scalar->spell)));
  }

 private:
  struct Container {
    bool map = false, flow = false, value_next = false;
  };

  // Whether what comes now is a key; the next thing is its value.
  bool Turn(YAML::anchor_t anchor) {
    buffer_->Told();
    if (anchor != YAML::NullAnchor) patience_->Takes(kBytesOfAnchor);
    if (!patience_->Lasts(1)) throw Refused{patience_->status()};
    if (open_.empty() || !open_.back().map) return false;
    open_.back().value_next = !open_.back().value_next;
    return open_.back().value_next;
  }

  void Open(const YAML::Mark& mark, YAML::anchor_t anchor, const Container& container) {
    Turn(anchor);
    if (open_.size() == kMostYamlDepth) {
      throw Refused{DamagedLine(mark.line + 1, "nests deeper than ", kMostYamlDepth)};
    }
    open_.push_back(container);
  }

  const std::string_view part_;
  const DocumentOptions& options_;
  Patience* const patience_;
  YamlBuffer* const buffer_;
  PassageList passages_;
  int document_ = -1;  // where it begins
  std::vector<Container> open_;
};

}  // namespace

Passages ReadYaml(std::string_view part, const DocumentOptions& options) {
  Patience patience(options);
  YamlBuffer buffer(part, &patience);
  YamlHandler handler(part, options, &patience, &buffer);
  try {
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(handler)) {
    }
  } catch (const Refused& refused) {
    return refused.status;
  } catch (const YAML::Exception& exception) {
    RETURN_IF_ERROR(patience.status());
    return DamagedLine(std::max(0, exception.mark.line) + 1, "is not YAML: ", exception.msg);
  } catch (const std::exception& exception) {
    return DamagedLine(1, "is not YAML: ", exception.what());
  }
  return handler.TakePassages();
}

}  // namespace dragoman
