// What outlives requests, in each kind of store: in memory, in a file, and in PostgreSQL if
// DRAGOMAN_TEST_STORE is the URL of one (tests/e2e/store_test.py starts it).

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/glossaries/glossary_store.h"
#include "server/memories/memory_store.h"
#include "store/copy.h"
#include "store/database.h"
#include "store/schema.h"
#include "tests/server/ram_directory.h"

namespace dragoman::store_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

absl::Time Soon() { return absl::Now() + absl::Seconds(60); }

std::vector<std::string> Stores() {
  std::vector<std::string> stores = {"memory", "sqlite"};
  if (const char* const url = std::getenv("DRAGOMAN_TEST_STORE")) stores.emplace_back(url);
  return stores;
}

// One server's view of a store.
struct Stored {
  explicit Stored(const std::string& store, const StoreLimits& limits = {},
                  int64_t index_bytes = 64 << 20)
      : indices(index_bytes) {
    auto opened = Database::Open(store);
    EXPECT_TRUE(opened.ok()) << opened.status();
    if (!opened.ok()) return;
    database = *std::move(opened);
    const StoreParts parts = {database.get(), limits, &indices};
    glossaries = std::make_unique<GlossaryStore>(parts);
    memories = std::make_unique<MemoryStore>(parts);
  }

  std::unique_ptr<Database> database;
  IndexCache indices;
  std::unique_ptr<GlossaryStore> glossaries;
  std::unique_ptr<MemoryStore> memories;
};

class StoreTest : public testing::TestWithParam<std::string> {
 protected:
  StoreTest() {
    if (!IsPostgres()) return;
    const auto connection = OpenPostgres(GetParam(), Soon());
    EXPECT_TRUE(connection.ok()) << connection.status();
    EXPECT_TRUE((*connection)->Script("DROP SCHEMA public CASCADE; CREATE SCHEMA public").ok());
  }
  static bool IsPostgres() { return absl::StartsWith(GetParam(), "postgres"); }
  static bool Survives() { return GetParam() != "memory"; }
  std::string Name() const {
    return GetParam() == "sqlite" ? "sqlite:" + ram_.path() + "/store.db" : GetParam();
  }

  static GlossaryText Text(const std::string& owner, std::vector<GlossaryEntry> entries = {}) {
    if (entries.empty()) entries = {{"house", {"Haus"}}};
    return {{.name = "Houses", .owner = owner}, {{{"en", "de"}, entries}}};
  }
  static MemoryText Memory(const std::string& owner) {
    return {{.name = "Manuals", .owner = owner}, {"en", "de"}, {{"One.", "Eins."}}};
  }
  // "" if there is none.
  static std::string TargetOf(const StoredMemoryPtr& memory, const std::string& source) {
    const auto match = memory->memory->Find(SegmentQuery(source, "", ""), 100);
    return match.has_value() ? match->segment.target : "";
  }

  const RamDirectory ram_;
};

INSTANTIATE_TEST_SUITE_P(Stores, StoreTest, testing::ValuesIn(Stores()), [](const auto& store) {
  return store.param.substr(0, std::min(store.param.find(':'), store.param.size()));
});

TEST_P(StoreTest, WhatIsStoredIsFoundByEveryServer) {
  const Stored one(Name());
  const std::vector<GlossaryEntry> entries = {{"# house", {"Haus", "Hauses"}, true}, {"Gore-Tex"}};
  GlossaryText text = Text("alice", entries);
  text.dictionaries.push_back({{"en", "fr"}, {{"cat", {"chat"}}}});
  const auto made = one.glossaries->Create(Soon(), text);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->version, 1);
  EXPECT_EQ(made->size(), 3);
  std::unique_ptr<Stored> another;
  const Stored* two = &one;
  if (Survives()) {
    another = std::make_unique<Stored>(Name());
    two = another.get();
  }
  const auto found = two->glossaries->Find({Soon(), "alice"}, made->id);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ((*found)->name, "Houses");
  EXPECT_EQ((*found)->owner, "alice");
  EXPECT_EQ((*found)->created, made->created);
  ASSERT_THAT((*found)->dictionaries, SizeIs(2));
  EXPECT_EQ((*found)->dictionaries[0]->entries(), entries);
  EXPECT_EQ((*found)->dictionaries[1]->languages(), (LanguagePair{"en", "fr"}));
  // Not read again as long as it is the same version.
  EXPECT_EQ(*two->glossaries->Find({Soon(), "alice"}, made->id), *found);
  // What one server changes, the other uses in the next request.
  const auto renamed =
      one.glossaries->Update({Soon(), "alice"}, made->id, [](GlossaryText* glossary) {
        glossary->name = "Others";
        glossary->dictionaries.pop_back();
        return absl::OkStatus();
      });
  ASSERT_TRUE(renamed.ok()) << renamed.status();
  EXPECT_EQ(renamed->version, 2);
  const auto later = two->glossaries->Find({Soon(), "alice"}, made->id);
  EXPECT_EQ((*later)->name, "Others");
  EXPECT_THAT((*later)->dictionaries, SizeIs(1));
  // The dictionary that stayed keeps its index.
  EXPECT_EQ((*later)->dictionaries[0], (*found)->dictionaries[0]);
  EXPECT_EQ((*found)->version, 1);
  ASSERT_TRUE(one.glossaries->Delete({Soon(), "alice"}, made->id).ok());
  EXPECT_TRUE(absl::IsNotFound(two->glossaries->Find({Soon(), "alice"}, made->id).status()));
}

TEST_P(StoreTest, AMemoryLearns) {
  const Stored one(Name());
  std::unique_ptr<Stored> another;
  const Stored* two = &one;
  if (Survives()) {
    another = std::make_unique<Stored>(Name());
    two = another.get();
  }
  const auto made = one.memories->Create(Soon(), Memory("alice"));
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(TargetOf(*two->memories->Find({Soon(), "alice"}, made->id), "One."), "Eins.");
  const auto learned = one.memories->Learn(
      {Soon(), "alice"}, made->id,
      {{"Two.", "Zwei."}, {"Two.", "Z", "One.", ""}, {"One.", "Einmal."}, {"Two.", "Doch zwei."}});
  ASSERT_TRUE(learned.ok()) << learned.status();
  EXPECT_EQ(learned->version, 2);
  EXPECT_EQ(learned->size(), 3);
  EXPECT_EQ(learned->bytes, 4 + 7 + 4 + 10 + 4 + 1 + 4);
  const auto memory = two->memories->Find({Soon(), "alice"}, made->id);
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_EQ(TargetOf(*memory, "One."), "Einmal.");
  EXPECT_EQ(TargetOf(*memory, "Two."), "Doch zwei.");
  const std::vector<MemorySegment> segments = {
      {"Two.", "Z", "One.", ""}, {"One.", "Einmal."}, {"Two.", "Doch zwei."}};
  EXPECT_EQ((*memory)->memory->Segments(0, 10), segments);
  EXPECT_EQ((*memory)->memory->version(), 2);
  // As is one that is read from the beginning.
  if (Survives()) {
    const Stored three(Name());
    EXPECT_EQ((*three.memories->Find({Soon(), "alice"}, made->id))->memory->Segments(0, 10),
              segments);
  }
  EXPECT_TRUE(absl::IsInvalidArgument(
      one.memories->Learn({Soon(), "alice"}, made->id, {{"", "x"}}).status()));
}

TEST_P(StoreTest, APrincipalSeesItsOwnAndWhatIsSharedAndChangesItsOwn) {
  const Stored stored(Name());
  GlossaryText shared = Text("alice");
  shared.shared = true;
  const std::string own = stored.glossaries->Create(Soon(), Text("alice"))->id;
  const std::string for_all = stored.glossaries->Create(Soon(), shared)->id;
  const std::string memory = stored.memories->Create(Soon(), Memory("alice"))->id;
  EXPECT_THAT(*stored.glossaries->List({Soon(), "alice"}), SizeIs(2));
  EXPECT_THAT(*stored.glossaries->List({Soon(), "bob"}), SizeIs(1));
  EXPECT_THAT(*stored.memories->List({Soon(), "bob"}), IsEmpty());
  EXPECT_TRUE(stored.glossaries->Find({Soon(), "bob"}, for_all).ok());
  const auto nothing = [](GlossaryText*) { return absl::OkStatus(); };
  for (const std::string& id : {own, memory, std::string("none"), std::string("../x\xff")}) {
    EXPECT_TRUE(absl::IsNotFound(stored.glossaries->Find({Soon(), "bob"}, id).status())) << id;
    EXPECT_TRUE(absl::IsNotFound(stored.glossaries->Describe({Soon(), "bob"}, id).status())) << id;
    EXPECT_TRUE(absl::IsNotFound(stored.glossaries->Delete({Soon(), "bob"}, id))) << id;
    EXPECT_TRUE(absl::IsNotFound(stored.glossaries->Update({Soon(), "bob"}, id, nothing).status()));
  }
  EXPECT_TRUE(absl::IsFailedPrecondition(stored.glossaries->Delete({Soon(), "bob"}, for_all)));
  EXPECT_TRUE(absl::IsFailedPrecondition(
      stored.glossaries->Update({Soon(), "bob"}, for_all, nothing).status()));
}

TEST_P(StoreTest, AnIdMayBeANameOfTheOwners) {
  const Stored stored(Name());
  GlossaryText text = Text("alice");
  text.shared = true;
  const std::string id = stored.glossaries->Create(Soon(), text)->id;
  EXPECT_EQ((*stored.glossaries->Find({Soon(), "alice"}, "Houses"))->id, id);
  EXPECT_EQ(*stored.glossaries->Find({Soon(), "alice"}, "Houses"),
            *stored.glossaries->Find({Soon(), "alice"}, id));
  EXPECT_TRUE(absl::IsNotFound(stored.glossaries->Find({Soon(), "bob"}, "Houses").status()));
  const auto changed =
      stored.glossaries->Update({Soon(), "alice"}, "Houses", [](GlossaryText* now) {
        now->dictionaries[0].entries.push_back({"cat", {"Katze"}});
        return absl::OkStatus();
      });
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_EQ(changed->id, id);
  EXPECT_EQ((*stored.glossaries->Find({Soon(), "alice"}, "Houses"))->size(), 2);
  ASSERT_TRUE(stored.glossaries->Delete({Soon(), "alice"}, "Houses").ok());
  EXPECT_TRUE(absl::IsNotFound(stored.glossaries->Find({Soon(), "alice"}, id).status()));
}

TEST_P(StoreTest, AnOwnerHasLimits) {
  const std::string text(100, 'x');
  const Stored stored(Name(), {.owner_bytes = 1000, .bytes = 1500});
  const auto with = [&](const std::string& owner, int entries) {
    std::vector<GlossaryEntry> all;
    for (int i = 0; i < entries; ++i) all.push_back({absl::StrCat(i, " "), {text}});
    return stored.glossaries->Create(Soon(), Text(owner, all));
  };
  const auto first = with("alice", 8);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_THAT(std::string(with("alice", 2).status().message()),
              AllOf(HasSubstr("what you keep here"), HasSubstr("the most is 1000")));
  EXPECT_TRUE(with("bob", 5).ok());
  EXPECT_THAT(std::string(with("carol", 2).status().message()),
              AllOf(HasSubstr("what is kept here"), HasSubstr("the most is 1500")));
  // Nothing is left of what was refused.
  EXPECT_THAT(*stored.glossaries->List({Soon(), "carol"}), IsEmpty());
  ASSERT_TRUE(stored.glossaries->Delete({Soon(), "alice"}, first->id).ok());
  EXPECT_TRUE(with("carol", 2).ok());
  EXPECT_TRUE(CheckStore(stored.database.get()).ok());
  // Other indices give way to one that is used, and one that is too large is refused.
  const Stored small(Name(), {}, /*index_bytes=*/2000);
  if (!Survives()) return;
  const std::vector<Owned> of_bob = *small.glossaries->List({Soon(), "bob"});
  for (const Owned& each : of_bob) {
    EXPECT_TRUE(
        absl::IsResourceExhausted(small.glossaries->Find({Soon(), "bob"}, each.id).status()));
  }
  EXPECT_TRUE(
      small.glossaries->Find({Soon(), "dora"}, small.glossaries->Create(Soon(), Text("dora"))->id)
          .ok());
  EXPECT_LE(small.indices.Stats().used, 2000u);
}

TEST_P(StoreTest, AnIndexCountsUntilTheLastRequestHasDroppedIt) {
  Stored stored(Name(), {}, /*index_bytes=*/2000);
  const auto create = [&] { return stored.glossaries->Create(Soon(), Text("alice"))->id; };
  std::vector<std::string> ids;
  while (stored.indices.Stats().used < 1000 && ids.size() < 100) {
    ids.push_back(create());
    ASSERT_TRUE(stored.glossaries->Find({Soon(), "alice"}, ids.back()).ok());
  }
  const size_t of_each = stored.indices.Stats().used / ids.size();
  const size_t most = 2000 / of_each;
  while (ids.size() < most + 2) ids.push_back(create());
  // What requests use cannot make room.
  std::vector<GlossaryPtr> used;
  for (size_t i = 0; i < most; ++i) {
    used.push_back(*stored.glossaries->Find({Soon(), "alice"}, ids[i]));
  }
  EXPECT_EQ(stored.indices.Stats().used, most * of_each);
  const absl::Status refused = stored.glossaries->Find({Soon(), "alice"}, ids[most]).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("indices may take 2000"));
  EXPECT_EQ(stored.indices.Stats().refusals, 1);
  // A version that is no longer the latest one counts, too.
  used.pop_back();
  const auto change = [](GlossaryText* text) {
    text->dictionaries[0].entries = {{"house", {"Heim"}}};
    return absl::OkStatus();
  };
  ASSERT_TRUE(stored.glossaries->Update({Soon(), "alice"}, ids[0], change).ok());
  const auto newer = stored.glossaries->Find({Soon(), "alice"}, ids[0]);
  ASSERT_TRUE(newer.ok()) << newer.status();
  EXPECT_EQ(stored.indices.Stats().used, most * of_each);
  EXPECT_FALSE(stored.glossaries->Find({Soon(), "alice"}, ids[most]).ok());
  used.front() = nullptr;
  EXPECT_TRUE(stored.glossaries->Find({Soon(), "alice"}, ids[most]).ok());
  // Versions of a memory share theirs.
  used.clear();
  const std::string memory = stored.memories->Create(Soon(), Memory("alice"))->id;
  std::vector<StoredMemoryPtr> versions;
  for (int i = 0; i < 5; ++i) {
    versions.push_back(*stored.memories->Find({Soon(), "alice"}, memory));
    ASSERT_TRUE(stored.memories->Learn({Soon(), "alice"}, memory, {{"One.", "Eins!"}}).ok());
  }
  EXPECT_NE(versions[3], versions[4]);
}

// Whoever gives up, or is late, hears that and no error of the server's, and nothing is half done.
TEST_P(StoreTest, ShortDeadlinesAndManyWritersAreNoInternalErrors) {
  constexpr int kWriters = 4;
  const int writes =
      std::getenv("DRAGOMAN_LEARNS") ? std::atoi(std::getenv("DRAGOMAN_LEARNS")) : 150;
  const Stored stored(Name());
  const std::string id = stored.memories->Create(Soon(), Memory(""))->id;
  std::vector<std::thread> writers;
  std::atomic<int> learned = 0, late = 0;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      std::mt19937 random(w);
      for (int i = 0; i < writes; ++i) {
        std::vector<MemorySegment> segments(size_t{1} << (random() % 12));
        for (MemorySegment& segment : segments) {
          segment = {absl::StrCat("Sentence ", random() % 5000, "."), "Satz."};
        }
        const absl::Time until = absl::Now() + absl::Microseconds(int64_t{1} << (random() % 17));
        const absl::Status status = stored.memories->Learn({until, ""}, id, segments).status();
        ++(status.ok() ? learned : late);
        if (status.ok()) continue;
        EXPECT_TRUE(absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status)) << status;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_GT(learned, 0);
  EXPECT_GT(late, 0);
  const auto found = stored.memories->Find({Soon(), ""}, id);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_GE((*found)->version, 1 + learned);
  // Of a commit whose answer is late, PostgreSQL alone may know that it was done.
  if (!IsPostgres()) {
    EXPECT_EQ((*found)->version, 1 + learned);
  }
}

TEST_P(StoreTest, SeveralWritersLoseNothing) {
  constexpr int kWriters = 4, kEach = 25;
  const Stored first(Name());
  const std::string id = first.memories->Create(Soon(), Memory(""))->id;
  std::vector<std::unique_ptr<Stored>> others;
  std::vector<std::thread> writers;
  std::vector<std::vector<int64_t>> versions(kWriters);
  for (int w = 0; w < kWriters; ++w) {
    const Stored* stored = &first;
    if (Survives()) stored = others.emplace_back(std::make_unique<Stored>(Name())).get();
    writers.emplace_back([stored, w, &id, &versions] {
      for (int i = 0; i < kEach; ++i) {
        const auto learned = stored->memories->Learn(
            {Soon(), ""}, id, {{absl::StrCat("Sentence ", w, " ", i), absl::StrCat("Satz ", i)}});
        ASSERT_TRUE(learned.ok()) << learned.status();
        versions[static_cast<size_t>(w)].push_back(learned->version);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  std::vector<int64_t> all;
  for (const std::vector<int64_t>& own : versions) {
    EXPECT_TRUE(std::is_sorted(own.begin(), own.end()));
    all.insert(all.end(), own.begin(), own.end());
  }
  std::sort(all.begin(), all.end());
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<int64_t>(i) + 2);
  const auto memory = first.memories->Find({Soon(), ""}, id);
  EXPECT_EQ((*memory)->memory->size(), 1u + kWriters * kEach);
  EXPECT_EQ((*memory)->version, 1 + kWriters * kEach);
}

TEST_P(StoreTest, OfManyThatWantOneNameOneGetsIt) {
  const Stored first(Name());
  std::vector<std::unique_ptr<Stored>> others;
  std::vector<std::thread> creators;
  std::atomic<int> made = 0, taken = 0;
  for (int i = 0; i < 16; ++i) {
    const Stored* stored = &first;
    if (Survives() && i % 4 == 1) {
      stored = others.emplace_back(std::make_unique<Stored>(Name())).get();
    }
    creators.emplace_back([stored, i, &made, &taken] {
      const absl::Status created =
          stored->glossaries
              ->Create(Soon(), Text(i % 2 == 0 ? "alice" : "bob"), "", /*unique=*/true)
              .status();
      EXPECT_TRUE(created.ok() || absl::IsAlreadyExists(created)) << created;
      ++(created.ok() ? made : taken);
    });
  }
  for (std::thread& creator : creators) creator.join();
  EXPECT_EQ(made, 2);  // one of each owner
  EXPECT_EQ(taken, 14);
  EXPECT_THAT(*first.glossaries->List({Soon(), "alice"}), SizeIs(1));
  // Whoever does not ask for that makes as many of one name as it likes.
  EXPECT_TRUE(first.glossaries->Create(Soon(), Text("alice")).ok());
}

TEST_P(StoreTest, NothingIsHalfWhereverAProcessEnds) {
  if (!Survives()) GTEST_SKIP() << "nothing survives";
  std::vector<MemorySegment> many;
  for (int i = 0; i < 300; ++i) many.push_back({absl::StrCat("Sentence ", i), "Satz"});
  std::string id;
  {
    const Stored stored(Name());
    id = stored.memories->Create(Soon(), {{.owner = "a"}, {}, many})->id;
  }
  for (int turn = 0; turn < 6; ++turn) {
    const pid_t child = fork();
    if (child == 0) {
      const Stored stored(Name());
      while (true) {
        for (MemorySegment& segment : many) segment.target += "!";
        if (!stored.memories->Learn({Soon(), "a"}, id, many).ok()) _exit(1);
      }
    }
    absl::SleepFor(absl::Milliseconds(60 + 20 * turn));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    const Stored stored(Name());
    const auto memory = stored.memories->Find({Soon(), "a"}, id);
    ASSERT_TRUE(memory.ok()) << memory.status();
    const std::vector<MemorySegment> segments = (*memory)->memory->Segments(0, 1000);
    ASSERT_THAT(segments, SizeIs(300));
    const std::string& target = segments[0].target;
    for (MemorySegment& segment : many) segment.target = target;
    EXPECT_EQ(segments, many);
    // PostgreSQL may still end what it was told last; then the next process writes that again.
    EXPECT_GE(static_cast<size_t>((*memory)->version),
              1 + target.size() - std::string("Satz").size());
    EXPECT_TRUE(CheckStore(stored.database.get()).ok());
  }
}

TEST_P(StoreTest, ANewerSchemaIsRefused) {
  if (!Survives()) GTEST_SKIP() << "nothing survives";
  const Stored stored(Name());
  ASSERT_TRUE(stored.database
                  ->Transact(Soon(), Database::kWrite,
                             [](Connection* connection) {
                               return connection->Script("UPDATE store_schema SET version = 1000");
                             })
                  .ok());
  const auto refused = Database::Open(Name());
  EXPECT_TRUE(absl::IsFailedPrecondition(refused.status())) << refused.status();
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("schema 1000"));
}

TEST_P(StoreTest, ABackupIsEqualAndRestoresIntoAnyStore) {
  const Stored stored(Name());
  const std::string glossary = stored.glossaries->Create(Soon(), Text("alice"))->id;
  const std::string memory = stored.memories->Create(Soon(), Memory("alice"))->id;
  const std::string path = ram_.path() + "/backup.db";
  {
    const auto backup = Database::Open("sqlite:" + path);
    const auto counts = CopyStore(stored.database.get(), backup->get());
    ASSERT_TRUE(counts.ok()) << counts.status();
    EXPECT_THAT(*counts, ElementsAre(testing::Pair("owners", 1), testing::Pair("kept", 2),
                                     testing::Pair("lists", 2), testing::Pair("segments", 1)));
    EXPECT_TRUE(
        absl::IsFailedPrecondition(CopyStore(stored.database.get(), backup->get()).status()));
  }
  ASSERT_TRUE(stored.glossaries->Delete({Soon(), "alice"}, glossary).ok());
  ASSERT_TRUE(stored.memories->Delete({Soon(), "alice"}, memory).ok());
  ASSERT_TRUE(stored.database
                  ->Transact(Soon(), Database::kWrite,
                             [](Connection* c) { return c->Script("DELETE FROM owners"); })
                  .ok());
  const auto backup = Database::Open("sqlite:" + path);
  ASSERT_TRUE(CopyStore(backup->get(), stored.database.get()).ok());
  EXPECT_EQ(TargetOf(*stored.memories->Find({Soon(), "alice"}, memory), "One."), "Eins.");
  EXPECT_TRUE(stored.glossaries->Find({Soon(), "alice"}, glossary).ok());
}

TEST_P(StoreTest, WhatIsLearnedCostsTheSameInALargeMemory) {
  const Stored stored(Name());
  const auto with = [&](int size) {
    std::vector<MemorySegment> segments;
    for (int i = 0; i < size; ++i) {
      segments.push_back({absl::StrCat("Sentence number ", i), absl::StrCat("Satz ", i)});
    }
    const auto made = stored.memories->Create(Soon(), {.segments = segments});
    EXPECT_TRUE(made.ok()) << made.status();
    EXPECT_TRUE(stored.memories->Find({Soon(), ""}, made->id).ok());
    return made->id;
  };
  // Rows that change when one segment is learned.
  const auto learn = [&](const std::string& id, int i) {
    const absl::Time start = absl::Now();
    const auto learned =
        stored.memories->Learn({Soon(), ""}, id, {{absl::StrCat("New ", i), "Neu"}});
    EXPECT_TRUE(learned.ok()) << learned.status();
    EXPECT_EQ(TargetOf(*stored.memories->Find({Soon(), ""}, id), absl::StrCat("New ", i)), "Neu");
    return absl::Now() - start;
  };
  const std::string small = with(100), large = with(10'000);
  absl::Duration of_small = absl::InfiniteDuration(), of_large = absl::InfiniteDuration();
  for (int i = 0; i < 20; ++i) {
    of_small = std::min(of_small, learn(small, i));
    of_large = std::min(of_large, learn(large, i));
  }
  EXPECT_LT(of_large, 5 * of_small + absl::Milliseconds(5));
}

// ---- Files of SQLite
// -------------------------------------------------------------------------------

// Makes a file of 2,000 segments, damages it, and looks at what can be saved of it.
void Damage(const std::function<void(const std::string& path, std::streamoff size)>& damage) {
  const RamDirectory ram;
  const std::string path = ram.path() + "/store.db", new_path = ram.path() + "/mended.db";
  std::string id;
  {
    const Stored stored("sqlite:" + path);
    std::vector<MemorySegment> segments;
    for (int i = 0; i < 2000; ++i) {
      segments.push_back({absl::StrCat("Sentence number ", i), absl::StrCat("Satz ", i)});
    }
    id = stored.memories->Create(Soon(), {.segments = segments})->id;
  }
  damage(path, static_cast<std::streamoff>(std::filesystem::file_size(path)));
  const auto refused = Database::Open("sqlite:" + path);
  EXPECT_TRUE(absl::IsDataLoss(refused.status())) << refused.status();
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("dragoman store salvage sqlite:" + path));
  const auto mended = Database::Open("sqlite:" + new_path);
  std::vector<std::string> faults;
  const auto counts = SalvageStore(path, mended->get(), &faults);
  ASSERT_TRUE(counts.ok()) << counts.status();
  EXPECT_THAT(faults, Not(IsEmpty()));
  EXPECT_TRUE(CheckStore(mended->get()).ok());
  const Stored stored("sqlite:" + new_path);
  const auto memory = stored.memories->Find({Soon(), ""}, id);
  ASSERT_TRUE(memory.ok()) << memory.status();
  EXPECT_GT((*memory)->memory->size(), 1000u);
  EXPECT_EQ(static_cast<int64_t>((*memory)->memory->size()), (*memory)->size());
}

TEST(SqliteStore, ADamagedFileIsRefusedAndSalvaged) {
  Damage([](const std::string& path, std::streamoff size) {
    std::fstream(path).seekp(size / 2).write(std::string(3000, '\x55').data(), 3000);
  });
}

TEST(SqliteStore, AFileThatWasCutOffIsRefusedAndSalvaged) {
  Damage([](const std::string& path, std::streamoff size) {
    std::filesystem::resize_file(path, static_cast<std::uintmax_t>(size * 9 / 10));
  });
}

TEST(SqliteStore, NothingIsWrittenToAFileThatWasMoved) {
  const RamDirectory ram;
  const std::string path = ram.path() + "/store.db";
  const Stored stored("sqlite:" + path);
  const auto create = [&] { return stored.memories->Create(Soon(), {}).status(); };
  EXPECT_TRUE(create().ok());
  std::filesystem::rename(path, path + ".away");
  EXPECT_TRUE(absl::IsUnavailable(create())) << create();
  EXPECT_TRUE(absl::IsUnavailable(stored.database->fault()));
  std::filesystem::rename(path + ".away", path);
  EXPECT_TRUE(create().ok()) << create();
}

TEST(SqliteStore, WhatIsNoStoreIsRefused) {
  const RamDirectory ram;
  ASSERT_TRUE(Database::Open("sqlite:" + ram.path() + "/new.db").ok());
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(ram.path() + "/new.db").permissions() & perms::all,
            perms::owner_read | perms::owner_write);
  std::ofstream(ram.path() + "/text") << std::string(5000, 'x');
  EXPECT_TRUE(absl::IsDataLoss(Database::Open("sqlite:" + ram.path() + "/text").status()));
  for (const std::string store : {"", "sqlite:", "mysql://x", "/var/lib/x"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Database::Open(store).status())) << store;
  }
  EXPECT_TRUE(absl::IsUnavailable(Database::Open("sqlite:/no/such/directory/x").status()));
}

TEST(PostgresStore, OneThatCannotBeReachedIsAskedAgainLater) {
  const auto database = Database::Open("postgresql://user:secret@127.0.0.1:1/x?connect_timeout=1");
  ASSERT_TRUE(database.ok()) << database.status();
  EXPECT_EQ((*database)->name(), "postgresql://127.0.0.1:1/x");
  EXPECT_TRUE(absl::IsUnavailable((*database)->fault()));
  EXPECT_THAT(std::string((*database)->fault().message()), Not(HasSubstr("\n")));
  EXPECT_THAT(std::string((*database)->fault().message()), Not(HasSubstr("secret")));
  const absl::Time start = absl::Now();
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(absl::IsUnavailable((*database)->Transact(
        Soon(), Database::kRead, [](Connection*) { return absl::OkStatus(); })));
  }
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
  EXPECT_FALSE((*database)->Stats().up);
}

// ---- Files of the operator's
// -----------------------------------------------------------------------

class FilesTest : public testing::Test {
 protected:
  void Put(const std::string& name, const std::string& text) {
    std::ofstream(ram_.path() + "/new") << text;
    std::filesystem::rename(ram_.path() + "/new", ram_.path() + "/" + name);
  }
  std::unique_ptr<GlossaryStore::Files> Open() {
    auto files = GlossaryStore::OpenFiles(ram_.path());
    EXPECT_TRUE(files.ok()) << files.status();
    return *std::move(files);
  }
  const RamDirectory ram_;
};

TEST_F(FilesTest, AreReadInTheirFormatsAndAgainWhenTheyChange) {
  Put("houses.tsv", "# languages: en de\nhouse\tHaus\n");
  Put("cats.csv", "cat,Katze\n");
  Put("mine.tsv", "# owner: alice\nmouse\tMaus\n");
  const auto files = Open();
  EXPECT_TRUE(files->fault().ok()) << files->fault();
  EXPECT_THAT(files->List("bob"), SizeIs(2));
  const auto found = *files->Find("houses", "bob");
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(found->read_only);
  EXPECT_EQ(found->size(), 1);
  EXPECT_EQ(*files->Find("mine", "bob"), nullptr);
  Put("houses.tsv", "house\tHeim\nhut\tHütte\n");
  ASSERT_TRUE(files->Look().ok());
  EXPECT_EQ((*files->Find("houses", "bob"))->size(), 2);
  std::filesystem::remove(ram_.path() + "/houses.tsv");
  ASSERT_TRUE(files->Look().ok());
  EXPECT_EQ(*files->Find("houses", "bob"), nullptr);
}

TEST_F(FilesTest, MayBeThoseOfOtherPrograms) {
  Put("terms.tbx",
      R"(<tbx><text><body><conceptEntry>
           <langSec xml:lang="en"><termSec><term>house</term></termSec></langSec>
           <langSec xml:lang="de"><termSec><term>Haus</term></termSec></langSec>
         </conceptEntry></body></text></tbx>)");
  Put("manuals.tmx",
      R"(<tmx version="1.4"><header srclang="en"/><body><tu>
           <tuv xml:lang="en"><seg>One.</seg></tuv><tuv xml:lang="de"><seg>Eins.</seg></tuv>
         </tu></body></tmx>)");
  const auto glossaries = Open();
  const auto memories = MemoryStore::OpenFiles(ram_.path());
  EXPECT_TRUE(glossaries->fault().ok()) << glossaries->fault();
  EXPECT_TRUE((*memories)->fault().ok()) << (*memories)->fault();
  const GlossaryPtr terms = *glossaries->Find("terms.tbx", "");
  const StoredMemoryPtr manuals = *(*memories)->Find("manuals.tmx", "");
  ASSERT_NE(terms, nullptr);
  ASSERT_NE(manuals, nullptr);
  EXPECT_EQ(terms->lists[0].size, 1);
  EXPECT_EQ(manuals->lists[0].languages, (LanguagePair{"en", "de"}));
  EXPECT_EQ(manuals->size(), 1);
}

TEST_F(FilesTest, WhatCannotBeReadIsAFaultAndKeepsWhatWas) {
  Put("houses.tsv", "house\tHaus\n");
  const auto files = Open();
  Put("houses.tsv", "\tHaus\n");
  Put("broken.tsv", "# created: infinite-future\nx\ty\n");
  Put("large.tsv", "# version: 9223372036854775807\nx\ty\n");
  EXPECT_THAT(std::string(files->Look().message()),
              AllOf(HasSubstr("houses"), HasSubstr("created"), HasSubstr("version")));
  EXPECT_EQ((*files->Find("houses", ""))->size(), 1);
  EXPECT_TRUE(absl::IsFailedPrecondition(files->Find("broken", "").status()));
  std::filesystem::rename(ram_.path(), ram_.path() + ".away");
  EXPECT_TRUE(absl::IsUnavailable(files->Look()));
  EXPECT_EQ((*files->Find("houses", ""))->size(), 1);
  std::filesystem::rename(ram_.path() + ".away", ram_.path());
  rlimit limit = {};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit spent = {.rlim_cur = 0, .rlim_max = limit.rlim_max};
  setrlimit(RLIMIT_NOFILE, &spent);
  const absl::Status looked = files->Look();
  setrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_TRUE(absl::IsUnavailable(looked)) << looked;
  EXPECT_EQ((*files->Find("houses", ""))->size(), 1);
  EXPECT_TRUE(absl::IsInvalidArgument(GlossaryStore::OpenFiles(ram_.path() + "/none").status()));
}

TEST_F(FilesTest, NothingLeadsOutOfTheDirectoryOrWaits) {
  std::filesystem::create_symlink("/etc/passwd", ram_.path() + "/passwd.tsv");
  mkfifo((ram_.path() + "/pipe.tsv").c_str(), 0600);
  std::filesystem::create_directory(ram_.path() + "/..data");
  std::ofstream(ram_.path() + "/..data/map.tsv") << "house\tHaus\n";
  std::filesystem::create_symlink("..data/map.tsv", ram_.path() + "/map.tsv");
  const auto files = Open();
  EXPECT_THAT(std::string(files->fault().message()),
              AllOf(HasSubstr("leads out of the directory"), HasSubstr("no regular file")));
  EXPECT_THAT(files->List(""), SizeIs(1));
  EXPECT_NE(*files->Find("map", ""), nullptr);
}

TEST_F(FilesTest, BelongToTheirStore) {
  Put("houses.tsv", "house\tHaus\n");
  const Stored stored("memory");
  stored.glossaries->SetFiles(Open());
  EXPECT_TRUE(stored.glossaries->Find({Soon(), "alice"}, "houses").ok());
  EXPECT_THAT(*stored.glossaries->List({Soon(), "alice"}), SizeIs(1));
  EXPECT_TRUE(absl::IsFailedPrecondition(stored.glossaries->Delete({Soon(), ""}, "houses")));
  EXPECT_TRUE(absl::IsFailedPrecondition(
      stored.glossaries
          ->Update({Soon(), ""}, "houses", [](GlossaryText*) { return absl::OkStatus(); })
          .status()));
}

}  // namespace
}  // namespace dragoman::store_test
