// Fluent (.ftl): the patterns of messages and of their attributes.
//
//   # kept
//   hello = Hello, { $name }!                    -brand = kept, as a name
//       .title = A greeting
//   dogs = { $count ->
//       [one] One dog
//      *[other] { $count } dogs
//   }
//
// The variants of a selection are patterns of their own, and so is what stands beside a selection,
// or beside another placeable of several lines.  The lines of a pattern are joined; an empty line
// stays one.

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
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

constexpr int kMostFluentDepth = 16;  // of selections
constexpr std::string_view kFluentSpaces = " \t\r\n";
constexpr size_t kBytesOfFound = 2 * sizeof(Passage) + 192;  // of a passage until its entry ends

class FluentReader {
 public:
  FluentReader(std::string_view part, const DocumentOptions& options)
      : part_(part), patience_(options), lines_(part) {}

  Passages Read() && {
    bool translated = false;  // the entry that attributes belong to
    while (at_ < part_.size()) {
      const size_t begin = at_;
      if (const auto name = TakeName(); name.has_value()) {
        if (!name->starts_with('.')) translated = !name->starts_with('-');
        ASSIGN_OR_RETURN(Found found, ReadPattern(0));
        for (Passage& passage : found) {
          passage.line = lines_.At(passage.begin);
          if (translated) passages_.Add(std::move(passage));
        }
        patience_.Returns(kBytesOfFound * found.size());
      }
      at_ = std::min(part_.find('\n', at_), part_.size() - 1) + 1;
      if (!patience_.Lasts(at_ - begin)) return patience_.status();
    }
    return passages_.Take();
  }

 private:
  // A stretch of a pattern: text, or a placeable in braces.
  struct Piece {
    size_t begin = 0, end = 0;
    bool placeable = false, selection = false;
  };
  // The passages of a pattern, in order.
  using Found = std::vector<Passage>;

  char Peek(size_t at) const { return at < part_.size() ? part_[at] : '\0'; }
  size_t SkipSpaces(size_t at) const {
    return std::min(part_.find_first_not_of(" \t", at), part_.size());
  }
  size_t EndOfLine(size_t at) const {
    return std::min(part_.find_first_of("\r\n", at), part_.size());
  }

  // "name =", "-term =" at the beginning of a line, and "  .attribute =".
  std::optional<std::string> TakeName() {
    size_t at = SkipSpaces(at_);
    const size_t begin = at;
    if ((Peek(at) == '.') != (at > at_)) return std::nullopt;
    if (Peek(at) == '.' || Peek(at) == '-') ++at;
    if (!absl::ascii_isalpha(static_cast<unsigned char>(Peek(at)))) return std::nullopt;
    while (absl::ascii_isalnum(static_cast<unsigned char>(Peek(at))) || Peek(at) == '_' ||
           Peek(at) == '-') {
      ++at;
    }
    const std::string name(part_.substr(begin, at - begin));
    at = SkipSpaces(at);
    if (Peek(at) != '=') return std::nullopt;
    at_ = at + 1;
    return name;
  }

  // Where the text goes on in the next lines; none if the pattern ends with this one.
  std::optional<size_t> NextLine(size_t at) const {
    while (at < part_.size()) {
      const size_t newline = part_.find('\n', at);
      if (newline == part_.npos) return std::nullopt;
      const size_t text = SkipSpaces(newline + 1), end = EndOfLine(text);
      if (text < end) {
        const bool more = Peek(text) == '{' ||
                          (text > newline + 1 &&
                           std::string_view("}.[*").find(Peek(text)) == std::string_view::npos);
        return more ? std::optional<size_t>(text) : std::nullopt;
      }
      at = text;
    }
    return std::nullopt;
  }

  // Reads the pattern from at_ on, up to the end of its last line or the brace that ends it.
  absl::StatusOr<Found> ReadPattern(int depth) {
    std::vector<Piece> pieces;
    Found found;
    size_t at = SkipSpaces(at_);
    if (at == EndOfLine(at)) at = NextLine(at).value_or(at);
    for (size_t begin = at;;) {
      const size_t stop = std::min(part_.find_first_of("{}\r\n", at), part_.size());
      const char c = Peek(stop);
      const std::optional<size_t> next = c == '\r' || c == '\n' ? NextLine(stop) : std::nullopt;
      if (next.has_value()) {
        at = *next;
        continue;
      }
      if (stop > begin) pieces.push_back({begin, stop});
      at_ = stop;
      if (c != '{') break;
      Piece placeable = {stop, stop, true};
      RETURN_IF_ERROR(ReadPlaceable(depth, &placeable.selection, &found));
      placeable.end = at = begin = at_;
      if (!patience_.Takes(2 * sizeof(Piece)) || !patience_.Lasts(1)) return patience_.status();
      pieces.push_back(placeable);
    }
    patience_.Returns(2 * sizeof(Piece) * pieces.size());
    const auto parts = [&](const Piece& piece) {
      return piece.selection || (piece.placeable && Of(piece).find('\n') != part_.npos);
    };
    for (auto piece = pieces.begin(); piece != pieces.end();) {
      const auto end = std::find_if(piece, pieces.end(), parts);
      const bool words = std::any_of(
          piece, end, [&](const Piece& each) { return !each.placeable && HasWords(Of(each)); });
      if (words && patience_.Takes(kBytesOfFound)) found.push_back(MakePassage({piece, end}));
      piece = std::find_if_not(end, pieces.end(), parts);
    }
    std::sort(found.begin(), found.end(),
              [](const Passage& a, const Passage& b) { return a.begin < b.begin; });
    return found;
  }

  std::string_view Of(const Piece& piece) const {
    return part_.substr(piece.begin, piece.end - piece.begin);
  }

  // A placeable whose brace is at at_; at_ is behind it then.
  absl::Status ReadPlaceable(int depth, bool* selection, Found* found) {
    const size_t open = at_;
    if (depth == kMostFluentDepth) {
      return DamagedAt(part_, open, "nests deeper than ", kMostFluentDepth);
    }
    for (++at_; at_ < part_.size() && part_[at_] != '}';) {
      const std::string_view rest = part_.substr(at_);
      if (rest[0] == '"') {
        for (++at_; at_ < part_.size() && part_[at_] != '"' && part_[at_] != '\n'; ++at_) {
          at_ += part_[at_] == '\\';
        }
        if (Peek(at_) != '"') return DamagedAt(part_, open, "has a quote that is not closed");
        ++at_;
      } else if (rest[0] == '{') {
        bool inner = false;
        RETURN_IF_ERROR(ReadPlaceable(depth + 1, &inner, found));
      } else if (rest.starts_with("->")) {
        at_ += 2;
        *selection = true;
        RETURN_IF_ERROR(ReadVariants(depth, found));
      } else {
        ++at_;
      }
    }
    if (at_ >= part_.size()) return DamagedAt(part_, open, "has a brace that is not closed");
    ++at_;
    return absl::OkStatus();
  }

  // "[one] pattern", "*[other] pattern", up to the brace behind them.
  absl::Status ReadVariants(int depth, Found* found) {
    while (true) {
      at_ = std::min(part_.find_first_not_of(" \t\r\n", at_), part_.size());
      if (Peek(at_) == '*') ++at_;
      if (Peek(at_) != '[') return absl::OkStatus();
      const size_t close = part_.find(']', at_);
      if (close == part_.npos) return DamagedAt(part_, at_, "has a key that is not closed");
      at_ = close + 1;
      ASSIGN_OR_RETURN(Found variant, ReadPattern(depth + 1));
      for (Passage& passage : variant) found->push_back(std::move(passage));
    }
  }

  // REQUIRES: one of the pieces has words.
  Passage MakePassage(const std::vector<Piece>& pieces) {
    const size_t begin = part_.find_first_not_of(kFluentSpaces, pieces.front().begin);
    const size_t end = part_.find_last_not_of(kFluentSpaces, pieces.back().end - 1) + 1;
    InlineText text(&patience_);
    for (const Piece& piece : pieces) {
      const size_t from = std::max(piece.begin, begin), to = std::min(piece.end, end);
      if (from >= to) continue;
      const std::string_view bytes = part_.substr(from, to - from);
      if (piece.placeable) {
        text.Opaque(std::string(bytes), bytes);
      } else {
        text.Text(JoinedLines(bytes));
      }
    }
    Passage passage = std::move(text).ToPassage(begin, end, 1, [](std::string_view characters) {
      return absl::StrReplaceAll(std::string(characters), {{"{", "{\"{\"}"}, {"}", "{\"}\"}"}});
    });
    passage.write = [write = std::move(passage.write),
                     newline = NewlineBefore(begin)](std::string_view translation) {
      return InLines(write(translation), newline);
    };
    return passage;
  }

  // Lines as one; an empty line among them stays.
  static std::string JoinedLines(std::string_view text) {
    std::string out;
    for (size_t at = 0; at < text.size();) {
      const size_t space = std::min(text.find_first_of(" \t\r\n", at), text.size());
      const size_t end = std::min(text.find_first_not_of(" \t\r\n", space), text.size());
      const std::string_view blanks = text.substr(space, end - space);
      const auto lines = std::count(blanks.begin(), blanks.end(), '\n');
      out += text.substr(at, space - at);
      out += lines == 0 ? std::string(blanks) : lines == 1 ? " " : "\n\n";
      at = end;
    }
    return out;
  }

  // The line break and indentation that a line of the pattern has.
  std::string NewlineBefore(size_t begin) const {
    const std::string newline = has_returns_ ? "\r\n" : "\n";
    const size_t line = part_.substr(0, begin).find_last_of('\n') + 1;
    const std::string_view space = part_.substr(line, begin - line);
    const bool alone = !space.empty() && space.find_first_not_of(" \t") == space.npos;
    return newline + (alone ? std::string(space) : "        ");
  }

  // Each line is indented, and none begins with what would end the pattern.
  static std::string InLines(std::string_view text, const std::string& newline) {
    std::string out;
    bool blank = false;
    for (std::string_view rest = text; !rest.empty();) {
      const size_t end = std::min(rest.find_first_of("\r\n"), rest.size());
      const std::string_view line = StripWhiteSpace(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (line.empty()) {
        blank = !out.empty();
        continue;
      }
      if (!out.empty()) absl::StrAppend(&out, std::exchange(blank, false) ? "\n" : "", newline);
      const bool special = std::string_view(".[*").find(line[0]) != std::string_view::npos;
      if (special) absl::StrAppend(&out, "{\"", std::string(line.substr(0, 1)), "\"}");
      out += line.substr(special ? 1 : 0);
    }
    return out;
  }

  const std::string_view part_;
  const bool has_returns_ = part_.find("\r\n") != part_.npos;
  Patience patience_;
  LineCounter lines_;
  size_t at_ = 0;
  PassageList passages_{&patience_};
};

}  // namespace

Passages ReadFluent(std::string_view part, const DocumentOptions& options) {
  return FluentReader(part, options).Read();
}

}  // namespace dragoman
