#include "engine/text/html_elements.h"

#include <string>
#include <unordered_map>

#include "engine/base/name_list.h"

namespace dragoman {
namespace {

using Kinds = std::unordered_map<std::string_view, HtmlKind>;

// For each of `names`, which a space follows.
template <typename Action>
void ForEach(std::string_view names, Action action) {
  for (size_t end; (end = names.find(' ')) != names.npos; names.remove_prefix(end + 1)) {
    action(names.substr(0, end));
  }
}

Kinds MakeKinds() {
  Kinds kinds;
  const auto set = [&kinds](std::string_view names, auto what, auto value) {
    ForEach(names, [&](std::string_view name) { kinds[name].*what = value; });
  };
  // What browsers show as a block of its own, and what is a text of its own within a line, such as
  // a label.
  set("address article aside audio base basefont bgsound blockquote body button canvas caption "
      "center col colgroup datalist dd details dialog dir div dl dt fieldset figcaption figure "
      "footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html label legend li "
      "link listing main menu meta nav noframes noscript object ol optgroup option p plaintext pre "
      "search "
      "section select summary table tbody td template tfoot th thead title tr ul video xmp ",
      &HtmlKind::block, true);
  set("area base basefont bgsound br col embed frame hr img input keygen link meta param source "
      "track wbr ",
      &HtmlKind::is_void, true);
  set("br ", &HtmlKind::breaks, true);
  const std::string_view sealed =
      "iframe math noembed noframes plaintext script style svg textarea xmp ";
  set(sealed, &HtmlKind::copied, true);
  set(sealed, &HtmlKind::sealed, true);
  set("code kbd listing pre rp rt rtc samp var ", &HtmlKind::copied, true);
  set("iframe noembed rp rt rtc script style svg textarea ", &HtmlKind::hidden, true);
  set("listing plaintext pre xmp ", &HtmlKind::keeps_space, true);
  set("textarea title ", &HtmlKind::content, HtmlContent::kRcdata);
  set("iframe noembed noframes style xmp ", &HtmlKind::content, HtmlContent::kRawText);
  set("script ", &HtmlKind::content, HtmlContent::kScript);
  set("plaintext ", &HtmlKind::content, HtmlContent::kPlaintext);
  return kinds;
}

}  // namespace

HtmlKind KindOfHtml(std::string_view name) {
  static const Kinds& kinds = *new Kinds(MakeKinds());
  const auto found = kinds.find(name);
  return found == kinds.end() ? HtmlKind() : found->second;
}

bool EndsOpenElement(std::string_view open, std::string_view next, bool next_is_block) {
  static constexpr struct {
    std::string_view open, next;
  } kRules[] = {
      {" li ", " li "},
      {" dd dt ", " dd dt "},
      {" td th ", " td th tr tbody tfoot thead "},
      {" tr ", " tr tbody tfoot thead "},
      {" tbody tfoot thead ", " tbody tfoot thead "},
      {" option ", " option optgroup "},
      {" optgroup ", " optgroup "},
      {" head ", " body "},
  };
  if (open == "p") return next_is_block;
  for (const auto& rule : kRules) {
    if (IsAmong(open, rule.open)) return IsAmong(next, rule.next);
  }
  return false;
}

bool IsForeignRoot(std::string_view name) { return name == "svg" || name == "math"; }

bool HoldsHtml(std::string_view foreign_name) {
  return IsAmong(foreign_name, " annotation-xml desc foreignobject mi mn mo ms mtext title ");
}

bool LeavesForeign(std::string_view name) {
  return IsAmong(name,
                 " b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 "
                 "head hr i img li listing menu meta nobr ol p pre ruby s small span strike strong "
                 "sub sup table tt u ul var ");
}

}  // namespace dragoman
