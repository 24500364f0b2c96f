// Things that the server keeps for principals (server/store/owned_store.h), glossaries and
// translation memories alike: which of them a translation uses.

#ifndef DRAGOMAN_SERVER_API_KEPT_H_
#define DRAGOMAN_SERVER_API_KEPT_H_

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "engine/base/status.h"
#include "server/api/call.h"
#include "server/store/owned.h"

namespace dragoman {

// How long a request with this deadline may wait for the store.
inline absl::Time StoreDeadline(absl::Time deadline) {
  constexpr absl::Duration kMost = absl::Seconds(10);
  return std::min(deadline, absl::Now() + kMost);
}

// Who calls, as the stores want it.
inline Asker AskerOf(const Call& call) {
  return {StoreDeadline(call.deadline()), call.principal()};
}

// What a translation uses.
struct KeptUse {
  const ServerParts& parts;
  Asker asker;
  const std::string& model;  // a name as in TranslateResponse.model
};

// Calls `add` for pointers to the things with these ids, which are in `field` of the request, and
// then for those that the principal or the model uses by default.  INVALID_ARGUMENT if there are
// too many, NOT_FOUND if the principal does not see one that it asks for; one by default is not
// missed.
template <typename Store, typename Ids, typename Add>
absl::Status AddKept(const KeptUse& use, Store* store, const char* field, const Ids& ids,
                     const google::protobuf::RepeatedPtrField<v1::DefaultIds>& defaults,
                     const Add& add) {
  constexpr int kMaxIds = 16;
  if (ids.size() > kMaxIds) {
    return InvalidField(field, "are ", ids.size(), ", the most is ", kMaxIds);
  }
  for (const std::string& id : ids) {
    ASSIGN_OR_RETURN(const auto thing, store->Find(use.asker, id));
    add(thing);
  }
  const auto is_for = [](const std::string& wanted, const std::string& name) {
    return wanted.empty() || wanted == name;
  };
  for (const v1::DefaultIds& by_default : defaults) {
    if (!is_for(by_default.principal(), use.asker.principal)) continue;
    if (!is_for(by_default.model(), use.model)) continue;
    for (const std::string& id : by_default.ids()) {
      const auto thing = store->Find(use.asker, id);
      if (absl::IsUnavailable(thing.status())) return thing.status();
      if (thing.ok()) add(*thing);
    }
  }
  return absl::OkStatus();
}

// Sets what all things have in common.
template <typename Proto>
void Describe(const Owned& thing, bool survives, const Call& call, Proto* proto) {
  proto->set_id(thing.id);
  proto->set_name(thing.name);
  proto->set_shared(thing.shared || thing.owner.empty());
  proto->set_version(thing.version);
  proto->mutable_create_time()->set_seconds(absl::ToUnixSeconds(thing.created));
  proto->set_read_only(!thing.IsChangedBy(call.principal()));
  proto->set_temporary(!thing.read_only && !survives);
}

// Appends an element unless it is there already.
template <typename T>
void AppendNew(const T& element, std::vector<T>* all) {
  if (!absl::c_linear_search(*all, element)) all->push_back(element);
}

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_KEPT_H_
