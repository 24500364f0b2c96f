// Attention is squared before it is shared out: what a decoder looks at besides the word that it
// translates is many small values.

#include "engine/text/word_links.h"

#include <map>

#include "engine/base/utf8.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

using Word = WordLinks::Word;

constexpr float kSureAttention = 0.3f;  // of the attention of punctuation

// Punctuation that languages write in different ways.
constexpr std::u32string_view kAlike[] = {U".。।۔．", U",،、，", U"?？؟",
                                          U"!！",     U":：",    U";；؛",
                                          U"(（",     U")）",    U"\"'„“”«»‹›‚‘’「」『』",
                                          U"-–—‐‑",   U"…‥"};

char32_t PunctuationOf(char32_t c) {
  for (const std::u32string_view alike : kAlike) {
    if (alike.find(c) != alike.npos) return alike.front();
  }
  return c;
}

std::vector<Word> WordsOf(std::string_view text, std::vector<TextSpan> tokens) {
  std::erase_if(tokens, [](const TextSpan& span) { return span.size() == 0; });
  std::stable_sort(tokens.begin(), tokens.end(),
                   [](const TextSpan& a, const TextSpan& b) { return a.begin < b.begin; });
  std::vector<Word> words;
  for (const TextSpan span : SplitWords(text, tokens)) {
    size_t first = span.begin;
    const char32_t c = NextCodePoint(text, &first);
    words.push_back({.span = span,
                     .text = text.substr(span.begin, span.size()),
                     .punctuation = IsLetterOrDigit(c) ? U'\0' : PunctuationOf(c)});
  }
  return words;
}

// Leaves out what the model did not read of a truncated sentence.
std::vector<Word> Read(std::vector<Word> words, const std::vector<TextSpan>& tokens) {
  size_t end = 0;
  for (const TextSpan token : tokens) end = std::max(end, token.end);
  while (!tokens.empty() && !words.empty() && words.back().span.begin >= end) words.pop_back();
  return words;
}

// Makes one word of what an opaque mark covers.
std::vector<Word> JoinOpaque(std::string_view text, const std::vector<Word>& words,
                             absl::Span<const SentenceMark> marks) {
  std::vector<Word> joined;
  size_t done = 0;  // the byte after the last opaque mark
  auto word = words.begin();
  const auto add_until = [&](size_t end) {
    for (; word != words.end() && word->span.begin < end; ++word) {
      Word& part = joined.emplace_back(*word);
      part.span = {std::max(word->span.begin, done), std::min(word->span.end, end)};
      if (part.span.begin >= part.span.end) {
        joined.pop_back();
      } else {
        part.text = text.substr(part.span.begin, part.span.size());
      }
      if (word->span.end > end) break;
    }
  };
  for (const SentenceMark& mark : marks) {
    if (mark.kind != MarkKind::kOpaque || mark.text.size() == 0) continue;
    add_until(mark.text.begin);
    joined.push_back({.span = mark.text, .text = mark.read, .opaque = true});
    done = mark.text.end;
    while (word != words.end() && word->span.end <= done) ++word;
  }
  add_until(text.size());
  return joined;
}

// The words [begin, end) that a token is part of.
TextSpan WordsAt(const std::vector<Word>& words, TextSpan token) {
  const auto first = std::partition_point(
      words.begin(), words.end(), [&](const Word& word) { return word.span.end <= token.begin; });
  const auto end = std::partition_point(
      first, words.end(), [&](const Word& word) { return word.span.begin < token.end; });
  if (token.size() == 0) return {};
  return {static_cast<size_t>(first - words.begin()), static_cast<size_t>(end - words.begin())};
}

}  // namespace

WordLinks::WordLinks(const AlignedSentence& sentence, absl::Span<const SentenceMark> marks)
    : source_(JoinOpaque(
          sentence.source,
          Read(WordsOf(sentence.source, sentence.source_tokens), sentence.source_tokens), marks)),
      target_(WordsOf(sentence.target, sentence.target_tokens)),
      links_(source_.size() * target_.size(), 0.0f) {
  if (sentence.attention.empty()) {
    AddByPosition();
  } else {
    AddAttention(sentence);
  }
  LinkPunctuation();
  Sharpen();
  LinkCopies();
}

void WordLinks::AddAttention(const AlignedSentence& sentence) {
  const size_t width = sentence.source_tokens.size();
  std::vector<TextSpan> of_source;
  for (const TextSpan token : sentence.source_tokens) of_source.push_back(WordsAt(source_, token));
  for (size_t t = 0; t < sentence.target_tokens.size(); ++t) {
    const TextSpan words = WordsAt(target_, sentence.target_tokens[t]);
    for (size_t tw = words.begin; tw < words.end; ++tw) {
      for (size_t s = 0; s < width; ++s) {
        const float part = sentence.attention[t * width + s];
        for (size_t sw = of_source[s].begin; sw < of_source[s].end; ++sw) {
          Row(tw)[sw] += part / static_cast<float>(of_source[s].size());
        }
      }
    }
  }
}

// The n-th part of the target's words comes from the n-th part of the source's.
void WordLinks::AddByPosition() {
  const auto wide = [](size_t i, size_t n) {
    return static_cast<float>(i) / static_cast<float>(n);
  };
  for (size_t t = 0; t < target_.size(); ++t) {
    for (size_t s = 0; s < source_.size(); ++s) {
      const float both = std::min(wide(t + 1, target_.size()), wide(s + 1, source_.size())) -
                         std::max(wide(t, target_.size()), wide(s, source_.size()));
      Row(t)[s] = std::max(0.0f, both);
    }
  }
}

// Links punctuation to punctuation of the same kind: where attention is sure, or else in order.
void WordLinks::LinkPunctuation() {
  std::map<char32_t, std::vector<size_t>> source, target;  // by kind
  for (size_t s = 0; s < source_.size(); ++s) {
    if (source_[s].punctuation != 0) source[source_[s].punctuation].push_back(s);
  }
  for (size_t t = 0; t < target_.size(); ++t) {
    if (target_[t].punctuation != 0) target[target_[t].punctuation].push_back(t);
  }
  for (size_t t = 0; t < target_.size(); ++t) {
    for (size_t s = 0; s < source_.size() && target_[t].punctuation == 0; ++s) {
      if (source_[s].punctuation != 0) Row(t)[s] = 0.0f;
    }
  }
  for (const auto& [kind, places] : target) {
    const std::vector<size_t>& from = source[kind];
    for (size_t i = 0; i < places.size(); ++i) {
      float* const row = Row(places[i]);
      float total = 0.0f;
      for (size_t s = 0; s < source_.size(); ++s) total += row[s];
      size_t best = from.size();
      for (size_t k = 0; k < from.size(); ++k) {
        if (best == from.size() || row[from[k]] > row[from[best]]) best = k;
      }
      const bool sure = best < from.size() && row[from[best]] > kSureAttention * total;
      if (!sure && from.size() == places.size()) best = i;
      std::fill(row, row + source_.size(), 0.0f);
      if (best < from.size()) row[from[best]] = 1.0f;
    }
  }
}

void WordLinks::Sharpen() {
  for (size_t t = 0; t < target_.size(); ++t) {
    float most = 0.0f, total = 0.0f;
    for (size_t s = 0; s < source_.size(); ++s) most = std::max(most, Row(t)[s]);
    if (most <= 0.0f) continue;
    for (size_t s = 0; s < source_.size(); ++s) {
      const float relative = Row(t)[s] / most;
      Row(t)[s] = relative * relative;
      total += Row(t)[s];
    }
    for (size_t s = 0; s < source_.size(); ++s) Row(t)[s] /= total;
  }
}

// A word that is the same in both, once in each, was copied.
void WordLinks::LinkCopies() {
  std::map<std::string_view, std::vector<size_t>> source, target;
  for (size_t s = 0; s < source_.size(); ++s) source[source_[s].text].push_back(s);
  for (size_t t = 0; t < target_.size(); ++t) target[target_[t].text].push_back(t);
  for (const auto& [text, from] : source) {
    const auto to = target.find(text);
    if (from.size() != 1 || to == target.end() || to->second.size() != 1) continue;
    if (source_[from[0]].punctuation != 0) continue;
    for (size_t t = 0; t < target_.size(); ++t) Row(t)[from[0]] = 0.0f;
    std::fill(Row(to->second[0]), Row(to->second[0]) + source_.size(), 0.0f);
    Row(to->second[0])[from[0]] = 1.0f;
  }
}

}  // namespace dragoman
