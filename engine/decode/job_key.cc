#include "engine/decode/job_key.h"

#include <cstring>
#include <iterator>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

#include "engine/search/make_search.h"

namespace dragoman {
namespace {

// Appends values unambiguously: no other sequence of values gives the same bytes.
class KeyWriter {
 public:
  explicit KeyWriter(std::string* key) : key_(*key) {}

  template <typename T>
  void Add(const T& value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    key_.append(bytes, sizeof(T));
  }
  template <typename T>
  void Add(const std::optional<T>& value) {
    Add(value.has_value());
    if (value.has_value()) Add(*value);
  }
  void Add(const std::string& text) {
    Add(text.size());
    key_ += text;
  }
  template <typename T>
  void Add(const std::vector<T>& values) {
    Add(values.size());
    for (const T& value : values) Add(value);
  }
  template <typename... T>
  void AddAll(const T&... values) {
    (Add(values), ...);
  }

 private:
  std::string& key_;
};

struct Anything {
  template <typename T>
  operator T() const;  // NOLINT(google-explicit-constructor)
};

// The number of members of an aggregate: the largest number of values that can initialize it.
template <typename T, typename... Members>
constexpr size_t MembersOf() {
  if constexpr (requires { T{Members{}..., Anything{}}; }) {
    return MembersOf<T, Members..., Anything>();
  } else {
    return sizeof...(Members);
  }
}

// The members are the options in the table, and start_id, which is not an option.
static_assert(MembersOf<SearchOptions>() == std::size(kOptionTable) + 1,
              "results depend on a member that the table of options does not have");

void AddOptions(const SearchOptions& options, KeyWriter* key) {
  for (const Option& option : kOptionTable) {
    std::visit([&](const auto& members) { key->Add(options.*members.used); }, option.members);
  }
  key->Add(options.start_id);
}

// The structured binding names all members, in order. Whoever adds a member gets a compiler error
// here, and has to decide whether results depend on it.
void AddRules(const SearchRules& rules, KeyWriter* key) {
  // The index of pieces and the ends of words follow from the model.
  const auto& [eos_id, decoder_start_id, unknown_id, bad_words_ids, banned_phrases, pieces,
               word_joins] = rules;
  key->AddAll(eos_id, decoder_start_id, unknown_id, bad_words_ids, banned_phrases);
}

}  // namespace

std::string ResultKey(const Job& job) {
  // The shortlist follows from the source, the phrases and the model's shortlist file, which is
  // part of its version.  The batch sets the functions that tell of attention.
  const auto& [options, rules, source, prefix, score_prefix, phrases, most_rows, attention, margins,
               attention_of, coverage, random_key] = static_cast<const SearchTask&>(job);
  std::string bytes;
  bytes.reserve(256 + 4 * source.size());
  KeyWriter key(&bytes);
  key.AddAll(job.model->version(), job.model->isa(), source, prefix, score_prefix, attention,
             margins, phrases.size(), phrases.empty() ? 0 : MaxLive(job));
  for (const auto& [forms, max_loss, place] : phrases) {
    key.AddAll(forms, max_loss, place.begin, place.end);
  }
  AddOptions(options, &key);
  AddRules(*rules, &key);
  key.Add(options.sampling ? random_key : 0);
  key.AddAll(job.candidates, job.heads.size());
  // Other drafts change nothing.
  if (job.draft_loss > 0.0f) key.AddAll(job.draft_loss, job.draft, job.changed);
  for (const AttentionHead& head : job.heads) key.AddAll(head.kind, head.layer, head.head);
  return bytes;
}

}  // namespace dragoman
