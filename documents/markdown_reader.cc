// Markdown (CommonMark, with GitHub's tables, task lists and strikethrough): one passage for the
// text of each paragraph, heading, item or cell.  A passage is written in one line, because a line
// break in a paragraph means a space.
//
// What people write beyond that (admonitions, tabs, definitions, shortcodes, attributes, citations,
// MDX) is hidden from the parser by a mask (markdown_mask.h).
//
// Kept as they are: code, front matter, the targets and titles of links, definitions of references,
// equations, footnote marks.  A block of HTML is a passage in HTML.

#include <md4c.h>

#include <algorithm>
#include <climits>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "documents/markdown_inline.h"
#include "documents/markdown_items.h"
#include "documents/markdown_mask.h"
#include "documents/passage_list.h"
#include "documents/readers.h"
#include "documents/source_text.h"
#include "engine/base/patience.h"
#include "engine/base/status.h"
#include "engine/base/template_tags.h"

namespace dragoman {
namespace {

using Event = MarkdownEvent;

Event::Span SpanOf(MD_SPANTYPE type) {
  constexpr std::pair<MD_SPANTYPE, Event::Span> kSpans[] = {
      {MD_SPAN_EM, Event::kEmphasis}, {MD_SPAN_STRONG, Event::kStrong},
      {MD_SPAN_DEL, Event::kStrike},  {MD_SPAN_A, Event::kLink},
      {MD_SPAN_IMG, Event::kImage},   {MD_SPAN_CODE, Event::kCode}};
  for (const auto& [theirs, ours] : kSpans) {
    if (type == theirs) return ours;
  }
  return Event::kNone;
}

// Of what is kept of an event of the block that is read: itself, and what stands there
// (markdown_items.h).
constexpr size_t kBytesOfMarkdownEvent = 3 * sizeof(MarkdownItem) + 4 * sizeof(Event);

// About the memory that md4c takes, which does not tell: something for each line, and a mark for
// each character of the largest block that may mean more than itself.
size_t BytesOfParser(std::string_view source) {
  constexpr std::string_view kMarks = "\\`*_~$[]!<>&|:";
  constexpr size_t kBytesOfLine = 64, kBytesOfDefinition = 192, kBytesOfMark = 64;
  size_t lines = 0, block = 0, largest = 0;
  for (size_t at = 0; at < source.size();) {
    const size_t end = std::min(source.find('\n', at), source.size());
    const std::string_view line = source.substr(at, end - at);
    lines += line.starts_with('[') ? kBytesOfDefinition : kBytesOfLine;
    if (line.find_first_not_of(" \t\r") == line.npos) block = 0;
    block += kBytesOfMark * std::count_if(line.begin(), line.end(),
                                          [&](char c) { return kMarks.find(c) != kMarks.npos; });
    largest = std::max(largest, block);
    at = end + 1;
  }
  return lines + largest;
}

// Hears what md4c finds in `source`, which follows the front matter.
class MarkdownListener {
 public:
  MarkdownListener(std::string_view source, const DocumentOptions& options)
      : source_(source), options_(options), patience_(options) {}

  absl::Status Read() {
    if (source_.size() > INT_MAX) return absl::InvalidArgumentError("is larger than 2 GiB");
    if (!patience_.Takes(BytesOfParser(source_) + 2 * source_.size())) return patience_.status();
    MarkdownMask mask = MaskMarkdown(source_, &patience_);
    mask_ = std::move(mask.bytes);  // source_ is a copy, too
    RETURN_IF_ERROR(patience_.status());
    MD_PARSER parser = {};
    parser.flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS;
    if (mask.is_mdx) parser.flags |= MD_FLAG_NOINDENTEDCODEBLOCKS;
    parser.enter_block = [](MD_BLOCKTYPE type, void*, void* self) { return Of(self).Enter(type); };
    parser.leave_block = [](MD_BLOCKTYPE type, void*, void* self) { return Of(self).Leave(type); };
    parser.enter_span = [](MD_SPANTYPE type, void*, void* self) {
      return Of(self).Add({Event::kBegin, SpanOf(type)});
    };
    parser.leave_span = [](MD_SPANTYPE type, void*, void* self) {
      return Of(self).Add({Event::kEnd, SpanOf(type)});
    };
    parser.text = [](MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* self) {
      return Of(self).Text(type, text, size);
    };
    if (md_parse(mask_.data(), static_cast<MD_SIZE>(mask_.size()), &parser, this) == 0) {
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(patience_.status());
    return absl::InvalidArgumentError("is not Markdown that can be read");
  }

  Passages TakePassages() { return passages_.Take(); }

 private:
  static MarkdownListener& Of(void* self) { return *static_cast<MarkdownListener*>(self); }

  // What is not 0 ends the parser.
  int Go() { return patience_.Lasts(sizeof(Event)) ? 0 : 1; }
  int Enter(MD_BLOCKTYPE type) {
    Finish();
    blocks_.push_back(type);
    return Go();
  }
  int Leave(MD_BLOCKTYPE type) {
    Finish();
    if (!blocks_.empty()) blocks_.pop_back();
    return Go();
  }
  int Add(const Event& event) {
    patience_.Takes(kBytesOfMarkdownEvent);
    events_.push_back(event);
    return Go();
  }

  int Text(MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size) {
    if (type == MD_TEXT_SOFTBR) return Add({Event::kSoftBreak});
    if (type == MD_TEXT_BR) return Add({Event::kHardBreak});
    Event event = {type == MD_TEXT_ENTITY ? Event::kEntity
                   : type == MD_TEXT_HTML ? Event::kHtml
                                          : Event::kText};
    const bool placed =
        !std::less<>()(text, mask_.data()) && std::less<>()(text, mask_.data() + mask_.size());
    if (placed && size > 0) {
      event.begin = static_cast<size_t>(text - mask_.data());
      event.end = event.begin + size;
    }
    return Add(event);
  }

  // What was heard since the block began, or since a block in it ended.
  void Finish() {
    const MD_BLOCKTYPE type = blocks_.empty() ? MD_BLOCK_DOC : blocks_.back();
    if (!events_.empty() && type == MD_BLOCK_HTML) {
      FinishHtml();
    } else if (!events_.empty() && type != MD_BLOCK_CODE) {
      const bool table = type == MD_BLOCK_TH || type == MD_BLOCK_TD;
      const MarkdownBlock block = {.table = table, .line = !table && type != MD_BLOCK_H};
      for (Passage& passage : MarkdownPassages(source_, mask_, events_, block, &patience_)) {
        AddPassage(std::move(passage));
      }
    }
    patience_.Returns(kBytesOfMarkdownEvent * events_.size());
    events_.clear();
  }

  // A block of HTML, if its lines have no other marks in front of them.
  void FinishHtml() {
    const auto first = std::find_if(events_.begin(), events_.end(),
                                    [](const Event& event) { return event.end > 0; });
    if (first == events_.end()) return;
    const size_t begin = first->begin;
    size_t end = begin;
    for (const Event& event : events_) {
      if (event.end == 0) continue;  // a line break
      const std::string_view gap = source_.substr(end, event.begin - end);
      if (event.begin < end || gap.find_first_not_of(" \t\r\n") != gap.npos) return;
      end = event.end;
    }
    std::string_view text = source_.substr(begin, std::min(end, source_.size()) - begin);
    text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
    if (text.starts_with("<!") || text.starts_with("<?") || !HasWords(text)) return;
    if (text.size() <= kMostMarkdownBytes) {
      return AddPassage(HtmlPassage(begin, begin + text.size()));
    }
    absl::StatusOr<std::vector<Passage>> parts = ReadHtml(text, options_);
    if (!parts.ok()) return;
    for (Passage& part : *parts) {
      part.begin += begin;
      part.end += begin;
      AddPassage(std::move(part));
    }
  }

  // What the mask keeps and HTML does not know, as "{ width=50% }", is a comment for the
  // translation.
  Passage HtmlPassage(size_t begin, size_t end) const {
    std::vector<std::pair<std::string, std::string>> kept;
    std::string html;
    for (size_t at = begin; at < end;) {
      size_t next = std::min(mask_.find(MarkdownMask::kKept, at), end);
      html += source_.substr(at, next - at);
      at = next;
      next = std::min(mask_.find_first_not_of(MarkdownMask::kKept, at), end);
      const std::string_view raw = source_.substr(at, next - at);
      at = next;
      if (raw.starts_with('<') || TemplateTagSize(raw) > 0 || raw.empty()) {
        html += raw;
      } else {
        kept.emplace_back(absl::StrCat("<!--\x01", kept.size(), "-->"), raw);
        html += kept.back().first;
      }
    }
    Passage passage = {begin, end, 1, std::move(html), PassageMarkup::kHtml};
    if (!kept.empty()) {
      passage.write = [kept = std::move(kept)](std::string_view translation) {
        return absl::StrReplaceAll(absl::string_view(translation.data(), translation.size()), kept);
      };
    }
    return passage;
  }

  void AddPassage(Passage passage) {
    if (!passages_.empty() && passages_.back().end > passage.begin) return;
    passages_.Add(std::move(passage));
  }

  const std::string_view source_;
  const DocumentOptions& options_;
  Patience patience_;
  std::string mask_;                  // of the source, which is parsed
  std::vector<MD_BLOCKTYPE> blocks_;  // open ones
  std::vector<Event> events_;
  PassageList passages_{&patience_};
};

// The size of the front matter: what is between two lines "---" or "+++" at the beginning.
size_t FrontMatter(std::string_view part) {
  const std::string_view fence = part.substr(0, 3);
  if (fence != "---" && fence != "+++") return 0;
  for (size_t line = part.find('\n'); line != part.npos; line = part.find('\n', line + 1)) {
    const size_t end = std::min(part.find('\n', line + 1), part.size());
    std::string_view text = part.substr(line + 1, end - line - 1);
    text = text.substr(0, text.find_last_not_of(" \t\r") + 1);
    if (text == fence || (text == "..." && fence == "---")) return end;
    // A rule, not front matter: the first line of that is a key.
    if (line < 5 && fence == "---" && text.find(':') == text.npos && !text.starts_with('#')) {
      return 0;
    }
  }
  return 0;
}

// Whether a line divides the head of a GitHub table from its rows: "--|:-:", "> | - | - |".
bool DividesTable(std::string_view line) {
  line = line.substr(std::min(line.size(), line.find_first_not_of(" \t>")));
  return line.find('|') != line.npos && line.find('-') != line.npos && !line.starts_with("- ") &&
         line.find_first_not_of("-:| \t\r") == line.npos;
}

// A text in which such lines have three dashes in each cell, which md4c wants, and GitHub does not.
struct WideTables {
  std::string text;
  std::vector<size_t> added;  // the places of these dashes in it, ascending
};

WideTables WithWideTables(std::string_view source) {
  constexpr size_t kLeast = 3;
  WideTables wide;
  std::string_view above;
  size_t done = 0;  // bytes of the source
  for (size_t begin = 0; begin < source.size();) {
    const size_t end = std::min(source.find('\n', begin), source.size());
    const std::string_view line = source.substr(begin, end - begin);
    const bool divides = above.find('|') != above.npos && DividesTable(line);
    for (size_t at = begin; divides && (at = source.find('-', at)) < end;) {
      const size_t dashes = source.find_first_not_of('-', at);
      at = std::min(dashes, end);
      const size_t size = at - (source.find_last_not_of('-', at - 1) + 1);
      wide.text.append(source, done, at - done);
      for (size_t i = size; i < kLeast; ++i) {
        wide.added.push_back(wide.text.size());
        wide.text += '-';
      }
      done = at;
    }
    above = line;
    begin = end + 1;
  }
  wide.text.append(source, done);
  return wide;
}

constexpr size_t kNoPlace = std::string_view::npos;

// The passages with their places in the source; the end of one that has such dashes is kNoPlace.
Passages ReadWide(const WideTables& wide, const DocumentOptions& options) {
  MarkdownListener listener(wide.text, options);
  RETURN_IF_ERROR(listener.Read());
  ASSIGN_OR_RETURN(std::vector<Passage> passages, listener.TakePassages());
  const auto added_before = [&](size_t place) {
    return std::lower_bound(wide.added.begin(), wide.added.end(), place) - wide.added.begin();
  };
  for (Passage& passage : passages) {
    const auto before = added_before(passage.begin);
    const bool has_some = before != added_before(passage.end);
    passage.begin -= static_cast<size_t>(before);
    passage.end = has_some ? kNoPlace : passage.end - static_cast<size_t>(before);
  }
  return passages;
}

}  // namespace

Passages ReadMarkdown(std::string_view part, const DocumentOptions& options) {
  const size_t skipped = FrontMatter(part);
  const std::string_view source = part.substr(skipped);
  ASSIGN_OR_RETURN(std::vector<Passage> passages, ReadWide(WithWideTables(source), options));
  // What has such a line within, and so no table, is read as it stands.
  const auto is_other = [&](const Passage& passage) { return passage.end == kNoPlace; };
  if (std::any_of(passages.begin(), passages.end(), is_other)) {
    ASSIGN_OR_RETURN(passages, ReadWide({std::string(source), {}}, options));
  }
  LineCounter lines(part);
  for (Passage& passage : passages) {
    passage.begin += skipped;
    passage.end += skipped;
    passage.line = lines.At(passage.begin);
  }
  return passages;
}

}  // namespace dragoman
