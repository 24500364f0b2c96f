// A file that is a zip of members, of which some are translated.
//
//   ASSIGN_OR_RETURN(auto container, Container::Open(input, output, options, &FindMembers));
//
// Members are read, translated and written in the order in which they lie.  Those that have nothing
// to be translated are copied as they lie there, compressed: pictures, macros, embedded files.
//
// The file is untrusted.  Only members that are translated are unpacked, one after another, within
// the limits of DocumentOptions.

#ifndef DRAGOMAN_DOCUMENTS_CONTAINER_H_
#define DRAGOMAN_DOCUMENTS_CONTAINER_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "documents/document.h"
#include "engine/base/mapped_file.h"
#include "engine/base/patience.h"
#include "engine/base/zip_archive.h"
#include "engine/base/zip_writer.h"

namespace dragoman {

// Finds the passages of a member.  A passage without text is not translated: what its `write` makes
// of "" takes its place.
using MemberReader =
    std::function<absl::StatusOr<std::vector<Passage>>(std::string_view part, Patience* patience)>;
using MemberReaders = std::map<std::string, MemberReader>;  // by the name of the member

class Container : public Document {
 public:
  // Says which members are translated.
  using Finder = absl::StatusOr<MemberReaders> (*)(Container* container,
                                                   const DocumentOptions& options);

  static absl::StatusOr<std::unique_ptr<Document>> Open(const std::string& input,
                                                        const std::string& output,
                                                        const DocumentOptions& options,
                                                        Finder find);

  // For Finders: the content of a member.  INVALID_ARGUMENT if there is none of that name, or it is
  // damaged or too large.
  absl::StatusOr<std::string> Read(const std::string& name);
  Patience* patience() { return &patience_; }
  bool Has(const std::string& name) const { return archive_.Find(name) != nullptr; }
  const std::vector<ZipArchive::Entry>& entries() const { return archive_.entries(); }

  absl::StatusOr<std::optional<absl::Span<const Passage>>> Next() override;
  std::string_view part() const override { return name_; }
  absl::Status Write(const PassageTranslations& translations) override;

 private:
  Container(std::shared_ptr<const MappedFile> file, ZipArchive archive, DocumentOptions options)
      : file_(std::move(file)),
        archive_(std::move(archive)),
        options_(std::move(options)),
        patience_(options_) {}

  absl::StatusOr<std::string> Unpack(const ZipArchive::Entry& entry);
  absl::StatusOr<std::vector<Passage>> ReadMember(const ZipArchive::Entry& entry);
  absl::Status WriteMember(const PassageTranslations& translations);
  // Copies a member that is not translated.  A damaged one is found as long as those before it do
  // not fill max_total_bytes: no more is unpacked.
  absl::Status Copy(const ZipArchive::Entry& entry);

  const std::shared_ptr<const MappedFile> file_;
  const ZipArchive archive_;
  const DocumentOptions options_;
  Patience patience_;
  MemberReaders readers_;
  std::unique_ptr<ZipWriter> writer_;
  size_t total_bytes_ = 0;    // unpacked
  size_t checked_bytes_ = 0;  // of what was copied
  size_t kept_ = 0;           // memory, whichever member is translated
  size_t next_ = 0;           // entry
  // The member that is translated.
  std::string name_, content_;  // of which the name is made valid UTF-8
  std::vector<Passage> passages_;
};

// INVALID_ARGUMENT: "word/document.xml: what".
absl::Status InMember(const std::string& name, const absl::Status& status);

// The name of the member to which `address`, as written in the member `base`, leads: percent signs
// decoded, "../" resolved, without "#...".
std::string ResolveMember(std::string_view base, std::string_view address);

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_CONTAINER_H_
