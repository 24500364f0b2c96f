// Prints a digest of everything that a model answers to the lines of a file: the tokens and the
// bits of every score, with greedy search and with a beam of 4, in each precision, or only in one.
// If two builds print the same, they compute the same, bit for bit: in int8 and float32 on all CPUs
// whose isa is the same (docs/bytes.md), in bfloat16 on one machine.  It translates once for each
// shape of our kernels (kernel_shapes.h), and fails if one gives other answers.
//
//   dragoman-fingerprint --model tests/golden/models/en-de --input lines.txt --precision int8
//
// With --every-set it computes as on each lesser CPU, too, such as with AVX2 where there is
// AVX-512, and fails if two of one isa differ.  equal_bytes.py asks emulated CPUs as well.

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <utility>

#include "CLI/CLI.hpp"
#include "engine/decode/observer.h"
#include "engine/math/gemm.h"
#include "engine/math/int8_kernels.h"
#include "engine/math/kernel_shapes.h"
#include "engine/math/kernels.h"
#include "engine/request/translator.h"
#include "hwy/targets.h"
#include "tests/request/translate_and_wait.h"

namespace dragoman {
namespace {

struct Flags {
  std::string model, input;
  std::vector<std::string> precisions = {"float32", "bfloat16", "int8"};
  std::vector<int> beams = {1, 4};
  bool every_set = false;
};

// What a CPU has.
struct InstructionSet {
  int64_t target;  // of Highway
  Int8Extension extension;
};

constexpr size_t kTextsAtOnce = 100;

template <typename T>
void Append(const std::vector<T>& values, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  bytes->push_back('\n');
}

void Append(const TranslatedHypothesis& hypothesis, std::string* bytes) {
  *bytes += hypothesis.text;
  Append(hypothesis.token_ids, bytes);
  Append(hypothesis.token_scores, bytes);
  Append(std::vector<float>{hypothesis.score}, bytes);
}

// The translator's answer as bytes.  If it fails, empty, with a message on standard error.
std::string Answer(const Translator& translator, const std::vector<std::string>& lines, int beam) {
  std::string bytes;
  for (size_t first = 0; first < lines.size(); first += kTextsAtOnce) {
    TranslateRequest request;
    const size_t end = std::min(lines.size(), first + kTextsAtOnce);
    request.texts.assign(lines.begin() + first, lines.begin() + end);
    request.options.beam_size = beam;
    request.options.num_hypotheses = beam;
    if (!translator.languages().empty()) {
      request.source_language = "en", request.target_language = "de";
    }
    const TranslateResponse response = TranslateAndWait(translator, std::move(request));
    if (!response.status.ok()) {
      std::cerr << "lines " << first + 1 << " to " << end << ": "
                << std::string(response.status.message()) << "\n";
      return {};
    }
    for (const auto& translation : response.translations) {
      for (const auto& hypothesis : translation.hypotheses) Append(hypothesis, &bytes);
    }
  }
  return bytes;
}

// The digest of the answers with each beam; empty if there are none.
std::vector<uint64_t> Digests(const Flags& flags, Precision precision,
                              const std::vector<std::string>& lines) {
  Observer observer;
  WorkerPool pool({.workers = 1}, &observer);
  const auto model = Model::Load("model", flags.model, {.precision = precision});
  if (!model.ok()) {
    std::cerr << NameOf(precision) << ": " << std::string(model.status().message()) << "\n";
    return {};
  }
  const Translator translator(*model, &pool, Limits());
  std::vector<uint64_t> digests;
  for (const int beam : flags.beams) {
    const std::string bytes = Answer(translator, lines, beam);
    if (bytes.empty()) return {};
    digests.push_back(XXH3_64bits(bytes.data(), bytes.size()));
  }
  return digests;
}

// The digests in every shape; empty, with a message, if they differ or there are none.
std::vector<uint64_t> DigestsInEveryShape(const Flags& flags, Precision precision,
                                          const std::vector<std::string>& lines) {
  std::vector<uint64_t> first;
  const auto tiles = Float32Gemm::Tiles();
  for (const auto& tile : precision == Precision::kFloat32 ? tiles : tiles.first(1)) {
    SetFloat32TileForTest(tile);
    std::vector<uint64_t> digests = Digests(flags, precision, lines);
    if (first.empty()) first = digests;
    if (digests.empty() || digests != first) {
      std::cerr << NameOf(precision) << ", " << DescribeShape(precision)
                << ": no answer, or another one than in the first shape\n";
      return {};
    }
  }
  return first;
}

// The one in use, or all that this machine can compute with.
std::vector<InstructionSet> InstructionSets(bool every) {
  const int64_t supported = hwy::SupportedTargets();
  if (!every) return {{supported, Int8ExtensionInUse()}};
  std::vector<InstructionSet> sets;
  for (int64_t left = supported & CompiledTargets(); left != 0; left &= left - 1) {
    hwy::SetSupportedTargetsForTest(left & -left);
    for (const Int8Extension extension : Int8Extensions())
      sets.push_back({left & -left, extension});
  }
  return sets;
}

int Main(const Flags& flags) {
  std::ifstream file(flags.input);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  if (lines.empty()) {
    std::cerr << flags.input << " has no lines\n";
    return 1;
  }
  bool equal = true;
  std::map<std::pair<std::string, int>, uint64_t> digest_of;  // isa, beam
  for (const InstructionSet& set : InstructionSets(flags.every_set)) {
    hwy::SetSupportedTargetsForTest(set.target);
    LimitInt8ExtensionForTest(set.extension);
    for (const std::string& name : flags.precisions) {
      const Precision precision = *ParsePrecision(name);
      if (const absl::Status possible = CanMultiply(precision); !possible.ok()) {
        std::cerr << std::string(possible.message()) << "\n";
        continue;  // such as bfloat16 on a machine without it
      }
      const std::vector<uint64_t> digests = DigestsInEveryShape(flags, precision, lines);
      equal &= !digests.empty();
      for (size_t i = 0; i < digests.size(); ++i) {
        const std::string isa = Fingerprint(precision);
        const int beam = flags.beams[i];
        std::cout << isa << " beam " << beam << " on "
                  << (precision == Precision::kInt8 ? Int8Isa() : HighwayIsa()) << ": " << std::hex
                  << digests[i] << std::dec << " of " << lines.size() << " lines" << std::endl;
        equal &= digest_of.emplace(std::pair(isa, beam), digests[i]).first->second == digests[i];
      }
    }
  }
  if (!equal) std::cerr << "not the same everywhere\n";
  return equal ? 0 : 1;
}

}  // namespace
}  // namespace dragoman

int main(int argc, char** argv) {
  dragoman::Flags flags;
  CLI::App app("Prints a digest of what a model answers to the lines of a file.");
  app.add_option("--model", flags.model, "a model directory")->required();
  app.add_option("--input", flags.input, "a file of source lines")->required();
  app.add_option("--precision", flags.precisions)
      ->check(CLI::IsMember({"float32", "bfloat16", "int8"}));
  app.add_option("--beam-size", flags.beams);
  app.add_flag("--every-set", flags.every_set, "as on each lesser CPU, too");
  CLI11_PARSE(app, argc, argv);
  return dragoman::Main(flags);
}
