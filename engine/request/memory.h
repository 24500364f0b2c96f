// Translation memories: sentences, and translations of them that somebody has approved.
//
//   memory     The house is old.      Das Haus ist alt.
//   sentence   The house is old.      100 %: that is its translation
//              The house is new.      80 %: the model changes what differs (repair, job_maker.h)
//
// A memory is immutable; what it learns makes another one, which shares most of it.  It consists of
// layers, of which each is at least twice as large as the one after it: what is learned is a layer,
// and layers that are too similar become one.  So learning a sentence costs little, however large
// the memory is, and a search looks into few layers.
//
//   learned one by one    {a}    {a b}    {a b} {c}    {a b c d}    ...

#ifndef DRAGOMAN_ENGINE_REQUEST_MEMORY_H_
#define DRAGOMAN_ENGINE_REQUEST_MEMORY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "engine/text/languages.h"
#include "engine/text/segment_index.h"
#include "engine/text/text_span.h"

namespace dragoman {

inline constexpr int kDefaultMemoryThreshold = 75;

class TranslationMemory;
using MemoryPtr = std::shared_ptr<const TranslationMemory>;

class TranslationMemory {
 public:
  // An empty one.  Languages are tags; "": any.
  TranslationMemory(std::string id, LanguagePair languages)
      : id_(std::move(id)), languages_(std::move(languages)) {}

  // This memory with more segments, each in the place of the one with its source and context.  The
  // sources and contexts become NormalForm.  REQUIRES: they are valid UTF-8.
  TranslationMemory Learn(std::vector<MemorySegment> segments, int64_t version) const;

  const std::string& id() const { return id_; }
  int64_t version() const { return version_; }
  const LanguagePair& languages() const { return languages_; }
  size_t size() const { return size_; }  // in segments

  // Up to `limit` segments after the first `start`.
  std::vector<MemorySegment> Segments(size_t start, size_t limit) const;

  struct Match {
    MemorySegment segment;
    int percent = 0;
    bool in_context = false;
  };
  // The best match of at least so many percent; of several, the one that was learned last.  Takes
  // about as long however many segments have the source.
  std::optional<Match> Find(const SegmentQuery& query, int percent) const;

 private:
  struct Layer {
    std::shared_ptr<const SegmentIndex> index;
    // The segments that later layers have in their places, ascending.
    std::shared_ptr<const std::vector<uint32_t>> hidden;

    size_t size() const { return index->size() - hidden->size(); }
  };

  static void AppendSegments(const Layer& layer, size_t start, size_t limit,
                             std::vector<MemorySegment>* segments);
  void Hide(absl::Span<const MemorySegment> segments);
  void Merge();

  std::string id_;
  LanguagePair languages_;
  int64_t version_ = 0;
  size_t size_ = 0;
  std::vector<Layer> layers_;  // the oldest first
};

// What a memory has for a sentence of a request.
struct MemoryMatch {
  enum Kind {
    kContext,     // the same sentence between the same others
    kExact,       // the same sentence
    kRepaired,    // the model has changed what differs
    kTranslated,  // the model's own translation was better
  };

  std::string memory;  // its id
  int64_t version = 0;
  MemorySegment segment;
  int percent = 0;
  Kind kind = kTranslated;
  TextSpan span;  // of the request's text

  // Whether the stored target is the translation.
  bool answers() const { return kind == kContext || kind == kExact; }
};

// The best match in several memories; of equal ones, that of the earlier memory.  Only those for
// these languages, which are tags or a model's codes, are looked into.
std::optional<MemoryMatch> FindInMemories(absl::Span<const MemoryPtr> memories,
                                          const LanguagePair& languages, const SegmentQuery& query,
                                          int percent);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_REQUEST_MEMORY_H_
