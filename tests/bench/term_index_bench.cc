// How long it takes to find the terms of a sentence of 20 words, among few or very many.
//
//   term_index_bench

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "engine/text/term_index.h"

namespace dragoman {
namespace {

using Clock = std::chrono::steady_clock;

double Microseconds(Clock::time_point since) {
  return std::chrono::duration<double, std::micro>(Clock::now() - since).count();
}

std::string Word(std::mt19937* random) {
  static const std::vector<std::string> kSyllables = {
      "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ro", "su", "ta"};
  std::string word;
  for (size_t i = 2 + (*random)() % 3; i > 0; --i) {
    word += kSyllables[(*random)() % kSyllables.size()];
  }
  return word;
}

void Measure(size_t count) {
  std::mt19937 random(1);
  std::vector<Term> terms;
  for (size_t i = 0; i < count; ++i) {
    terms.push_back({Word(&random) + " " + Word(&random), i % 2 == 0});
  }
  std::vector<std::string> sentences;
  for (int i = 0; i < 1000; ++i) {
    std::string sentence;
    for (int w = 0; w < 18; ++w) sentence += Word(&random) + " ";
    sentences.push_back(sentence + terms[random() % count].text + ".");
  }
  Clock::time_point begin = Clock::now();
  const TermIndex index(terms);
  const double build = Microseconds(begin) / 1000;
  size_t found = 0;
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    begin = Clock::now();
    found = 0;
    for (const std::string& sentence : sentences) {
      index.Find(sentence, [&](const TermMatch&) { ++found; });
    }
    best = std::min(best, Microseconds(begin) / static_cast<double>(sentences.size()));
  }
  std::printf("%7zu terms  index %7.1f ms  sentence %6.2f us  %zu found\n", count, build, best,
              found);
}

}  // namespace
}  // namespace dragoman

int main() {
  for (const size_t count : {10, 1000, 100'000}) dragoman::Measure(count);
}
