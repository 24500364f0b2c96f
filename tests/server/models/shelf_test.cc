// The shelf with a loader that does what the test says, and with a clock that the test sets.

#include "server/models/shelf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/limit.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Found = absl::StatusOr<std::shared_ptr<const Translator>>;

const std::shared_ptr<const Model>& SomeModel() {
  static const auto& model = *new std::shared_ptr<const Model>(*Model::Load(
      "any", "tests/golden/models/marian-trained", {.precision = Precision::kFloat32}));
  return model;
}

ModelProfile Known(const std::string& name) {
  ModelProfile profile(name);
  profile.known = true;
  return profile;
}

class ShelfTest : public testing::Test {
 protected:
  ~ShelfTest() override { shelf_->Close(); }

  // Every model takes one byte.
  void Put(const std::vector<std::string>& names) {
    for (const std::string& name : names) shelf_->Put({name, "/" + name}, Known(name), 1);
  }

  LoadResult Load(const ModelSource& source) {
    loads_.push_back(source.name);
    if (while_loading_ != nullptr) std::exchange(while_loading_, nullptr)();
    if (const auto fault = faults_.find(source.name); fault != faults_.end()) {
      return {.status = absl::InvalidArgumentError("no"), .failure = fault->second};
    }
    // A model of its own, as far as counting its users is concerned.
    const std::shared_ptr<const Model> model(SomeModel().get(), [this](const Model*) { ++freed_; });
    jobs_[source.name] = model;
    if (!works_.contains(source.name)) jobs_.erase(source.name);
    return {.loaded = std::make_shared<const Translator>(model, &pool_, Limits())};
  }

  // A request: what becomes of it is in answers_[id].
  std::shared_ptr<RequestState> Ask(const std::string& name, const std::string& id,
                                    absl::Time deadline = absl::InfiniteFuture()) {
    auto state = std::make_shared<RequestState>(deadline);
    shelf_->Find(name)->Await(state, [this, id](absl::Status status) { answers_[id] = status; });
    return state;
  }
  std::vector<std::string> InMemory() {
    std::vector<std::string> names;
    for (const char* name : {"a", "b", "c", "d"}) {
      if (shelf_->Look(name).in_memory != nullptr) names.push_back(name);
    }
    return names;
  }
  // Uses a model, and loads it first if it must be.
  void Use(const std::string& name) {
    Ask(name, "use");
    while (shelf_->Turn(now_)) {
    }
    ASSERT_TRUE(answers_.at("use").ok()) << answers_.at("use");
  }

  std::vector<std::string> loads_;
  std::map<std::string, LoadFailure> faults_;
  std::set<std::string> works_;  // models that a job holds once they are loaded
  std::map<std::string, std::shared_ptr<const Model>> jobs_;
  std::function<void()> while_loading_;
  int freed_ = 0;
  int known_ = 0;
  std::map<std::string, absl::Status> answers_;
  absl::Time now_ = absl::UnixEpoch();
  Observer observer_;
  WorkerPool pool_{{.workers = 1}, &observer_};
  Metrics metrics_{1};
  std::shared_ptr<Shelf> shelf_ = std::make_shared<Shelf>(
      ShelfOptions{.capacity_bytes = 2,
                   .max_waiting_requests = 3,
                   .clock = [this] { return now_; },
                   .load = [this](const ModelSource& source) { return Load(source); },
                   .on_known = [this] { ++known_; }},
      &metrics_);
};

TEST_F(ShelfTest, RequestsForOneModelShareItsLoad) {
  Put({"a"});
  EXPECT_FALSE(shelf_->Turn(now_));
  Ask("a", "first");
  Ask("a", "second");
  EXPECT_THAT(answers_, IsEmpty());
  EXPECT_TRUE(shelf_->Turn(now_));
  EXPECT_THAT(loads_, ElementsAre("a"));
  EXPECT_TRUE(answers_.at("first").ok() && answers_.at("second").ok());
  Ask("a", "third");  // is in memory
  EXPECT_TRUE(answers_.at("third").ok());
  EXPECT_FALSE(shelf_->Turn(now_));
}

TEST_F(ShelfTest, TheModelThatWasUsedLeastRecentlyMakesRoom) {
  Put({"a", "b", "c"});
  Use("a");
  Use("b");
  Use("a");
  Use("c");
  EXPECT_THAT(InMemory(), ElementsAre("a", "c"));
  EXPECT_EQ(freed_, 1);
  EXPECT_THAT(metrics_.Text(), HasSubstr("dragoman_model_evictions_total{model=\"b\"} 1"));
  EXPECT_THAT(metrics_.Text(), HasSubstr("dragoman_model_memory_bytes 2"));
}

TEST_F(ShelfTest, AModelAtWorkStaysAndOthersWaitForRoom) {
  Put({"a", "b", "c"});
  works_ = {"b"};
  Use("a");
  Use("b");
  std::shared_ptr<const Translator> request = shelf_->Find("a");
  Ask("c", "c");
  EXPECT_FALSE(shelf_->Turn(now_));  // a is held by a request, b by a job
  EXPECT_THAT(InMemory(), ElementsAre("a", "b"));
  jobs_.clear();
  EXPECT_TRUE(shelf_->Turn(now_));
  EXPECT_THAT(InMemory(), ElementsAre("a", "c"));
  EXPECT_TRUE(answers_.at("c").ok());
}

TEST_F(ShelfTest, NobodyWaitsForRoomForever) {
  Put({"a", "b", "c"});
  Use("a");
  Use("b");
  const auto a = shelf_->Find("a"), b = shelf_->Find("b");
  Ask("c", "c");
  shelf_->Turn(now_);
  shelf_->RefuseLate(now_ + Shelf::kPatience);
  EXPECT_FALSE(answers_.contains("c"));
  shelf_->RefuseLate(now_ + Shelf::kPatience + absl::Milliseconds(1));
  EXPECT_TRUE(absl::IsResourceExhausted(answers_.at("c")));
  EXPECT_EQ(LimitOf(answers_.at("c")), "model_memory");
}

TEST_F(ShelfTest, APinnedModelIsLoadedAndStays) {
  Put({"a", "b", "c"});
  shelf_->Pin("a", true);
  EXPECT_TRUE(shelf_->Turn(now_));
  Use("b");
  Use("c");
  EXPECT_THAT(InMemory(), ElementsAre("a", "c"));
  shelf_->Pin("a", false);
  Use("b");
  EXPECT_THAT(InMemory(), ElementsAre("b", "c"));
}

TEST_F(ShelfTest, ABrokenModelIsRefusedByNameAndTriedAgainAfterAGrowingPause) {
  Put({"a"});
  faults_["a"] = LoadFailure::kBroken;
  for (absl::Duration pause = Shelf::kFirstPause; pause < absl::Seconds(20); pause *= 2) {
    loads_.clear();
    Ask("a", "one");
    shelf_->Turn(now_);
    EXPECT_THAT(loads_, ElementsAre("a"));
    EXPECT_TRUE(absl::IsUnavailable(answers_.at("one")));
    EXPECT_THAT(std::string(answers_.at("one").message()),
                HasSubstr("model a cannot be loaded (broken)"));
    now_ += pause - absl::Milliseconds(1);
    Ask("a", "two");
    EXPECT_TRUE(absl::IsUnavailable(answers_.at("two")));
    EXPECT_FALSE(shelf_->Turn(now_));
    EXPECT_EQ(shelf_->Look("a").failure, LoadFailure::kBroken);
    now_ += absl::Milliseconds(1);
  }
  faults_.clear();
  Use("a");
  EXPECT_EQ(shelf_->Look("a").failure, LoadFailure::kNone);
}

TEST_F(ShelfTest, AModelWhoseFilesCannotBeReadIsKnownOnceItLoads) {
  shelf_->Put({"a", "/a"}, absl::NotFoundError("no config.json"), 0);
  EXPECT_EQ(shelf_->Look("a").failure, LoadFailure::kBroken);
  EXPECT_FALSE(shelf_->ProfileOf("a")->known);
  Ask("a", "early");
  EXPECT_TRUE(absl::IsUnavailable(answers_.at("early")));
  now_ += Shelf::kFirstPause;
  Use("a");
  EXPECT_TRUE(shelf_->ProfileOf("a")->known);
  EXPECT_EQ(known_, 1);
}

TEST_F(ShelfTest, ARequestWaitsNoLongerThanItsDeadlineOrItsCaller) {
  Put({"a"});
  Ask("a", "late", now_ + absl::Seconds(1));
  const auto state = Ask("a", "gone");
  shelf_->RefuseLate(now_);
  EXPECT_THAT(answers_, IsEmpty());
  state->Cancel(now_);
  shelf_->RefuseLate(now_ + absl::Seconds(1));
  EXPECT_TRUE(absl::IsDeadlineExceeded(answers_.at("late"))) << answers_.at("late");
  EXPECT_TRUE(absl::IsCancelled(answers_.at("gone")));
  EXPECT_FALSE(shelf_->Turn(now_));  // nobody wants it any more
  EXPECT_THAT(loads_, IsEmpty());
}

TEST_F(ShelfTest, NotMoreRequestsWaitThanAreAllowed) {
  Put({"a"});
  for (const char* id : {"1", "2", "3", "4"}) Ask("a", id);
  EXPECT_TRUE(absl::IsResourceExhausted(answers_.at("4")));
  EXPECT_EQ(LimitOf(answers_.at("4")), "max_waiting_requests");
  shelf_->Turn(now_);
  EXPECT_TRUE(answers_.at("3").ok());
}

TEST_F(ShelfTest, AModelThatFitsBesideNoPinnedOneIsRefused) {
  Put({"a"});
  shelf_->Put({"b", "/b"}, Known("b"), 3);
  Ask("b", "b");
  shelf_->Turn(now_);
  EXPECT_THAT(std::string(answers_.at("b").message()), HasSubstr("cannot be loaded (memory)"));
  shelf_->Reserve(2);  // for models that are not on the shelf
  Ask("a", "a");
  shelf_->Turn(now_);
  EXPECT_TRUE(absl::IsUnavailable(answers_.at("a")));
  EXPECT_THAT(loads_, IsEmpty());
}

TEST_F(ShelfTest, AVersionThatChangesWhileItLoadsIsLoadedAgain) {
  Put({"a"});
  while_loading_ = [this] { Put({"a"}); };
  Ask("a", "a");
  shelf_->Turn(now_);
  EXPECT_THAT(answers_, IsEmpty());
  shelf_->Turn(now_);
  EXPECT_TRUE(answers_.at("a").ok());
  EXPECT_THAT(loads_, ElementsAre("a", "a"));
  while_loading_ = [this] { shelf_->Remove("a"); };
  Put({"a"});
  Ask("a", "removed");
  shelf_->Turn(now_);
  EXPECT_TRUE(absl::IsUnavailable(answers_.at("removed")));
  EXPECT_EQ(freed_, 3);
}

TEST_F(ShelfTest, AnUnloadedModelIsRefusedUntilItIsLoadedAgain) {
  Put({"a"});
  Use("a");
  shelf_->Unload("a");
  Ask("a", "a");
  EXPECT_TRUE(absl::IsUnavailable(answers_.at("a")));
  shelf_->Load("a");
  EXPECT_TRUE(shelf_->Turn(now_));
  EXPECT_THAT(InMemory(), ElementsAre("a"));
}

TEST_F(ShelfTest, AnswersAllWhenItCloses) {
  Put({"a"});
  Ask("a", "a");
  shelf_->Close();
  EXPECT_TRUE(absl::IsUnavailable(answers_.at("a")));
  Ask("a", "later");
  EXPECT_TRUE(absl::IsUnavailable(answers_.at("later")));
}

TEST_F(ShelfTest, ItsThreadsLoadWhatIsAskedFor) {
  Put({"a", "b", "c"});
  shelf_->Start();
  for (const char* name : {"a", "b", "c", "a"}) {
    absl::Notification done;
    absl::Status status;
    shelf_->Find(name)->Await(std::make_shared<RequestState>(absl::InfiniteFuture()),
                              [&](absl::Status answer) {
                                status = std::move(answer);
                                done.Notify();
                              });
    done.WaitForNotification();
    EXPECT_TRUE(status.ok()) << status;
  }
}

}  // namespace
}  // namespace dragoman
