#include "engine/options/options_doc.h"

#include <cstddef>
#include <cstdio>
#include <type_traits>

#include "engine/options/options.h"

namespace dragoman {
namespace {

std::string Text(bool value) { return value ? "true" : "false"; }
std::string Text(int value) { return std::to_string(value); }
std::string Text(uint64_t value) { return std::to_string(value); }
std::string Text(double value) {
  char text[32] = {};
  std::snprintf(text, sizeof(text), "%g", value);
  return text;
}
std::string Text(float value) { return Text(static_cast<double>(value)); }
std::string Text(EarlyStopping value) {
  constexpr const char* kNames[] = {"heuristic", "full", "never"};
  return kNames[static_cast<size_t>(value)];
}
std::string Text(LengthNormalization value) {
  return value == LengthNormalization::kGnmt ? "gnmt" : "length";
}

// Instead of the end of a range, by OptionCap.
constexpr const char* kCaps[] = {"", "the server's max_beam_size", "the server's max_hypotheses",
                                 "the model's positions", "the last token"};

template <typename T>
std::string RangeOf(const Option& option, T) {
  if constexpr (std::is_same_v<T, bool>) {
    return "true, false";
  } else if constexpr (std::is_same_v<T, EarlyStopping>) {
    return "heuristic, full, never";
  } else if constexpr (std::is_same_v<T, LengthNormalization>) {
    return "length, gnmt";
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return "any";
  } else {
    const std::string high =
        option.cap == OptionCap::kNone ? Text(option.high) : kCaps[static_cast<size_t>(option.cap)];
    return Text(option.low) + " to " + high;
  }
}

std::string Row(const Option& option) {
  const SearchOptions defaults;
  std::string range, otherwise;
  const auto describe = [&](const auto& members) {
    const auto& value = defaults.*members.used;
    using T = typename std::decay_t<decltype(DecodingOptions().*members.said)>::value_type;
    range = RangeOf(option, T());
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, T>) otherwise = Text(value);
  };
  std::visit(describe, option.members);
  if (option.otherwise != nullptr) otherwise = option.otherwise;
  return std::string("| `") + option.name + "` | " + range + " | " + otherwise +
         (option.model_may_say ? ", or the model's own" : "") + " | " + option.help + " |\n";
}

}  // namespace

std::string OptionsAsMarkdown() {
  std::string text = R"(| option | values | default | meaning |
|---|---|---|---|
)";
  for (const Option& option : kOptionTable) text += Row(option);
  return text;
}

}  // namespace dragoman
