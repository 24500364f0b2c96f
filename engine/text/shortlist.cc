#include "engine/text/shortlist.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/mapped_file.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr int kDefaultNumber = 100;  // of first ids and of best entries, as in Marian

// The target tokens of every source token.
using Lists = std::vector<std::vector<int32_t>>;

struct Table {
  Lists lists;
  int first = 0;
  int best = 0;
};

// What a table must match.
struct Vocabularies {
  const Tokenizer& tokenizer;
  int source, target;
};

// The id of each piece; the lower one for a piece that occurs twice.
using Ids = std::unordered_map<std::string_view, int32_t>;

Ids IdsOf(const Tokenizer& tokenizer, int size,
          const std::string& (Tokenizer::*piece)(int32_t id) const) {
  Ids ids;
  for (int32_t id = 0; id < size; ++id) ids.emplace((tokenizer.*piece)(id), id);
  return ids;
}

Ids SourceIds(const Tokenizer& tokenizer) {
  return IdsOf(tokenizer, tokenizer.source_vocabulary_size(), &Tokenizer::SourcePiece);
}
Ids TargetIds(const Tokenizer& tokenizer) {
  return IdsOf(tokenizer, tokenizer.target_vocabulary_size(), &Tokenizer::TargetPiece);
}

absl::string_view ToAbsl(std::string_view text) { return {text.data(), text.size()}; }

// ------------------------------------------------------------------------------------------ text

struct Entry {
  int32_t token = 0;
  double probability = 0.0;
};

// Splits a line at spaces and tabs.  Returns the number of fields and stores the first three.
int Split(std::string_view line, std::array<std::string_view, 3>* fields) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  int count = 0;
  for (size_t begin = 0, end; begin < line.size(); begin = end) {
    end = begin;
    while (end < line.size() && !is_space(line[end])) ++end;
    if (end == begin) {
      ++end;
      continue;
    }
    if (count < 3) (*fields)[count] = line.substr(begin, end - begin);
    ++count;
  }
  return count;
}

// The best entries of one source token, which are given in the order of their lines.  Of a target
// token that occurs twice, the likelier entry counts (strict: the last).  Of two equally likely
// tokens, the lower id goes first (strict: the higher).
std::vector<int32_t> BestOf(std::vector<Entry> entries, int best, bool strict) {
  if (strict) {
    std::reverse(entries.begin(), entries.end());
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.token > b.token; });
  } else {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return a.token != b.token ? a.token < b.token : a.probability > b.probability;
    });
  }
  entries.erase(std::unique(entries.begin(), entries.end(),
                            [](const Entry& a, const Entry& b) { return a.token == b.token; }),
                entries.end());
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.probability > b.probability; });
  if (static_cast<int>(entries.size()) > best) entries.resize(best);
  std::vector<int32_t> tokens;
  for (const Entry& entry : entries) tokens.push_back(entry.token);
  return tokens;
}

// Negative for a piece that is skipped.
int32_t IdOf(const Ids& ids, std::string_view piece, bool strict, int32_t unknown) {
  const auto found = ids.find(piece);
  return found != ids.end() ? found->second : strict ? unknown : -1;
}

absl::StatusOr<double> ParseProbability(std::string_view text) {
  double probability = 0.0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, probability);
  if (error != std::errc() || stop != end || !(probability >= 0.0 && std::isfinite(probability))) {
    return InvalidArgumentError("\"", ToAbsl(text.substr(0, 40)), "\" is not a probability");
  }
  return probability;
}

struct TextLine {
  std::string_view target, source;  // pieces
  double probability = 0.0;
};

// Parses a line; nullopt if it is blank.
absl::StatusOr<std::optional<TextLine>> ParseLine(std::string_view line, int number) {
  std::array<std::string_view, 3> fields;
  const int count = Split(line, &fields);
  if (count == 0) return std::optional<TextLine>();
  if (count != 3) {
    return InvalidArgumentError("line ", number, " has ", count,
                                " fields, want target source probability");
  }
  const absl::StatusOr<double> probability = ParseProbability(fields[2]);
  if (!probability.ok()) {
    return InvalidArgumentError("line ", number, ": ", probability.status().message());
  }
  return std::optional<TextLine>({fields[0], fields[1], *probability});
}

absl::StatusOr<Table> ReadText(std::string_view text, const Vocabularies& vocabularies,
                               const ShortlistSource& source) {
  const Ids source_ids = SourceIds(vocabularies.tokenizer),
            target_ids = TargetIds(vocabularies.tokenizer);
  std::vector<std::vector<Entry>> entries(vocabularies.source);
  const int32_t unknown_source = vocabularies.tokenizer.source_unknown_id();
  const int32_t unknown_target = vocabularies.tokenizer.target_unknown_id();
  const double threshold = source.threshold.value_or(source.strict ? 0.0 : -1.0);
  bool any = false;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    ASSIGN_OR_RETURN(const std::optional<TextLine> line, ParseLine(text.substr(0, end), number));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.has_value() || line->target == "NULL" || line->source == "NULL") continue;
    const int32_t from = IdOf(source_ids, line->source, source.strict, unknown_source);
    const int32_t to = IdOf(target_ids, line->target, source.strict, unknown_target);
    if (from < 0 || to < 0 || line->probability <= threshold) continue;
    entries[from].push_back({to, line->probability});
    any = true;
  }
  if (!any) {
    return absl::InvalidArgumentError(
        "no line has a target and a source piece of this model, want target source probability");
  }
  Table table;
  table.first = source.first.value_or(kDefaultNumber);
  table.best = source.best.value_or(kDefaultNumber);
  for (std::vector<Entry>& list : entries) {
    table.lists.push_back(BestOf(std::move(list), table.best, source.strict));
  }
  return table;
}

// ---------------------------------------------------------------------------------------- binary

constexpr uint64_t kMagic = 0xF11A48D5013417F5;
constexpr size_t kHeaderWords = 6;
static_assert(std::endian::native == std::endian::little);

template <typename T>
T Read(std::string_view bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

// Marian's hash of the 64-bit words after the checksum; a trailing half word is not hashed.
uint64_t Checksum(std::string_view bytes) {
  uint64_t hash = 0;
  for (size_t i = 2; i < bytes.size() / sizeof(uint64_t); ++i) {
    hash ^= Read<uint64_t>(bytes, i) + 0x9e3779b9 + (hash << 6) + (hash >> 2);
  }
  return hash;
}

int ClampToInt(uint64_t value) { return static_cast<int>(std::min<uint64_t>(value, 1 << 30)); }

// What the words of the header say.
struct BinaryHeader {
  int first = 0, best = 0;
  uint64_t offsets = 0, tokens = 0;
};

absl::StatusOr<BinaryHeader> ReadHeader(std::string_view bytes, int source_vocabulary) {
  if (bytes.size() < kHeaderWords * sizeof(uint64_t)) {
    return InvalidArgumentError("has ", bytes.size(), " bytes, too few for a header");
  }
  const auto word = [&](size_t i) { return Read<uint64_t>(bytes, i); };
  const BinaryHeader header = {ClampToInt(word(2)), ClampToInt(word(3)), word(4), word(5)};
  // The first two conditions keep the sum from overflowing.
  if (header.offsets > bytes.size() || header.tokens > bytes.size() ||
      (kHeaderWords + header.offsets) * sizeof(uint64_t) + header.tokens * sizeof(uint32_t) !=
          bytes.size()) {
    return InvalidArgumentError("has ", bytes.size(), " bytes, but a header of ", header.offsets,
                                " offsets and ", header.tokens, " tokens");
  }
  if (Checksum(bytes) != word(1)) return absl::InvalidArgumentError("the checksum is wrong");
  if (header.offsets == 0 || header.offsets > static_cast<uint64_t>(source_vocabulary) + 1) {
    return InvalidArgumentError("has ", header.offsets, " offsets, want 1 to ",
                                source_vocabulary + 1, ", one more than the model's source tokens");
  }
  return header;
}

absl::StatusOr<Table> ReadBinary(std::string_view bytes, const Vocabularies& vocabularies) {
  ASSIGN_OR_RETURN(const BinaryHeader header, ReadHeader(bytes, vocabularies.source));
  const auto offset = [&](uint64_t i) { return Read<uint64_t>(bytes, kHeaderWords + i); };
  const std::string_view ids = bytes.substr((kHeaderWords + header.offsets) * sizeof(uint64_t));
  Table table;
  table.first = header.first;
  table.best = header.best;
  table.lists.resize(vocabularies.source);
  uint64_t begin = offset(0);
  if (begin > header.tokens) {
    return absl::InvalidArgumentError("offset 0 is outside of the tokens");
  }
  for (uint64_t s = 0; s + 1 < header.offsets; ++s) {
    const uint64_t end = offset(s + 1);
    if (end < begin || end > header.tokens) {
      return InvalidArgumentError("offset ", s + 1, " is ", end, ", want ", begin, " to ",
                                  header.tokens);
    }
    for (; begin < end; ++begin) {
      const uint32_t token = Read<uint32_t>(ids, begin);
      if (token >= static_cast<uint32_t>(vocabularies.target)) {
        return InvalidArgumentError("target token ", token, " of source token ", s,
                                    " is not in the model's vocabulary of ", vocabularies.target);
      }
      table.lists[s].push_back(static_cast<int32_t>(token));
    }
  }
  return table;
}

// ------------------------------------------------------------------------------------------------

// Adds to each source token the target token that is spelled the same, so that it can be copied.
void AddSamePieces(const Vocabularies& vocabularies, Lists* lists) {
  const Ids targets = TargetIds(vocabularies.tokenizer);
  for (const auto& [piece, source] : SourceIds(vocabularies.tokenizer)) {
    if (const auto same = targets.find(piece); same != targets.end()) {
      (*lists)[source].push_back(same->second);
    }
  }
}

absl::StatusOr<Table> ReadTable(std::string_view bytes, const Vocabularies& vocabularies,
                                const ShortlistSource& source) {
  if (bytes.substr(0, 2) == "\x1f\x8b") {
    return absl::InvalidArgumentError("is compressed, want it unpacked by gunzip");
  }
  if (bytes.size() < sizeof(kMagic) || Read<uint64_t>(bytes, 0) != kMagic) {
    return ReadText(bytes, vocabularies, source);
  }
  if (source.first.has_value() || source.best.has_value()) {
    return absl::InvalidArgumentError(
        "is binary and brings its own numbers, want FILE without :FIRST,BEST");
  }
  return ReadBinary(bytes, vocabularies);
}

void SetBit(int32_t token, std::vector<uint64_t>* bits) {
  (*bits)[token / 64] |= uint64_t{1} << (token % 64);
}

}  // namespace

bool IsBinaryShortlist(const std::string& path) {
  const absl::StatusOr<std::shared_ptr<const MappedFile>> file = MappedFile::Open(path);
  if (!file.ok() || (*file)->bytes().size() < sizeof(kMagic)) return false;
  return Read<uint64_t>((*file)->text().substr(0, sizeof(kMagic)), 0) == kMagic;
}

absl::StatusOr<ShortlistSource> ParseShortlistSource(const std::string& text) {
  ShortlistSource source;
  const size_t colon = text.rfind(':');
  if (colon != std::string::npos) {
    int first = -1, best = -1;
    const char* const end = text.data() + text.size();
    const auto [comma, error] = std::from_chars(text.data() + colon + 1, end, first);
    if (error == std::errc() && comma != end && *comma == ',') {
      const auto [stop, second_error] = std::from_chars(comma + 1, end, best);
      if (second_error != std::errc() || stop != end) best = -1;
    }
    if (first >= 0 && best >= 0) {
      source.first = first;
      source.best = best;
    }
  }
  source.file = source.first.has_value() ? text.substr(0, colon) : text;
  if (source.file.empty()) {
    return absl::InvalidArgumentError("\"" + text + "\" names no file, want FILE[:FIRST,BEST]");
  }
  return source;
}

absl::StatusOr<std::unique_ptr<const Shortlist>> Shortlist::Load(const ShortlistSource& source,
                                                                 const Tokenizer& tokenizer,
                                                                 int source_vocabulary,
                                                                 int target_vocabulary,
                                                                 int32_t eos_id) {
  DRAGOMAN_CHECK(tokenizer.source_vocabulary_size() <= source_vocabulary &&
                 tokenizer.target_vocabulary_size() <= target_vocabulary &&
                 eos_id < target_vocabulary);
  const Vocabularies vocabularies = {tokenizer, source_vocabulary, target_vocabulary};
  ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file, MappedFile::Open(source.file));
  const std::string_view bytes = file->text();
  absl::StatusOr<Table> table = ReadTable(bytes, vocabularies, source);
  if (!table.ok()) return Annotate(table.status(), absl::StrCat("shortlist ", source.file, ": "));
  if (!source.strict || tokenizer.shares_vocabulary()) AddSamePieces(vocabularies, &table->lists);

  std::unique_ptr<Shortlist> shortlist(new Shortlist());
  shortlist->first_ = table->first;
  shortlist->best_ = table->best;
  shortlist->multiple_of_ = std::max(1, source.multiple_of);
  shortlist->tokens_of_target_ = target_vocabulary;
  shortlist->always_.assign((target_vocabulary + 63) / 64, 0);
  for (int32_t token = 0; token < std::min(table->first, target_vocabulary); ++token) {
    SetBit(token, &shortlist->always_);
  }
  SetBit(eos_id, &shortlist->always_);
  for (const std::vector<int32_t>& list : table->lists) {
    shortlist->offsets_.push_back(shortlist->tokens_.size());
    shortlist->tokens_.insert(shortlist->tokens_.end(), list.begin(), list.end());
  }
  shortlist->offsets_.push_back(shortlist->tokens_.size());
  return shortlist;
}

std::vector<int32_t> Shortlist::TokensFor(absl::Span<const int32_t> source) const {
  std::vector<uint64_t> bits = always_;
  for (const int32_t s : source) {
    for (size_t i = offsets_[s]; i < offsets_[s + 1]; ++i) SetBit(tokens_[i], &bits);
  }
  std::vector<int32_t> tokens;
  size_t count = 0;
  for (const uint64_t word : bits) count += std::popcount(word);
  for (int32_t t = first_; count % multiple_of_ != 0 && t < tokens_of_target_; ++t) {
    const bool absent = (bits[t / 64] >> (t % 64) & 1) == 0;
    SetBit(t, &bits);
    count += absent ? 1 : 0;
  }
  if (count < kFewest) return tokens;
  tokens.reserve(count);
  for (size_t i = 0; i < bits.size(); ++i) {
    for (uint64_t word = bits[i]; word != 0; word &= word - 1) {
      tokens.push_back(static_cast<int32_t>(64 * i + std::countr_zero(word)));
    }
  }
  return tokens;
}

}  // namespace dragoman
