#include "engine/request/rendering.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "engine/base/html_references.h"
#include "engine/base/utf8.h"
#include "engine/text/words.h"

namespace dragoman {

// Writes one sentence: the text between its marks, and their tags.
class Renderer::SentenceWriter {
 public:
  SentenceWriter(Renderer* renderer, size_t number)
      : renderer_(*renderer),
        raw_(renderer->content_.text.raw),
        sentence_(renderer->content_.sentences[number]),
        segment_(renderer->content_.text.segments[static_cast<size_t>(sentence_.segment)]),
        state_(renderer->states_[number]),
        children_(ChildrenOf(sentence_.marks)) {
    for (size_t m = 0; m < sentence_.marks.size(); ++m) {
      if (MarkOf(m).in_order) in_order_.push_back(m);
    }
    for (std::vector<size_t>& siblings : children_) {
      std::sort(siblings.begin(), siblings.end(), [&](size_t a, size_t b) {
        const TextSpan& x = state_.placement.marks[a];
        const TextSpan& y = state_.placement.marks[b];
        return std::tie(x.begin, x.end, a) < std::tie(y.begin, y.end, b);
      });
    }
  }

  void Write() {
    const TextSpan around = sentence_.around;
    const size_t begin = renderer_.text_.size();
    Keep({around.begin, sentence_.text.begin});
    WriteInside(0, {0, state_.translation.size()});
    Keep({sentence_.text.end, around.end});
    state_.rendered = {begin, renderer_.text_.size()};
  }

 private:
  const Mark& MarkOf(size_t m) const {
    return renderer_.content_.text.marks[static_cast<size_t>(sentence_.numbers[m])];
  }

  // White space of the source, which may be spelled as a reference.
  void Keep(TextSpan space) {
    TextMap unused;
    Spell(renderer_.content_.text.text, space, segment_, &renderer_.text_, &unused);
  }

  // The text `within` and what is in mark number `parent` - 1.
  void WriteInside(size_t parent, TextSpan within) {
    size_t done = within.begin;
    for (const size_t m : children_[parent]) {
      const TextSpan span = state_.placement.marks[m];
      WriteText({done, span.begin});
      WriteMark(m, span);
      done = span.end;
    }
    WriteText({done, within.end});
  }

  void WriteMark(size_t m, TextSpan span) {
    if (MarkOf(m).reading == Reading::kAbsent) return;
    Mark mark = MarkOf(m).in_order ? MarkOf(in_order_[ordered_++]) : MarkOf(m);
    if (sentence_.marks[m].bracketed && !IsBracketed(state_.translation, span)) {
      --mark.opening.begin;
      ++(mark.kind == MarkKind::kPaired ? mark.closing : mark.opening).end;
    }
    if (mark.kind == MarkKind::kPaired) {
      const bool whole = sentence_.marks[m].begins && sentence_.marks[m].ends;
      if (whole && mark.text.size() == 0 && children_[m + 1].empty()) {
        return WriteBetweenWords(mark, {mark.opening.begin, mark.closing.end});
      }
      // Nothing but signs: "Name <b>*</b>".
      const bool signs = whole && span.size() == 0 && !children_[m + 1].empty();
      if (signs && KeepSpaceBefore(mark.opening.begin)) wants_space_ = false;
      if (sentence_.marks[m].begins) {
        if (std::exchange(wants_space_, false)) renderer_.text_ += ' ';
        renderer_.CopyTag(mark.opening);
      }
      WriteInside(m + 1, span);
      if (sentence_.marks[m].ends) renderer_.CopyTag(mark.closing);
      if (signs) wants_space_ = HasSpaceAt(mark.closing.end);
      return;
    }
    // What was apart stays apart.
    const bool word = mark.kind == MarkKind::kOpaque && mark.reading != Reading::kNothing;
    if (word && renderer_.text_.size() == word_end_ && word_raw_end_ != mark.opening.begin) {
      renderer_.text_ += ' ';
    }
    if (word && std::exchange(wants_space_, false) && !IsMarkupSpace(renderer_.text_.back())) {
      renderer_.text_ += ' ';
    }
    const std::string& read = sentence_.marks[m].read;
    const bool apart = word && (sentence_.marks[m].stand_in || read.empty() || IsTypographic(read));
    if (apart && ends_word_ && !FollowsWord(mark.text.begin)) renderer_.text_ += ' ';
    const size_t begin = renderer_.text_.size();
    if (span.size() > 0) {
      renderer_.CopyTag(mark.opening);
      state_.map.Add(span, {begin, renderer_.text_.size()});
    } else {
      WriteBetweenWords(mark, mark.opening);
    }
    begun_ = true;
    word_raw_end_ = mark.opening.end;
    word_end_ = word ? renderer_.text_.size() : std::string::npos;
    ends_word_ = false;
    parts_words_ = apart && !PrecedesWord(mark.text.end);
  }

  // Whether what begins at this byte of the source's text is a part of a word: "pre-%s", "%s's".
  bool FollowsWord(size_t byte) const {
    const std::string_view text = renderer_.content_.text.text;
    if (byte > 1 && text[byte - 1] == '-') --byte;
    return byte > 0 && IsWordCharacter(LastCodePoint(text.substr(0, byte)));
  }
  bool PrecedesWord(size_t byte) const {
    const std::string_view text = renderer_.content_.text.text;
    size_t next = byte;
    const char32_t c = byte < text.size() ? NextCodePoint(text, &next) : 0;
    if (c == '-' || c == '\'' || c == U'’') byte = next;
    return byte < text.size() && IsWordCharacter(NextCodePoint(text, &byte));
  }

  // Writes an element where the translation has no words for it, with the white space around it
  // that it had.
  void WriteBetweenWords(const Mark& mark, TextSpan element) {
    const bool space_before = KeepSpaceBefore(element.begin);
    renderer_.CopyTag(element);
    wants_space_ = HasSpaceAt(element.end);
    skips_space_ = mark.breaks_word && !space_before && !wants_space_;
  }

  bool HasSpaceAt(size_t raw) const { return raw < raw_.size() && IsMarkupSpace(raw_[raw]); }

  bool KeepSpaceBefore(size_t raw) {
    const bool space = raw > 0 && HasSpaceAt(raw - 1);
    if (space && begun_ && !IsMarkupSpace(renderer_.text_.back())) renderer_.text_ += ' ';
    return space;
  }

  // A part of the translation, which follows those that were written before.
  void WriteText(TextSpan part) {
    const std::vector<TextSpan>& removed = state_.placement.removed;
    for (; removed_ < removed.size() && removed[removed_].begin < part.end; ++removed_) {
      WritePiece({part.begin, std::max(part.begin, removed[removed_].begin)});
      part.begin = std::max(part.begin, std::min(part.end, removed[removed_].end));
      if (removed[removed_].end > part.end) break;
    }
    WritePiece(part);
  }

  void WritePiece(TextSpan part) {
    const std::string& text = state_.translation;
    while (skips_space_ && part.begin < part.end && IsMarkupSpace(text[part.begin])) ++part.begin;
    if (part.begin == part.end) return;
    size_t first = part.begin;
    const char32_t c = NextCodePoint(text, &first);
    constexpr std::u32string_view kOpening = U"([{„«¿¡";
    const bool begins = IsLetterOrDigit(c) || kOpening.find(c) != kOpening.npos;
    if (wants_space_ ? begins : parts_words_ && ContinuesWord(c)) {
      renderer_.text_ += ' ';
    }
    wants_space_ = skips_space_ = parts_words_ = false;
    ends_word_ = IsWordCharacter(LastCodePoint(std::string_view(text).substr(0, part.end)));
    begun_ = true;
    Spell(text, part, segment_, &renderer_.text_, &state_.map);
  }

  Renderer& renderer_;
  const std::string_view raw_;
  const MarkedSentence& sentence_;
  const Segment& segment_;
  State& state_;
  std::vector<std::vector<size_t>> children_;  // as they are to be written
  std::vector<size_t> in_order_;               // the marks that stay in their order
  size_t ordered_ = 0;                         // of these, so far
  size_t removed_ = 0;                         // parts that are left out, so far
  // Where the opaque mark that was written last ends, in raw and here, if it is a word.
  size_t word_raw_end_ = 0, word_end_ = std::string::npos;
  bool begun_ = false;        // there is text before
  bool ends_word_ = false;    // the text before ends in a word
  bool parts_words_ = false;  // a word that follows does not touch what is before
  bool wants_space_ = false, skips_space_ = false;
};

Renderer::Renderer(const MarkedContent* content)
    : content_(*content),
      states_(content->sentences.size()),
      quoted_(content->text.segments.size(), 0) {
  const MarkedText& text = content_.text;
  for (size_t s = 0; s < text.segments.size(); ++s) {
    if (text.segments[s].writing != Writing::kUnquoted) continue;
    const TextSpan raw = text.segments[s].raw;
    splices_.push_back({{raw.begin, raw.begin}, Splice::kQuote, s});
    splices_.push_back({{raw.end, raw.end}, Splice::kQuote, s});
  }
  for (const size_t place : text.direction_places) {
    if (!content_.direction.empty()) splices_.push_back({{place, place}, Splice::kDirection});
  }
  for (size_t s = 0; s < content_.sentences.size(); ++s) {
    splices_.push_back({content_.sentences[s].raw, Splice::kSentence, s});
  }
  std::stable_sort(splices_.begin(), splices_.end(), [](const Splice& a, const Splice& b) {
    return std::pair(a.raw.begin, a.raw.size() > 0) < std::pair(b.raw.begin, b.raw.size() > 0);
  });
}

void Renderer::Set(size_t sentence, std::string translation, Placement placement) {
  State& state = states_[sentence];
  state.is_set = true;
  state.translation = std::move(translation);
  state.placement = std::move(placement);
  quoted_[static_cast<size_t>(content_.sentences[sentence].segment)] = 1;
}

void Renderer::Advance(size_t end) {
  const auto first =
      std::partition_point(splices_.begin(), splices_.end(),
                           [&](const Splice& splice) { return splice.raw.begin < done_; });
  Copy({done_, end}, static_cast<size_t>(first - splices_.begin()));
  done_ = end;
}

bool Renderer::Replaces(const Splice& splice) const {
  if (splice.kind == Splice::kSentence) return states_[splice.number].is_set;
  return splice.kind == Splice::kDirection || quoted_[splice.number];
}

void Renderer::Write(const Splice& splice) {
  switch (splice.kind) {
    case Splice::kDirection:
      text_ += " dir=\"" + content_.direction + "\"";
      break;
    case Splice::kQuote:
      text_ += '"';
      break;
    case Splice::kSentence:
      SentenceWriter(this, splice.number).Write();
      break;
  }
}

// Appends raw bytes, and whatever replaces a part of them.  `first` is the first splice that may.
void Renderer::Copy(TextSpan raw, size_t first) {
  const std::string& from = content_.text.raw;
  for (size_t i = first; i < splices_.size() && splices_[i].raw.begin < raw.end; ++i) {
    const Splice& splice = splices_[i];
    if (splice.raw.begin < raw.begin) continue;  // within one that has been written
    const bool replaces = Replaces(splice);
    if (!replaces && splice.kind != Splice::kSentence) continue;
    text_.append(from, raw.begin, splice.raw.begin - raw.begin);
    raw.begin = splice.raw.end;
    if (replaces) {
      Write(splice);
      continue;
    }
    TextSpan& rendered = states_[splice.number].rendered;
    rendered.begin = text_.size();
    Copy(splice.raw, i + 1);
    rendered.end = text_.size();
  }
  text_.append(from, raw.begin, raw.size());
}

// The splices within a tag are behind its first byte; at it, there is the sentence that it begins.
void Renderer::CopyTag(TextSpan raw) {
  const auto first =
      std::partition_point(splices_.begin(), splices_.end(),
                           [&](const Splice& other) { return other.raw.begin <= raw.begin; });
  Copy(raw, static_cast<size_t>(first - splices_.begin()));
}

}  // namespace dragoman
