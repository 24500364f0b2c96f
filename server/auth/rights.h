// What a principal may do, as its line of the token file says (token_file.h):
//
//   shop  TOKEN  models=en-de,de-en methods=Translate,ListModels beam=4 priority=batch texts=600
//
//   models    the models that it may use; a translation through a third language uses two
//   methods   the methods that it may call, by their names in translation.proto; or none
//   beam      the largest beam, and the most hypotheses and candidates, that it may ask for
//   priority  batch: its requests wait behind interactive ones
//   texts     that it may have translated or scored in a minute; a passage of a file is one
//   quota     rows of work in a minute (engine/decode/quota.h)
//   burst     and how many of them at once
//   admin     the methods of AdminService (admin.proto) that it may call, or all
//
// A right that is not named is not restricted, except for admin, which nobody has otherwise.
// permit.h judges by these.

#ifndef DRAGOMAN_SERVER_AUTH_RIGHTS_H_
#define DRAGOMAN_SERVER_AUTH_RIGHTS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/decode/quota.h"

namespace dragoman {

using Names = std::set<std::string, std::less<>>;

struct Rights {
  std::optional<Names> models;
  std::optional<Names> methods;
  int beam = 0;  // 0: as large as the server's
  bool only_batch = false;
  int64_t texts_per_minute = 0;  // 0: any number
  Quota quota;
  Names admin;

  bool operator==(const Rights&) const = default;
};

// All methods of AdminService.
const Names& AdminMethods();

// Reads the words of a line, "beam=4".  INVALID_ARGUMENT says what is wanted instead of a word, and
// does not quote it, because it may be a token in the wrong place.  It is also an error if a right
// is named twice, or a burst without a quota.
absl::StatusOr<Rights> ReadRights(const std::vector<std::string>& words);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_AUTH_RIGHTS_H_
