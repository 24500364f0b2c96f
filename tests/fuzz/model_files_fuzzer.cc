// Any bytes as one of the small files of a model directory (config.json, vocab.json,
// tokenizer_config.json, decoder.yml and so on) of every family.  The first line of an input names
// a model of tests/golden (kModels) and a file.  The rest of the input replaces that file; the
// other files are the model's own.
//
//   nllb-trained added_tokens.json
//   {"ace_Arab": 700}

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "engine/families/model_directory.h"
#include "engine/model/model_report.h"
#include "tests/fuzz/fuzzer.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

struct Source {
  const char* name;
  const char* folder;  // under tests/golden
};
constexpr std::array<Source, 8> kModels = {{{"marian-trained", "models"},
                                            {"m2m100-trained", "models"},
                                            {"nllb-trained", "models"},
                                            {"mbart50-trained", "models"},
                                            {"t5v11-trained", "models"},
                                            {"ctranslate2", "formats"},
                                            {"student-ssru", "marian/models"},
                                            {"tr-gelu-yml", "marian/models"}}};
constexpr std::array<const char*, 11> kFiles = {"config.json",
                                                "generation_config.json",
                                                "tokenizer_config.json",
                                                "vocab.json",
                                                "target_vocab.json",
                                                "special_tokens_map.json",
                                                "added_tokens.json",
                                                "shared_vocabulary.json",
                                                "decoder.yml",
                                                "lex.s2t",
                                                "tok.de.yml"};

// One directory per model with links to its files; removed at the end.
class Directories {
 public:
  Directories() {
    std::string name = (fs::temp_directory_path() / "dragoman-fuzz-XXXXXX").string();
    FUZZ_CHECK(mkdtemp(name.data()) != nullptr);
    root_ = name;
    for (const auto& [model, folder] : kModels) {
      fs::create_directory(root_ / model);
      for (const auto& entry : fs::directory_iterator(fs::path("tests/golden") / folder / model)) {
        fs::create_symlink(fs::absolute(entry.path()), root_ / model / entry.path().filename());
      }
    }
  }
  ~Directories() {
    std::error_code error;
    fs::remove_all(root_, error);
  }

  fs::path Of(const std::string& model) const { return root_ / model; }

 private:
  fs::path root_;
};

bool IsKnown(std::string_view model, std::string_view file) {
  return std::any_of(kModels.begin(), kModels.end(),
                     [&](const Source& known) { return model == known.name; }) &&
         std::find(kFiles.begin(), kFiles.end(), file) != kFiles.end();
}

// While this lives, one file of the directory has this content.
class Replaced {
 public:
  Replaced(const fs::path& directory, const std::string& file, std::string_view content)
      : path_(directory / file) {
    std::error_code error;
    if (fs::is_symlink(path_, error)) own_ = fs::read_symlink(path_);
    fs::remove(path_, error);
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~Replaced() {
    std::error_code error;
    fs::remove(path_, error);
    if (!own_.empty()) fs::create_symlink(own_, path_);
  }

 private:
  const fs::path path_;
  fs::path own_;  // the original file, moved away
};

void Try(const std::string& directory) {
  const auto tokenizer = OpenTokenizer(directory);
  if (tokenizer.ok()) {
    const auto pair = (*tokenizer)->languages().Resolve("en", "de");
    const Frame frame = (*tokenizer)->FrameOf(pair.ok() ? *pair : LanguagePair());
    for (const char* text : {"The cat is old.", "", ">>de<< \xC3\xA4 <extra_id_0></s>"}) {
      for (const int32_t id : (*tokenizer)->Encode(text, frame).ids) {
        FUZZ_CHECK(id >= 0 && id < (*tokenizer)->source_vocabulary_size());
      }
    }
  }
  (void)ReadModelConfig(directory);
  (void)OpenModelDirectory(directory);
}

}  // namespace
}  // namespace dragoman

FUZZER(model_files) {
  static const dragoman::Directories directories;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t space = input.find(' '), line = input.find('\n');
  if (space == input.npos || line == input.npos || space > line) return;
  const std::string model(input.substr(0, space));
  const std::string file(input.substr(space + 1, line - space - 1));
  if (!dragoman::IsKnown(model, file)) return;
  const dragoman::Replaced replaced(directories.Of(model), file, input.substr(line + 1));
  dragoman::Try(directories.Of(model).string());
}
