#include "server/glossaries/glossary_store.h"

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/ram_directory.h"

namespace dragoman {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class GlossaryStoreTest : public testing::Test {
 protected:
  std::unique_ptr<GlossaryStore> Open(GlossaryLimits limits = {},
                                      std::function<void()> on_step = nullptr) {
    auto store = GlossaryStore::Open(directory_, limits, std::move(on_step));
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }
  void PutFile(const std::string& name, const std::string& text) {
    std::ofstream(directory_ + "/new") << text;
    std::filesystem::rename(directory_ + "/new", directory_ + "/" + name);
  }

  static GlossaryText Text(const std::string& owner, std::vector<GlossaryEntry> entries = {}) {
    if (entries.empty()) entries = {{"house", {"Haus"}}};
    return {.name = "Houses", .owner = owner, .dictionaries = {{{"en", "de"}, entries}}};
  }
  // The first target of the first entry.
  static std::string TargetOf(const StoredGlossary& glossary) {
    return glossary.dictionaries.at(0)->entries().at(0).targets.at(0);
  }
  static absl::Status SetTarget(GlossaryText* glossary, const std::string& target) {
    glossary->dictionaries.at(0).entries.at(0).targets = {target};
    return absl::OkStatus();
  }

  const RamDirectory ram_;
  const std::string directory_ = ram_.path();
};

TEST_F(GlossaryStoreTest, WhatIsStoredOutlivesTheServer) {
  std::string id;
  {
    const auto store = Open();
    const auto glossary = store->Create(Text("alice", {{"house ", {" Haus", "Hauses"}, true}}));
    ASSERT_TRUE(glossary.ok()) << glossary.status();
    id = (*glossary)->id;
    EXPECT_EQ((*glossary)->version, 1);
    const auto second =
        store->Update(id, "alice", [](GlossaryText* text) { return SetTarget(text, "Häuser"); });
    ASSERT_TRUE(second.ok()) << second.status();
    EXPECT_EQ((*second)->version, 2);
    EXPECT_EQ(TargetOf(**glossary), "Haus");  // who has the old one keeps it
  }
  const auto store = Open();
  const auto glossary = store->Find(id, "alice");
  ASSERT_TRUE(glossary.ok()) << glossary.status();
  EXPECT_EQ((*glossary)->name, "Houses");
  EXPECT_EQ((*glossary)->owner, "alice");
  EXPECT_EQ((*glossary)->version, 2);
  EXPECT_EQ((*glossary)->entries(), 1u);
  EXPECT_EQ(TargetOf(**glossary), "Häuser");
  EXPECT_EQ((*glossary)->dictionaries[0]->entries()[0].source, "house");
  EXPECT_TRUE((*glossary)->dictionaries[0]->entries()[0].ignore_case);
  EXPECT_EQ((*glossary)->dictionaries[0]->glossary(), id);
  EXPECT_TRUE(store->Delete(id, "alice").ok());
  EXPECT_TRUE(absl::IsNotFound(store->Find(id, "alice").status()));
  EXPECT_THAT(Open()->List("alice"), IsEmpty());
}

TEST_F(GlossaryStoreTest, APrincipalSeesItsOwnAndWhatIsSharedAndChangesItsOwn) {
  const auto store = Open();
  const std::string own = (*store->Create(Text("alice")))->id;
  GlossaryText shared = Text("alice");
  shared.shared = true;
  const std::string for_all = (*store->Create(shared))->id;
  const std::string other = (*store->Create(Text("bob")))->id;
  EXPECT_THAT(store->List("alice"), SizeIs(2));
  EXPECT_THAT(store->List("bob"), SizeIs(2));
  EXPECT_THAT(store->List(""), SizeIs(1));
  EXPECT_TRUE(absl::IsNotFound(store->Find(own, "bob").status()));
  EXPECT_TRUE(absl::IsNotFound(store->Find(other, "alice").status()));
  EXPECT_TRUE(absl::IsNotFound(store->Delete(own, "bob")));
  EXPECT_TRUE(store->Find(for_all, "bob").ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(store->Delete(for_all, "bob")));
  const auto edit = [](GlossaryText* text) { return SetTarget(text, "Hof"); };
  EXPECT_TRUE(absl::IsNotFound(store->Update(own, "bob", edit).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(store->Update(for_all, "bob", edit).status()));
  EXPECT_TRUE(store->Update(for_all, "alice", edit).ok());
  // Without an error, there is no telling an id of another from one that does not exist.
  EXPECT_EQ(std::string(store->Find("none", "bob").status().message()).size() + own.size() - 4,
            std::string(store->Find(own, "bob").status().message()).size());
}

TEST_F(GlossaryStoreTest, FilesOfOthersAreWatched) {
  const auto store = Open();
  PutFile("animals.tsv", "cat\tKatze\n");
  PutFile("README", "not a glossary");
  EXPECT_TRUE(store->Look().ok());
  auto glossary = store->Find("animals", "alice");
  ASSERT_TRUE(glossary.ok()) << glossary.status();
  EXPECT_EQ(TargetOf(**glossary), "Katze");
  PutFile("animals.tsv", "cat\tKater\n");
  EXPECT_TRUE(store->Look().ok());
  EXPECT_EQ(TargetOf(**store->Find("animals", "alice")), "Kater");
  // One that cannot be read does not take the place of one that could.
  PutFile("animals.tsv", "cat\tKatze\n\tHund\n");
  PutFile("houses.tsv", "house\tHaus\n");
  EXPECT_THAT(std::string(store->Look().message()), HasSubstr("animals.tsv: line 2"));
  EXPECT_EQ(TargetOf(**store->Find("animals", "alice")), "Kater");
  EXPECT_EQ(TargetOf(**store->Find("houses", "alice")), "Haus");
  // It is not overwritten either.
  const auto edit = [](GlossaryText* text) { return SetTarget(text, "Hof"); };
  EXPECT_TRUE(absl::IsFailedPrecondition(store->Update("animals", "", edit).status()));
  const auto again = Open();
  EXPECT_THAT(std::string(again->fault().message()), HasSubstr("animals.tsv: line 2"));
  const absl::Status broken = again->Find("animals", "alice").status();
  EXPECT_TRUE(absl::IsFailedPrecondition(broken));
  EXPECT_EQ(broken.message(),
            "the glossary \"animals\" cannot be read: animals.tsv: line 2: entry.source: is empty, "
            "want a phrase");
  EXPECT_EQ(again->Delete("animals", ""), broken);
  EXPECT_EQ(TargetOf(**again->Find("houses", "alice")), "Haus");
  std::filesystem::remove(directory_ + "/animals.tsv");
  EXPECT_TRUE(store->Look().ok());
  EXPECT_TRUE(absl::IsNotFound(store->Find("animals", "alice").status()));
  EXPECT_TRUE(store->Find("houses", "").ok());
}

TEST_F(GlossaryStoreTest, TablesWithCommasAndTermBasesOfOthersAreRead) {
  const auto store = Open();
  PutFile("animals.csv", "\"cat\",\"Katze\"\n");
  PutFile("houses.tbx",
          "<tbx><conceptEntry><langSec xml:lang=\"en\"><termSec><term>house</term></termSec>"
          "</langSec><langSec xml:lang=\"de\"><termSec><term>Haus</term></termSec></langSec>"
          "</conceptEntry></tbx>");
  PutFile("animals.csv.tsv", "cat\tHund\n");  // would have the same id
  ASSERT_TRUE(store->Look().ok());
  EXPECT_THAT(store->List(""), SizeIs(2));
  EXPECT_EQ(TargetOf(**store->Find("animals.csv", "alice")), "Katze");
  const GlossaryPtr houses = *store->Find("houses.tbx", "");
  EXPECT_EQ(TargetOf(*houses), "house");
  EXPECT_EQ(houses->dictionaries[0]->languages(), (LanguagePair{"de", "en"}));
  // Not even by who has no name, whose glossaries are otherwise those without an owner.
  EXPECT_TRUE(absl::IsFailedPrecondition(store->Delete("houses.tbx", "")));
  PutFile("houses.tbx", "<tbx>");
  EXPECT_THAT(std::string(store->Look().message()), HasSubstr("houses.tbx: "));
}

TEST_F(GlossaryStoreTest, AnIdIsNoPath) {
  const auto store = Open();
  PutFile("a.tsv", "cat\tKatze\n");
  ASSERT_TRUE(store->Look().ok());
  for (const char* id : {"../a", "./a", "", ".", "a.tsv", "/etc/passwd"}) {
    EXPECT_TRUE(absl::IsNotFound(store->Find(id, "").status())) << id;
    EXPECT_TRUE(absl::IsNotFound(store->Delete(id, ""))) << id;
  }
}

TEST_F(GlossaryStoreTest, AnOwnerHasLimits) {
  const auto store = Open({.glossaries = 2, .entries = 3});
  EXPECT_TRUE(store->Create(Text("alice", {{"a"}, {"b"}})).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(store->Create(Text("alice", {{"a"}, {"b"}})).status()));
  const auto small = store->Create(Text("alice", {{"a"}}));
  ASSERT_TRUE(small.ok()) << small.status();
  EXPECT_TRUE(
      absl::IsResourceExhausted(store->Create({.owner = "alice"}).status()));  // even an empty one
  const auto grow = [](GlossaryText* text) {
    text->dictionaries[0].entries.push_back({"more"});
    return absl::OkStatus();
  };
  EXPECT_TRUE(absl::IsResourceExhausted(store->Update((*small)->id, "alice", grow).status()));
  EXPECT_TRUE(store->Create(Text("bob", {{"a"}, {"b"}})).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(store->Create(Text("bob", {{"\n"}})).status()));
}

TEST_F(GlossaryStoreTest, ASourceIsStoredOnceButAFileMayRepeatIt) {
  const auto store = Open();
  const absl::Status twice =
      store->Create(Text("alice", {{"cat"}, {"new house"}, {"new  house ", {"Neubau"}}})).status();
  EXPECT_TRUE(absl::IsInvalidArgument(twice)) << twice;
  EXPECT_THAT(
      std::string(twice.message()),
      HasSubstr("dictionaries[0].entries[2].source: entry 2 repeats the source of entry 1"));
  EXPECT_TRUE(store->Create(Text("alice", {{"cat"}, {"Cat"}, {"CAT", {}, true}})).ok());
  PutFile("houses.tsv", "house\tHaus\nhouse\tHeim\n");
  ASSERT_TRUE(store->Look().ok());
  EXPECT_EQ((*store->Find("houses", ""))->entries(), 2u);
}

// Stores a glossary, changes it, makes another one and deletes the first.
void WriteMuch(GlossaryStore* store, const std::string& id) {
  std::vector<GlossaryEntry> many;
  for (int i = 0; i < 5'000; ++i) many.push_back({"house " + std::to_string(i), {"Haus"}});
  const auto edit = [&](GlossaryText* text) {
    text->dictionaries[0].entries = many;
    return absl::OkStatus();
  };
  if (!store->Update(id, "alice", edit).ok()) _exit(2);
  if (!store->Create({.name = "New", .owner = "alice", .dictionaries = {{{}, many}}}).ok()) {
    _exit(2);
  }
  if (!store->Delete(id, "alice").ok()) _exit(2);
}

// A process that ends before each of the steps of its writes, one after another.
TEST_F(GlossaryStoreTest, NothingIsHalfWhereverAProcessEnds) {
  int steps = 0;
  for (bool ended_early = true; ended_early; ++steps) {
    std::filesystem::remove_all(directory_);
    const std::string id = (*Open()->Create(Text("alice")))->id;
    const pid_t child = fork();
    if (child == 0) {
      int left = steps;
      auto store = GlossaryStore::Open(directory_, {}, [&] {
        if (left-- == 0) _exit(1);
      });
      if (!store.ok()) _exit(3);
      WriteMuch(store->get(), id);
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_THAT(WEXITSTATUS(status), AnyOf(0, 1)) << "step " << steps;
    ended_early = WEXITSTATUS(status) == 1;
    const auto store = Open();
    ASSERT_NE(store, nullptr) << "step " << steps;
    std::vector<std::string> found;
    for (const GlossaryPtr& glossary : store->List("alice")) {
      found.push_back(glossary->name + " " + std::to_string(glossary->version) + " " +
                      std::to_string(glossary->entries()));
    }
    EXPECT_THAT(found, AnyOf(ElementsAre("Houses 1 1"), ElementsAre("Houses 2 5000"),
                             ::testing::UnorderedElementsAre("Houses 2 5000", "New 1 5000"),
                             ElementsAre("New 1 5000")))
        << "step " << steps;
    // Nothing is left of what was not finished.
    size_t files = 0;
    for (const auto& file : std::filesystem::directory_iterator(directory_)) {
      EXPECT_EQ(file.path().extension(), ".tsv");
      ++files;
    }
    EXPECT_EQ(files, found.size());
    EXPECT_TRUE(ended_early || found == std::vector<std::string>{"New 1 5000"});
  }
  EXPECT_GE(steps, 15);  // of three writes
}

}  // namespace
}  // namespace dragoman
