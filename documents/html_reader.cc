// HTML: the server reads it as browsers do (docs/markup.md), and keeps what is not text, so a file
// is translated as it is.  It is only cut, because a request's text has a limit:
//
//   <ul><li>One</li>|<li>Two</li></ul>|<script>...</script>|<p>Three</p>
//
// before the start tag and after the end tag of a block, unless it is inside of an element whose
// content is copied, or that says how its content is translated (translate="no"); what is in such
// an element means nothing by itself.  Scripts, styles and comments between blocks are no part of
// a passage, because they may be long, and images that are written into a page ("data:...") stand
// in it as a short name.  If <html> says that the page is in the source language, it says
// afterwards that it is in the target language.

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "documents/inline_text.h"
#include "documents/passage_list.h"
#include "documents/readers.h"
#include "documents/source_text.h"
#include "engine/base/patience.h"
#include "engine/base/template_tags.h"

namespace dragoman {
namespace {

constexpr size_t kWantedBytes = 6000;  // of a passage, unless a block has more
constexpr size_t kMostBytes = 12000;   // of a passage, if its text can be cut at all
constexpr size_t kLongestData = 200;   // bytes of an attribute

bool IsBlock(std::string_view name) {
  return IsAmong(name,
                 " address article aside blockquote body caption center dd details dialog dir div "
                 "dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header "
                 "hgroup hr html legend li link main menu meta nav noscript ol option p pre script "
                 "search "
                 "section select style summary table tbody td tfoot th thead title tr ul ");
}

// Its content is not HTML; it ends at its end tag alone.
bool IsRaw(std::string_view name) {
  return IsAmong(name, " iframe noembed noframes script style textarea title xmp ");
}

// Its content must not be cut.
bool IsSealed(std::string_view name) {
  return IsAmong(name, " button code kbd listing math pre samp svg template var ");
}

bool IsVoid(std::string_view name) {
  return IsAmong(name, " area base br col embed hr img input link meta param source track wbr ");
}

// Whether it is XHTML: by its declaration, or the namespace of its first element.
bool IsXhtml(std::string_view part) {
  constexpr size_t kMostHead = 2048;
  return part.starts_with("<?xml") ||
         part.substr(0, kMostHead).find("\"http://www.w3.org/1999/xhtml\"") != part.npos;
}

// Whether something in it is to be translated: translate="yes".
bool SaysYes(std::string_view html) {
  for (size_t at = html.find("translate="); at != html.npos; at = html.find("translate=", at + 1)) {
    const size_t value = html.find_first_not_of("\"' ", at + 10);
    if (value != html.npos && html.substr(value).starts_with("yes")) return true;
  }
  return false;
}

// Replaces long values of attributes that begin with "data:" in a text, and returns them by the
// names that stand for them.
std::vector<std::pair<std::string, std::string>> TakeData(std::string* text) {
  std::vector<std::pair<std::string, std::string>> taken;
  std::string out;
  size_t from = 0;
  for (size_t at; (at = text->find("data:", from)) != text->npos;) {
    const char quote = at > 1 && (*text)[at - 2] == '=' ? (*text)[at - 1] : ' ';
    const size_t end = quote == '"' || quote == '\'' ? text->find(quote, at) : text->npos;
    const bool taking = end != text->npos && end - at > kLongestData;
    out += text->substr(from, at - from);
    from = taking ? end : at + 1;
    if (taking) {
      taken.emplace_back(absl::StrCat("#data-", taken.size() + 1, ";"), text->substr(at, end - at));
      out += taken.back().first;
    } else {
      out += 'd';
    }
  }
  *text = out + text->substr(from);
  return taken;
}

struct HtmlTag {
  std::string name;  // lower case
  bool end_tag = false;
  size_t begin = 0, end = 0;
};

// Steps through the tags of a part.
class HtmlScanner {
 public:
  explicit HtmlScanner(std::string_view part) : part_(part) {}

  // The next tag, or a comment or template tag, whose name is "!"; false at the end.
  bool Next(HtmlTag* tag) {
    while ((at_ = part_.find_first_of("<{", at_)) != part_.npos && at_ + 1 < part_.size()) {
      if (const size_t size = TemplateTagSize(part_.substr(at_)); size > 0) {
        *tag = {"!", false, at_, at_ + size};
        at_ += size;
        return true;
      }
      const char next = part_[at_ + 1];
      if (part_[at_] == '<' && (next == '!' || next == '?')) return Comment(tag);
      const bool end_tag = next == '/';
      const size_t name = at_ + 1 + end_tag;
      if (part_[at_] == '<' && name < part_.size() &&
          absl::ascii_isalpha(static_cast<unsigned char>(part_[name]))) {
        return TagAt(name, end_tag, tag);
      }
      ++at_;
    }
    return false;
  }

  // Moves past the end tag of an element whose start tag was read.
  void Skip(std::string_view name) {
    for (; (at_ = part_.find("</", at_)) != part_.npos; at_ += 2) {
      if (IsNamed(part_.substr(at_ + 2, name.size()), name)) {
        at_ = std::min(part_.find('>', at_), part_.size() - 1) + 1;
        return;
      }
    }
    at_ = part_.size();
  }
  size_t at() const { return std::min(at_, part_.size()); }

 private:
  bool Comment(HtmlTag* tag) {
    const bool comment = part_.substr(at_).starts_with("<!--");
    const size_t close = part_.find(comment ? "-->" : ">", at_ + (comment ? 2 : 0));
    *tag = {"!", false, at_};
    at_ = close == part_.npos ? part_.size() : close + (comment ? 3 : 1);
    tag->end = at_;
    return true;
  }

  bool TagAt(size_t name, bool end_tag, HtmlTag* tag) {
    const size_t name_end = std::min(part_.find_first_of(" \t\r\n\f/>", name), part_.size());
    *tag = {std::string(part_.substr(name, name_end - name)), end_tag, at_};
    absl::AsciiStrToLower(&tag->name);
    for (at_ = name_end; at_ < part_.size() && part_[at_] != '>'; ++at_) {
      // A quote after "=" hides ">".
      const size_t quote = part_[at_] == '=' ? part_.find_first_not_of(" \t\r\n", at_ + 1) : at_;
      if (part_[at_] != '=' || quote == part_.npos) continue;
      if (part_[quote] != '"' && part_[quote] != '\'') continue;
      at_ = std::min(part_.find(part_[quote], quote + 1), part_.size() - 1);
    }
    at_ = std::min(at_ + 1, part_.size());
    tag->end = at_;
    return true;
  }

  const std::string_view part_;
  size_t at_ = 0;
};

class HtmlCutter {
 public:
  HtmlCutter(std::string_view part, const DocumentOptions& options)
      : part_(part),
        options_(options),
        is_xhtml_(IsXhtml(part)),
        patience_(options),
        scanner_(part),
        lines_(part) {}

  Passages Cut() && {
    HtmlTag tag;
    for (size_t begin = 0; scanner_.Next(&tag); begin = scanner_.at()) {
      if (!patience_.Lasts(scanner_.at() - begin)) return patience_.status();
      if (sealed_.empty()) CutText(begin, tag.begin);
      if (!sealed_.empty()) {
        Inside(tag);
      } else if (IsClosed(tag) && (IsRaw(tag.name) || Seals(tag))) {
        Add(tag.begin);  // the server would read what follows as its content
        begin_ = block_ = tag.end;
      } else if (tag.name == "!" || (!tag.end_tag && IsRaw(tag.name))) {
        Raw(tag);
      } else if (!tag.end_tag && Seals(tag)) {
        if (IsBlock(tag.name)) MayCut(tag.begin);
        if (!IsVoid(tag.name)) Seal(tag);
      } else if (tag.name == "html" && !tag.end_tag) {
        SetLanguage(tag);
      } else if (IsBlock(tag.name)) {
        MayCut(tag.end_tag ? tag.end : tag.begin);
      } else if (tag.name == "br" && tag.end - begin_ >= kWantedBytes) {
        Add(tag.end);
      }
    }
    if (sealed_.empty()) CutText(scanner_.at(), part_.size());
    Add(part_.size());
    return passages_.Take();
  }

 private:
  // Whether it is an element without content, which only XHTML can say of any: <script/>.
  bool IsClosed(const HtmlTag& tag) const {
    return is_xhtml_ && !tag.end_tag && tag.name != "!" && !IsVoid(tag.name) &&
           part_.substr(tag.begin, tag.end - tag.begin).ends_with("/>");
  }

  bool Seals(const HtmlTag& tag) const {
    std::string bytes(part_.substr(tag.begin, tag.end - tag.begin));
    absl::AsciiStrToLower(&bytes);
    return IsSealed(tag.name) || bytes.find("translate=") != bytes.npos ||
           bytes.find("notranslate") != bytes.npos;
  }

  void Seal(const HtmlTag& tag) {
    sealed_ = tag.name;
    seal_ = tag.begin;
    depth_ = 1;
    const bool closed = part_.substr(tag.begin, tag.end - tag.begin).ends_with("/>");
    if (closed && (tag.name == "svg" || tag.name == "math")) sealed_.clear();
  }

  // Of a page, in lang and xml:lang of <html>, if it is the source language.
  void SetLanguage(const HtmlTag& tag) {
    constexpr std::string_view kName = "lang=", kEnds = "\"' \t\r\n/>", kBefore = " \t\r\n:";
    MayCut(tag.begin);
    std::string bytes(part_.substr(tag.begin, tag.end - tag.begin));
    absl::AsciiStrToLower(&bytes);
    const auto without_region = [](std::string_view language) {
      return language.substr(0, language.find_first_of("-_"));
    };
    for (size_t at = 0; (at = bytes.find(kName, at)) != bytes.npos;) {
      const bool named = kBefore.find(bytes[at - 1]) != kBefore.npos;
      at += kName.size();
      if (at < bytes.size() && (bytes[at] == '"' || bytes[at] == '\'')) ++at;
      const size_t size = std::min(bytes.find_first_of(kEnds, at), bytes.size()) - at;
      const std::string_view said = without_region(std::string_view(bytes).substr(at, size));
      if (!named || said.empty() || options_.target_language.empty() ||
          !IsNamed(said, without_region(options_.source_language))) {
        continue;
      }
      if (begin_ < tag.begin) Add(tag.begin);
      const size_t value = tag.begin + at;
      passages_.Add(Replacement(value, value + size, lines_.At(value), options_.target_language));
      begin_ = block_ = tag.end;
    }
  }

  void Inside(const HtmlTag& tag) {
    if (IsClosed(tag)) return;
    if (!tag.end_tag && IsRaw(tag.name) && sealed_ != "svg") scanner_.Skip(tag.name);
    if (sealed_ == "p" && IsBlock(tag.name)) {  // which ends a <p>, whose end tag is optional
      sealed_.clear();
      return MayCut(tag.end_tag ? tag.end : tag.begin);
    }
    if (tag.name != sealed_) return;
    depth_ += tag.end_tag ? -1 : 1;
    if (depth_ > 0) return;
    // What is not translated need not be sent, unless something in it is.
    std::string bytes(part_.substr(seal_, tag.end - seal_));
    absl::AsciiStrToLower(&bytes);
    const bool copied = sealed_ != "button" && sealed_ != "template" && !SaysYes(bytes);
    if (copied && bytes.size() > kWantedBytes) {
      Add(std::max(seal_, begin_));
      begin_ = block_ = tag.end;
    } else if (IsBlock(sealed_)) {
      MayCut(tag.end);
    }
    sealed_.clear();
  }

  // Text between two tags, of a block that is too long for a passage.
  void CutText(size_t from, size_t to) {
    while (to - begin_ > kMostBytes && to > from) {
      const size_t least = std::max(from, begin_);
      const size_t most = begin_ + kMostBytes;
      const std::string_view text = part_.substr(least, to - least);
      size_t place = least;
      if (most > least) {
        place += CutPlace(text, most - least);
      } else {  // there are many tags; the first place is the best
        const size_t sentence = text.find(". ");
        place += std::min(sentence != text.npos ? sentence + 2 : text.find(' '), text.size());
      }
      if (place >= to || place == begin_) return;
      Add(place);
    }
  }

  // Comments, scripts and the like.
  void Raw(const HtmlTag& tag) {
    if (tag.name != "!") scanner_.Skip(tag.name);
    const bool text = tag.name == "title" || tag.name == "textarea";
    const std::string_view before = part_.substr(block_, tag.begin - block_);
    if (text || before.find_first_not_of(" \t\r\n") != before.npos) return;
    Add(tag.begin);
    begin_ = block_ = scanner_.at();
  }

  // A block begins or ends here.
  void MayCut(size_t place) {
    if (place - begin_ >= kWantedBytes) Add(place);
    block_ = std::max(place, block_);
  }

  // Adds the passage up to here, if it has text.
  void Add(size_t end) {
    const std::string_view bytes = part_.substr(begin_, end - begin_);
    if (HasWords(bytes)) {
      Passage passage = {begin_, end, lines_.At(begin_), std::string(bytes), PassageMarkup::kHtml};
      const auto data = TakeData(&passage.text);
      if (!data.empty()) {
        passage.write = [data](std::string_view translation) {
          return absl::StrReplaceAll(std::string(translation), data);
        };
      }
      passages_.Add(std::move(passage));
    }
    begin_ = end;
  }

  const std::string_view part_;
  const DocumentOptions& options_;
  const bool is_xhtml_;
  Patience patience_;
  HtmlScanner scanner_;
  LineCounter lines_;
  PassageList passages_{&patience_};
  size_t begin_ = 0;    // of the next passage
  size_t block_ = 0;    // where a block began or ended last
  std::string sealed_;  // the element that is not cut
  size_t seal_ = 0;     // where it begins
  int depth_ = 0;       // of elements of that name
};

}  // namespace

Passages ReadHtml(std::string_view part, const DocumentOptions& options) {
  return HtmlCutter(part, options).Cut();
}

}  // namespace dragoman
