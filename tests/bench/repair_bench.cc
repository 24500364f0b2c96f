// What the thresholds of repairs (engine/request/repair.h) do: translates sentences whose likes are
// in a memory with each pair of thresholds, and writes what it took and the translations. repair.py
// --sweep calls it and says how good they are.
//
//   repair_bench MODEL MEMORY.tsv SENTENCES.tsv TARGET COUNT BEAM LOSSES DOUBTS
//
// Of the sentences, each with a reference, the first COUNT that the memory has in part.  LOSSES and
// DOUBTS are numbers with commas between them.  Each pair gives a line with #, both thresholds, the
// steps of all sentences, how many were repaired, and how many of these the model finds less likely
// than its own translation; then a line of reference and translation for each sentence.  The first
// one is without a memory.

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "engine/base/status.h"
#include "engine/request/translator.h"
#include "tests/request/translate_and_wait.h"

namespace dragoman {
namespace {

using Pair = std::pair<std::string, std::string>;

std::vector<Pair> ReadPairs(const char* path) {
  std::vector<Pair> pairs;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const size_t tab = line.find('\t');
    if (tab != line.npos) pairs.emplace_back(line.substr(0, tab), line.substr(tab + 1));
  }
  return pairs;
}

std::vector<float> Numbers(const std::string& text) {
  std::vector<float> numbers;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    DRAGOMAN_CHECK(absl::SimpleAtof(part, &numbers.emplace_back()));
  }
  return numbers;
}

struct Results {
  std::vector<Translation> translations;
  int steps = 0;
};

class Bench {
 public:
  Bench(const Translator* translator, std::string target, int beam)
      : translator_(*translator), target_(std::move(target)), beam_(beam) {}

  Results Run(const std::vector<Pair>& tests, const std::vector<MemoryPtr>& memories,
              RepairThresholds repair) const {
    constexpr size_t kTogether = 64;
    Results results;
    for (size_t begin = 0; begin < tests.size(); begin += kTogether) {
      TranslateRequest request = {.source_language = "en", .target_language = target_};
      request.options.beam_size = beam_;
      request.memories = memories;
      request.repair = repair;
      for (size_t i = begin; i < std::min(tests.size(), begin + kTogether); ++i) {
        request.texts.push_back(tests[i].first);
      }
      TranslateResponse response = TranslateAndWait(translator_, std::move(request));
      DRAGOMAN_CHECK(response.status.ok());
      for (Translation& translation : response.translations) {
        results.translations.push_back(std::move(translation));
      }
      results.steps += response.times.steps;
    }
    return results;
  }

 private:
  const Translator& translator_;
  const std::string target_;
  const int beam_;
};

void Print(RepairThresholds repair, const std::vector<Pair>& tests, const Results& results,
           const Results& plain) {
  int repaired = 0, below = 0;
  for (size_t i = 0; i < tests.size(); ++i) {
    const Translation& translation = results.translations[i];
    if (translation.matches.empty() || translation.matches[0].kind != MemoryMatch::kRepaired) {
      continue;
    }
    ++repaired;
    if (translation.hypotheses[0].score < plain.translations[i].hypotheses[0].score) ++below;
  }
  std::printf("#\t%g\t%g\t%d\t%d\t%d\n", repair.most_loss, repair.doubtful_loss, results.steps,
              repaired, below);
  for (size_t i = 0; i < tests.size(); ++i) {
    std::printf("%s\t%s\n", tests[i].second.c_str(),
                results.translations[i].hypotheses[0].text.c_str());
  }
}

int Main(char** argv) {
  const auto model = Model::Load("model", argv[1], {.precision = Precision::kInt8});
  if (!model.ok()) {
    std::fprintf(stderr, "%s\n", model.status().ToString().c_str());
    return 1;
  }
  std::vector<MemorySegment> segments;
  for (Pair& pair : ReadPairs(argv[2])) {
    segments.push_back({std::move(pair.first), std::move(pair.second)});
  }
  const auto memory = std::make_shared<const TranslationMemory>(
      TranslationMemory("m", {}).Learn(std::move(segments), 1));
  const size_t count = std::stoul(argv[5]);
  std::vector<Pair> tests;
  for (Pair& pair : ReadPairs(argv[3])) {
    const auto match = memory->Find(SegmentQuery(pair.first, "", ""), kDefaultMemoryThreshold);
    if (match.has_value() && match->percent < 100) tests.push_back(std::move(pair));
    if (tests.size() == count) break;
  }
  Observer observer;
  WorkerPool pool({.workers = 1}, &observer);
  const Translator translator(*model, &pool, Limits());
  const Bench bench(&translator, argv[4], std::stoi(argv[6]));
  const Results plain = bench.Run(tests, {}, {});
  Print({0.0f, 0.0f}, tests, plain, plain);
  for (const float loss : Numbers(argv[7])) {
    for (const float doubt : Numbers(argv[8])) {
      const RepairThresholds repair = {loss, doubt};
      Print(repair, tests, bench.Run(tests, {memory}, repair), plain);
    }
  }
  return 0;
}

}  // namespace
}  // namespace dragoman

int main(int argc, char** argv) {
  if (argc == 9) return dragoman::Main(argv);
  std::fprintf(stderr,
               "usage: repair_bench MODEL MEMORY SENTENCES TARGET COUNT BEAM LOSSES DOUBTS\n");
  return 2;
}
