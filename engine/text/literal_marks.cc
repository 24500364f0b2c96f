#include "engine/text/literal_marks.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "engine/base/html_references.h"
#include "engine/base/utf8.h"
#include "engine/text/html_elements.h"
#include "engine/text/literals.h"
#include "engine/text/splitter.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

// A literal to be, in the whole text.
struct Found {
  TextSpan span;
  Reading reading = Reading::kStandIn;
  bool in_order = false;
  Literal::Part part = Literal::kAlone;  // not alone: the other one is in the same element
  std::string_view name = {};
  bool breaks = false;  // ends a sentence
  size_t tags = 0;      // of the text, in front of it
  int around = -1;      // the innermost mark of the text
};

Reading ReadingOf(LiteralKind kind) {
  switch (kind) {
    case LiteralKind::kEmoji:
    case LiteralKind::kTag:
    case LiteralKind::kBreak:
    case LiteralKind::kBetween:
      return Reading::kNothing;
    case LiteralKind::kInvisible:
      return Reading::kAbsent;
    default:
      return Reading::kStandIn;
  }
}

bool IsAlnum(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); }

// Whether a tag of that name ends a sentence: not <link> and <Text> of a program's strings.
bool EndsLine(std::string_view name) {
  if (name == "link" || (name.size() > 1 && name[0] < 'a' && name[1] >= 'a')) return false;
  const HtmlKind kind =
      KindOfHtml(absl::AsciiStrToLower(absl::string_view(name.data(), name.size())));
  return kind.block || kind.breaks;
}

// Whether what is invisible stands between letters of a script that is spelled with it: Arabic, or
// one of India.
bool IsSpelling(std::string_view text, TextSpan span) {
  if (span.begin == 0) return false;
  const char32_t before = LastCodePoint(text.substr(0, span.begin));
  return before >= 0x600 && before < 0xE00;
}

// Punctuation that languages write in different ways, so that a model leaves it out or puts its own
// in its place.  But a model that cannot write a dash has nothing to put there.
constexpr char32_t kLeftToModels[] =
    U"‐‑‒–—―‘’‚‛“”„‟«»‹›…¿¡，。、！？：；（）［］「」『』【】《》〈〉·・،؛؟।";

constexpr std::string_view kAsciiSymbols = "$%&@\\^_`{|}~";  // that begin no item of a list

// Signs, "Name *", "a => b", "<5"; and what is one where white space is on both sides, "A | B", but
// no marker of a list.
constexpr std::string_view kSigns = "*=", kOfSigns = "*=<>!:+-";
constexpr std::string_view kApart = "*=<>+/|#^~\\@_&", kOfApart = "*=<>+/|#^~\\@_&!:-";

// The end of the sign that begins at `begin` of the segment, and ends by `end`; `begin` if none
// does.
size_t EndOfSign(std::string_view segment, size_t begin, size_t end) {
  const auto run = [&](std::string_view of) {
    return std::min(segment.find_first_not_of(of, begin), end);
  };
  const auto has = [&](size_t to, std::string_view of) {
    return segment.substr(0, to).find_first_of(of, begin) != segment.npos;
  };
  const bool before_is_space = begin == 0 || IsWhiteSpace(LastCodePoint(segment.substr(0, begin)));
  if (before_is_space) {
    const size_t apart = run(kOfApart);
    size_t next = apart;
    if (apart == segment.size() || IsWhiteSpace(NextCodePoint(segment, &next))) {
      const bool marker = WithoutListMarker(segment, {begin, segment.size()}).begin > begin;
      return has(apart, kApart) && !marker ? apart : begin;
    }
  }
  const size_t sign = run(kOfSigns);
  const bool compares = (segment[begin] == '<' || segment[begin] == '>') && before_is_space &&
                        sign < segment.size() && segment[sign] >= '0' && segment[sign] <= '9';
  return compares || has(sign, kSigns) ? sign : begin;
}

// What is all of an element that begins at `begin` of the text; "" if that has words, or ends a
// sentence.  `next` is the first tag behind.
std::string_view SignInElement(const MarkedText& text, size_t begin,
                               std::vector<Tag>::const_iterator next) {
  constexpr std::u32string_view kEnds = U".,;:!?…。，、！？：；،؛؟।¿¡";
  const size_t from = begin > 0 && IsMarkupSpace(text.text[begin - 1]) ? begin - 1 : begin;
  while (next != text.tags.begin() && (--next)->text >= from) {
    const Mark& mark = text.marks[static_cast<size_t>(next->mark)];
    if (next->closes || mark.kind != MarkKind::kPaired) continue;
    const TextSpan inside = WithoutMarkupSpaces(text.text, mark.text);
    const std::string_view all = std::string_view(text.text).substr(inside.begin, inside.size());
    size_t first = 0;
    if (inside.begin != begin || all.empty()) continue;
    const bool ends = kEnds.find(NextCodePoint(all, &first)) != kEnds.npos;
    return ends || HasLetterOrDigit(all) ? "" : all;  // and so it is of those around
  }
  return "";
}

// Whether what stands there separates what is said apart: "Home | Cats", "« Back"; not quotes:
// "« Home »".
bool Separates(std::string_view text, size_t begin, size_t end) {
  constexpr std::string_view kSeparators[] = {"|", "||", "·", "•", "»", "›", "«", "‹"};
  constexpr size_t kQuotation = 200;  // bytes
  const std::string_view sign = text.substr(begin, end - begin), before = text.substr(0, begin);
  const bool opens = sign == "«" || sign == "‹";
  const bool quotes = opens || sign == "»" || sign == "›";
  std::string_view near =
      opens ? text.substr(end, kQuotation) : before.substr(begin - std::min(begin, kQuotation));
  near = opens ? near.substr(0, near.find('|')) : near.substr(near.rfind('|') + 1);
  return std::find(std::begin(kSeparators), std::end(kSeparators), sign) != std::end(kSeparators) &&
         (begin == 0 || IsWhiteSpace(LastCodePoint(before))) &&
         (end == text.size() || IsWhiteSpace(NextCodePoint(text, &end))) &&
         (!quotes ||
          (near.find(opens ? "»" : "«") == near.npos && near.find(opens ? "›" : "‹") == near.npos));
}

constexpr char32_t kForeign = 0x370;  // no Latin letter from here on

// The end of the words at `begin` in letters that the model does not know; `begin` if it knows the
// first one.
size_t EndOfUnknown(std::string_view text, size_t begin, const CanWrite& can_write) {
  size_t end = begin;
  for (size_t i = begin; i < text.size();) {
    const size_t first = i;
    const char32_t c = NextCodePoint(text, &i);
    const bool begins = end != first || end == begin;
    if (c == ' ' && !begins) continue;  // of the next word, if it is one, too
    if (c < kForeign || IsWhiteSpace(c) || (begins && !IsLetterOrDigit(c)) ||
        can_write(text.substr(first, i - first))) {
      break;
    }
    end = i;
  }
  return end;
}

// Adds what is no word of the model in these bytes of a segment, which are between literals: signs,
// and symbols and letters that cannot be written.
void FindSymbols(const MarkedText& text, TextSpan segment, TextSpan part, const CanWrite& can_write,
                 std::vector<Found>* found) {
  const std::string_view all = std::string_view(text.text).substr(0, segment.end);
  const std::string_view own = all.substr(segment.begin);
  const auto add = [&](size_t begin, size_t end, Reading reading = Reading::kNothing) {
    found->push_back({.span = {begin, end}, .reading = reading});
    found->back().breaks = Separates(own, begin - segment.begin, end - segment.begin);
    return end;
  };
  auto tag = text.tags.begin();
  for (size_t i = part.begin; i < part.end;) {
    const size_t first = i;
    const char32_t c = NextCodePoint(all, &i);
    if (IsWhiteSpace(c) || (IsLetterOrDigit(c) && c < kForeign)) continue;
    tag = std::partition_point(tag, text.tags.end(),
                               [&](const Tag& other) { return other.text <= first; });
    const size_t end = tag == text.tags.end() ? part.end : std::min(tag->text, part.end);
    if (IsLetterOrDigit(c)) {
      const size_t word = EndOfUnknown(all.substr(0, end), first, can_write);
      if (word > first) i = add(first, word, Reading::kStandIn);
      continue;
    }
    const size_t alone = first + SignInElement(text, first, tag).size();
    const size_t sign =
        alone > first && alone <= end
            ? alone
            : segment.begin + EndOfSign(own, first - segment.begin, end - segment.begin);
    if (sign > first) {
      i = add(first, sign, c == '&' ? Reading::kStandIn : Reading::kNothing);  // "and"
      // "<a>Home</a> / <a>Cats</a> > <b>Dogs</b>"
      const bool between = tag != text.tags.begin() && std::prev(tag)->closes &&
                           std::prev(tag)->text + 1 == first && tag != text.tags.end() &&
                           !tag->closes && tag->text == sign + 1;
      found->back().breaks |= between && sign == first + 1 && (c == '/' || c == '>');
    } else if (c < 0x80 && kOfSigns.find(static_cast<char>(c)) != kOfSigns.npos) {
      i = std::min(all.find_first_not_of(kOfSigns, first), end);  // punctuation
    } else if (c >= 0x80 || kAsciiSymbols.find(static_cast<char>(c)) != kAsciiSymbols.npos) {
      const bool letters = c >= 0x2100 && c < 0x2150;  // "™", which models write as two
      const bool left = std::find(std::begin(kLeftToModels), std::end(kLeftToModels), c) !=
                        std::end(kLeftToModels);
      const bool apart = left && Separates(own, first - segment.begin, i - segment.begin);
      const std::string_view sign_here = all.substr(first, i - first);
      const bool dash = IsTypographic(sign_here);
      if (apart || ((!left || dash) && (letters || !can_write(sign_here)))) {
        add(first, i, dash && !apart ? Reading::kText : Reading::kNothing);
      }
    }
  }
}

// The literals of bytes `part` of the text.  In the place of one with tags within are those that it
// was joined from, and in their place those between the tags: "({0})" is one, and of
// "(<i>{0}</i>)" only "{0}" is.
std::vector<Literal> LiteralsBetweenTags(const MarkedText& text, TextSpan part, TextSource source,
                                         bool join = true) {
  const auto next_tag = [&](size_t place) {
    const auto tag = std::partition_point(text.tags.begin(), text.tags.end(),
                                          [&](const Tag& other) { return other.text <= place; });
    return tag == text.tags.end() ? text.text.size() : tag->text;
  };
  std::vector<Literal> between;
  for (Literal literal :
       FindLiterals(std::string_view(text.text).substr(part.begin, part.size()), source, join)) {
    literal.span = {literal.span.begin + part.begin, literal.span.end + part.begin};
    if (next_tag(literal.span.begin) >= literal.span.end) {
      between.push_back(literal);
      continue;
    }
    for (TextSpan rest = literal.span; rest.size() > 0;) {
      const size_t end = join ? rest.end : std::min(next_tag(rest.begin), rest.end);
      const std::vector<Literal> inner =
          LiteralsBetweenTags(text, {rest.begin, end}, source, /*join=*/false);
      between.insert(between.end(), inner.begin(), inner.end());
      rest.begin = end;
    }
  }
  return between;
}

// The literals and symbols of the text between the attributes, in order.
std::vector<Found> FindAll(const MarkedText& text, TextSource source, const CanWrite& can_write) {
  std::map<std::string_view, bool> known;  // characters: to ask may take a while
  const CanWrite ask_once = [&](std::string_view character) {
    const auto [place, is_new] = known.try_emplace(character);
    if (is_new) place->second = can_write(character);
    return place->second;
  };
  std::vector<Found> found;
  for (const Segment& segment : text.segments) {
    if (IsAttribute(segment.writing)) continue;
    size_t done = segment.text.begin;
    for (const Literal& literal : LiteralsBetweenTags(text, segment.text, source)) {
      if (literal.kind == LiteralKind::kInvisible && IsSpelling(text.text, literal.span)) continue;
      FindSymbols(text, segment.text, {done, literal.span.begin}, ask_once, &found);
      found.push_back({literal.span, ReadingOf(literal.kind), literal.in_order, literal.part,
                       literal.name, literal.kind == LiteralKind::kBetween});
      done = literal.span.end;
    }
    FindSymbols(text, segment.text, {done, segment.text.end}, ask_once, &found);
  }
  return found;
}

// Makes each formula in the text one mark: H<sub>2</sub>O, x<sup>2</sup>, whatever the tags are.
// Returns whether there is one.
bool MarkFormulas(MarkedText* text) {
  constexpr size_t kLongest = 6;  // bytes of an index
  const std::string_view raw = text->raw, all = text->text;
  const size_t before = text->tags.size();
  std::vector<Tag>& tags = text->tags;
  for (const Tag& tag : std::exchange(tags, {})) {
    Mark& mark = text->marks[static_cast<size_t>(tag.mark)];
    tags.push_back(tag);
    if (!tag.closes || tags[tags.size() - 2].mark != tag.mark || mark.text.size() == 0 ||
        mark.text.size() > kLongest) {
      continue;
    }
    TextSpan span = {mark.opening.begin, mark.closing.end};
    while (span.begin > 0 && (IsAlnum(raw[span.begin - 1]) || raw[span.begin - 1] == '=')) {
      --span.begin;
    }
    while (span.end < raw.size() && IsAlnum(raw[span.end])) ++span.end;
    const std::string_view name = raw.substr(span.begin, mark.opening.begin - span.begin),
                           rest = raw.substr(mark.closing.end, span.end - mark.closing.end);
    Mark* const last =
        tags.size() < 3 ? nullptr : &text->marks[static_cast<size_t>(tags[tags.size() - 3].mark)];
    const bool goes_on =
        last != nullptr && last->is_literal && last->opening.end == mark.opening.begin;
    std::string formula(goes_on ? "H" : name);
    formula.append("<sub>").append(all.substr(mark.text.begin, mark.text.size()));
    formula.append("</sub>").append(rest);
    const std::vector<Literal> found = FindLiterals(formula);
    if (found.size() != 1 || found[0].span != TextSpan{0, formula.size()} ||
        found[0].kind != LiteralKind::kCode || !all.substr(0, mark.text.begin).ends_with(name) ||
        !all.substr(mark.text.end).starts_with(rest)) {
      continue;
    }
    tags.resize(tags.size() - (goes_on ? 2 : 1));
    Mark& whole = goes_on ? *last : mark;
    if (!goes_on) whole.text.begin -= name.size(), whole.opening.begin = span.begin;
    whole.text.end = mark.text.end + rest.size();
    whole.opening.end = span.end;
    whole.kind = MarkKind::kOpaque;
    whole.reading = Reading::kStandIn;
    whole.is_literal = true;
    tags.back() = {whole.opening, whole.text.begin, tags.back().mark, false};
  }
  return tags.size() < before;
}

// Puts new marks among those of a text, whose order and parents stay right.
class Inserter {
 public:
  explicit Inserter(MarkedText* text)
      : text_(*text),
        marks_(std::exchange(text->marks, {})),
        tags_(std::exchange(text->tags, {})) {}

  void Insert(const std::vector<Found>& found) {
    std::vector<Found> literals = Between(found);
    FindPairs(&literals);
    size_t next = 0;  // tag
    for (const Found& literal : literals) {
      while (next < literal.tags) Keep(tags_[next++]);
      Add(literal);
    }
    while (next < tags_.size()) Keep(tags_[next++]);
  }

 private:
  // Those that have no tag within, and do not lie inside of an opaque mark.
  std::vector<Found> Between(const std::vector<Found>& found) const {
    std::vector<Found> between;
    std::vector<int> open;
    size_t next = 0;
    for (size_t t = 0; t <= tags_.size(); ++t) {
      const size_t place = t < tags_.size() ? tags_[t].text : text_.text.size();
      for (; next < found.size() && found[next].span.end <= place; ++next) {
        between.push_back(found[next]);
        between.back().tags = t;
        between.back().around = open.empty() ? -1 : open.back();
      }
      while (next < found.size() && found[next].span.begin < place) ++next;
      if (t == tags_.size()) break;
      const Mark& mark = marks_[static_cast<size_t>(tags_[t].mark)];
      if (tags_[t].closes) {
        open.pop_back();
      } else if (mark.kind == MarkKind::kPaired) {
        open.push_back(tags_[t].mark);
      }
      while (mark.kind == MarkKind::kOpaque && next < found.size() &&
             found[next].span.begin < mark.text.end) {
        ++next;
      }
    }
    return between;
  }

  // Makes alone what has no other one, or too deep within others.
  static void FindPairs(std::vector<Found>* literals) {
    constexpr size_t kDeepest = 16;
    std::vector<Found*> open;
    for (Found& literal : *literals) {
      const Literal::Part part = std::exchange(literal.part, Literal::kAlone);
      if (part == Literal::kOpens) {
        if (open.size() == kDeepest) open.erase(open.begin());
        open.push_back(&literal);
      } else if (part == Literal::kCloses) {
        const auto other = std::find_if(open.rbegin(), open.rend(), [&](const Found* opening) {
          return opening->name == literal.name && opening->around == literal.around;
        });
        if (other == open.rend()) continue;
        (*other)->part = Literal::kOpens;
        literal.part = part;
        open.erase(std::prev(other.base()), open.end());
      }
    }
  }

  void Keep(Tag tag) {
    if (tag.closes) {
      tag.mark = around_.back();
      around_.pop_back();
    } else {
      Mark mark = marks_[static_cast<size_t>(tag.mark)];
      mark.parent = around_.empty() ? -1 : around_.back();
      tag.mark = static_cast<int>(text_.marks.size());
      if (mark.kind == MarkKind::kPaired) around_.push_back(tag.mark);
      text_.marks.push_back(mark);
    }
    text_.tags.push_back(tag);
  }

  // The bytes of one of a pair are read as if they were not there, and written as a tag.
  void Add(const Found& literal) {
    const TextSpan raw = text_.to_raw.Map(literal.span);
    const bool alone = literal.part == Literal::kAlone;
    if (literal.part == Literal::kCloses) {
      Mark& mark = text_.marks[static_cast<size_t>(around_.back())];
      mark.text.end = literal.span.begin;
      mark.closing = raw;
      text_.tags.push_back({raw, literal.span.begin, around_.back(), true});
      around_.pop_back();
    }
    text_.tags.push_back({raw, literal.span.begin, static_cast<int>(text_.marks.size()), false});
    text_.marks.push_back({.kind = MarkKind::kOpaque,
                           .reading = alone ? literal.reading : Reading::kAbsent,
                           .text = literal.span,
                           .opening = raw,
                           .parent = around_.empty() ? -1 : around_.back(),
                           .is_literal = true,
                           .in_order = literal.in_order,
                           .breaks_word = literal.breaks || EndsLine(literal.name)});
    if (literal.part != Literal::kOpens) return;
    const int number = static_cast<int>(text_.marks.size());
    text_.tags.push_back({raw, literal.span.end, number, false});
    text_.marks.push_back({.kind = MarkKind::kPaired,
                           .text = {literal.span.end, literal.span.end},
                           .opening = raw,
                           .parent = around_.empty() ? -1 : around_.back(),
                           .is_literal = true});
    around_.push_back(number);
  }

  MarkedText& text_;
  const std::vector<Mark> marks_;  // as they were
  const std::vector<Tag> tags_;
  std::vector<int> around_;  // the open marks
};

}  // namespace

void MarkLiterals(const CanWrite& can_write, MarkedText* text, TextSource source) {
  const bool has_formulas = MarkFormulas(text);
  const std::vector<Found> found = FindAll(*text, source, can_write);
  if (has_formulas || !found.empty()) Inserter(text).Insert(found);
}

MarkedText ReadPlain(std::string raw, bool join_lines) {
  MarkedText text;
  const TextSpan all = {0, raw.size()};
  text.text = raw;
  for (char& c : text.text) {
    if (join_lines && (c == '\n' || c == '\r')) c = ' ';
  }
  text.raw = std::move(raw);
  text.segments.push_back({.text = all, .raw = all, .writing = Writing::kPlain, .spellings = {}});
  text.to_raw.Add(all, all);
  return text;
}

}  // namespace dragoman
