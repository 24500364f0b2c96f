#include "server/compat/azure_spans.h"

#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "engine/base/utf8.h"

namespace dragoman {
namespace {

// How many characters of a text begin before each byte, and in all of it.
std::vector<int> CountCharacters(std::string_view text) {
  std::vector<int> counts = {0};
  counts.reserve(text.size() + 1);
  for (const char c : text) {
    counts.push_back(counts.back() + ((static_cast<uint8_t>(c) & 0xC0) != 0x80 ? 1 : 0));
  }
  return counts;
}

}  // namespace

std::string AzureAlignment(std::string_view source, std::string_view target,
                           const v1::AlignedText& aligned) {
  const std::vector<int> in_source = CountCharacters(source);
  const std::vector<int> in_target = CountCharacters(target);
  std::vector<std::tuple<int, int, int, int>> links;
  for (const v1::WordLink& word : aligned.words()) {
    links.emplace_back(in_source[word.source_begin()], in_source[word.source_end()] - 1,
                       in_target[word.target_begin()], in_target[word.target_end()] - 1);
  }
  absl::c_sort(links);
  std::string projection;
  for (const auto& [source_first, source_last, target_first, target_last] : links) {
    absl::StrAppend(&projection, projection.empty() ? "" : " ", source_first, ":", source_last, "-",
                    target_first, ":", target_last);
  }
  return projection;
}

std::vector<int> AzureSentences(std::string_view text, const std::vector<TextSpan>& sentences) {
  const std::vector<int> characters = CountCharacters(text);
  std::vector<int> lengths;
  for (size_t i = 0; i < sentences.size(); ++i) {
    const size_t begin = i == 0 ? 0 : sentences[i].begin;
    const size_t end = i + 1 < sentences.size() ? sentences[i + 1].begin : text.size();
    lengths.push_back(characters[end] - characters[begin]);
  }
  return lengths;
}

nlohmann::ordered_json AzureSentences(std::string_view source, std::string_view target,
                                      const v1::Translation& translation) {
  std::vector<TextSpan> of_source, of_target;
  for (const v1::SentenceSpan& span : translation.sentences()) {
    of_source.push_back(
        {static_cast<size_t>(span.source_begin()), static_cast<size_t>(span.source_end())});
    of_target.push_back(
        {static_cast<size_t>(span.target_begin()), static_cast<size_t>(span.target_end())});
  }
  return {{"srcSentLen", AzureSentences(source, of_source)},
          {"transSentLen", AzureSentences(target, of_target)}};
}

}  // namespace dragoman
