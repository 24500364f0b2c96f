#include "engine/families/ctranslate2_facts.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"
#include "engine/families/hugging_face.h"

namespace dragoman {

namespace {

// The value of a tensor of one element; nullopt for any other.
std::optional<double> NumberOf(const Tensor& tensor) {
  if (tensor.bytes.size() != SizeOf(tensor.dtype)) return std::nullopt;
  const auto as = [&tensor](auto number) {
    std::memcpy(&number, tensor.bytes.data(), sizeof(number));
    return static_cast<double>(number);
  };
  switch (tensor.dtype) {
    case DType::kF32:
      return as(float{});
    case DType::kI8:
      return as(int8_t{});
    case DType::kI16:
      return as(int16_t{});
    case DType::kI32:
      return as(int32_t{});
    case DType::kF16:
    case DType::kBF16: {
      const Checkpoint one("", {}, {{"x", Tensor{tensor.dtype, {1}, tensor.bytes}}});
      const absl::StatusOr<std::vector<float>> number = one.ReadVector("x", 1);
      return number.ok() ? std::optional<double>(number->front()) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string CTranslate2Layer(const char* stack, int layer) {
  return absl::StrCat(stack, "/layer_", layer);
}

void MoveRootFacts(CTranslate2File* file) {
  constexpr uint32_t kPerStack = 5;  // the first revision without facts at the root
  if (file->revision >= kPerStack) return;
  constexpr struct {
    const char* name;
    bool encoder, decoder;
  } kFacts[] = {{"num_heads", true, true},        {"pre_norm", true, true},
                {"activation", true, true},       {"embeddings_merge", true, false},
                {"alignment_layer", false, true}, {"alignment_heads", false, true}};
  const Checkpoint& old = file->variables;
  std::map<std::string, Tensor> variables = old.tensors();
  for (const auto& [name, encoder, decoder] : kFacts) {
    const auto fact = variables.extract(name);
    if (fact.empty()) continue;
    if (encoder) variables.emplace(absl::StrCat("encoder/", name), fact.mapped());
    if (decoder) variables.emplace(absl::StrCat("decoder/", name), fact.mapped());
  }
  file->variables = Checkpoint(old.name(), old.files(), std::move(variables));
}

absl::StatusOr<double> CTranslate2Facts::Number(const std::string& name, double otherwise) const {
  const absl::StatusOr<Tensor> tensor = variables_.Take(name);
  if (!tensor.ok()) return otherwise;
  const std::optional<double> number = NumberOf(*tensor);
  if (!number.has_value() || !std::isfinite(*number)) {
    return InvalidArgumentError(name, " is not a number in ", variables_.name());
  }
  return *number;
}

absl::StatusOr<double> CTranslate2Facts::Common(const std::vector<std::string>& names,
                                                double otherwise) const {
  ASSIGN_OR_RETURN(const double first, Number(names.front(), otherwise));
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(const double number, Number(name, otherwise));
    if (number == first) continue;
    return UnimplementedError(names.front(), " is ", first, ", but ", name, " is ", number, " in ",
                              variables_.name());
  }
  return first;
}

absl::StatusOr<int> CTranslate2Facts::Whole(const std::string& name, int otherwise, int least,
                                            int most) const {
  ASSIGN_OR_RETURN(const double number, Number(name, otherwise));
  if (number != std::floor(number) || number < least || number > most) {
    return InvalidArgumentError(name, " is ", number, ", want ", least, " to ", most, " in ",
                                variables_.name());
  }
  return static_cast<int>(number);
}

absl::StatusOr<std::pair<int, int>> CTranslate2Facts::Shape(const std::string& name) const {
  const Tensor* const tensor = variables_.Find(name);
  if (tensor == nullptr) {
    return NotFoundError("there is no ", name, " in ", variables_.name());
  }
  if (tensor->shape.size() != 2) {
    return InvalidArgumentError(name, " is not a matrix in ", variables_.name());
  }
  return std::pair(static_cast<int>(tensor->shape[0]), static_cast<int>(tensor->shape[1]));
}

int CTranslate2Facts::Layers(const char* stack) const {
  int layers = 0;
  while (layers < kMaxLayers && Has(CTranslate2Layer(stack, layers) + "/ffn/linear_0/weight"))
    ++layers;
  return layers;
}

bool CTranslate2Facts::Same(const std::string& a, const std::string& b) const {
  const Tensor* const first = variables_.Find(a);
  const Tensor* const second = variables_.Find(b);
  return first != nullptr && second != nullptr && first->dtype == second->dtype &&
         first->shape == second->shape && first->scales == second->scales &&
         (first->bytes.data() == second->bytes.data() ||
          std::memcmp(first->bytes.data(), second->bytes.data(), first->bytes.size()) == 0);
}

std::string CTranslate2Facts::Embeddings(const char* stack) const {
  const std::string first = absl::StrCat(stack, "/embeddings_0/weight");
  return Has(first) ? first : absl::StrCat(stack, "/embeddings/weight");
}

}  // namespace dragoman
