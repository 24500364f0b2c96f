#include "engine/text/tokenizer_json.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/base/json.h"
#include "engine/base/mapped_file.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/text/normalizer.h"
#include "engine/text/piece_search.h"
#include "rapidjson/error/en.h"
#include "rapidjson/memorystream.h"
#include "rapidjson/reader.h"

namespace dragoman {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostPieces = 10'000'000;

// The file: its long lists, and the rest.
struct TokenizerFile {
  Json rest;
  std::vector<std::string> pieces;  // by their ids
  std::vector<double> scores;       // of a Unigram
  std::vector<std::pair<std::string, std::string>> merges;
};

// Reads the file by events.  The lists, model.vocab, [[piece, score], ...] or {piece: id, ...}, and
// model.merges, ["a b", ...] or [["a", "b"], ...], go where they belong; the rest becomes a tree.
class TokenizerReader : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, TokenizerReader> {
 public:
  // Without `keeps_merges` they are checked only.
  TokenizerReader(TokenizerFile* file, bool keeps_merges)
      : file_(*file), keeps_merges_(keeps_merges) {}

  const std::string& why() const { return why_; }

  bool Null() { return Value(nullptr); }
  bool Bool(bool value) { return Value(value); }
  bool Int(int value) { return Int64(value); }
  bool Uint(unsigned value) { return Uint64(value); }
  bool Int64(int64_t value) { return list_ != List::kNone ? Number(value) : Value(value); }
  bool Uint64(uint64_t value) {
    if (list_ == List::kIds && depth_ == kInList) return AddId(value);
    return list_ != List::kNone ? Number(static_cast<double>(value)) : Value(value);
  }
  bool Double(double value) { return list_ != List::kNone ? Number(value) : Value(value); }

  bool String(const char* text, rapidjson::SizeType size, bool) {
    const std::string_view value(text, size);
    // The parser lets escapes make half a surrogate pair.
    if (!IsValidUtf8(value)) return Refuse("a text is not valid Unicode");
    if (list_ == List::kNone) return Value(std::string(value));
    if (list_ == List::kMerges && depth_ == kInList) return AddMergeLine(value);
    if (depth_ != kInEntry || texts_ == 2) return Unexpected();
    (texts_++ == 0 ? first_ : second_) = value;
    return true;
  }

  bool Key(const char* text, rapidjson::SizeType size, bool) {
    key_.assign(text, size);
    return IsValidUtf8(key_) || Refuse("a name is not valid Unicode");
  }

  bool StartObject() { return Start(Json::object()); }
  bool StartArray() { return Start(Json::array()); }
  bool EndObject(rapidjson::SizeType) { return End(); }
  bool EndArray(rapidjson::SizeType) { return End(); }

 private:
  enum class List { kNone, kScores, kIds, kMerges };
  // The depth of what stands in a list, and in an entry that is a list itself.
  static constexpr int kInList = 3, kInEntry = 4;

  bool Refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }
  bool Unexpected() {
    return Refuse(list_ == List::kMerges ? "model.merges: an entry is not a pair of pieces"
                                         : "model.vocab: an entry is not a piece and its number");
  }

  // Puts a value into the tree.
  bool Value(Json value) {
    if (list_ != List::kNone) return Unexpected();
    if (open_.empty()) {
      file_.rest = std::move(value);
      return true;
    }
    return Put(std::move(value)) != nullptr;
  }
  Json* Put(Json value) {
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    const auto [place, added] = parent.emplace(key_, std::move(value));
    if (!added) Refuse(absl::StrCat("\"", key_, "\" occurs twice"));
    return added ? &*place : nullptr;
  }

  bool Start(Json container) {
    if (++depth_ > kMaxJsonDepth) return Refuse(absl::StrCat("nests deeper than ", kMaxJsonDepth));
    if (list_ != List::kNone) {
      texts_ = numbers_ = 0;
      const bool entry = container.is_array() && depth_ == kInEntry && list_ != List::kIds;
      return entry ? true : Unexpected();
    }
    if (depth_ == 2) top_ = key_;
    if (depth_ == kInList && top_ == "model" && open_.back()->is_object()) {
      if (key_ == "vocab") list_ = container.is_array() ? List::kScores : List::kIds;
      if (key_ == "merges" && container.is_array()) list_ = List::kMerges;
    }
    if (open_.empty()) {
      file_.rest = std::move(container);
      open_.push_back(&file_.rest);
      return true;
    }
    Json* const put = Put(std::move(container));
    open_.push_back(put);
    return put != nullptr;
  }

  bool End() {
    const int depth = depth_--;
    if (list_ != List::kNone && depth == kInEntry) return AddEntry();
    list_ = List::kNone;
    open_.pop_back();
    return true;
  }

  bool Number(double value) {
    if (depth_ != kInEntry || list_ != List::kScores || numbers_++ > 0) return Unexpected();
    number_ = value;
    return true;
  }

  bool AddEntry() {
    if (list_ == List::kMerges) return texts_ == 2 ? AddMerge(first_, second_) : Unexpected();
    if (texts_ != 1 || numbers_ != 1) return Unexpected();
    file_.scores.push_back(number_);
    file_.pieces.push_back(first_);
    return CheckNumber(file_.pieces.size());
  }

  bool AddMergeLine(std::string_view line) {
    const size_t space = line.find(' ');
    if (space == line.npos || line.find(' ', space + 1) != line.npos) return Unexpected();
    return AddMerge(line.substr(0, space), line.substr(space + 1));
  }

  bool AddMerge(std::string_view left, std::string_view right) {
    if (keeps_merges_) file_.merges.emplace_back(left, right);
    return true;
  }

  // Ids have no gaps worth mentioning, and a number alone shall not take memory.
  bool AddId(uint64_t id) {
    constexpr size_t kFirstGap = 1 << 20;  // where entries stand in any order
    if (!CheckNumber(++numbered_)) return false;
    if (id >= file_.pieces.size()) {
      if (id > 2 * numbered_ + kFirstGap) {
        return Refuse(absl::StrCat("model.vocab: the id of \"", key_, "\" is ", id, ", and only ",
                                   numbered_, " pieces stand before it"));
      }
      file_.pieces.resize(id + 1);
    }
    if (!file_.pieces[id].empty()) {
      return Refuse(absl::StrCat("model.vocab: ", id, " is the id of \"", file_.pieces[id],
                                 "\" and of \"", key_, "\""));
    }
    file_.pieces[id] = key_;
    return true;
  }

  bool CheckNumber(size_t pieces) {
    return pieces <= kMostPieces || Refuse(absl::StrCat("model.vocab: more than ", kMostPieces));
  }

  TokenizerFile& file_;
  const bool keeps_merges_;
  std::string why_;
  std::vector<Json*> open_;  // the containers of the tree that the parser is in
  int depth_ = 0;
  std::string top_, key_;  // the last keys: of the outermost object, and of any
  List list_ = List::kNone;
  size_t numbered_ = 0;
  // Of the entry that the parser is in.
  int texts_ = 0, numbers_ = 0;
  std::string first_, second_;
  double number_ = 0.0;
};

absl::StatusOr<TokenizerFile> ReadTokenizerFile(const std::string& path, bool keeps_merges) {
  ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> mapped, MappedFile::Open(path));
  const std::string_view text = mapped->text();
  if (text.find('\0') != text.npos) {  // the parser would take it for the end
    return InvalidArgumentError(path, ": holds a NUL byte");
  }
  TokenizerFile file;
  TokenizerReader reader(&file, keeps_merges);
  rapidjson::MemoryStream bytes(text.data(), text.size());
  constexpr unsigned kFlags =
      rapidjson::kParseValidateEncodingFlag | rapidjson::kParseFullPrecisionFlag;
  const rapidjson::ParseResult result = rapidjson::Reader().Parse<kFlags>(bytes, reader);
  if (result.IsError()) {
    const std::string why = reader.why().empty()
                                ? absl::StrCat(rapidjson::GetParseError_En(result.Code()),
                                               " (byte ", result.Offset(), ")")
                                : reader.why();
    return InvalidArgumentError(path, ": ", why);
  }
  if (!file.rest.is_object()) {
    return InvalidArgumentError(path, ": is no JSON object");
  }
  return file;
}

[[noreturn]] void Malformed(const std::string& why) { throw std::invalid_argument(why); }

// The fields of one component, with errors that name it.
class Component {
 public:
  Component(const Json& json, std::string name) : json_(json), name_(std::move(name)) {
    if (!json.is_object()) Malformed(absl::StrCat(name_, " is ", Describe(json)));
  }

  const std::string& name() const { return name_; }
  const Json& json() const { return json_; }
  const Json* Find(const char* field) const {
    const auto it = json_.find(field);
    return it == json_.end() || it->is_null() ? nullptr : &*it;
  }
  std::string Text(const char* field, const char* otherwise = nullptr) const {
    const Json* const value = Find(field);
    if (value == nullptr && otherwise != nullptr) return otherwise;
    if (value == nullptr || !value->is_string()) Wrong(field, "a text");
    return value->get<std::string>();
  }
  bool Flag(const char* field, std::optional<bool> otherwise = std::nullopt) const {
    const Json* const value = Find(field);
    if (value == nullptr && otherwise.has_value()) return *otherwise;
    if (value == nullptr || !value->is_boolean()) Wrong(field, "true or false");
    return value->get<bool>();
  }
  int64_t Number(const char* field, int64_t most) const {
    const Json* const value = Find(field);
    if (value == nullptr || !value->is_number_unsigned() ||
        value->get<uint64_t>() > static_cast<uint64_t>(most)) {
      Wrong(field, absl::StrCat("a number up to ", most));
    }
    return value->get<int64_t>();
  }
  const Json& Array(const char* field) const {
    const Json* const value = Find(field);
    if (value == nullptr || !value->is_array()) Wrong(field, "a list");
    return *value;
  }
  [[noreturn]] void Wrong(const char* field, const std::string& want) const {
    const Json* const value = Find(field);
    Malformed(absl::StrCat(name_, ".", field, " is ", value == nullptr ? "null" : Describe(*value),
                           ", want ", want));
  }

 private:
  const Json& json_;
  const std::string name_;
};

// Thrown as std::invalid_argument is for what is malformed.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};
[[noreturn]] void Refuse(const Component& component, const std::string& what) {
  throw Unsupported(absl::StrCat(component.name(), ": ", what, " is not supported"));
}
[[noreturn]] void RefuseType(const Component& component) {
  Refuse(component, absl::StrCat("the type \"", component.Text("type"), "\""));
}

const Json& FieldOf(const Json& json, const char* field) {
  static const Json none;
  const auto it = json.find(field);
  return it == json.end() ? none : *it;
}

// The components of a Sequence, or the only one; none for null.
std::vector<Component> ComponentsOf(const Json& json, const char* name, const char* list) {
  std::vector<Component> components;
  if (json.is_null()) return components;
  const Component component(json, name);
  if (component.Text("type") != "Sequence") return {component};
  for (const Json& part : component.Array(list)) components.emplace_back(part, name);
  return components;
}

NormalizerStep StepOf(const Component& component) {
  const std::string type = component.Text("type");
  NormalizerStep step;
  if (type == "Precompiled") {
    step.kind = NormalizerStep::kCharacters;
    std::string table;
    if (!absl::Base64Unescape(component.Text("precompiled_charsmap"), &table) ||
        (step.characters = CharsMap::Load(table)) == nullptr) {
      Malformed("normalizer.precompiled_charsmap: the normalization table is damaged");
    }
  } else if (type == "Replace") {
    const Component pattern(FieldOf(component.json(), "pattern"), "normalizer.pattern");
    step.content = component.Text("content");
    if (pattern.Find("String") != nullptr) {
      step.kind = NormalizerStep::kReplace;
      step.pattern = pattern.Text("String");
      if (step.pattern.empty()) pattern.Wrong("String", "a text that is not empty");
    } else if (pattern.Text("Regex") == " {2,}") {
      step.kind = NormalizerStep::kReplaceRuns;
      step.pattern = " ";
    } else {
      Refuse(pattern, absl::StrCat("the expression \"", pattern.Text("Regex"), "\""));
    }
  } else if (type == "Strip") {
    step.kind = NormalizerStep::kStrip;
    step.left = component.Flag("strip_left");
    step.right = component.Flag("strip_right");
  } else {
    RefuseType(component);
  }
  return step;
}

// What Metaspace says, as pre-tokenizer or as decoder.
void ReadMetaspace(const Component& component, WordRules* rules) {
  const std::string mark = component.Text("replacement");
  if (mark != kMetaSpace) Refuse(component, absl::StrCat("the replacement \"", mark, "\""));
  const bool adds = component.Flag("add_prefix_space", true);
  const bool names_scheme = component.json().contains("prepend_scheme");
  const std::string scheme = names_scheme ? component.Text("prepend_scheme")
                             : adds       ? "always"
                                          : "never";
  if (scheme == "always") {
    rules->prepend = Prepend::kAlways;
  } else if (scheme == "first") {
    rules->prepend = Prepend::kFirst;
  } else if (scheme == "never") {
    rules->prepend = Prepend::kNever;
  } else {
    component.Wrong("prepend_scheme", "always, first or never");
  }
  if (!adds && rules->prepend != Prepend::kNever) {
    Malformed(absl::StrCat(component.name(), ": add_prefix_space contradicts prepend_scheme"));
  }
  rules->at_marks = component.Flag("split", true);
}

WordRules RulesOf(const Json& pre_tokenizer) {
  WordRules rules;
  bool metaspace = false;
  for (const Component& component : ComponentsOf(pre_tokenizer, "pre_tokenizer", "pretokenizers")) {
    const std::string type = component.Text("type");
    if (metaspace) Refuse(component, absl::StrCat("\"", type, "\" behind Metaspace"));
    if (type == "WhitespaceSplit") {
      rules.at_white_space = true;
    } else if (type == "Metaspace") {
      ReadMetaspace(component, &rules);
      metaspace = true;
    } else {
      RefuseType(component);
    }
  }
  if (!metaspace) throw Unsupported("pre_tokenizer: a file without Metaspace is not supported");
  return rules;
}

// How pieces become a text.
struct DecodeRules {
  bool bytes = false;        // <0xE2> is a byte
  bool strips_first = true;  // the marks of the first piece write nothing
};

DecodeRules DecodeRulesOf(const Json& decoder) {
  DecodeRules rules;
  bool metaspace = false;
  for (const Component& component : ComponentsOf(decoder, "decoder", "decoders")) {
    const std::string type = component.Text("type");
    if (type == "Metaspace") {
      WordRules words;
      ReadMetaspace(component, &words);
      rules.strips_first = words.prepend != Prepend::kNever;
      metaspace = true;
    } else if (type == "ByteFallback") {
      rules.bytes = true;
    } else if (type != "Fuse") {
      RefuseType(component);
    }
  }
  if (!metaspace) throw Unsupported("decoder: a file without Metaspace is not supported");
  return rules;
}

std::vector<SpecialToken> AddedTokensOf(const Json& rest) {
  std::vector<SpecialToken> tokens;
  const Json& added = FieldOf(rest, "added_tokens");
  if (added.is_null()) return tokens;
  if (!added.is_array()) Malformed("added_tokens is not a list");
  for (const Json& json : added) {
    const Component token(json, "added_tokens");
    if (token.Flag("single_word")) {
      Refuse(token, absl::StrCat("single_word of \"", token.Text("content"), "\""));
    }
    tokens.push_back({.text = token.Text("content"),
                      .id = static_cast<int32_t>(token.Number("id", kMostPieces)),
                      .trims_left = token.Flag("lstrip"),
                      .trims_right = token.Flag("rstrip"),
                      .is_text = !token.Flag("special")});
    if (tokens.back().text.empty()) token.Wrong("content", "a text that is not empty");
    // Those whose letters are to be normalized are looked for as they are, too.
    (void)token.Flag("normalized");
  }
  return tokens;
}

// The ids that TemplateProcessing puts around a single text.
void ReadTemplate(const Json& post_processor, TokenizerJson* read) {
  for (const Component& component : ComponentsOf(post_processor, "post_processor", "processors")) {
    if (component.Text("type") != "TemplateProcessing") RefuseType(component);
    const Json& ids_of = FieldOf(component.json(), "special_tokens");
    bool text_seen = false;
    for (const Json& piece : component.Array("single")) {
      const Json& token = FieldOf(piece, "SpecialToken");
      if (token.is_null()) {
        const Component text(FieldOf(piece, "Sequence"), "post_processor.single");
        if (text.Text("id") != "A" || std::exchange(text_seen, true)) {
          component.Wrong("single", "one text");
        }
        continue;
      }
      const std::string name = Component(token, "post_processor.single").Text("id");
      const Component special(FieldOf(ids_of, name.c_str()), "post_processor.special_tokens");
      for (const Json& id : special.Array("ids")) {
        if (!id.is_number_unsigned() || id.get<uint64_t>() > kMostPieces) {
          special.Wrong("ids", "tokens");
        }
        (text_seen ? read->after : read->before).push_back(id.get<int32_t>());
      }
    }
    if (!text_seen) component.Wrong("single", "one text");
  }
}

class JsonPieces : public PieceModel {
 public:
  JsonPieces(const TokenizerFile& file, std::vector<NormalizerStep> steps, WordRules words,
             DecodeRules decode)
      : table_(file.pieces), steps_(std::move(steps)), words_(words), decode_(decode) {}

  PieceTable& table() { return table_; }
  void SetSearch(std::unique_ptr<const PieceSearch> search) { search_ = std::move(search); }

  std::vector<std::string> Encode(std::string_view text,
                                  std::vector<TextSpan>* spans) const override {
    std::vector<std::string> pieces;
    for (const int32_t id : EncodeAsIds(text, /*starts=*/true, spans)) {
      pieces.emplace_back(table_.Piece(id));
    }
    return pieces;
  }

  std::vector<int32_t> EncodeAsIds(std::string_view text, bool starts,
                                   std::vector<TextSpan>* spans) const override {
    const CutText cut = CutWords(Normalize(text, steps_), words_, starts);
    std::vector<int32_t> ids;
    if (spans != nullptr) spans->clear();
    std::vector<PlacedPiece> pieces;
    size_t begin = 0;
    for (const size_t end : cut.ends) {
      pieces.clear();
      search_->Cut(std::string_view(cut.text.text).substr(begin, end - begin), &pieces);
      for (const PlacedPiece& piece : pieces) {
        ids.push_back(piece.id);
        if (spans == nullptr) continue;
        spans->push_back(cut.text.Origin({begin + piece.span.begin, begin + piece.span.end}));
      }
      begin = end;
    }
    return ids;
  }

  int32_t unknown_id() const override { return table_.unknown_id; }
  // A run of bytes that are no text is replaced as a whole.
  bool decodes_in_order() const override { return !decode_.bytes; }
  bool Has(const std::string& piece) const override { return table_.IdOf(piece) >= 0; }

  std::vector<std::string> Pieces() const override {
    std::vector<std::string> pieces;
    for (int32_t id = 0; id < table_.size(); ++id) pieces.emplace_back(table_.Piece(id));
    return pieces;
  }

  std::string Decode(const std::vector<std::string>& pieces,
                     std::vector<TextSpan>* spans) const override {
    std::string text;
    if (spans != nullptr) spans->clear();
    for (size_t i = 0; i < pieces.size();) {
      const size_t run = decode_.bytes ? AppendBytes(pieces, i, &text, spans) : 0;
      i += run;
      if (run > 0) continue;
      const size_t begin = text.size();
      AppendPiece(pieces[i], i == 0 && decode_.strips_first, &text);
      if (spans != nullptr) spans->push_back({begin, text.size()});
      ++i;
    }
    return text;
  }

 private:
  static void AppendPiece(std::string_view piece, bool first, std::string* text) {
    for (size_t i = 0; i < piece.size();) {
      if (piece.substr(i).starts_with(kMetaSpace)) {
        if (!first) *text += ' ';
        i += kMetaSpace.size();
      } else {
        *text += piece[i++];
      }
    }
  }

  // The pieces of bytes from pieces[first] on: their text, or U+FFFD for each of them if they are
  // none.  Returns how many they are.
  static size_t AppendBytes(const std::vector<std::string>& pieces, size_t first, std::string* text,
                            std::vector<TextSpan>* spans) {
    std::string bytes;
    for (size_t i = first; i < pieces.size() && ByteOfPiece(pieces[i]) >= 0; ++i) {
      bytes += static_cast<char>(ByteOfPiece(pieces[i]));
    }
    const bool valid = IsValidUtf8(bytes);
    for (const char byte : bytes) {
      const size_t begin = text->size();
      if (valid) {
        *text += byte;
      } else {
        AppendUtf8(kNoCharacter, text);
      }
      if (spans != nullptr) spans->push_back({begin, text->size()});
    }
    return bytes.size();
  }

  PieceTable table_;
  std::unique_ptr<const PieceSearch> search_;
  const std::vector<NormalizerStep> steps_;
  const WordRules words_;
  const DecodeRules decode_;
};

std::unique_ptr<const PieceSearch> UnigramOf(const Component& model, TokenizerFile* file,
                                             PieceTable* table) {
  if (file->scores.size() != file->pieces.size()) model.Wrong("vocab", "pieces with scores");
  for (const double score : file->scores) {
    if (!std::isfinite(score)) Malformed("model.vocab: a score is not finite");
  }
  if (model.Find("unk_id") == nullptr) Refuse(model, "a Unigram without unk_id");
  table->unknown_id =
      static_cast<int32_t>(model.Number("unk_id", static_cast<int64_t>(file->pieces.size()) - 1));
  return std::make_unique<const UnigramSearch>(table, std::move(file->scores));
}

std::unique_ptr<const PieceSearch> MergesOf(const Component& model, const TokenizerFile& file,
                                            PieceTable* table) {
  for (const char* field : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"}) {
    const Json* const value = model.Find(field);
    if (value != nullptr && *value != "" && *value != 0.0) {
      Refuse(model, absl::StrCat(field, " ", Describe(*value)));
    }
  }
  if (model.Flag("ignore_merges", false)) Refuse(model, "ignore_merges");
  if (!file.scores.empty()) model.Wrong("vocab", "pieces with their ids");
  (void)model.Array("merges");
  if (model.Find("unk_token") == nullptr) Refuse(model, "a BPE without unk_token");
  const auto id_of = [&](const std::string& piece) {
    const int32_t id = table->IdOf(piece);
    if (id < 0) Malformed(absl::StrCat("model: \"", piece, "\" is not in vocab"));
    return id;
  };
  table->unknown_id = id_of(model.Text("unk_token"));
  MergeSearch::Merges merges;
  uint32_t rank = 0;
  for (const auto& [left, right] : file.merges) {
    merges[{id_of(left), id_of(right)}] = {rank++, id_of(left + right)};
  }
  return std::make_unique<const MergeSearch>(table, std::move(merges),
                                             model.Flag("fuse_unk", false));
}

// The library numbers added tokens itself: a token has the id of the piece that is spelled like it,
// or the next one behind all pieces.
void CheckNumbers(const std::vector<SpecialToken>& added, const PieceTable& table, size_t pieces) {
  int32_t next = static_cast<int32_t>(pieces);
  for (const SpecialToken& token : added) {
    const int32_t piece = table.IdOf(token.text);
    const int32_t wanted = piece >= 0 ? piece : next++;
    if (token.id == wanted) continue;
    Malformed(absl::StrCat("added_tokens: the id of \"", token.text, "\" is ", token.id, ", want ",
                           wanted));
  }
}

TokenizerJson Understand(TokenizerFile file) {
  TokenizerJson read;
  read.added = AddedTokensOf(file.rest);
  ReadTemplate(FieldOf(file.rest, "post_processor"), &read);
  for (const char* field : {"truncation", "padding"}) {
    if (!FieldOf(file.rest, field).is_null()) {
      throw Unsupported(absl::StrCat(field, ": it is not supported"));
    }
  }
  std::vector<NormalizerStep> steps;
  for (const Component& component :
       ComponentsOf(FieldOf(file.rest, "normalizer"), "normalizer", "normalizers")) {
    steps.push_back(StepOf(component));
  }
  const Component model(FieldOf(file.rest, "model"), "model");
  if (file.pieces.empty()) model.Wrong("vocab", "pieces");
  auto pieces = std::make_shared<JsonPieces>(file, std::move(steps),
                                             RulesOf(FieldOf(file.rest, "pre_tokenizer")),
                                             DecodeRulesOf(FieldOf(file.rest, "decoder")));
  PieceTable& table = pieces->table();
  CheckNumbers(read.added, table, file.pieces.size());
  table.byte_fallback = model.Flag("byte_fallback", false);
  // Old files do not name the type.
  const std::string type = model.Text("type", file.scores.empty() ? "BPE" : "Unigram");
  if (type == "Unigram") {
    pieces->SetSearch(UnigramOf(model, &file, &table));
  } else if (type == "BPE") {
    pieces->SetSearch(MergesOf(model, file, &table));
  } else {
    RefuseType(model);
  }
  read.pieces = std::move(pieces);
  return read;
}

// Calls `understand` with the file; what it throws becomes a status that names the file.
template <typename Result, typename Function>
absl::StatusOr<Result> ReadAs(const std::string& path, bool keeps_merges, Function understand) {
  ASSIGN_OR_RETURN(TokenizerFile file, ReadTokenizerFile(path, keeps_merges));
  try {
    return understand(std::move(file));
  } catch (const Unsupported& error) {
    return UnimplementedError(path, ": ", error.what());
  } catch (const std::invalid_argument& error) {
    return InvalidArgumentError(path, ": ", error.what());
  }
}

}  // namespace

absl::StatusOr<TokenizerJson> ReadTokenizerJson(const std::string& path) {
  return ReadAs<TokenizerJson>(path, /*keeps_merges=*/true, Understand);
}

absl::StatusOr<TokenizerLists> ReadTokenizerLists(const std::string& path) {
  return ReadAs<TokenizerLists>(path, /*keeps_merges=*/false, [](TokenizerFile file) {
    return TokenizerLists{std::move(file.pieces), AddedTokensOf(file.rest)};
  });
}

}  // namespace dragoman
