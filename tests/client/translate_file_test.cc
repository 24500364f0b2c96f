// dragoman translate-file: which files are meant, the journal, and whole runs against a server that
// "translates" to upper case.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "client/commands.h"
#include "client/file_list.h"
#include "client/journal.h"
#include "tests/client/fake_server.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TranslateFileTest : public ::testing::Test {
 protected:
  TranslateFileTest()
      : folder_(fs::path(::testing::TempDir()) / ("translate_file_" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~TranslateFileTest() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string Write(const std::string& name, const std::string& content) const {
    fs::create_directories(fs::path(Path(name)).parent_path());
    std::ofstream(Path(name), std::ios::binary) << content;
    return Path(name);
  }
  std::string Read(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      if (entry.is_regular_file()) names.push_back(fs::relative(entry.path(), folder_).string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  ExitCode Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {"dragoman", "translate-file", "--server", server_.address(), "-t", "de"});
    std::vector<const char*> argv;
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    out_.str("");
    err_.str("");
    return RunCommandLine(static_cast<int>(argv.size()), argv.data(),
                          Console{STDIN_FILENO, out_, err_});
  }
  std::string out() const { return out_.str(); }
  std::string err() const { return err_.str(); }

  const fs::path folder_;
  FakeServer server_;
  std::ostringstream out_, err_;
};

TEST_F(TranslateFileTest, WritesTheTranslationBesideTheFile) {
  Write("a.txt", "one\ntwo\n\n  \nthree\r\n\n");
  EXPECT_EQ(Run({Path("a.txt")}), kExitOk) << err();
  EXPECT_EQ(Read("a.de.txt"), "ONE\nTWO\n\n  \nTHREE\r\n\n");
  EXPECT_THAT(out(), HasSubstr("a.de.txt: 2 segments, 3 words\n"));
  EXPECT_THAT(Files(), ElementsAre("a.de.txt", "a.txt"));
  for (const v1::TranslateRequest& request : server_.requests()) {
    EXPECT_EQ(request.markup(), v1::MARKUP_NONE);
    EXPECT_EQ(request.target_language(), "de");
  }
}

TEST_F(TranslateFileTest, KeepsTheEncodingThatItIsToldOf) {
  Write("a.srt", "1\n00:00:01,000 --> 00:00:02,000\ncaf\xe9\n");
  EXPECT_NE(Run({Path("a.srt")}), kExitOk);
  EXPECT_THAT(err(), HasSubstr("a.srt: line 3: is not UTF-8: name its encoding"));
  EXPECT_EQ(Run({Path("a.srt"), "--encoding", "windows-1252"}), kExitOk) << err();
  EXPECT_EQ(Read("a.de.srt"), "1\n00:00:01,000 --> 00:00:02,000\nCAF\xe9\n");
  EXPECT_EQ(Run({Path("a.srt"), "--encoding", "Klingon", "--overwrite"}), kExitUsage);
  EXPECT_THAT(err(), HasSubstr("a.srt: is not Klingon, or there is no such encoding"));
}

TEST_F(TranslateFileTest, AnEmptyFileIsEmptyInAnyLanguage) {
  Write("a.txt", "");
  EXPECT_EQ(Run({Path("a.txt"), Path("b.txt")}), kExitOk) << err();
  EXPECT_THAT(Files(), ElementsAre("a.txt", "b.txt"));
  EXPECT_EQ(Read("b.txt"), "");
}

TEST_F(TranslateFileTest, TranslatesAFolderIntoAnother) {
  Write("in/a.txt", "a");
  Write("in/deep/b.txt", "b");
  Write("in/deep/picture.png", "p");
  Write("in/.hidden/c.txt", "c");
  Write("in/a.de.txt", "an earlier translation");
  EXPECT_EQ(Run({Path("in"), "--output-directory", Path("in/out")}), kExitOk) << err();
  EXPECT_EQ(Read("in/out/a.de.txt"), "A");
  EXPECT_EQ(Read("in/out/deep/b.de.txt"), "B");
  EXPECT_THAT(out(), HasSubstr("2 files: 2 segments, 2 words\n"));
  Write("in/deep/d.txt", "d");
  EXPECT_EQ(Run({Path("in"), "--output-directory", Path("in/out")}), kExitOk) << err();
  EXPECT_EQ(Read("in/out/deep/d.de.txt"), "D");
  EXPECT_THAT(out(), HasSubstr("b.de.txt: is there already\n"));
}

TEST_F(TranslateFileTest, ReplacesAnOutputOnlyIfAskedTo) {
  Write("a.txt", "a");
  Write("b.txt", "b");
  EXPECT_EQ(Run({Path("a.txt"), Path("b.txt")}), kExitUsage);
  EXPECT_THAT(err(), HasSubstr("b.txt exists: --overwrite replaces it"));
  EXPECT_EQ(Read("b.txt"), "b");
  EXPECT_EQ(Run({Path("a.txt"), Path("b.txt"), "--overwrite"}), kExitOk) << err();
  EXPECT_EQ(Read("b.txt"), "A");
  EXPECT_EQ(Run({Path("a.txt"), Path("a.txt"), "--overwrite"}), kExitUsage);
  EXPECT_THAT(err(), HasSubstr("would be replaced"));
}

TEST_F(TranslateFileTest, SaysWhichFilesItCannotRead) {
  Write("a.xyz", "a");
  EXPECT_EQ(Run({Path("a.xyz")}), kExitUsage);
  EXPECT_THAT(err(), HasSubstr("a.xyz: the format is not known, want text"));
  EXPECT_EQ(Run({Path("a.xyz"), "--format", "text"}), kExitOk) << err();
  EXPECT_EQ(Read("a.de.xyz"), "A");
  EXPECT_EQ(Run({Path("none.txt")}), kExitUsage);
  EXPECT_THAT(err(), HasSubstr("none.txt: no such file"));
}

TEST_F(TranslateFileTest, PassesOverWhatOnlyHasTheSuffixOfAFormat) {
  Write("in/a.txt", "one\n");
  Write("in/program.ts", "export const cat = 1;\n");
  Write("in/program.php", "<?php\nclass A {}\n");
  EXPECT_EQ(Run({Path("in")}), kExitOk) << err();
  EXPECT_THAT(err(), HasSubstr("in/program.php and 1 more\n"));
  EXPECT_THAT(Files(), ElementsAre("in/a.de.txt", "in/a.txt", "in/program.php", "in/program.ts"));
  EXPECT_EQ(Run({Path("in/program.ts")}), kExitUsage);
  EXPECT_THAT(err(), HasSubstr("in/program.ts: line 1: "));
  EXPECT_THAT(Files(), ElementsAre("in/a.de.txt", "in/a.txt", "in/program.php", "in/program.ts"));
}

TEST_F(TranslateFileTest, APassageThatIsRefusedStays) {
  Write("a.txt", "one\n\nbad\n\ntwo\n");
  EXPECT_EQ(Run({Path("a.txt")}), kExitRefused);
  EXPECT_THAT(err(), HasSubstr("a.txt, line 3: "));
  EXPECT_EQ(Read("a.de.txt"), "ONE\n\nbad\n\nTWO\n");
}

TEST_F(TranslateFileTest, GivesUpTheFileOfAPassageThatFails) {
  Write("in/a.txt", "one\n\nbroken\n\ntwo\n");
  Write("in/b.txt", "three\n");
  EXPECT_EQ(Run({Path("in")}), kExitRefused);
  EXPECT_THAT(err(), HasSubstr("in/a.txt, line 3: "));
  EXPECT_EQ(Read("in/b.de.txt"), "THREE\n");
  EXPECT_FALSE(fs::exists(Path("in/a.de.txt")));
  EXPECT_EQ(Run({Path("in"), "--skip-errors", "--report", "json"}), kExitRefused);
  EXPECT_EQ(Read("in/a.de.txt"), "ONE\n\nbroken\n\nTWO\n");
  const json report = json::parse(out());
  EXPECT_EQ(report["files"].size(), 2u);
  EXPECT_EQ(report["untranslated_segments"], 1);
  EXPECT_EQ(report["segments"], 3);
  EXPECT_EQ(report["earlier_segments"], 1);  // the run that gave up had translated it
  EXPECT_THAT(Files(), ElementsAre("in/a.de.txt", "in/a.txt", "in/b.de.txt", "in/b.txt"));
}

TEST_F(TranslateFileTest, GoesOnWhereAnEarlierRunHasStopped) {
  Write("a.txt", "one\n\ntwo\n\nbroken\n");
  auto asked = [&, before = size_t{0}](std::vector<std::string> arguments) mutable {
    arguments.push_back(Path("a.txt"));
    EXPECT_EQ(Run(std::move(arguments)), kExitRefused) << err();
    return server_.requests().size() - std::exchange(before, server_.requests().size());
  };
  EXPECT_EQ(asked({}), 3u);
  EXPECT_EQ(asked({}), 2u);  // the first one again, to see that the model is the same; and "broken"
  EXPECT_EQ(asked({"--beam-size", "2"}), 3u);  // translates differently
  Write("a.txt", "one\n\nthree\n\nbroken\n");
  EXPECT_EQ(asked({"--beam-size", "2"}), 3u);
  EXPECT_THAT(Files(), ElementsAre("a.de.txt.part", "a.txt"));
}

TEST_F(TranslateFileTest, TheJournalKnowsWhatItHas) {
  const std::string path = Path("journal");
  {
    auto journal = Journal::Open(path, "what");
    ASSERT_TRUE(journal.ok()) << journal.status();
    EXPECT_FALSE((*journal)->next().has_value());
    (*journal)->Add({.source = "1", .version = "v", .answer = {.text = "eins\n\"zwei\""}});
    (*journal)->Add({.source = "2", .version = "v", .answer = {.error = "no"}});
    (*journal)->Add({.source = "3", .version = "v", .answer = {.text = "drei"}});
    EXPECT_EQ(Journal::Open(path, "what").status().code(), absl::StatusCode::kFailedPrecondition);
  }
  std::ofstream(path, std::ios::app) << "{\"source\":\"4\",\"te";  // killed here
  {
    auto journal = Journal::Open(path, "what");
    ASSERT_TRUE(journal.ok()) << journal.status();
    EXPECT_EQ((*journal)->Take("1")->answer.text, "eins\n\"zwei\"");
    EXPECT_EQ((*journal)->Take("2")->answer.error, "no");
    EXPECT_FALSE((*journal)->Take("other").has_value());
    EXPECT_FALSE((*journal)->Take("3").has_value());
    (*journal)->Add({.source = "other", .version = "v", .answer = {.text = "x"}});
  }
  {
    auto journal = Journal::Open(path, "what");
    EXPECT_EQ((*journal)->Take("1")->answer.text, "eins\n\"zwei\"");
    EXPECT_EQ((*journal)->Take("2")->answer.error, "no");
    EXPECT_EQ((*journal)->Take("other")->answer.text, "x");
    EXPECT_FALSE((*journal)->next().has_value());
  }
  auto journal = Journal::Open(path, "something else");
  EXPECT_FALSE((*journal)->next().has_value());
  (*journal)->Remove();
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace dragoman
