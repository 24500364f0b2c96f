// How long it takes to look up a sentence of about 15 words in a translation memory: one that is in
// it, one that is much like one of them, and one that is not; and one that is much like all of
// them.
//
//   memory_bench [SEGMENTS]    for a memory of 1,000 segments, and of so many (100,000)

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "engine/request/memory.h"

namespace dragoman {
namespace {

using Clock = std::chrono::steady_clock;

double Microseconds(Clock::time_point since) {
  return std::chrono::duration<double, std::micro>(Clock::now() - since).count();
}

// Word number n occurs about 1 / n as often as the first (Zipf).
std::string Word(std::mt19937* random) {
  constexpr double kWords = 30'000;
  const double x = std::uniform_real_distribution<double>(0, std::log(kWords))(*random);
  return "w" + std::to_string(static_cast<int>(std::exp(x)));
}

std::vector<std::string> Words(std::mt19937* random) {
  std::vector<std::string> words;
  for (size_t n = 3 + (*random)() % 25; n > 0; --n) words.push_back(Word(random));
  return words;
}

std::string Sentence(const std::vector<std::string>& words) {
  std::string sentence;
  for (const std::string& word : words) sentence += word + " ";
  return sentence + ".";
}

void Measure(const char* what, const TranslationMemory& memory,
             const std::vector<std::string>& sentences) {
  std::vector<double> times;
  size_t found = 0, percents = 0;
  for (const std::string& sentence : sentences) {
    double best = 1e9;
    for (int round = 0; round < 3; ++round) {
      const Clock::time_point begin = Clock::now();
      const auto match = memory.Find(SegmentQuery(sentence, "", ""), kDefaultMemoryThreshold);
      best = std::min(best, Microseconds(begin));
      if (round > 0 || !match.has_value()) continue;
      ++found;
      percents += static_cast<size_t>(match->percent);
    }
    times.push_back(best);
  }
  std::sort(times.begin(), times.end());
  double sum = 0;
  for (const double time : times) sum += time;
  std::printf(
      "%7zu segments  %-8s  mean %7.1f us  p50 %7.1f us  p99 %7.1f us  worst %7.1f us  "
      "%zu of %zu found, %zu %%\n",
      memory.size(), what, sum / static_cast<double>(times.size()), times[times.size() / 2],
      times[times.size() * 99 / 100], times.back(), found, times.size(), percents);
}

void MeasureAll(size_t count) {
  std::mt19937 random(1);
  std::vector<MemorySegment> segments;
  std::vector<std::string> same, similar, other;
  for (size_t i = 0; i < count; ++i) {
    std::vector<std::string> words = Words(&random);
    segments.push_back({Sentence(words), "x"});
    if (i % (count / 1000) != 0) continue;
    same.push_back(Sentence(words));
    words[random() % words.size()] = Word(&random);
    similar.push_back(Sentence(words));
    other.push_back(Sentence(Words(&random)));
  }
  Clock::time_point begin = Clock::now();
  TranslationMemory memory = TranslationMemory("m", {}).Learn(std::move(segments), 1);
  std::printf("%7zu segments  index %.0f ms\n", count, Microseconds(begin) / 1000);
  Measure("same", memory, same);
  Measure("similar", memory, similar);
  Measure("other", memory, other);
  begin = Clock::now();
  for (int i = 0; i < 1000; ++i) memory = memory.Learn({{Sentence(Words(&random)), "x"}}, i);
  std::printf("%7zu segments  a thousand corrections, %.1f us each\n", count,
              Microseconds(begin) / 1000);
}

// A memory of sentences that differ in a word or two, as those of catalogues do.
void MeasureAlike(size_t count) {
  std::mt19937 random(2);
  const auto sentence = [&](size_t number) {
    return "House number " + std::to_string(number) + " has " + std::to_string(random() % 9) +
           " rooms .";
  };
  std::vector<MemorySegment> segments;
  for (size_t i = 0; i < count; ++i) segments.push_back({sentence(i), "x"});
  const TranslationMemory memory = TranslationMemory("m", {}).Learn(std::move(segments), 1);
  std::vector<std::string> others;
  for (size_t i = 0; i < 1000; ++i) others.push_back(sentence(count + i));
  Measure("alike", memory, others);
}

}  // namespace
}  // namespace dragoman

int main(int argc, char** argv) {
  const size_t most = argc > 1 ? std::max(std::atoi(argv[1]), 1'000) : 100'000;
  for (const size_t count : std::set<size_t>{1'000, most}) dragoman::MeasureAll(count);
  dragoman::MeasureAlike(most);
}
