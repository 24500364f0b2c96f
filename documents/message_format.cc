#include "documents/message_format.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "documents/icu_message.h"

namespace dragoman {
namespace {

// "{0}", "{1,date}", with the first closing brace there.
bool IsArgument(std::string_view text, size_t brace) {
  if (!text.starts_with('{') || brace >= text.size()) return false;
  const size_t end = text.find_first_not_of("0123456789", 1);
  return end > 1 && (text[end] == '}' || text[end] == ',');
}
// Up to the brace that closes it.
size_t ArgumentSize(std::string_view text) {
  int depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '{') ++depth;
    if (text[at] == '}' && --depth == 0) return at + 1;
  }
  return text.size();
}

// False if nothing says that MessageFormat reads the value.
bool TakeFormat(std::string_view value, bool certain, const Spelling& spell, InlineText* text) {
  bool format = certain, doubles = false, quotes = false;
  bool quoted = false;  // by a single apostrophe, as in "can't open {0}"
  size_t done = 0, at = 0;
  const auto keep = [&](size_t size, std::string_view shown) {
    const std::string raw = spell(value.substr(at, size));
    text->Text(value.substr(done, at - done));
    text->Opaque(quoted ? absl::StrCat("'", raw, "'") : raw, shown);
    done = at += size;
  };
  for (size_t close = value.find('}'); at < value.size();) {
    if (close < at) close = value.find('}', at);
    const std::string_view rest = value.substr(at);
    const size_t brace = close == value.npos ? close : close - at;
    const bool single = rest[0] == '\'' && !rest.starts_with("''");
    if (certain && single && (quoted || rest.find_first_of("{}") != 1)) {
      quoted = !quoted;
      ++at;
    } else if (rest.starts_with("''{") && IsArgument(rest.substr(2), brace - 2) &&
               rest.substr(brace + 1).starts_with("''")) {
      keep(brace + 3, rest.substr(1, brace + 1));
      format = true;
    } else if (rest.starts_with("''")) {
      text->Text(value.substr(done, at + 1 - done));
      done = at += 2;
      doubles = true;
    } else if (rest.starts_with("'{") || rest.starts_with("'}")) {
      size_t quote = std::min(rest.find('\'', 1), rest.size() - 1);
      // '{'0'}'
      const size_t next = rest.find_first_of(" '{}", quote + 1);
      if (next != rest.npos && rest.substr(next).starts_with("'}'")) quote = next + 2;
      keep(quote + 1, rest.substr(1, quote - 1));
      quotes = true;
    } else if (IsArgument(rest, brace)) {
      format = true;
      if (rest.substr(0, brace).find(',') != rest.npos) {
        keep(ArgumentSize(rest), rest.substr(0, brace + 1));  // {0,number,#.##}
      } else if (quoted) {
        keep(brace + 1, rest.substr(0, brace + 1));
      } else {
        at += brace + 1;
      }
    } else {
      ++at;
    }
  }
  text->Text(value.substr(done));
  return format || (doubles && quotes);
}

}  // namespace

std::optional<Passage> MessageFormatPassage(size_t begin, size_t end, int line,
                                            std::string_view value, bool certain,
                                            const Spelling& spell, Patience* patience) {
  InlineText text(patience);
  if (!FindIcuTexts(value, patience).empty() || !TakeFormat(value, certain, spell, &text) ||
      !text.has_words()) {
    return std::nullopt;
  }
  return std::move(text).ToPassage(begin, end, line, [spell](std::string_view characters) {
    return spell(absl::StrReplaceAll(std::string(characters), {{"'", "''"}}));
  });
}

}  // namespace dragoman
