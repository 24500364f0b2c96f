#include "engine/request/alignment.h"

#include <algorithm>
#include <utility>

#include "engine/text/words.h"

namespace dragoman {
namespace {

// The words of the part of a text that the tokens cover.
std::vector<TextSpan> WordsOf(std::string_view text, std::vector<TextSpan> tokens) {
  std::erase_if(tokens, [](const TextSpan& span) { return span.size() == 0; });
  if (tokens.empty()) return {};
  const size_t begin = tokens.front().begin;
  size_t end = begin;
  for (TextSpan& span : tokens) {
    end = std::max(end, span.end);
    span = {span.begin - begin, span.end - begin};
  }
  std::vector<TextSpan> words = SplitWords(text.substr(begin, end - begin), tokens);
  for (TextSpan& word : words) word = {word.begin + begin, word.end + begin};
  return words;
}

// The tokens of each word, by index.  Both are in order.
std::vector<std::vector<int>> TokensOfWords(absl::Span<const TextSpan> words,
                                            absl::Span<const TextSpan> tokens) {
  std::vector<std::vector<int>> of_words(words.size());
  size_t first = 0;  // the first word that this token or a later one may be part of
  for (size_t t = 0; t < tokens.size(); ++t) {
    if (tokens[t].size() == 0) continue;
    while (first < words.size() && words[first].end <= tokens[t].begin) ++first;
    for (size_t w = first; w < words.size() && words[w].begin < tokens[t].end; ++w) {
      of_words[w].push_back(static_cast<int>(t));
    }
  }
  return of_words;
}

// Aligns one sentence.
class Aligner {
 public:
  explicit Aligner(const SentenceToAlign& sentence)
      : sentence_(sentence),
        source_(SpansOf(sentence.source)),
        target_(SpansOf(sentence.target)),
        links_(LinksOf(sentence.attention, source_)) {}

  void AddPoints(const AlignmentOptions& options, int first_source, int first_target,
                 std::vector<AlignmentPoint>* points) const {
    const std::vector<int> best = Best();
    for (size_t t = 0; t < target_.size(); ++t) {
      for (size_t s = 0; s < source_.size(); ++s) {
        const bool link = links_[t] == static_cast<int>(s);
        if (!link && At(t, s) < options.threshold) continue;
        points->push_back({.source = first_source + static_cast<int>(s),
                           .target = first_target + static_cast<int>(t),
                           .probability = At(t, s),
                           .link = link,
                           .mutual = link && best[s] == static_cast<int>(t)});
      }
    }
  }

  void AddWords(std::vector<WordLink>* words) const {
    const std::vector<TextSpan> source_words = WordsOf(sentence_.source_text, source_);
    const std::vector<TextSpan> target_words = WordsOf(sentence_.target_text, target_);
    const auto source_tokens = TokensOfWords(source_words, source_);
    const auto target_tokens = TokensOfWords(target_words, target_);
    for (size_t tw = 0; tw < target_words.size(); ++tw) {
      for (size_t sw = 0; sw < source_words.size(); ++sw) {
        bool linked = false;
        float given = 0.0f;
        for (const int t : target_tokens[tw]) {
          for (const int s : source_tokens[sw]) {
            linked = linked || links_[t] == s;
            given += At(t, s);
          }
        }
        if (!linked) continue;
        words->push_back({source_words[sw], target_words[tw],
                          given / static_cast<float>(target_tokens[tw].size())});
      }
    }
  }

 private:
  float At(size_t target, size_t source) const {
    return sentence_.attention[target * source_.size() + source];
  }

  // For each source token, the target token that gives it the most attention; the first one of
  // equals.
  std::vector<int> Best() const {
    std::vector<int> best(source_.size(), 0);
    for (size_t t = 1; t < target_.size(); ++t) {
      for (size_t s = 0; s < source_.size(); ++s) {
        if (At(t, s) > At(best[s], s)) best[s] = static_cast<int>(t);
      }
    }
    return best;
  }

  const SentenceToAlign& sentence_;
  const std::vector<TextSpan> source_, target_;
  const std::vector<int> links_;
};

// A sentence of the second of two steps, with the sentences of the first step that its source came
// from.
class Between {
 public:
  Between(const Alignment& first, const Alignment& second, const AttentionBlock& block)
      : first_(first), second_(second), block_(block) {
    for (const AttentionBlock& made : first.attention) {
      if (!Meets(made)) continue;
      if (blocks_.empty()) source_begin_ = made.source_begin;
      source_end_ = made.source_end;
      blocks_.push_back(&made);
    }
  }

  // The tokens of the first source.
  int source_begin() const { return source_begin_; }
  int source_end() const { return source_end_; }

  // [target tokens of the block, source_end() - source_begin()]
  std::vector<float> Attention() const {
    const std::vector<float> between = OfSourceTokens();
    const size_t width = static_cast<size_t>(source_end_ - source_begin_);
    const size_t inner = static_cast<size_t>(block_.source_end - block_.source_begin);
    const size_t targets = static_cast<size_t>(block_.target_end - block_.target_begin);
    std::vector<float> attention(targets * width, 0.0f);
    for (size_t t = 0; t < targets; ++t) {
      for (size_t p = 0; p < inner; ++p) {
        const float given = block_.probabilities[t * inner + p];
        for (size_t s = 0; s < width; ++s)
          attention[t * width + s] += given * between[p * width + s];
      }
    }
    return attention;
  }

 private:
  bool Meets(const AttentionBlock& made) const {
    for (int q = made.target_begin; q < made.target_end; ++q) {
      for (int p = block_.source_begin; p < block_.source_end; ++p) {
        if (Overlap(first_.target[q].span, second_.source[p].span)) return true;
      }
    }
    return false;
  }

  // What each source token of the block attends to: the mean over those target tokens of the first
  // step with which it shares bytes. [source tokens of the block, source_end() - source_begin()]
  std::vector<float> OfSourceTokens() const {
    const size_t width = static_cast<size_t>(source_end_ - source_begin_);
    std::vector<float> rows(static_cast<size_t>(block_.source_end - block_.source_begin) * width);
    for (int p = block_.source_begin; p < block_.source_end; ++p) {
      float* const row = rows.data() + static_cast<size_t>(p - block_.source_begin) * width;
      int shared = 0;
      for (const AttentionBlock* made : blocks_) {
        const int inner = made->source_end - made->source_begin;
        for (int q = made->target_begin; q < made->target_end; ++q) {
          if (!Overlap(first_.target[q].span, second_.source[p].span)) continue;
          ++shared;
          const float* const from =
              made->probabilities.data() + static_cast<size_t>(q - made->target_begin) * inner;
          for (int s = 0; s < inner; ++s) row[made->source_begin - source_begin_ + s] += from[s];
        }
      }
      for (size_t s = 0; s < width && shared > 1; ++s) row[s] /= static_cast<float>(shared);
    }
    return rows;
  }

  const Alignment& first_;
  const Alignment& second_;
  const AttentionBlock& block_;
  std::vector<const AttentionBlock*> blocks_;  // of the first step, in order
  int source_begin_ = 0, source_end_ = 0;
};

}  // namespace

std::vector<TextSpan> SpansOf(const std::vector<AlignedToken>& tokens) {
  std::vector<TextSpan> spans;
  for (const AlignedToken& token : tokens) spans.push_back(token.span);
  return spans;
}

Alignment Chain(std::string_view source_text, std::string_view target_text, const Alignment& first,
                const Alignment& second, const AlignmentOptions& options) {
  Alignment chained;
  for (const AttentionBlock& block : second.attention) {
    const Between between(first, second, block);
    SentenceToAlign sentence{source_text, target_text, {}, {}, {}};
    const auto source = first.source.begin();
    sentence.source.assign(source + between.source_begin(), source + between.source_end());
    const auto target = second.target.begin();
    sentence.target.assign(target + block.target_begin, target + block.target_end);
    sentence.attention = between.Attention();
    AppendAlignment(std::move(sentence), options, &chained);
  }
  return chained;
}

std::vector<int> LinksOf(absl::Span<const float> attention, absl::Span<const TextSpan> source) {
  std::vector<int> links;
  for (size_t row = 0; row < attention.size(); row += source.size()) {
    int link = -1;
    for (size_t s = 0; s < source.size(); ++s) {
      if (source[s].size() == 0) continue;
      if (link < 0 || attention[row + s] > attention[row + link]) link = static_cast<int>(s);
    }
    links.push_back(link);
  }
  return links;
}

void AppendAlignment(SentenceToAlign sentence, const AlignmentOptions& options,
                     Alignment* alignment) {
  const int first_source = static_cast<int>(alignment->source.size());
  const int first_target = static_cast<int>(alignment->target.size());
  const Aligner aligner(sentence);
  aligner.AddPoints(options, first_source, first_target, &alignment->points);
  aligner.AddWords(&alignment->words);
  alignment->attention.push_back(
      {first_source, first_source + static_cast<int>(sentence.source.size()), first_target,
       first_target + static_cast<int>(sentence.target.size()), std::move(sentence.attention)});
  std::move(sentence.source.begin(), sentence.source.end(), std::back_inserter(alignment->source));
  std::move(sentence.target.begin(), sentence.target.end(), std::back_inserter(alignment->target));
}

}  // namespace dragoman
