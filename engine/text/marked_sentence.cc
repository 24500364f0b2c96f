#include "engine/text/marked_sentence.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "engine/base/html_references.h"
#include "engine/base/utf8.h"
#include "engine/text/splitter.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

constexpr size_t kLongestRead = 24;  // bytes of an opaque mark that a model reads

// The sentences of a segment.  The bytes of opaque marks count as letters, or as a digit if there
// is one alone, which the splitter would take for an initial; those of tags in pairs, as quotes,
// and those of "<br>" as line breaks.
std::vector<TextSpan> SentencesOf(const MarkedText& text, const Segment& segment,
                                  const std::vector<TextSpan>& whole, size_t* mark) {
  std::string masked = text.text.substr(segment.text.begin, segment.text.size());
  for (; *mark < text.marks.size() && text.marks[*mark].opening.begin < segment.raw.end; ++*mark) {
    const Mark& opaque = text.marks[*mark];
    if (opaque.kind != MarkKind::kOpaque || IsAttribute(segment.writing)) continue;
    if (opaque.text.begin < segment.text.begin) continue;
    const size_t size = std::min(opaque.text.end, segment.text.end) - opaque.text.begin;
    const std::string_view shown = std::string_view(text.text).substr(opaque.text.begin, size);
    if (opaque.reading == Reading::kText && IsTypographic(shown)) continue;
    const bool tag = opaque.reading == Reading::kAbsent &&
                     absl::ascii_isascii(static_cast<unsigned char>(text.text[opaque.text.begin]));
    const char letter = size == 1 ? '0' : 'X';
    masked.replace(opaque.text.begin - segment.text.begin, size, size,
                   opaque.breaks_word ? '\n'
                   : tag              ? '\''
                                      : letter);
  }
  std::vector<TextSpan> within;
  for (const TextSpan span : whole) {
    if (span.begin < segment.text.begin || span.end > segment.text.end) continue;
    within.push_back({span.begin - segment.text.begin, span.end - segment.text.begin});
  }
  std::vector<TextSpan> spans = SplitAround(masked, within);
  for (TextSpan& span : spans) {
    if (!IsAttribute(segment.writing)) span = WithoutListMarker(masked, span);
    span = {span.begin + segment.text.begin, span.end + segment.text.begin};
  }
  return spans;
}

// Whether a model reads the text of an opaque mark as it is: one word, or a dash.
bool IsReadable(std::string_view text) {
  if (IsTypographic(text)) return true;
  if (text.size() > kLongestRead) return false;
  for (size_t i = 0; i < text.size();) {
    const char32_t c = NextCodePoint(text, &i);
    if (!IsWordCharacter(c) || (c >= '0' && c <= '9')) return false;
  }
  return true;
}

// Finds the raw bytes and the marks of sentences.
class Finder {
 public:
  explicit Finder(const MarkedText& text) : text_(text) {}

  // `core` are its raw bytes without tags at its ends; it may reach out as far as `within`.
  MarkedSentence Find(int segment, TextSpan span, TextSpan core, TextSpan within) const {
    MarkedSentence sentence = {.text = span, .around = span, .raw = core, .segment = segment};
    for (size_t t = FirstTag(core.begin); t < FirstTag(core.end); ++t) {
      const Tag& tag = text_.tags[t];
      const Mark& mark = text_.marks[tag.mark];
      if (mark.kind == MarkKind::kOpaque) {  // "x<sup>2</sup>", whose text ends before its tag
        sentence.raw.end = std::max(sentence.raw.end, mark.opening.end);
      } else if (mark.kind != MarkKind::kPaired) {
        continue;
      } else if (tag.closes && mark.opening.begin >= within.begin) {
        sentence.raw.begin = std::min(sentence.raw.begin, mark.opening.begin);
        sentence.around.begin = std::min(sentence.around.begin, mark.text.begin);
      } else if (!tag.closes && mark.closing.end <= within.end) {
        sentence.raw.end = std::max(sentence.raw.end, mark.closing.end);
        sentence.around.end = std::max(sentence.around.end, mark.text.end);
      }
    }
    AddMarks(&sentence);
    return sentence;
  }

 private:
  size_t FirstTag(size_t raw) const {
    return std::partition_point(text_.tags.begin(), text_.tags.end(),
                                [&](const Tag& tag) { return tag.raw.begin < raw; }) -
           text_.tags.begin();
  }

  void AddMarks(MarkedSentence* sentence) const {
    const size_t first = FirstTag(sentence->raw.begin), end = FirstTag(sentence->raw.end);
    std::vector<int> open;  // of the sentence's marks
    for (size_t t = end; t-- > first;) {
      const Tag& tag = text_.tags[t];
      const bool begins = text_.marks[tag.mark].opening.begin >= sentence->raw.begin;
      if (tag.closes && !begins) Add(tag.mark, &open, sentence);
    }
    for (size_t t = first; t < end; ++t) {
      const Tag& tag = text_.tags[t];
      if (tag.closes) {
        open.pop_back();
      } else {
        Add(tag.mark, &open, sentence);
        if (text_.marks[tag.mark].kind != MarkKind::kPaired) open.pop_back();
      }
    }
    SetReadings(sentence);
  }

  // Sets what a model reads of the opaque marks.
  void SetReadings(MarkedSentence* sentence) const {
    const std::string_view content =
        std::string_view(text_.text).substr(sentence->text.begin, sentence->text.size());
    std::optional<StandIns> stand_ins;
    for (size_t m = 0; m < sentence->marks.size(); ++m) {
      SentenceMark& mark = sentence->marks[m];
      const Reading reading = text_.marks[static_cast<size_t>(sentence->numbers[m])].reading;
      mark.absent = mark.kind == MarkKind::kOpaque && reading == Reading::kAbsent;
      if (mark.kind != MarkKind::kOpaque || mark.absent || reading == Reading::kNothing) continue;
      mark.read = content.substr(mark.text.begin, mark.text.size());
      mark.stand_in = reading == Reading::kStandIn || !IsReadable(mark.read);
      if (!mark.stand_in) continue;
      if (!stand_ins.has_value()) stand_ins.emplace(content);
      mark.read = stand_ins->At(m);
    }
  }

  // Whether brackets touch a mark in the raw bytes of a sentence, which are not the mark around it.
  // Those that stay in their order may change places.
  bool IsBracketed(int number, TextSpan within) const {
    const Mark& mark = text_.marks[number];
    const size_t end = mark.kind == MarkKind::kPaired ? mark.closing.end : mark.opening.end;
    const bool inside =
        mark.parent >= 0 && text_.marks[mark.parent].opening.end == mark.opening.begin;
    return !mark.in_order && !inside && mark.opening.begin > within.begin && end < within.end &&
           dragoman::IsBracketed(text_.raw, {mark.opening.begin, end});
  }

  void Add(int number, std::vector<int>* open, MarkedSentence* sentence) const {
    const Mark& mark = text_.marks[number];
    const TextSpan within = sentence->text;
    const auto inside = [&](size_t byte) {
      return std::clamp(byte, within.begin, within.end) - within.begin;
    };
    const bool paired = mark.kind == MarkKind::kPaired;
    sentence->marks.push_back({.kind = mark.kind,
                               .text = {inside(mark.text.begin), inside(mark.text.end)},
                               .begins = mark.opening.begin >= sentence->raw.begin,
                               .ends = !paired || mark.closing.end <= sentence->raw.end,
                               .parent = open->empty() ? -1 : open->back(),
                               .bracketed = IsBracketed(number, sentence->raw)});
    sentence->numbers.push_back(number);
    open->push_back(static_cast<int>(sentence->marks.size()) - 1);
  }

  const MarkedText& text_;
};

// Appends the sentences of a segment that have these texts, and lie in these raw bytes.
void Append(const MarkedText& text, int segment, const std::vector<TextSpan>& spans, TextSpan raw,
            std::vector<MarkedSentence>* sentences) {
  std::vector<TextSpan> cores;
  for (const TextSpan span : spans) cores.push_back(text.to_raw.Map(span));
  for (size_t i = 0; i < spans.size(); ++i) {
    const size_t before = i + 1 < spans.size() ? cores[i + 1].begin : raw.end;
    sentences->push_back(Finder(text).Find(segment, spans[i], cores[i], {raw.begin, before}));
    raw.begin = sentences->back().raw.end;
  }
}

}  // namespace

StandIns::StandIns(std::string_view sentence) {
  constexpr size_t kDigits = 4;
  size_t digits = 0, value = 0;
  for (const char c : sentence) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    value = digits == 0 ? 0 : (10 * value + static_cast<size_t>(c - '0')) % said_.size();
    if (digits >= kDigits) said_.set(value);
  }
}

std::string StandIns::At(size_t number) const {
  constexpr size_t kFirst = 6294, kStep = 711, kRange = 9000, kLeast = 1000;
  constexpr size_t kTries = 16, kStride = 64;
  size_t value = 0;
  for (size_t n = number; n < number + kTries * kStride; n += kStride) {
    value = kLeast + (kFirst + n * kStep) % kRange;
    if (!said_.test(value)) break;
  }
  return absl::StrCat(value);
}

std::vector<MarkedSentence> FindSentences(const MarkedText& text, bool split,
                                          const std::vector<TextSpan>& whole) {
  std::vector<MarkedSentence> sentences;
  size_t mark = 0;
  for (size_t s = 0; s < text.segments.size(); ++s) {
    const Segment& segment = text.segments[s];
    const std::vector<TextSpan> spans = split || !whole.empty()
                                            ? SentencesOf(text, segment, whole, &mark)
                                            : std::vector<TextSpan>{segment.text};
    Append(text, static_cast<int>(s), spans, segment.raw, &sentences);
  }
  return sentences;
}

void ForgetLiterals(const MarkedText& text, MarkedSentence* sentence) {
  std::vector<int> places(sentence->marks.size());  // of those that stay, or are around them
  size_t kept = 0;
  for (size_t m = 0; m < sentence->marks.size(); ++m) {
    SentenceMark mark = std::move(sentence->marks[m]);
    if (mark.parent >= 0) mark.parent = places[static_cast<size_t>(mark.parent)];
    places[m] = mark.parent;
    if (text.marks[static_cast<size_t>(sentence->numbers[m])].is_literal) continue;
    places[m] = static_cast<int>(kept);
    sentence->marks[kept] = std::move(mark);
    sentence->numbers[kept++] = sentence->numbers[m];
  }
  sentence->marks.resize(kept);
  sentence->numbers.resize(kept);
}

std::vector<MarkedSentence> PartsOf(const MarkedText& text, const MarkedSentence& sentence,
                                    const std::vector<TextSpan>& parts) {
  std::vector<MarkedSentence> sentences;
  Append(text, sentence.segment, parts, sentence.raw, &sentences);
  return sentences;
}

namespace {

// A sentence with a number in the place of what is opaque, and nothing in that of what is absent.
std::string WithNumbers(const MarkedText& text, const MarkedSentence& sentence,
                        std::string_view number) {
  const std::string_view content =
      std::string_view(text.text).substr(sentence.text.begin, sentence.text.size());
  std::string out;
  size_t done = 0;
  for (const SentenceMark& mark : sentence.marks) {
    if (mark.kind != MarkKind::kOpaque) continue;
    out.append(content.substr(done, mark.text.begin - done)).append(mark.absent ? "" : number);
    done = mark.text.end;
  }
  return out.append(content.substr(done));
}

}  // namespace

bool HasText(const MarkedText& text, const MarkedSentence& sentence) {
  return HasLetterOrDigit(WithNumbers(text, sentence, " "));
}

bool HasWords(const MarkedText& text, const MarkedSentence& sentence) {
  return ContainsWord(WithNumbers(text, sentence, " 0 "));
}

std::vector<SentenceMark> WithoutStandIns(std::vector<SentenceMark> marks) {
  for (SentenceMark& mark : marks) {
    if (std::exchange(mark.stand_in, false)) mark.read.clear();
  }
  return marks;
}

ModelInput InputOf(const MarkedText& text, const MarkedSentence& sentence) {
  return InputOf(std::string_view(text.text).substr(sentence.text.begin, sentence.text.size()),
                 sentence.marks);
}

ModelInput InputOf(std::string_view content, absl::Span<const SentenceMark> marks) {
  ModelInput input;
  bool apart = false;
  const auto add = [&](std::string_view read, TextSpan from) {
    if (read.empty()) return;
    // What is opaque is a word of its own.
    size_t first = 0;
    if (std::exchange(apart, false) && !input.text.empty() &&
        IsLetterOrDigit(LastCodePoint(input.text)) &&
        IsLetterOrDigit(NextCodePoint(read, &first))) {
      input.text += ' ';
    }
    const size_t begin = input.text.size();
    input.text += read;
    input.to_sentence.Add({begin, input.text.size()}, from);
  };
  size_t done = 0;
  for (const SentenceMark& mark : marks) {
    if (mark.kind != MarkKind::kOpaque) continue;
    add(content.substr(done, mark.text.begin - done), {done, mark.text.begin});
    apart = apart || !mark.absent;
    size_t first = mark.text.begin;  // "Total:" and "\u00a0%s"
    const bool spaced = mark.stand_in && IsWhiteSpace(NextCodePoint(content, &first));
    if (spaced && !input.text.empty() && input.text.back() != ' ') input.text += ' ';
    add(mark.read, mark.text);
    apart = apart || !mark.read.empty();
    done = mark.text.end;
  }
  add(content.substr(done), {done, content.size()});
  return input;
}

}  // namespace dragoman
