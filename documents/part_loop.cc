#include "documents/part_loop.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

std::string WarningOf(const v1::Translation& translation) {
  if (translation.truncated()) return "a sentence was cut at the model's limit";
  if (translation.untranslated_sentences() > 0) {
    return "a sentence stays as it was, because the model lost its words, damaged its literals, or "
           "cannot read so long a word";
  }
  const v1::Hypothesis& best = translation.hypotheses(0);
  if (best.finish_reason() == v1::FINISH_REASON_MAX_LENGTH) {
    return "the translation may be incomplete";
  }
  if (best.finish_reason() == v1::FINISH_REASON_REPETITION) {
    return "the translation began to repeat itself and was cut off";
  }
  std::string lacks;
  for (const v1::LiteralFault& fault : best.quality().literals()) {
    absl::StrAppend(&lacks, lacks.empty() ? "the translation lacks \"" : ", \"", fault.text(),
                    "\"");
  }
  return lacks;
}

}  // namespace

v1::Markup MarkupOf(const Passage& passage) {
  if (passage.markup == PassageMarkup::kHtml) return v1::MARKUP_HTML;
  return passage.markup == PassageMarkup::kXml ? v1::MARKUP_XML : v1::MARKUP_NONE;
}

v1::Literals LiteralsOf(const DocumentFormat& format, v1::Literals asked) {
  return format.strings && asked != v1::LITERALS_OFF ? v1::LITERALS_STRINGS : asked;
}

PassageAnswer AnswerOf(const Passage& passage, const v1::Translation& translation) {
  const v1::Hypothesis& best = translation.hypotheses(0);
  PassageAnswer answer = {.text = best.text(),
                          .warning = WarningOf(translation),
                          .faults = best.quality().literals_size(),
                          .stays = translation.untranslated_sentences() > 0};
  if (IsLost(passage, best.text())) answer.error = "the translation is empty";
  return answer;
}

absl::StatusOr<bool> PartLoop::Next() {
  const absl::StatusOr<std::optional<absl::Span<const Passage>>> passages = document_->Next();
  part_ = std::string(document_->part());
  RETURN_IF_ERROR(passages.status());
  if (!passages->has_value()) return false;
  passages_ = **passages;
  translations_.assign(passages_.size(), std::nullopt);
  return true;
}

void PartLoop::Take(size_t passage, const PassageAnswer& answer) {
  if (answer.error.empty()) translations_[passage] = answer.text;
  const std::string& wrong = answer.error.empty() ? answer.warning : answer.error;
  if (!wrong.empty()) warn_(absl::StrCat(At(passage), ": ", wrong));
}

}  // namespace dragoman
