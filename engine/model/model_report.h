// Describes a model directory without loading it: what the model is, what is missing or unused,
// and the memory and speed to expect on this machine.
//
//   family      Marian (MarianMTModel)
//   network     6 + 6 layers, width 512, 8 heads, feed-forward 2048
//   ...
//   missing     nothing
//   unused      nothing

#ifndef DRAGOMAN_ENGINE_MODEL_MODEL_REPORT_H_
#define DRAGOMAN_ENGINE_MODEL_MODEL_REPORT_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/families/model_directory.h"

namespace dragoman {

struct ModelReport {
  std::vector<std::pair<std::string, std::string>> lines;  // a heading and a text
  std::vector<LanguagePair> languages;                     // tags; empty if the files do not say
  // What prevents the model from loading.
  std::vector<std::string> missing;
  std::vector<std::string> unused;  // tensors for which the network has no use
};

// Opens a directory, with the adapter of `lora` unless that is empty, and describes it.  None of
// the weights are read.  The errors are those of OpenModelDirectory.
absl::StatusOr<ModelReport> ReportModel(const std::string& directory, const std::string& lora = "");

// Whether the files beside the weights, which need not be there yet, describe a model that this
// engine supports.  The errors are those of OpenModelDirectory.
absl::Status CheckWithoutWeights(const std::string& directory);

// The bytes that a model takes.
struct MemoryEstimate {
  double kept = 0;     // once it is loaded
  double loading = 0;  // more than that while it loads
};

// Reads only the configuration.  `selective_output` as in NetworkOptions.  The errors are those of
// OpenModelDirectory.
absl::StatusOr<MemoryEstimate> EstimateMemory(const std::string& directory, Precision precision,
                                              bool selective_output);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_MODEL_REPORT_H_
