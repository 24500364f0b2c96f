// Translates files (documents/document.h) over one connection, several at a time.
//
// A part of a document can be written only when all of its passages are translated.  So that the
// server is not idle meanwhile, the passages of the next files are sent already: parts wait in a
// row, and the first one is written as soon as it is complete.
//
//   a.docx, body ──► b.md ──► c.docx, body        all passages sent, in this order
//   written: its header is sent next, after c's body
//
// Each file has a journal (journal.h) beside its output, OUT.part, and is written as OUT.new, which
// gets its name when it is complete.

#ifndef DRAGOMAN_CLIENT_FILE_TRANSLATOR_H_
#define DRAGOMAN_CLIENT_FILE_TRANSLATOR_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "client/file_list.h"
#include "client/journal.h"
#include "client/pipeline.h"
#include "client/progress.h"
#include "documents/part_loop.h"

namespace dragoman {

// What became of a file.
struct FileReport {
  std::string input;
  std::string output;
  std::string format;
  int64_t segments = 0;
  int64_t words = 0;    // of the source, divided by white space
  int64_t earlier = 0;  // segments that an earlier run has translated
  // Segments that are left as they were, because they failed, or of which a sentence is.
  int64_t untranslated = 0;
  int64_t failed = 0;  // of these
  int64_t faults = 0;  // literals and numbers that translations lack
  bool kept = false;   // the output was there already
  std::vector<std::string> warnings;
  absl::Status error;    // why there is no output
  bool refused = false;  // that is the server's error, not one of the file
};

struct FileTranslatorOptions {
  DocumentOptions document;
  absl::Duration max_wait = absl::Seconds(60);  // as in PipelineOptions
  bool skip_errors = false;                     // leave segments that fail as they are
};

// Used by one thread.
class FileTranslator {
 public:
  // Sends copies of `request` with other contents.  `client`, and `progress` unless it is null,
  // must outlive it.
  FileTranslator(TranslationClient* client, const v1::TranslateRequest& request,
                 const FileTranslatorOptions& options, Progress* progress);
  ~FileTranslator();

  // Translates the files; a report for each is in `reports` in the end, and after an error, too.
  // What is wrong with a file is in its report; an error concerns all of them: the server cannot be
  // reached, or refuses everything.  REQUIRES: called once.
  absl::Status Translate(const std::vector<FileToTranslate>& files,
                         std::vector<FileReport>* reports);

  // After an error: the first passage that is not translated, "report.md, line 12"; or "".
  std::string FailedAt();

 private:
  struct Open;
  struct Place {
    std::shared_ptr<Open> open;
    size_t passage = 0;
  };

  std::shared_ptr<Open> OpenFile(const FileToTranslate& file, FileReport* report);
  absl::Status ReadPart(const std::shared_ptr<Open>& open, bool* more);
  absl::Status SendPart(const std::shared_ptr<Open>& open);
  absl::Status CheckJournal(Open* open);
  absl::Status WritePart(Open* open);
  void Deliver(const TranslationPipeline::Translated& translated);
  void ShowProgress();

  TranslationClient* const client_;
  const v1::TranslateRequest request_;
  const FileTranslatorOptions options_;
  int64_t sent_ = 0;  // to the pipeline

  absl::Mutex mutex_;
  Progress* const progress_ ABSL_PT_GUARDED_BY(mutex_);
  std::deque<Place> waiting_ ABSL_GUARDED_BY(mutex_);  // for their translations
  // Of this run, and of an earlier one: passages, and the bytes of files that they stand for.
  int64_t done_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t earlier_ ABSL_GUARDED_BY(mutex_) = 0;
  double done_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  double earlier_bytes_ ABSL_GUARDED_BY(mutex_) = 0;

  TranslationPipeline pipeline_;  // destroyed first: it may deliver until then
};

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_FILE_TRANSLATOR_H_
