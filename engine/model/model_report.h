// What can be said of a model directory without loading it: what it is, what of it is missing or
// odd, and what it would take and give on this machine.
//
//   family      Marian (MarianMTModel)
//   network     6 + 6 layers, width 512, 8 heads, feed-forward 2048
//   ...
//   missing     nothing

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
  std::vector<std::string> missing;                        // what keeps the model from loading
  std::vector<std::string> odd;  // what it loads with, but should not have
};

// Opens a directory and reports on it.  Nothing of the weights is read.  The errors are those of
// OpenModelDirectory.
absl::StatusOr<ModelReport> ReportModel(const std::string& directory);

// The bytes that a model takes once it is loaded, and a little more while it loads.  Reads its
// configuration alone.  `selective_output` as in NetworkOptions.  The errors are those of
// OpenModelDirectory.
absl::StatusOr<double> EstimateMemory(const std::string& directory, Precision precision,
                                      bool selective_output);

// The tensors that a network of this kind reads, each with its shape: [rows, columns], or [size].
std::vector<std::pair<std::string, std::vector<int64_t>>> TensorsOf(const ModelSpec& spec,
                                                                    const Checkpoint& checkpoint);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MODEL_MODEL_REPORT_H_
