#include "server/memories/memory_store.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/ram_directory.h"

namespace dragoman::memory_store_test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST(MemoryText, IsReadAsItWasWritten) {
  const MemoryText memory = {.name = "Manuals",
                             .owner = "alice",
                             .shared = true,
                             .version = 3,
                             .created = absl::FromUnixSeconds(1000),
                             .languages = {"en", ""},
                             .segments = {{"# One.", "Eins.", "Zero.", ""}, {"\\Two.", "Zwei."}}};
  const std::string text = WriteMemory(memory);
  auto read = ParseMemory(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->segments, memory.segments);
  EXPECT_EQ(read->languages, memory.languages);
  EXPECT_EQ(read->owner, "alice");
  EXPECT_TRUE(read->shared);
  EXPECT_EQ(read->version, 3);
  EXPECT_EQ(read->created, memory.created);
  EXPECT_EQ(read->bytes, text.size());
  read = ParseMemory("One.\tEins.\r\n\nTwo.\tZwei.\tOne.");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->segments,
            (std::vector<MemorySegment>{{"One.", "Eins."}, {"Two.", "Zwei.", "One."}}));
  for (const auto& [wrong, message] : {std::pair("One.\tEins.\nTwo.\n", "line 2"),
                                       {"\tEins.\n", "line 1, byte 0: segment.source"},
                                       {"# name: x\n", "has no segments"},
                                       {"", "has no segments"},
                                       {"One.\t\x01\n", "control character"},
                                       {"# version: x\n", "version"},
                                       {"# learn: many 2\n", "learn"},
                                       {"\xff\t\n", "UTF-8"}}) {
    EXPECT_THAT(std::string(ParseMemory(wrong).status().message()), HasSubstr(message));
  }
}

TEST(MemoryText, ALessonCountsAsAWholeOrNotAtAll) {
  const std::string before = WriteMemory({.segments = {{"One.", "Eins."}}});
  const std::vector<MemorySegment> learned = {{"Two.", "Zwei."},
                                              {"Three.", "Drei.", "Two.", "Four."}};
  const std::string after = before + WriteLearned(learned, 2);
  for (size_t end = before.size(); end <= after.size(); ++end) {
    const auto memory = ParseMemory(after.substr(0, end));
    ASSERT_TRUE(memory.ok()) << end << ": " << memory.status();
    const bool whole = end == after.size();
    EXPECT_EQ(memory->version, whole ? 2 : 1) << end;
    EXPECT_THAT(memory->segments, SizeIs(whole ? 3 : 1)) << end;
    EXPECT_EQ(memory->bytes, whole ? after.size() : before.size()) << end;
  }
  // After a crash of the machine, the end may be there without what it consists of.
  std::string zeros = after;
  zeros.replace(before.size() + 15, std::string::npos, 20, '\0');
  EXPECT_THAT(ParseMemory(zeros)->segments, SizeIs(1));
}

// A memory that has learned twice, as it was written, and where its parts end.
struct WrittenMemory {
  std::string text;
  std::vector<MemorySegment> segments;
  std::vector<std::pair<size_t, size_t>> ends;  // in bytes and in segments

  WrittenMemory() {
    const std::vector<MemorySegment> parts[] = {
        {{"# One.", "Eins.", "Zero.", ""}, {"Two.", "Zwei."}},
        {{"Three.", "Drei.", "Two.", "Four."}, {"4", "Vier."}},
        {{"Five.", "F\u00fcnf."}}};
    for (const std::vector<MemorySegment>& part : parts) {
      const int64_t version = static_cast<int64_t>(ends.size()) + 1;
      text += version == 1 ? WriteMemory({.name = "M", .languages = {"en", "de"}, .segments = part})
                           : WriteLearned(part, version);
      segments.insert(segments.end(), part.begin(), part.end());
      ends.emplace_back(text.size(), segments.size());
    }
  }
};

TEST(MemoryText, AnyDamagedByteIsFound) {
  const WrittenMemory written;
  int found = 0;
  for (size_t i = 0; i < written.text.size(); ++i) {
    const char was = written.text[i];
    std::string others = std::string("\n\r\t #:0a", 8) + '\0';
    for (const int bits : {1, 4, 0x20, 0x80, 0xff}) others += static_cast<char>(was ^ bits);
    for (const char c : others) {
      if (c == was) continue;
      std::string damaged = written.text;
      damaged[i] = c;
      const auto read = ParseMemory(damaged);
      if (read.ok()) {
        EXPECT_EQ(read->segments, written.segments) << "byte " << i << ": " << int{c};
        EXPECT_EQ(read->bytes, damaged.size()) << "byte " << i << ": " << int{c};
        EXPECT_LT(i, 10u);  // the first line was "# bytes: "
        continue;
      }
      ++found;
      EXPECT_THAT(std::string(read.status().message()), HasSubstr(", byte "));
    }
  }
  EXPECT_GT(found, 3000);
}

TEST(MemoryText, OnlyALastLessonMayLackItsEnd) {
  const WrittenMemory written;
  for (size_t end = 0; end <= written.text.size(); ++end) {
    for (const size_t zeros : {0, 2, 100}) {
      const auto read = ParseMemory(written.text.substr(0, end) + std::string(zeros, '\0'));
      size_t whole = 0;  // parts
      while (whole < written.ends.size() && written.ends[whole].first <= end) ++whole;
      ASSERT_EQ(read.ok(), whole > 0) << end << ": " << read.status();
      if (whole == 0) continue;
      const auto& [bytes, segments] = written.ends[whole - 1];
      EXPECT_EQ(read->version, static_cast<int64_t>(whole)) << end;
      EXPECT_EQ(read->bytes, bytes) << end;
      EXPECT_EQ(read->segments, std::vector<MemorySegment>(written.segments.begin(),
                                                           written.segments.begin() + segments))
          << end;
    }
  }
  EXPECT_FALSE(ParseMemory(written.text + "Six.\tSechs.\n").ok());
  EXPECT_FALSE(ParseMemory(written.text + "# name: Other\n").ok());
  EXPECT_FALSE(ParseMemory(written.text + "# learn: 1 4\nSix.\tSechs.\n").ok());
}

TEST(MemoryText, ALessonWithoutDigestsIsReadButNotPastWhatIsWrongInIt) {
  const std::string before =
      "# name: M\n# version: 1\n# languages: en de\nOne.\tEins.\n# learn: 2 2\nTwo.\tZwei.\n";
  const std::string text = before + "Three.\tDrei.\n# learn: 1 3\nFour.\tVier.\n";
  const auto read = ParseMemory(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(read->segments, SizeIs(4));
  EXPECT_EQ(read->version, 3);
  EXPECT_THAT(ParseMemory(text.substr(0, text.size() - 1))->segments, SizeIs(3));
  EXPECT_THAT(ParseMemory(before)->segments, SizeIs(1));
  EXPECT_THAT(ParseMemory(text + WriteLearned({{"Five.", "Neu."}}, 4))->segments, SizeIs(5));
  for (const std::string wrong : {"Three. Drei.\n", "Three.\t\x01\n", "# learn: 1 3\n"}) {
    for (const std::string after : {"", "# learn: 1 3\nFour.\tVier.\n"}) {
      EXPECT_THAT(std::string(ParseMemory(before + wrong + after).status().message()),
                  HasSubstr("line 7, byte "));
    }
  }
}

class MemoryStoreTest : public testing::Test {
 protected:
  std::unique_ptr<MemoryStore> Open(MemoryLimits limits = {}) {
    auto store = MemoryStore::Open(directory_, limits);
    EXPECT_TRUE(store.ok()) << store.status();
    return store.ok() ? *std::move(store) : nullptr;
  }
  void PutFile(const std::string& name, const std::string& text) {
    std::ofstream(directory_ + "/new") << text;
    std::filesystem::rename(directory_ + "/new", directory_ + "/" + name);
  }
  std::string FileText(const std::string& name) const {
    std::ifstream in(directory_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  static MemoryText Text(const std::string& owner) {
    return {.name = "Manuals",
            .owner = owner,
            .languages = {"en", "de"},
            .segments = {{"One.", "Eins."}}};
  }
  // "" if there is none.
  static std::string TargetOf(const StoredMemoryPtr& memory, const std::string& source) {
    const auto match = memory->memory->Find(SegmentQuery(source, "", ""), 100);
    return match.has_value() ? match->segment.target : "";
  }

  const RamDirectory ram_;
  const std::string directory_ = ram_.path();
};

TEST_F(MemoryStoreTest, WhatIsLearnedOutlivesTheServer) {
  std::string id;
  {
    const auto store = Open();
    const auto made = store->Create(Text("alice"));
    ASSERT_TRUE(made.ok()) << made.status();
    id = (*made)->id;
    EXPECT_EQ((*made)->version, 1);
    const auto learned = store->Learn(id, "alice", {{"Two.", "Zwo.\tor\n"}, {"One.", "1"}});
    ASSERT_TRUE(learned.ok()) << learned.status();
    EXPECT_EQ((*learned)->version, 2);
    EXPECT_EQ((*learned)->memory->version(), 2);
    EXPECT_EQ(TargetOf(*learned, "One."), "1");
    EXPECT_EQ(TargetOf(*made, "One."), "Eins.");  // who has the old one keeps it
    EXPECT_TRUE(store->Look().ok());
    EXPECT_EQ(TargetOf(*store->Find(id, "alice"), "Two."), "Zwo. or");
  }
  const auto store = Open();
  const auto memory = store->Find(id, "alice");
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ((*memory)->name, "Manuals");
  EXPECT_EQ((*memory)->version, 2);
  EXPECT_EQ((*memory)->memory->languages(), (LanguagePair{"en", "de"}));
  EXPECT_EQ((*memory)->memory->size(), 2u);
  EXPECT_EQ(TargetOf(*memory, "One."), "1");
  EXPECT_EQ((*store->Learn(id, "alice", {{"Three.", "Drei."}}))->version, 3);
  EXPECT_EQ((*Open()->Find(id, "alice"))->memory->size(), 3u);
  EXPECT_TRUE(store->Delete(id, "alice").ok());
  EXPECT_THAT(Open()->List("alice"), IsEmpty());
}

TEST_F(MemoryStoreTest, AFileOfWhichMostIsOutOfDateIsWrittenAnew) {
  const auto store = Open();
  const std::string id = (*store->Create(Text("alice")))->id;
  for (int i = 0; i < 1100; ++i) {
    ASSERT_TRUE(store->Learn(id, "alice", {{"One.", absl::StrCat(i)}}).ok());
  }
  EXPECT_LT(FileText(id + ".tsv").size(), 20'000u);
  const StoredMemoryPtr memory = *Open()->Find(id, "alice");
  EXPECT_EQ(memory->version, 1101);
  EXPECT_EQ(memory->memory->size(), 1u);
  EXPECT_EQ(TargetOf(memory, "One."), "1099");
}

TEST_F(MemoryStoreTest, APrincipalSeesItsOwnAndWhatIsSharedAndChangesItsOwn) {
  const auto store = Open();
  const std::string own = (*store->Create(Text("alice")))->id;
  MemoryText shared = Text("alice");
  shared.shared = true;
  const std::string for_all = (*store->Create(shared))->id;
  EXPECT_THAT(store->List("alice"), SizeIs(2));
  EXPECT_THAT(store->List("bob"), SizeIs(1));
  EXPECT_TRUE(absl::IsNotFound(store->Find(own, "bob").status()));
  EXPECT_TRUE(absl::IsNotFound(store->Learn(own, "bob", {{"a", "b"}}).status()));
  EXPECT_TRUE(absl::IsNotFound(store->Delete(own, "bob")));
  EXPECT_TRUE(store->Find(for_all, "bob").ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(store->Learn(for_all, "bob", {{"a", "b"}}).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(store->Delete(for_all, "bob")));
}

TEST_F(MemoryStoreTest, FilesOfOthersAreWatched) {
  const auto store = Open();
  PutFile("animals.tsv", "The cat.\tDie Katze.\n");
  PutFile(
      "houses.tmx",
      "<tmx version=\"1.4\"><header srclang=\"en\"/><body><tu><tuv xml:lang=\"en\"><seg>A house."
      "</seg></tuv><tuv xml:lang=\"de\"><seg>Ein Haus.</seg></tuv></tu></body></tmx>");
  ASSERT_TRUE(store->Look().ok());
  EXPECT_EQ(TargetOf(*store->Find("animals", "bob"), "The cat."), "Die Katze.");
  const StoredMemoryPtr houses = *store->Find("houses.tmx", "");
  EXPECT_EQ(TargetOf(houses, "A house."), "Ein Haus.");
  EXPECT_EQ(houses->memory->languages(), (LanguagePair{"en", "de"}));
  EXPECT_TRUE(absl::IsFailedPrecondition(store->Learn("houses.tmx", "", {{"a", "b"}}).status()));
  PutFile("animals.tsv", "The cat.\tDie Katze.\nno tab\n");
  EXPECT_THAT(std::string(store->Look().message()), HasSubstr("animals.tsv: line 2"));
  EXPECT_EQ(TargetOf(*store->Find("animals", ""), "The cat."), "Die Katze.");
}

TEST_F(MemoryStoreTest, ADirectoryThatCannotBeReadIsNotEmpty) {
  const auto store = Open();
  const std::string id = (*store->Create(Text("alice")))->id;
  rlimit limit;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none = {.rlim_cur = 0, .rlim_max = limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  absl::Status status = store->Look();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_THAT(std::string(status.message()), HasSubstr(directory_ + ": Too many open files"));
  EXPECT_EQ(store->fault(), status);
  EXPECT_TRUE(store->Find(id, "alice").ok());
  std::filesystem::rename(directory_, directory_ + "-away");
  status = store->Look();
  std::filesystem::rename(directory_ + "-away", directory_);
  EXPECT_THAT(std::string(status.message()), HasSubstr(directory_ + ": No such file"));
  EXPECT_TRUE(store->Find(id, "alice").ok());
  EXPECT_TRUE(store->Look().ok());
  EXPECT_TRUE(store->fault().ok());
  PutFile("file", "no directory");
  EXPECT_FALSE(MemoryStore::Open(directory_ + "/file").ok());
}

TEST_F(MemoryStoreTest, WhatOthersMadeOfAFileIsNotOverwritten) {
  const auto store = Open();
  const std::string id = (*store->Create(Text("alice")))->id, file = id + ".tsv";
  const std::string other = "# owner: alice\nOne.\tUno.\n", broken = other + "Two.\n";
  PutFile(file, broken);
  absl::Status status = store->Learn(id, "alice", {{"Three.", "Drei."}}).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("\"" + id + "\" cannot be read: " + file));
  EXPECT_EQ(FileText(file), broken);
  EXPECT_EQ(TargetOf(*store->Find(id, "alice"), "One."), "Eins.");  // it stays in use
  // Without another look.
  PutFile(file, other);
  const auto learned = store->Learn(id, "alice", {{"Three.", "Drei."}});
  ASSERT_TRUE(learned.ok()) << learned.status();
  EXPECT_EQ(TargetOf(*learned, "One."), "Uno.");
  EXPECT_THAT(FileText(file), StartsWith(other));
  EXPECT_EQ(TargetOf(*Open()->Find(id, "alice"), "Three."), "Drei.");
  std::filesystem::remove(directory_ + "/" + file);
  status = store->Learn(id, "alice", {{"Four.", "Vier."}}).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_TRUE(store->Look().ok());
  EXPECT_TRUE(absl::IsNotFound(store->Find(id, "alice").status()));
}

TEST_F(MemoryStoreTest, ADamagedFileIsWholeOrRefusedAndNeverCut) {
  const WrittenMemory written;
  for (size_t i = 0; i < written.text.size(); ++i) {
    std::string damaged = written.text;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    PutFile("m.tsv", damaged);
    const auto store = Open();
    const auto memory = store->Find("m", "");
    EXPECT_EQ(memory.ok(), store->fault().ok());
    if (memory.ok()) {
      EXPECT_EQ((*memory)->memory->Segments(0, 100), written.segments) << i;
      continue;
    }
    const absl::Status learned = store->Learn("m", "", {{"Six.", "Sechs."}}).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(learned)) << learned;
    EXPECT_THAT(std::string(learned.message()),
                testing::AllOf(HasSubstr("\"m\" cannot be read: m.tsv: line "),
                               HasSubstr(", byte "), HasSubstr("want ")));
    EXPECT_EQ(FileText("m.tsv"), damaged) << i;
  }
}

TEST_F(MemoryStoreTest, AFileThatCannotBeReadIsAFaultUntilItCan) {
  PutFile("broken.tsv", "One.\tEins.\nTwo.\n");
  PutFile("whole.tsv", "One.\tEins.\n");
  std::filesystem::create_symlink("nowhere", directory_ + "/link.tsv");
  const auto store = Open();
  EXPECT_EQ(TargetOf(*store->Find("whole", ""), "One."), "Eins.");
  const absl::Status fault = store->fault();
  EXPECT_THAT(
      std::string(fault.message()),
      testing::AllOf(StartsWith(directory_ + ": "), HasSubstr("broken.tsv: line 2"),
                     HasSubstr("; the translation memory \"link\" cannot be read: link.tsv: "
                               "No such file")));
  EXPECT_TRUE(absl::IsFailedPrecondition(store->Find("broken", "bob").status()));
  EXPECT_TRUE(absl::IsUnavailable(store->Find("link", "bob").status()));
  EXPECT_EQ(store->Look(), fault);
  PutFile("nowhere", "One.\tUno.\n");
  std::filesystem::remove(directory_ + "/broken.tsv");
  EXPECT_TRUE(store->Look().ok());
  EXPECT_TRUE(store->fault().ok());
  EXPECT_TRUE(absl::IsNotFound(store->Find("broken", "").status()));
  EXPECT_EQ(TargetOf(*store->Find("link", ""), "One."), "Uno.");
}

TEST_F(MemoryStoreTest, AFileWhoseLastLineHasNoEndLearns) {
  PutFile("animals.tsv", "The cat.\tDie Katze.");
  const auto store = Open();
  ASSERT_TRUE(store->Learn("animals", "", {{"The dog.", "Der Hund."}}).ok());
  ASSERT_TRUE(store->Learn("animals", "", {{"The cow.", "Die Kuh."}}).ok());
  const StoredMemoryPtr memory = *Open()->Find("animals", "");
  EXPECT_EQ(TargetOf(memory, "The cat."), "Die Katze.");
  EXPECT_EQ(TargetOf(memory, "The dog."), "Der Hund.");
  EXPECT_EQ(TargetOf(memory, "The cow."), "Die Kuh.");
  EXPECT_EQ(memory->version, 3);
}

TEST_F(MemoryStoreTest, AnOwnerHasLimits) {
  const auto store = Open({.memories = 2, .segments = 3});
  const std::string id = (*store->Create(Text("alice")))->id;
  EXPECT_TRUE(store->Create(Text("alice")).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(store->Create(Text("alice")).status()));
  EXPECT_TRUE(
      absl::IsResourceExhausted(store->Learn(id, "alice", {{"a", "1"}, {"b", "2"}}).status()));
  EXPECT_TRUE(store->Learn(id, "alice", {{"a", "1"}}).ok());
  EXPECT_TRUE(store->Create(Text("bob")).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(store->Learn(id, "alice", {{"a", ""}}).status()));
}

// A process that ends before each of the steps of its writes, one after another.
TEST_F(MemoryStoreTest, NothingIsHalfWhereverAProcessEnds) {
  std::vector<MemorySegment> many;
  for (int i = 0; i < 3'000; ++i) many.push_back({absl::StrCat("House number ", i, "."), "Haus"});
  int steps = 0;
  for (bool ended_early = true; ended_early; ++steps) {
    std::filesystem::remove_all(directory_);
    const std::string id = (*Open()->Create(Text("alice")))->id;
    const pid_t child = fork();
    if (child == 0) {
      int left = steps;
      auto store = MemoryStore::Open(directory_, {}, [&] {
        if (left-- == 0) _exit(1);
      });
      if (!store.ok() || !(*store)->Learn(id, "alice", many).ok() ||
          !(*store)->Learn(id, "alice", {{"One.", "1"}}).ok() ||
          !(*store)->Create(Text("alice")).ok() || !(*store)->Delete(id, "alice").ok()) {
        _exit(2);
      }
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_THAT(WEXITSTATUS(status), AnyOf(0, 1)) << "step " << steps;
    ended_early = WEXITSTATUS(status) == 1;
    const auto store = Open();
    ASSERT_NE(store, nullptr) << "step " << steps;
    const auto memory = store->Find(id, "alice");
    const auto all = store->List("alice");
    if (!memory.ok()) {
      EXPECT_THAT(all, SizeIs(1)) << "step " << steps;  // the other one was answered
      continue;
    }
    const std::string state = absl::StrCat((*memory)->version, " ", (*memory)->memory->size(), " ",
                                           TargetOf(*memory, "One."));
    EXPECT_THAT(state, AnyOf("1 1 Eins.", "2 3001 Eins.", "3 3001 1")) << "step " << steps;
    EXPECT_TRUE(all.size() == 1 || state == "3 3001 1") << "step " << steps;
    // What was not finished is no obstacle.
    const auto learned = store->Learn(id, "alice", {{"Two.", "Zwei."}});
    ASSERT_TRUE(learned.ok()) << learned.status();
    const auto again = Open()->Find(id, "alice");
    ASSERT_TRUE(again.ok());
    EXPECT_EQ((*again)->version, (*memory)->version + 1) << "step " << steps;
    EXPECT_EQ((*again)->memory->size(), (*memory)->memory->size() + 1) << "step " << steps;
  }
  EXPECT_GE(steps, 15);
}

}  // namespace
}  // namespace dragoman::memory_store_test
