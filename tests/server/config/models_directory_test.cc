#include "server/config/models_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace dragoman {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class ModelsDirectoryTest : public testing::Test {
 protected:
  ModelsDirectoryTest()
      : root_(fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~ModelsDirectoryTest() override { fs::remove_all(root_); }

  void AddDirectory(const std::string& name) { fs::create_directories(root_ / name); }

  std::vector<std::pair<std::string, std::string>> Found() {
    std::vector<std::pair<std::string, std::string>> found;
    const auto models = FindModels(root_.string());
    EXPECT_TRUE(models.ok()) << models.status();
    if (!models.ok()) return found;
    for (const ModelSource& model : *models) {
      found.emplace_back(model.name, fs::path(model.directory).filename().string());
    }
    return found;
  }

  const fs::path root_;
};

TEST_F(ModelsDirectoryTest, DirectoriesAreModelsNamedByTheirPairs) {
  for (const char* name : {"zhen", "ende", "en_fr", "de-en", "my model", "opus-big"}) {
    AddDirectory(name);
  }
  EXPECT_THAT(Found(), ElementsAre(Pair("de-en", "de-en"), Pair("en-fr", "en_fr"),
                                   Pair("en-de", "ende"), Pair("my_model", "my model"),
                                   Pair("opus-big", "opus-big"), Pair("zh-en", "zhen")));
}

// One directory does not keep the others from being served.
TEST_F(ModelsDirectoryTest, EachHasANameOfItsOwn) {
  const std::string longest(200, 'x');
  for (const std::string& name : {std::string("ende"), std::string("en-de"), longest, longest + "y"}) {
    AddDirectory(name);
  }
  const std::string cut(120, 'x');
  EXPECT_THAT(Found(), ElementsAre(Pair("en-de", "en-de"), Pair("en-de_2", "ende"),
                                   Pair(cut, longest), Pair(cut + "_2", longest + "y")));
}

TEST_F(ModelsDirectoryTest, FilesAndHiddenDirectoriesAreNotModels) {
  AddDirectory("ende");
  AddDirectory(".git");
  std::ofstream(root_ / "README.md") << "models";
  std::ofstream(root_ / "enfr") << "no directory";
  EXPECT_THAT(Found(), ElementsAre(Pair("en-de", "ende")));
}

TEST_F(ModelsDirectoryTest, ALinkToADirectoryIsOneAndALinkToNothingIsNot) {
  AddDirectory(".elsewhere");
  fs::create_directory_symlink(root_ / ".elsewhere", root_ / "ende");
  fs::create_directory_symlink(root_ / "gone", root_ / "enfr");
  EXPECT_THAT(Found(), ElementsAre(Pair("en-de", "ende")));
}

TEST_F(ModelsDirectoryTest, NamesWhatIsMissing) {
  const absl::Status empty = FindModels(root_.string()).status();
  EXPECT_EQ(empty.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(empty.message()), HasSubstr(root_.string()));
  const absl::Status gone = FindModels((root_ / "gone").string()).status();
  EXPECT_EQ(gone.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(gone.message()), HasSubstr("gone"));
}

}  // namespace
}  // namespace dragoman
