// Which role the elements of a part have: their names are looked up with the namespaces that are in
// force where they stand, because programs differ in their prefixes (<w:p>, <ns0:p>, <p>).

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>

#include "absl/strings/ascii.h"
#include "documents/rich_text.h"

namespace dragoman {
namespace {

using Names = std::unordered_map<std::string_view, Role>;

struct Binding {
  size_t end;          // the event after which it is no longer in force
  const Names* names;  // null: none of the vocabulary's
};

class RoleFinder {
 public:
  RoleFinder(std::string_view part, const XmlVocabulary& vocabulary, Patience* patience)
      : part_(part), vocabulary_(vocabulary), patience_(patience) {
    for (const auto& [space, role, names] : vocabulary.elements) {
      for (size_t at = 0, end = 0; end < names.size(); at = end + 1) {
        end = std::min(names.find(' ', at), names.size());
        spaces_[space].emplace(names.substr(at, end - at), role);
      }
    }
  }

  std::vector<Role> Find(absl::Span<const XmlEvent> events) {
    std::vector<Role> roles(events.size(), Role::kOther);
    for (size_t i = 0; i < events.size(); ++i) {
      const XmlEvent& event = events[i];
      if (event.kind == XmlEvent::kStart) {
        const std::string_view tag = part_.substr(event.begin, event.end - event.begin);
        if (tag.find("xmlns") != tag.npos) Bind(tag, event.partner);
        roles[i] = RoleOf(event.name);
      } else if (event.kind == XmlEvent::kEnd) {
        roles[i] = roles[event.partner];
        for (; !bound_.empty() && bound_.back()->back().end == i; bound_.pop_back()) {
          bound_.back()->pop_back();
        }
      }
    }
    return roles;
  }

 private:
  void Bind(std::string_view tag, size_t end) {
    for (const XmlAttribute& attribute : XmlAttributes(tag)) {
      if (!attribute.name.starts_with("xmlns")) continue;
      if (!patience_->Takes(kBytesOfBinding)) return;
      std::string_view prefix = attribute.name.substr(5);
      if (prefix.starts_with(':')) prefix.remove_prefix(1);
      const Names* names = nullptr;
      for (const auto& [space, address] : vocabulary_.spaces) {
        if (address == attribute.value) names = &spaces_[space];
      }
      bindings_[prefix].push_back({end, names});
      bound_.push_back(&bindings_[prefix]);
    }
  }

  Role RoleOf(std::string_view name) const {
    const size_t colon = name.find(':');
    const std::string_view prefix = colon == name.npos ? "" : name.substr(0, colon);
    const std::string_view local = LocalXmlName(name);
    const auto any = spaces_.find("");
    if (any != spaces_.end()) {
      const auto role = any->second.find(absl::AsciiStrToLower(std::string(local)));
      if (role != any->second.end()) return role->second;
    }
    const auto bindings = bindings_.find(prefix);
    if (bindings == bindings_.end() || bindings->second.empty()) return Role::kOther;
    const Names* const names = bindings->second.back().names;
    if (names == nullptr) return Role::kOther;
    const auto role = names->find(local);
    return role == names->end() ? Role::kOther : role->second;
  }

  static constexpr size_t kBytesOfBinding = 192;  // with a prefix that no other one has

  const std::string_view part_;
  const XmlVocabulary& vocabulary_;
  Patience* const patience_;
  std::map<std::string_view, Names> spaces_;
  using Bindings = std::vector<Binding>;  // of a prefix, the innermost last
  std::unordered_map<std::string_view, Bindings> bindings_;
  std::vector<Bindings*> bound_;  // those that have one in force, once for each
};

}  // namespace

std::vector<Role> FindRoles(std::string_view part, absl::Span<const XmlEvent> events,
                            const XmlVocabulary& vocabulary, Patience* patience) {
  return RoleFinder(part, vocabulary, patience).Find(events);
}

}  // namespace dragoman
