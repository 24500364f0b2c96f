// No step of a running batch allocates memory.  Every allocation of this binary is counted; a batch
// makes none once it has been as large before.

#include <atomic>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#include "engine/decode/decode_batch.h"
#include "gtest/gtest.h"
#include "tests/decode/test_jobs.h"

namespace {
std::atomic<int64_t> allocations = 0;

void* Count(void* p) {
  ++allocations;
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
}  // namespace

void* operator new(size_t size) { return Count(std::malloc(size)); }
void* operator new(size_t size, std::align_val_t alignment) {
  const auto a = static_cast<size_t>(alignment);
  return Count(std::aligned_alloc(a, (size + a - 1) / a * a));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }

namespace dragoman::allocation_test {
namespace {

// Adds every test sentence to a batch and decodes them to the end.  Returns the number of
// allocations in steps in which no sentence ended (a sentence that ends is answered, which
// allocates).
int64_t AllocationsOfSteps(const std::shared_ptr<const Model>& model, DecodeScratch* scratch) {
  Observer observer;
  absl::Time now = absl::UnixEpoch();
  DecodeBatch batch(
      model, [&now] { return now; }, &observer, scratch);
  int done = 0;
  std::vector<JobPtr> jobs;
  for (const std::string& text : TestSentences()) {
    WholeSearch options = TestSearch(4, 60);
    options.min_length = 59;  // no hypothesis ends before the last step
    options.repetition_penalty = 1.1f;
    jobs.push_back(MakeJob(text, options, [&done](JobResult) { ++done; }));
    jobs.back()->model = model;
  }
  batch.Join(std::move(jobs));
  int64_t during_steps = 0;
  while (!batch.empty()) {
    const int done_before = done;
    const int64_t before = allocations;
    batch.DropUnwanted();
    batch.Step();
    if (done == done_before) during_steps += allocations - before;
  }
  return during_steps;
}

TEST(Allocation, AStepOfInt8DoesNotTouchTheHeap) {
  // With AMX oneDNN multiplies many rows, and it allocates for each product.
  const auto model = Model::Load("toy", "tests/golden/models/marian-trained",
                                 {.precision = Precision::kInt8, .matmul = Matmul::kNative});
  ASSERT_TRUE(model.ok()) << model.status();
  for (const int threads : {1, 2}) {
    DecodeScratch scratch(threads);
    AllocationsOfSteps(*model, &scratch);  // grows the scratch
    EXPECT_EQ(AllocationsOfSteps(*model, &scratch), 0) << threads;
  }
}

}  // namespace
}  // namespace dragoman::allocation_test
