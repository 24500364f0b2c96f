#include "engine/formats/lora.h"

#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/base/json.h"
#include "engine/base/status.h"
#include "engine/formats/json_fields.h"
#include "engine/formats/safetensors.h"
#include "engine/formats/torch_file.h"

namespace dragoman {
namespace {

constexpr int kMaxRank = 1 << 14;

struct LoraSettings {
  float alpha = 8.0f;
  bool rank_stabilized = false;

  float ScaleOf(int rank) const {
    return alpha /
           (rank_stabilized ? std::sqrt(static_cast<float>(rank)) : static_cast<float>(rank));
  }
};

// What PEFT can do besides, with the values under which it does not.
absl::Status RefuseOthers(const JsonFields& fields) {
  const struct {
    const char* field;
    std::vector<nlohmann::json> neutral;
  } kOthers[] = {
      {"use_dora", {false}},
      {"fan_in_fan_out", {false}},
      {"lora_bias", {false}},
      {"use_qalora", {false}},
      {"bias", {"none"}},
      {"modules_to_save", {nlohmann::json::array()}},
      {"alpha_pattern", {nlohmann::json::object()}},
      {"trainable_token_indices", {}},
      {"target_parameters", {nlohmann::json::array()}},
      // Others begin with a base model that was changed, too.
      {"init_lora_weights", {true, false, "gaussian"}},
  };
  for (const auto& [field, neutral] : kOthers) {
    const nlohmann::json* const value = fields.Find(field);
    if (value == nullptr) continue;
    if (absl::c_linear_search(neutral, *value)) continue;
    return fields.Unknown(field, "an adapter of low-rank matrices alone");
  }
  return absl::OkStatus();
}

absl::StatusOr<LoraSettings> ReadSettings(const std::string& directory) {
  const std::string path = directory + "/adapter_config.json";
  ASSIGN_OR_RETURN(const nlohmann::json json, ReadJsonObject(path));
  const JsonFields fields({{path, &json}});
  std::string type;
  RETURN_IF_ERROR(fields.Read("peft_type", &type));
  if (type != "LORA") {
    return UnimplementedError(path, ": peft_type is \"", type, "\", want LORA");
  }
  RETURN_IF_ERROR(RefuseOthers(fields));
  LoraSettings settings;
  RETURN_IF_ERROR(fields.Read("lora_alpha", &settings.alpha));
  RETURN_IF_ERROR(fields.Read("use_rslora", &settings.rank_stabilized));
  return settings;
}

absl::StatusOr<Checkpoint> OpenAdapter(const std::string& directory) {
  const std::string tensors = directory + "/adapter_model.safetensors";
  const std::string pickle = directory + "/adapter_model.bin";
  std::error_code error;
  const bool pickled =
      !std::filesystem::exists(tensors, error) && std::filesystem::exists(pickle, error);
  return pickled ? OpenTorchFile(pickle) : OpenSafetensors(tensors);
}

// The rows of a tensor that must be a matrix; 0 if it is none.
int RowsOfMatrix(const Tensor* tensor) {
  return tensor != nullptr && tensor->shape.size() == 2 ? static_cast<int>(tensor->shape[0]) : 0;
}

}  // namespace

absl::StatusOr<Checkpoint> AddLora(const Checkpoint& base, const std::string& directory) {
  ASSIGN_OR_RETURN(const LoraSettings settings, ReadSettings(directory));
  ASSIGN_OR_RETURN(const Checkpoint adapter, OpenAdapter(directory));
  std::map<std::string, std::shared_ptr<const LowRank>> added;
  for (const auto& [name, tensor] : adapter.tensors()) {
    absl::string_view module = name;
    const bool is_b = absl::ConsumeSuffix(&module, ".lora_B.weight");
    if (!absl::ConsumePrefix(&module, "base_model.model.") ||
        (!is_b && !absl::ConsumeSuffix(&module, ".lora_A.weight"))) {
      return UnimplementedError(adapter.name(), ": ", name,
                                " is none of base_model.model.MODULE.lora_A.weight and lora_B");
    }
    if (is_b) continue;
    const std::string target = absl::StrCat(module, ".weight");
    const Tensor* const changed = base.Find(target);
    const int rank = RowsOfMatrix(&tensor), outputs = RowsOfMatrix(changed);
    if (outputs == 0) {
      return InvalidArgumentError(adapter.name(), ": changes ", target,
                                  ", but the model has no such matrix");
    }
    if (rank == 0 || rank > kMaxRank) {
      return InvalidArgumentError(adapter.name(), ": ", name, " is no matrix of 1 to ", kMaxRank,
                                  " rows");
    }
    auto low_rank = std::make_shared<LowRank>();
    ASSIGN_OR_RETURN(low_rank->a,
                     adapter.ReadMatrix(name, rank, static_cast<int>(changed->shape[1])));
    ASSIGN_OR_RETURN(low_rank->b,
                     adapter.ReadMatrix(absl::StrCat("base_model.model.", module, ".lora_B.weight"),
                                        outputs, rank));
    for (int r = 0; r < outputs; ++r) {
      for (float& value : low_rank->b.Row(r)) value *= settings.ScaleOf(rank);
    }
    added[target] = std::move(low_rank);
  }
  if (added.empty()) {
    return InvalidArgumentError(adapter.name(), ": changes nothing");
  }
  RETURN_IF_ERROR(CheckAllIsRead(adapter));
  for (const auto& file : adapter.files()) RETURN_IF_ERROR(file->whole());
  return base.WithAdded(added);
}

}  // namespace dragoman
