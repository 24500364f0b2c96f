#include "documents/container.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/base/xml_events.h"

namespace dragoman {
namespace {

// Members that are larger than this and packed closer than kMaxRatio are bombs, not text.
constexpr uint64_t kSmall = 4 << 20;
constexpr size_t kBytesOfMember = 512;  // in the lists of members and of readers
constexpr const char* kDamaged = "is damaged in the archive";

// The name leads nowhere but into the container.
absl::Status CheckName(const std::string& name) {
  const std::vector<std::string> folders = absl::StrSplit(name, '/');
  const bool leads_out = std::find(folders.begin(), folders.end(), "..") != folders.end();
  if (!leads_out && !name.starts_with('/') && name.find('\0') == name.npos) {
    return absl::OkStatus();
  }
  return InvalidArgumentError("names \"", ValidUtf8(name), "\", want a path within the file");
}

absl::Status NotAContainer(absl::Span<const std::byte> bytes) {
  constexpr std::string_view kCompoundFile = "\xd0\xcf\x11\xe0";
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with(kCompoundFile)) {
    return absl::InvalidArgumentError(
        "is in the format of Office before 2007, or encrypted with a password");
  }
  return absl::InvalidArgumentError("is not a zip, or is cut off");
}

// All members that are translated are XML.  One that was spelled wrong is found here rather than by
// who reads the file.
absl::Status CheckWritten(std::string_view part, Patience* patience) {
  const absl::Status read = ReadXmlEvents(part, patience, XmlKind::kXhtml).status();
  if (!absl::IsInvalidArgument(read)) return read;
  return InternalError("the translation is not XML that can be read: ", read.message());
}

}  // namespace

absl::Status InMember(const std::string& name, const absl::Status& status) {
  return Annotate(status, ValidUtf8(name) + ": ");
}

std::string ResolveMember(std::string_view base, std::string_view address) {
  address = address.substr(0, address.find('#'));
  std::string decoded;
  for (size_t i = 0; i < address.size(); ++i) {
    const auto digit = [&](size_t at) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      return at < address.size() ? kDigits.find(static_cast<char>(address[at] | 0x20))
                                 : kDigits.npos;
    };
    const size_t high = digit(i + 1), low = digit(i + 2);
    if (address[i] == '%' && high != address.npos && low != address.npos) {
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      decoded += address[i];
    }
  }
  std::vector<std::string> path;
  if (!decoded.starts_with('/')) path = absl::StrSplit(std::string(base), '/');
  if (!path.empty()) path.pop_back();
  for (const std::string& folder : std::vector<std::string>(absl::StrSplit(decoded, '/'))) {
    if (folder == "..") {
      if (!path.empty()) path.pop_back();
    } else if (!folder.empty() && folder != ".") {
      path.push_back(folder);
    }
  }
  return absl::StrJoin(path, "/");
}

absl::StatusOr<std::unique_ptr<Document>> Container::Open(const std::string& input,
                                                          const std::string& output,
                                                          const DocumentOptions& options,
                                                          Finder find) {
  ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, MappedFile::Open(input));
  if (!ZipArchive::IsZip(file->bytes())) return NotAContainer(file->bytes());
  ASSIGN_OR_RETURN(ZipArchive archive,
                   ZipArchive::Open(file->bytes(), std::numeric_limits<uint64_t>::max()));
  for (const ZipArchive::Entry& entry : archive.entries()) {
    RETURN_IF_ERROR(CheckName(entry.name));
  }
  std::unique_ptr<Container> container(new Container(std::move(file), std::move(archive), options));
  Patience& patience = container->patience_;
  if (!patience.Takes(kBytesOfMember * container->entries().size())) return patience.status();
  ASSIGN_OR_RETURN(container->readers_, find(container.get(), options));
  RETURN_IF_ERROR(patience.status());
  container->kept_ = patience.taken();
  ASSIGN_OR_RETURN(container->writer_, ZipWriter::Create(output));
  return std::unique_ptr<Document>(std::move(container));
}

absl::StatusOr<std::string> Container::Unpack(const ZipArchive::Entry& entry) {
  if (entry.size > options_.max_part_bytes) {
    return InvalidArgumentError("has ", entry.size, " bytes, the most is ",
                                options_.max_part_bytes);
  }
  if (entry.size > kSmall && entry.size / ZipArchive::kMaxRatio > entry.packed.size()) {
    return InvalidArgumentError("claims ", entry.size, " bytes out of ", entry.packed.size());
  }
  if (entry.size > options_.max_total_bytes - total_bytes_) {
    return InvalidArgumentError("and the parts before it have more than ", options_.max_total_bytes,
                                " bytes, which is the most");
  }
  total_bytes_ += entry.size;
  if (!patience_.Takes(entry.size) || !patience_.Lasts(entry.size)) return patience_.status();
  absl::StatusOr<std::string> content = archive_.Read(entry);
  if (!content.ok()) return absl::InvalidArgumentError(kDamaged);
  return content;
}

absl::Status Container::Copy(const ZipArchive::Entry& entry) {
  if (!patience_.Lasts(kBytesOfMember + entry.packed.size())) return patience_.status();
  if (entry.size <= options_.max_total_bytes - checked_bytes_) {
    checked_bytes_ += entry.size;
    if (!patience_.Lasts(entry.size)) return patience_.status();
    if (!archive_.Check(entry).ok()) {
      return InMember(entry.name, absl::InvalidArgumentError(kDamaged));
    }
  }
  return writer_->Copy(entry);
}

absl::StatusOr<std::string> Container::Read(const std::string& name) {
  const ZipArchive::Entry* const entry = archive_.Find(name);
  if (entry == nullptr) return InvalidArgumentError("has no member ", ValidUtf8(name));
  absl::StatusOr<std::string> content = Unpack(*entry);
  if (!content.ok()) return InMember(name, content.status());
  return content;
}

absl::StatusOr<std::vector<Passage>> Container::ReadMember(const ZipArchive::Entry& entry) {
  const auto reader = readers_.find(entry.name);
  if (reader == readers_.end()) return std::vector<Passage>();
  patience_.ReturnTo(kept_);
  absl::StatusOr<std::string> content = Unpack(entry);
  if (!content.ok()) return InMember(entry.name, content.status());
  content_ = *std::move(content);
  absl::StatusOr<std::vector<Passage>> passages = reader->second(content_, &patience_);
  if (!passages.ok()) return InMember(entry.name, passages.status());
  return passages;
}

absl::StatusOr<std::optional<absl::Span<const Passage>>> Container::Next() {
  for (; next_ < entries().size(); ++next_) {
    const ZipArchive::Entry& entry = entries()[next_];
    ASSIGN_OR_RETURN(passages_, ReadMember(entry));
    if (HasText(passages_)) {
      name_ = ValidUtf8(entry.name);
      return passages_;
    }
    RETURN_IF_ERROR(passages_.empty() ? Copy(entry)
                                      : WriteMember(PassageTranslations(passages_.size())));
    file_->Forget(entry.packed);
  }
  RETURN_IF_ERROR(file_->whole());
  if (writer_ != nullptr) RETURN_IF_ERROR(std::exchange(writer_, nullptr)->Finish());
  return std::nullopt;
}

absl::Status Container::Write(const PassageTranslations& translations) {
  RETURN_IF_ERROR(WriteMember(translations));
  file_->Forget(entries()[next_].packed);
  ++next_;
  return absl::OkStatus();
}

absl::Status Container::WriteMember(const PassageTranslations& translations) {
  const ZipArchive::Entry& entry = entries()[next_];
  const std::string written = Splice(content_, passages_, translations, &patience_);
  RETURN_IF_ERROR(patience_.status());
  const bool same = written == content_;
  passages_ = std::vector<Passage>();
  content_.clear();
  content_.shrink_to_fit();
  if (same) return writer_->Copy(entry);
  patience_.ReturnTo(kept_);
  RETURN_IF_ERROR(InMember(entry.name, CheckWritten(written, &patience_)));
  return writer_->Replace(entry, written);
}

}  // namespace dragoman
