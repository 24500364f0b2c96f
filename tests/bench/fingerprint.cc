// Prints a digest of everything that a model answers to the lines of a file: the tokens and the
// bits of every score, with greedy search and with a beam of 4, in each precision.  If two builds
// print the same on one machine, they compute the same, bit for bit.  Digests may differ between
// instruction sets.
//
//   dragoman-fingerprint models/en-de lines.txt

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>
#include <fstream>
#include <iostream>

#include "absl/synchronization/notification.h"
#include "engine/decode/observer.h"
#include "engine/translator.h"

namespace dragoman {
namespace {

template <typename T>
void Append(const std::vector<T>& values, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  bytes->push_back('\n');
}

// The translator's answer as bytes.  If it fails, empty, with a message on standard error.
std::string Answer(const Translator& translator, const std::vector<std::string>& lines, int beam) {
  std::string bytes;
  for (const std::string& line : lines) {
    TranslateRequest request;
    request.texts = {line};
    request.options.beam_size = beam;
    request.options.num_hypotheses = beam;
    absl::Notification answered;
    TranslateResponse response;
    translator.Translate(std::move(request), absl::InfiniteFuture(), [&](TranslateResponse answer) {
      response = std::move(answer);
      answered.Notify();
    });
    answered.WaitForNotification();
    if (!response.status.ok()) {
      std::cerr << line << ": " << std::string(response.status.message()) << "\n";
      return {};
    }
    for (const TranslatedHypothesis& hypothesis : response.translations.front().hypotheses) {
      bytes += hypothesis.text;
      Append(hypothesis.token_ids, &bytes);
      Append(hypothesis.token_scores, &bytes);
      Append(std::vector<float>{hypothesis.score}, &bytes);
    }
  }
  return bytes;
}

int Main(const std::string& directory, const std::string& input) {
  std::ifstream file(input);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  if (lines.empty()) {
    std::cerr << input << " has no lines\n";
    return 1;
  }
  NullObserver observer;
  WorkerPool pool({.workers = 1}, &observer);
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16, Precision::kInt8}) {
    const auto model = Model::Load("model", directory, {.precision = precision});
    if (!model.ok()) {
      std::cerr << NameOf(precision) << ": " << std::string(model.status().message()) << "\n";
      continue;  // for example bfloat16 on a machine without it
    }
    const Translator translator(*model, &pool, Limits());
    for (const int beam : {1, 4}) {
      const std::string bytes = Answer(translator, lines, beam);
      if (bytes.empty()) return 1;
      std::cout << NameOf(precision) << " beam " << beam << ": " << std::hex
                << XXH3_64bits(bytes.data(), bytes.size()) << std::dec << " of " << lines.size()
                << " lines" << std::endl;
    }
  }
  return 0;
}

}  // namespace
}  // namespace dragoman

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: dragoman-fingerprint MODEL-DIRECTORY FILE\n";
    return 2;
  }
  return dragoman::Main(argv[1], argv[2]);
}
