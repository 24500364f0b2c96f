// Glossaries that outlive their requests: in the store, or files of the operator's
// (glossary_text.h), which may be called NAME.csv or NAME.tbx (tbx.h), too.
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_GLOSSARIES_GLOSSARY_STORE_H_
#define DRAGOMAN_SERVER_GLOSSARIES_GLOSSARY_STORE_H_

#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/glossaries/glossary_text.h"
#include "server/store/owned_store.h"

namespace dragoman {

// A glossary in memory.
struct StoredGlossary : Owned {
  TermLists dictionaries;
};
using GlossaryPtr = std::shared_ptr<const StoredGlossary>;

class GlossaryStore final : public OwnedStore<StoredGlossary> {
 public:
  static const OwnedKind& Kind();

  explicit GlossaryStore(const StoreParts& parts) : OwnedStore(parts, Kind()) {}

  // The files of a directory; the errors of OwnedFiles::Open.
  static absl::StatusOr<std::unique_ptr<Files>> OpenFiles(const std::string& directory);

  // Stores a new one for its owner.  INVALID_ARGUMENT as CheckGlossary and, for the entries of each
  // pair of languages, CheckSources, and the errors of OwnedRows::Create.
  absl::StatusOr<Owned> Create(absl::Time until, GlossaryText glossary, const std::string& id = "",
                               bool unique = false);
  // Stores what `edit` makes of it, as the next version; the owner stays.  Also the errors of
  // OwnedRows::Change.  `edit` may be called again.
  absl::StatusOr<Owned> Update(const Asker& asker, const std::string& id,
                               absl::FunctionRef<absl::Status(GlossaryText*)> edit);

 private:
  absl::StatusOr<Ptr> Load(Connection* connection, Owned thing, const Ptr& before) const override;
  bool IsShared() const override { return false; }
  int64_t IndexBytes(const Owned& thing) const override;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_GLOSSARIES_GLOSSARY_STORE_H_
