// Finds out which file of a directory serves which purpose.

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/base/mapped_file.h"
#include "engine/base/status.h"
#include "engine/base/yaml.h"
#include "engine/families/marian_nmt.h"
#include "engine/formats/marian_file.h"
#include "engine/formats/npz.h"
#include "engine/text/language_tag.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

using Names = std::vector<std::string>;

Names FilesOf(const std::string& directory) {
  Names names;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored)) names.push_back(it->path().filename().string());
  }
  absl::c_sort(names);
  return names;
}

template <typename Wanted>
Names Select(const Names& names, Wanted wanted) {
  Names selected;
  absl::c_copy_if(names, std::back_inserter(selected), wanted);
  return selected;
}

bool IsTrainingState(const std::string& name) {
  return absl::EndsWith(name, ".optimizer.npz") || absl::EndsWith(name, ".orig.npz");
}

Names Models(const DirectoryFiles& files, const Names& names) {
  return Select(names, [&](const std::string& name) {
    if (absl::EndsWith(name, ".npz")) return !IsTrainingState(name);
    return absl::EndsWith(name, ".bin") && IsMarianFile(files.Path(name));
  });
}

// decoder.yml, or the name that it has in a training directory or in Bergamot's archives.
Names SearchFiles(const Names& names) {
  Names found = Select(names, [](const std::string& name) { return name == "decoder.yml"; });
  if (found.empty()) {
    found = Select(names, [](const std::string& name) {
      return absl::EndsWith(name, ".decoder.yml") ||
             (absl::StartsWith(name, "config.") && absl::EndsWith(name, ".yml"));
    });
  }
  return found;
}

absl::Status NotOne(const DirectoryFiles& files, const char* what, const Names& found) {
  if (found.empty()) {
    return NotFoundError(files.path, ": has no ", what);
  }
  return InvalidArgumentError(files.path, ": has several files that may be the ", what, ": ",
                              absl::StrJoin(found, ", "), "; name one in decoder.yml, or keep one");
}

// Finds a file that decoder.yml names: at its path, or beside decoder.yml, because most directories
// have been moved since.
absl::StatusOr<std::string> Resolve(const DirectoryFiles& files, const std::string& named) {
  const fs::path path(named);
  std::error_code error;
  if (path.is_relative() && fs::is_regular_file(fs::path(files.path) / path, error)) {
    return (fs::path(files.path) / path).string();
  }
  const std::string beside = files.Path(path.filename().string());
  if (fs::is_regular_file(beside, error)) return beside;
  return NotFoundError(beside, ": there is no such file");
}

absl::StatusOr<Names> ReadNames(const JsonFields& fields, const std::string& field) {
  Names names;
  const nlohmann::json* json = fields.Find(field);
  if (json == nullptr) return names;
  if (!json->is_array()) return fields.Wrong(field, "a list of files");
  for (const nlohmann::json& name : *json) {
    if (!name.is_string()) return fields.Wrong(field, "a list of files");
    names.push_back(name.get<std::string>());
  }
  return names;
}

// shortlist: [FILE, FIRST, BEST, THRESHOLD], or [FILE, CHECK] for a binary one.
absl::StatusOr<ShortlistSource> ReadShortlist(const DirectoryFiles& files,
                                              const JsonFields& fields) {
  ShortlistSource source;
  const nlohmann::json* json = fields.Find("shortlist");
  if (json == nullptr || (json->is_array() && json->empty())) return source;
  if (!json->is_array() || !json->front().is_string()) {
    return fields.Wrong("shortlist", "[FILE, FIRST, BEST, THRESHOLD]");
  }
  ASSIGN_OR_RETURN(source.file, Resolve(files, json->front().get<std::string>()));
  source.multiple_of = 8;
  source.strict = true;
  if (IsBinaryShortlist(source.file)) return source;
  int numbers[] = {100, 100};
  for (size_t i = 1; i < json->size() && i <= 2; ++i) {
    if (!JsonFields::IsWhole((*json)[i], 0, 1 << 24)) {
      return fields.Wrong("shortlist", "[FILE, FIRST, BEST, THRESHOLD]");
    }
    numbers[i - 1] = (*json)[i].get<int>();
  }
  source.first = numbers[0];
  source.best = numbers[1];
  if (json->size() > 3) {
    if (!(*json)[3].is_number()) return fields.Wrong("shortlist", "a number as its threshold");
    source.threshold = (*json)[3].get<double>();
  }
  return source;
}

LanguagePair ParsePair(const std::string& name) {
  const auto pair = ParseLanguagePair(name);
  return pair.has_value() ? LanguagePair{pair->first, pair->second} : LanguagePair();
}

// The language pair that the model's name and another file's name agree on; otherwise that of the
// directory's name.
LanguagePair FindLanguages(const DirectoryFiles& files, const std::string& model,
                           const Names& names) {
  const std::string own = fs::path(model).filename().string();
  for (const std::string& part : Names(absl::StrSplit(own, '.'))) {
    const LanguagePair pair = ParsePair(part);
    if (pair.source.empty()) continue;
    const std::string back = pair.target + pair.source;
    for (const std::string& name : names) {
      if (name == own) continue;
      for (const std::string& other : Names(absl::StrSplit(name, '.'))) {
        if (other == part || other == back) return pair;
      }
    }
  }
  fs::path directory = fs::path(files.path).lexically_normal();
  if (!directory.has_filename()) directory = directory.parent_path();
  return ParsePair(directory.filename().string());
}

bool IsVocabulary(const std::string& name) {
  const bool named = absl::StrContains(name, "vocab");
  return absl::EndsWith(name, ".spm") ||
         (named && (absl::EndsWith(name, ".yml") || absl::EndsWith(name, ".yaml") ||
                    absl::EndsWith(name, ".json") || absl::EndsWith(name, ".txt")));
}

// Whether a file's name says that it belongs to this side, by a word or by the side's language.
bool IsOfSide(const std::string& name, const Names& words, const std::string& language) {
  for (const std::string& word : words) {
    if (absl::StrContains(name, word)) return true;
  }
  const Names parts = absl::StrSplit(name, absl::ByAnyChar("._-"));
  return !language.empty() && absl::c_linear_search(parts, language);
}

absl::Status FindVocabularies(const DirectoryFiles& files, const Names& names, MarianFiles* found) {
  const Names all = Select(names, IsVocabulary);
  if (all.size() == 1) {
    found->source_vocabulary = found->target_vocabulary = files.Path(all.front());
    return absl::OkStatus();
  }
  const Names sources = Select(all, [&](const std::string& name) {
    return IsOfSide(name, {"src", "source"}, found->languages.source);
  });
  const Names targets = Select(all, [&](const std::string& name) {
    return IsOfSide(name, {"trg", "tgt", "target"}, found->languages.target);
  });
  if (sources.size() != 1 || targets.size() != 1) return NotOne(files, "vocabulary", all);
  found->source_vocabulary = files.Path(sources.front());
  found->target_vocabulary = files.Path(targets.front());
  return absl::OkStatus();
}

absl::StatusOr<MarianFiles> ByNames(const DirectoryFiles& files, const Names& names) {
  MarianFiles found;
  Names models = Models(files, names);
  if (models.size() > 1) {
    const bool plain = absl::c_linear_search(models, "model.npz");
    if (plain) models = {"model.npz"};
  }
  if (models.size() != 1) return NotOne(files, "model", models);
  found.model = files.Path(models.front());
  found.languages = FindLanguages(files, found.model, names);
  RETURN_IF_ERROR(FindVocabularies(files, names, &found));
  const Names lexicons = Select(names, [&](const std::string& name) {
    return absl::StartsWith(name, "lex") &&
           (IsBinaryShortlist(files.Path(name)) || absl::EndsWith(name, ".s2t"));
  });
  if (lexicons.size() > 1) return NotOne(files, "shortlist", lexicons);
  if (!lexicons.empty()) {
    found.shortlist.file = files.Path(lexicons.front());
    found.shortlist.multiple_of = 8;
    found.shortlist.strict = true;
  }
  return found;
}

absl::StatusOr<MarianFiles> BySearchFile(const DirectoryFiles& files, const Names& names,
                                         const std::string& file) {
  MarianFiles found;
  found.search_file = files.Path(file);
  ASSIGN_OR_RETURN(found.search, ReadYamlObject(found.search_file));
  const JsonFields fields({{found.search_file, &found.search}});
  ASSIGN_OR_RETURN(const Names models, ReadNames(fields, "models"));
  ASSIGN_OR_RETURN(const Names vocabularies, ReadNames(fields, "vocabs"));
  if (models.size() > 1) {
    return fields.Unknown("models", "one model: this engine does not support ensembles");
  }
  ASSIGN_OR_RETURN(found.shortlist, ReadShortlist(files, fields));
  if (models.empty() || vocabularies.empty()) {
    ASSIGN_OR_RETURN(MarianFiles named, ByNames(files, names));
    found.model = std::move(named.model);
    found.languages = std::move(named.languages);
    found.source_vocabulary = std::move(named.source_vocabulary);
    found.target_vocabulary = std::move(named.target_vocabulary);
  }
  if (!models.empty()) {
    ASSIGN_OR_RETURN(found.model, Resolve(files, models.front()));
    found.languages = FindLanguages(files, found.model, names);
  }
  if (vocabularies.empty()) return found;
  if (vocabularies.size() != 2) {
    return fields.Unknown("vocabs", "a source and a target vocabulary");
  }
  ASSIGN_OR_RETURN(found.source_vocabulary, Resolve(files, vocabularies[0]));
  ASSIGN_OR_RETURN(found.target_vocabulary, Resolve(files, vocabularies[1]));
  return found;
}

constexpr char kOptions[] = "special:model.yml";

}  // namespace

bool HasMarianModel(const DirectoryFiles& files) {
  if (!files.ModelType().empty()) return false;
  const Names names = FilesOf(files.path);
  return files.Has("decoder.yml") || !Models(files, names).empty() ||
         absl::c_any_of(names, [](const std::string& name) {
           return absl::EndsWith(name, ".decoder.yml") || absl::EndsWith(name, ".alphas.bin.gz") ||
                  absl::EndsWith(name, ".npz.gz");
         });
}

absl::StatusOr<MarianFiles> FindMarianFiles(const DirectoryFiles& files) {
  const Names names = FilesOf(files.path);
  const Names packed =
      Select(names, [](const std::string& name) { return absl::EndsWith(name, "bin.gz"); });
  if (!packed.empty() && Models(files, names).empty()) {
    return FailedPreconditionError(files.Path(packed.front()),
                                   ": is compressed, want it unpacked by gunzip");
  }
  const Names searches = SearchFiles(names);
  if (searches.empty()) return ByNames(files, names);
  if (searches.size() > 1) return NotOne(files, "decoder.yml", searches);
  return BySearchFile(files, names, searches.front());
}

JsonFields MarianModel::fields() const {
  return JsonFields(
      {{files.model + ": " + kOptions, &options}, {files.search_file, &files.search}});
}

absl::StatusOr<MarianModel> OpenMarianModel(const DirectoryFiles& directory) {
  ASSIGN_OR_RETURN(MarianFiles files, FindMarianFiles(directory));
  ASSIGN_OR_RETURN(Checkpoint tensors, absl::EndsWith(files.model, ".npz")
                                           ? OpenNpz(files.model)
                                           : OpenMarianFile(files.model));
  nlohmann::json options = nlohmann::json::object();
  if (const Tensor* text = tensors.Find(kOptions); text != nullptr) {
    std::string_view yaml(reinterpret_cast<const char*>(text->bytes.data()), text->bytes.size());
    yaml = yaml.substr(0, yaml.find('\0'));
    ASSIGN_OR_RETURN(options, ParseYamlObject(yaml, files.model + ": " + kOptions));
  }
  MarianModel model{std::move(files), std::move(tensors), std::move(options)};
  bool all = false, source = false;
  RETURN_IF_ERROR(model.fields().Read("tied-embeddings-all", &all));
  RETURN_IF_ERROR(model.fields().Read("tied-embeddings-src", &source));
  model.tensors = RenameFromNematus(model.tensors, all || source);
  return model;
}

}  // namespace dragoman
