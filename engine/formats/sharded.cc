#include "engine/formats/sharded.h"

#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "engine/base/json.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr size_t kMaxShards = 1000;

// The tensors that the index expects in each shard.
using Plan = std::map<std::string, std::set<std::string>>;

absl::StatusOr<Plan> ParseIndex(const nlohmann::json& index) {
  const nlohmann::json& weight_map = Member(index, "weight_map");
  if (!weight_map.is_object() || weight_map.empty()) {
    return absl::InvalidArgumentError("has no weight_map, want an object of tensors and files");
  }
  Plan plan;
  for (const auto& [tensor, file] : weight_map.items()) {
    if (!file.is_string()) {
      return InvalidArgumentError("weight_map: ", tensor, " has no file");
    }
    const std::string& name = file.get_ref<const std::string&>();
    if (name.empty() || name[0] == '.' || name.find('/') != name.npos) {
      return InvalidArgumentError("weight_map: ", tensor, " is in \"", name,
                                  "\", want a file's plain name");
    }
    plan[name].insert(tensor);
    if (plan.size() > kMaxShards) {
      return InvalidArgumentError("has over ", kMaxShards, " files");
    }
  }
  return plan;
}

// The tensors of all shards.
class Collection {
 public:
  explicit Collection(const Plan& plan) {
    for (const auto& [file, tensors] : plan) named_.insert(tensors.begin(), tensors.end());
  }

  absl::Status Add(const Checkpoint& shard, const std::set<std::string>& wanted) {
    for (const std::string& tensor : wanted) {
      if (!shard.Has(tensor)) {
        return InvalidArgumentError("says that ", tensor, " is in ", shard.name(),
                                    ", which lacks it");
      }
    }
    for (const auto& [name, tensor] : shard.tensors()) {
      // The index names another file for this tensor; it is read from there.
      if (named_.contains(name) && !wanted.contains(name)) continue;
      if (!tensors_.emplace(name, tensor).second) {
        return InvalidArgumentError("does not say which of two files has ", name);
      }
    }
    files_.insert(files_.end(), shard.files().begin(), shard.files().end());
    return absl::OkStatus();
  }

  Checkpoint Take(std::string name) {
    return Checkpoint(std::move(name), std::move(files_), std::move(tensors_));
  }

 private:
  std::set<std::string> named_;  // the tensors of the index
  std::vector<std::shared_ptr<const MappedFile>> files_;
  std::map<std::string, Tensor> tensors_;
};

}  // namespace

absl::StatusOr<Checkpoint> OpenShards(const std::string& index_path, OpenFile open) {
  ASSIGN_OR_RETURN(const nlohmann::json index, ReadJsonObject(index_path));
  const auto wrong = [&](const absl::Status& status) { return Annotate(status, index_path, ": "); };
  const absl::StatusOr<Plan> plan = ParseIndex(index);
  if (!plan.ok()) return wrong(plan.status());
  const std::string folder = index_path.substr(0, index_path.rfind('/') + 1);
  Collection shards(*plan);
  for (const auto& [file, wanted] : *plan) {
    ASSIGN_OR_RETURN(const Checkpoint shard, open(folder + file));
    if (absl::Status status = shards.Add(shard, wanted); !status.ok()) return wrong(status);
  }
  return shards.Take(index_path.substr(index_path.rfind('/') + 1));
}

}  // namespace dragoman
