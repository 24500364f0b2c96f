// Indexes that list models by their languages, for models that are not on the Hub:
//
//   argos:en-de      the packages of Argos Translate and LibreTranslate: a JSON list of packages
//   firefox:de-en    the students in Firefox: a collection of Mozilla's Remote Settings
//
// A model found there is like a repository of the Hub whose files have addresses of their own.

#ifndef DRAGOMAN_CLIENT_MODEL_INDEX_H_
#define DRAGOMAN_CLIENT_MODEL_INDEX_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "client/hub.h"

namespace dragoman {

// For the help of a command that takes such names.
extern const char kModelIndexHelp[];

// A model that is named by an index and its languages.
struct IndexedModel {
  std::string index;      // "argos" or "firefox"
  std::string languages;  // "en-de"
  std::string url;        // of the index, or of a mirror of it

  // "models/argos-en-de", where it is put by default.
  std::string Directory() const { return "models/" + index + "-" + languages; }
};

// Parses "argos:en-de".  Nothing if it is not of that form, such as the name of a repository.
// `mirror` is the address of a mirror; "": that in DRAGOMAN_ARGOS_INDEX or DRAGOMAN_FIREFOX_INDEX,
// or else the index itself.
std::optional<IndexedModel> ParseIndexedModel(const std::string& name, const std::string& mirror);

// Finds the newest version of the model.  NOT_FOUND lists what the index has for these languages;
// UNAVAILABLE: try later; INTERNAL: not an index.
absl::StatusOr<HubRepository> FindInIndex(const IndexedModel& model);

// If `path` is a packed model, unpacks what the server needs beside it, and returns the names of
// the files and directories that then make up the model; otherwise none.
absl::StatusOr<std::vector<std::string>> UnpackModel(const std::string& path);

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_MODEL_INDEX_H_
