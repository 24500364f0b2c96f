#include "engine/base/json_numbers.h"

#include <utility>

#include "engine/base/json.h"

namespace dragoman {
namespace {

class Numbers final : public nlohmann::json::json_sax_t {
 public:
  explicit Numbers(absl::FunctionRef<bool(std::string, uint64_t)> add) : add_(add) {}

  bool start_object(size_t elements) override { return !std::exchange(open_, true); }
  bool key(std::string& key) override {
    key_ = std::move(key);
    return true;
  }
  bool number_unsigned(uint64_t number) override { return open_ && add_(std::move(key_), number); }
  bool end_object() override { return true; }

  bool null() override { return false; }
  bool boolean(bool value) override { return false; }
  bool number_integer(int64_t number) override { return false; }
  bool number_float(double number, const std::string& text) override { return false; }
  bool string(std::string& text) override { return false; }
  bool binary(nlohmann::json::binary_t& bytes) override { return false; }
  bool start_array(size_t elements) override { return false; }
  bool end_array() override { return false; }
  bool parse_error(size_t at, const std::string& token,
                   const nlohmann::json::exception& why) override {
    return false;
  }

 private:
  const absl::FunctionRef<bool(std::string, uint64_t)> add_;
  bool open_ = false;
  std::string key_;
};

}  // namespace

bool ForEachNumber(std::string_view text, absl::FunctionRef<bool(std::string key, uint64_t)> add) {
  Numbers numbers(add);
  return text.find('\0') == text.npos && nlohmann::json::sax_parse(text, &numbers);
}

}  // namespace dragoman
