#include "tests/request/scripted_translation.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/text/marked_sentence.h"
#include "engine/text/placement.h"
#include "engine/text/words.h"

namespace dragoman {
namespace {

// Words with the punctuation that touches them.
std::vector<TextSpan> Chunks(const std::string& text) {
  std::vector<TextSpan> chunks;
  for (const TextSpan word : SplitWords(text, {})) {
    if (!chunks.empty() && chunks.back().end == word.begin) {
      chunks.back().end = word.end;
    } else {
      chunks.push_back(word);
    }
  }
  return chunks;
}

struct Scripted {
  std::string target;
  std::vector<TextSpan> source_tokens, target_tokens;  // n-th from n-th
};

Scripted Apply(Script script, const std::string& source) {
  Scripted made;
  if (script == Script::kNothing) return made;
  if (script == Script::kIdentity) {
    made.source_tokens = made.target_tokens = SplitWords(source, {});
    made.target = source;
    return made;
  }
  std::vector<TextSpan> chunks = Chunks(source);
  TextSpan stop;
  if (!chunks.empty() && chunks.back().size() > 1 && source[chunks.back().end - 1] == '.') {
    stop = {--chunks.back().end, 0};
    stop.end = stop.begin + 1;
  }
  std::reverse(chunks.begin(), chunks.end());
  const auto add = [&](TextSpan chunk) {
    for (const TextSpan word : SplitWords(source.substr(chunk.begin, chunk.size()), {})) {
      made.source_tokens.push_back({word.begin + chunk.begin, word.end + chunk.begin});
      const size_t begin = made.target.size() + word.begin;
      made.target_tokens.push_back({begin, begin + word.size()});
    }
    made.target += source.substr(chunk.begin, chunk.size());
  };
  for (const TextSpan chunk : chunks) {
    if (!made.target.empty()) made.target += ' ';
    add(chunk);
  }
  if (stop.size() > 0) add(stop);
  return made;
}

}  // namespace

std::string TranslateByScript(MarkedText text, Script script, bool split) {
  MarkedContent content = {std::move(text), {}, ""};
  content.sentences = FindSentences(content.text, split);
  Renderer renderer(&content);
  for (size_t s = 0; s < content.sentences.size(); ++s) {
    const MarkedSentence& sentence = content.sentences[s];
    if (!HasText(content.text, sentence)) continue;
    const ModelInput input = InputOf(content.text, sentence);
    Scripted made = Apply(script, input.text);
    for (TextSpan& token : made.source_tokens) token = input.to_sentence.Map(token);
    const size_t n = made.source_tokens.size();
    std::vector<float> attention(n * n, 0.0f);
    for (size_t i = 0; i < n; ++i) attention[i * n + i] = 1.0f;
    Placement placement = PlaceMarks(
        {.source =
             std::string_view(content.text.text).substr(sentence.text.begin, sentence.text.size()),
         .target = made.target,
         .source_tokens = made.source_tokens,
         .target_tokens = made.target_tokens,
         .attention = attention},
        sentence.marks);
    renderer.Set(s, made.target, std::move(placement));
  }
  renderer.Advance(content.text.raw.size());
  return renderer.text();
}

}  // namespace dragoman
