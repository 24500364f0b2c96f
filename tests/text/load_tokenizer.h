// Loads tokenizers, such as those of the golden models.

#ifndef DRAGOMAN_TESTS_TEXT_LOAD_TOKENIZER_H_
#define DRAGOMAN_TESTS_TEXT_LOAD_TOKENIZER_H_

#include <memory>
#include <string>
#include <utility>

#include "engine/families/model_directory.h"
#include "engine/text/tokenizer.h"
#include "gtest/gtest.h"

namespace dragoman {

inline constexpr char kModels[] = "tests/golden/models/";

inline std::unique_ptr<const Tokenizer> Load(const std::string& directory) {
  absl::StatusOr<std::unique_ptr<const Tokenizer>> tokenizer = OpenTokenizer(directory);
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status();
  return *std::move(tokenizer);
}

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_TEXT_LOAD_TOKENIZER_H_
