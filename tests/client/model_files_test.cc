#include "client/model_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dragoman::model_files_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ModelFiles, TheRepositoriesOfQuickmtHaveTheirPieces) {
  const auto chosen = ChooseFiles({"README.md", "config.json", "eole-config.yaml",
                                   "eole-model/config.json", "joint.spm.model", "model.bin",
                                   "shared_vocabulary.json", "src.spm.model", "tgt.spm.model"});
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_THAT(chosen->files, ElementsAre("config.json", "src.spm.model", "tgt.spm.model",
                                         "joint.spm.model", "model.bin", "shared_vocabulary.json"));
}

TEST(ModelFiles, TokenizerJsonIsTakenWhereNoOtherFileHasThePieces) {
  auto chosen = ChooseFiles({"config.json", "model.safetensors", "tokenizer.json"});
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_THAT(chosen->files, ElementsAre("config.json", "tokenizer.json", "model.safetensors"));
  chosen = ChooseFiles({"config.json", "model.safetensors", "spiece.model", "tokenizer.json"});
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_THAT(chosen->files, ElementsAre("config.json", "spiece.model", "model.safetensors"));
}

TEST(ModelFiles, AnNpzIsTakenWithItsPieces) {
  const auto chosen = ChooseFiles({"README.md", "model.en-hr.spm", "model.npz.best-chrf.npz",
                                   "model.npz.optimizer.npz", "old/model.npz"});
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_THAT(chosen->files, ElementsAre("model.en-hr.spm", "model.npz.best-chrf.npz"));
  EXPECT_FALSE(chosen->described);
}

TEST(ModelFiles, AnNpzAloneOrOneOfTwoIsNot) {
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"model.npz"}, {"a.npz", "b.npz", "vocab.spm"}}) {
    EXPECT_THAT(std::string(ChooseFiles(names).status().message()),
                HasSubstr("nor an .npz with its pieces"));
  }
}

}  // namespace
}  // namespace dragoman::model_files_test
