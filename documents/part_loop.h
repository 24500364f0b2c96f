// A file whose passages are translated by requests, as the server and `dragoman translate-file` do
// it: part after part, each of which is written when all of its passages are answered.
//
//   PartLoop parts("report.docx", std::move(document), warn);
//   while (Next() is true) {
//     for each of passages() with text: send it;  Take(its number, AnswerOf(...)), in any order
//     Write()
//   }
//
// How requests are sent, and what is known from an earlier run, is the business of who has the
// loop.  Used by one thread at a time.

#ifndef DRAGOMAN_DOCUMENTS_PART_LOOP_H_
#define DRAGOMAN_DOCUMENTS_PART_LOOP_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "documents/document.h"
#include "dragoman/v1/translation.pb.h"

namespace dragoman {

// What a request for a passage says of it.  Strings of a program have literals of their own, unless
// `asked` wants none.
v1::Markup MarkupOf(const Passage& passage);
v1::Literals LiteralsOf(const DocumentFormat& format, v1::Literals asked);

// What became of a passage.
struct PassageAnswer {
  std::string text;     // the translation
  std::string error;    // why there is none; empty if there is
  std::string warning;  // what a reader of the translation should know of it
  int faults = 0;       // literals and numbers that it lacks
  bool stays = false;   // a sentence of it is that of the source

  bool is_untranslated() const { return stays || !error.empty(); }
};
PassageAnswer AnswerOf(const Passage& passage, const v1::Translation& translation);

class PartLoop {
 public:
  using Warn = std::function<void(const std::string& warning)>;

  // `file` is its name in messages.
  PartLoop(std::string file, std::unique_ptr<Document> document, Warn warn)
      : file_(std::move(file)), document_(std::move(document)), warn_(std::move(warn)) {}

  // Goes on to the next part, if there is one; without one, the output is complete.
  absl::StatusOr<bool> Next();
  const std::string& part() const { return part_; }
  absl::Span<const Passage> passages() const { return passages_; }
  // The part, "report.docx, word/document.xml", and with the line of a passage.
  std::string Place() const { return part_.empty() ? file_ : file_ + ", " + part_; }
  std::string At(size_t passage) const {
    return Place() + ", line " + std::to_string(passages_[passage].line);
  }
  // Warns of what is wrong with it, too.
  void Take(size_t passage, const PassageAnswer& answer);
  absl::Status Write() { return document_->Write(translations_); }

 private:
  const std::string file_;
  const std::unique_ptr<Document> document_;
  const Warn warn_;
  std::string part_;
  absl::Span<const Passage> passages_;
  PassageTranslations translations_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_PART_LOOP_H_
