// Measures how good the alignments are, on sentences of a small grammar whose word order is known
// (declarations, perfects and modals with the verb at the end, inversions, subordinate clauses,
// questions, negations).  The target is decoded by force.  Links are compared with gold ones by the
// alignment error rate of Och and Ney (2003): AER = 1 - (|A & S| + |A & P|) / (|A| + |S|), for
// links A, sure gold links S and possible ones P, which include the sure ones.
//
// Two sets of links are measured: those that are returned by default, and the intersection of both
// directions (Dou and Neubig 2021), which keeps a link if each word is the other's best partner.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/json.h"
#include "engine/request/translator.h"
#include "engine/text/words.h"
#include "gtest/gtest.h"
#include "tests/request/translate_and_wait.h"

namespace dragoman::alignment_quality_test {
namespace {

namespace fs = std::filesystem;

using Links = std::set<std::pair<int, int>>;  // source word, target word

struct GoldPair {
  std::string source, target;
  Links sure, possible;  // possible includes sure
};

std::vector<GoldPair> ReadGold() {
  std::ifstream in("tests/golden/alignments/en-de.tsv");
  std::vector<GoldPair> pairs;
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    GoldPair pair;
    std::getline(fields, pair.source, '\t');
    std::getline(fields, pair.target, '\t');
    int source = 0, target = 0;
    for (char kind = 0; fields >> source >> kind >> target;) {
      pair.possible.insert({source, target});
      if (kind == '-') pair.sure.insert({source, target});
    }
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

// Loads the model with other alignment heads in its configuration.
std::shared_ptr<const Model> LoadWith(const std::string& directory, const AlignmentHeads& heads) {
  const fs::path copy = fs::path(testing::TempDir()) / ("aligned." + std::to_string(getpid()));
  fs::remove_all(copy);
  fs::create_directories(copy);
  for (const auto& file : fs::directory_iterator(directory)) {
    if (file.path().filename() == "config.json") continue;
    fs::create_symlink(fs::absolute(file.path()), copy / file.path().filename());
  }
  nlohmann::json config = *ReadJsonObject(directory + "/config.json");
  config["alignment_layer"] = heads.layer;
  if (!heads.heads.empty()) config["alignment_heads"] = heads.heads;
  std::ofstream(copy / "config.json") << config;
  auto model = Model::Load("aligned", copy, {.precision = Precision::kFloat32});
  EXPECT_TRUE(model.ok()) << model.status();
  fs::remove_all(copy);
  return model.ok() ? *std::move(model) : nullptr;
}

// The index of the last word that begins at or before this byte.
int WordAt(const std::vector<TextSpan>& words, size_t place) {
  const auto after =
      std::upper_bound(words.begin(), words.end(), place,
                       [](size_t byte, const TextSpan& word) { return byte < word.begin; });
  return static_cast<int>(after - words.begin()) - 1;
}

struct Counts {
  double in_sure = 0, in_possible = 0, found = 0, sure = 0;

  void Add(const Links& links, const GoldPair& gold) {
    for (const auto& link : links) {
      in_sure += gold.sure.contains(link) ? 1 : 0;
      in_possible += gold.possible.contains(link) ? 1 : 0;
    }
    found += static_cast<double>(links.size());
    sure += static_cast<double>(gold.sure.size());
  }
  double ErrorRate() const { return 1.0 - (in_sure + in_possible) / (found + sure); }
  double Precision() const { return in_possible / found; }
  double Recall() const { return in_sure / sure; }
};

struct Quality {
  Counts links, mutual;
};

Quality Measure(const std::shared_ptr<const Model>& model, const std::vector<GoldPair>& gold) {
  Observer observer;
  WorkerPool pool({.workers = 1}, &observer);
  TranslateRequest request = {.alignment = {.wanted = true}};
  for (const GoldPair& pair : gold) {
    request.texts.push_back(pair.source);
    request.targets.push_back(pair.target);
  }
  if (model->tokenizer().languages().targets().size() > 1) {
    request.source_language = "en";
    request.target_language = "de";
  }
  const TranslateResponse response =
      TranslateAndWait(Translator(model, &pool, Limits()), std::move(request));
  EXPECT_TRUE(response.status.ok()) << response.status;
  Quality quality;
  for (size_t i = 0; i < response.translations.size(); ++i) {
    const Alignment& alignment = response.translations[i].hypotheses[0].alignment;
    const std::vector<TextSpan> source = SplitWords(gold[i].source, {});
    const std::vector<TextSpan> target = SplitWords(gold[i].target, {});
    Links links, mutual;
    for (const WordLink& link : alignment.words) {
      links.insert({WordAt(source, link.source.begin), WordAt(target, link.target.begin)});
    }
    for (const AlignmentPoint& point : alignment.points) {
      if (!point.mutual) continue;
      mutual.insert({WordAt(source, alignment.source[point.source].span.begin),
                     WordAt(target, alignment.target[point.target].span.begin)});
    }
    quality.links.Add(links, gold[i]);
    quality.mutual.Add(mutual, gold[i]);
  }
  return quality;
}

// Prints the quality of every decoder layer.  Returns that of the last one, which is the default.
Quality MeasureLayers(const std::string& directory) {
  const std::vector<GoldPair> gold = ReadGold();
  EXPECT_EQ(gold.size(), 56u);
  Quality by_default;
  for (int layer = 0, layers = 1; layer < layers; ++layer) {
    const auto model = LoadWith(directory, {.layer = layer});
    if (model == nullptr) return by_default;
    layers = model->spec().decoder_layers;
    by_default = Measure(model, gold);  // in the end, the last layer's
    const Counts& links = by_default.links;
    const Counts& mutual = by_default.mutual;
    std::printf(
        "%s, decoder layer %d: links AER %.3f (precision %.3f, recall %.3f), both ways AER "
        "%.3f (precision %.3f, recall %.3f)\n",
        directory.c_str(), layer, links.ErrorRate(), links.Precision(), links.Recall(),
        mutual.ErrorRate(), mutual.Precision(), mutual.Recall());
  }
  const Quality told =
      Measure(*Model::Load("told", directory, {.precision = Precision::kFloat32}), gold);
  EXPECT_EQ(told.links.ErrorRate(), by_default.links.ErrorRate())
      << "the default is the last layer";
  return told;
}

TEST(AlignmentQuality, OfTheEmbeddedModel) {
  const Quality quality = MeasureLayers("tests/golden/models/en-de");
  EXPECT_LT(quality.links.ErrorRate(), 0.25);
  EXPECT_LT(quality.mutual.ErrorRate(), 0.20);
  EXPECT_GT(quality.mutual.Precision(), 0.90);
}

// The toy models know few of the words, so the bounds are only out of reach of guessing: a random
// link is right one time in eight.
TEST(AlignmentQuality, OfTheToyModels) {
  for (const char* model : {"marian", "m2m100", "nllb", "mbart50", "t5v11"}) {
    const Quality quality = MeasureLayers(std::string("tests/golden/models/") + model + "-trained");
    EXPECT_LT(quality.links.ErrorRate(), 0.65) << model;
    EXPECT_LT(quality.mutual.ErrorRate(), quality.links.ErrorRate()) << model;
  }
}

}  // namespace
}  // namespace dragoman::alignment_quality_test
