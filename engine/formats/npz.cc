// A .npy file is (numpy/lib/format.py):
//
//   "\x93NUMPY", u8 major, u8 minor, the header's length (u16; from major 2 on u32),
//   {'descr': '<f4', 'fortran_order': False, 'shape': (48, 96), }   in ASCII, padded with spaces
//   the elements

#include "engine/formats/npz.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "engine/base/mapped_file.h"
#include "engine/base/status.h"
#include "engine/base/unpacked_zip.h"
#include "engine/base/zip_archive.h"

namespace dragoman {
namespace {

using Bytes = absl::Span<const std::byte>;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::string_view kSuffix = ".npy";
constexpr size_t kMaxHeader = 1 << 16;

struct ArrayHeader {
  std::string type;
  bool by_columns = false;
  std::vector<int64_t> shape;
};

// Walks through the Python literal of a header.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // Skips `token` if it comes next, and says whether it did.
  bool Take(std::string_view token) {
    text_.remove_prefix(std::min(text_.find_first_not_of(" \n"), text_.size()));
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  std::optional<std::string> TakeString() {
    const char* const quote = Take("'") ? "'" : Take("\"") ? "\"" : nullptr;
    const size_t end = quote == nullptr ? text_.npos : text_.find(*quote);
    if (end == text_.npos) return std::nullopt;
    std::string string(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return string;
  }
  std::optional<int64_t> TakeNumber() {
    Take("");
    int64_t number = 0;
    const auto [stop, error] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
    if (error != std::errc()) return std::nullopt;
    text_.remove_prefix(stop - text_.data());
    Take("L");  // Python 2's suffix of long numbers
    return number;
  }
  bool done() {
    Take("");
    return text_.empty();
  }

 private:
  std::string_view text_;
};

// (), (3,) or (3, 4).
bool TakeShape(Scanner* scanner, std::vector<int64_t>* shape) {
  if (!scanner->Take("(")) return false;
  while (!scanner->Take(")")) {
    const std::optional<int64_t> dimension = scanner->TakeNumber();
    if (!dimension.has_value() || shape->size() == kMaxDimensions) return false;
    shape->push_back(*dimension);
    if (!scanner->Take(",")) return scanner->Take(")");
  }
  return true;
}

std::optional<ArrayHeader> ParseHeader(std::string_view text) {
  Scanner scanner(text);
  ArrayHeader header;
  int fields = 0;
  if (!scanner.Take("{")) return std::nullopt;
  while (!scanner.Take("}")) {
    const std::optional<std::string> key = scanner.TakeString();
    if (!key.has_value() || !scanner.Take(":")) return std::nullopt;
    if (*key == "descr") {
      // The type of a record, which no weight has, is a list.
      std::optional<std::string> type = scanner.TakeString();
      if (!type.has_value()) return std::nullopt;
      header.type = *std::move(type);
      fields |= 1;
    } else if (*key == "fortran_order") {
      header.by_columns = scanner.Take("True");
      if (!header.by_columns && !scanner.Take("False")) return std::nullopt;
      fields |= 2;
    } else if (*key == "shape") {
      if (!TakeShape(&scanner, &header.shape)) return std::nullopt;
      fields |= 4;
    } else {
      return std::nullopt;
    }
    if (!scanner.Take(",") && !scanner.Take("}")) return std::nullopt;
    if (scanner.done()) break;
  }
  return fields == 7 && scanner.done() ? std::optional(header) : std::nullopt;
}

// nullopt for types that no tensor can have, big-endian numbers among them.
std::optional<DType> TypeOf(const std::string& type) {
  static constexpr std::pair<const char*, DType> kTypes[] = {
      {"f4", DType::kF32}, {"f2", DType::kF16}, {"f8", DType::kF64},
      {"i1", DType::kI8},  {"u1", DType::kU8},  {"b1", DType::kBool},
      {"i2", DType::kI16}, {"i4", DType::kI32}, {"i8", DType::kI64}};
  if (type.empty() || type.front() == '>') return std::nullopt;
  for (const auto& [name, dtype] : kTypes) {
    if (type.substr(1) == name) return dtype;
  }
  return std::nullopt;
}

absl::StatusOr<std::optional<Tensor>> ReadArray(Bytes bytes) {
  const auto cut_off = [] {
    return absl::InvalidArgumentError("is not a .npy file, or is cut off");
  };
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(kMagic) || text.size() < 12) return cut_off();
  const bool wide = bytes[6] > std::byte{1};
  const size_t begin = wide ? 12 : 10;
  uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 8, wide ? 4 : 2);
  if (length > std::min(kMaxHeader, bytes.size() - begin)) return cut_off();
  const std::optional<ArrayHeader> header = ParseHeader(text.substr(begin, length));
  if (!header.has_value()) return absl::InvalidArgumentError("has a header that cannot be read");
  const std::optional<DType> dtype = TypeOf(header->type);
  if (!dtype.has_value()) return std::nullopt;
  Tensor tensor;
  tensor.dtype = *dtype;
  tensor.shape = header->shape;
  if (tensor.shape.empty()) tensor.shape = {1};
  for (const int64_t dimension : tensor.shape) {
    if (dimension == 0) return std::nullopt;
    if (dimension < 0 || dimension > kMaxDimension) {
      return InvalidArgumentError("has a dimension of ", dimension);
    }
  }
  tensor.bytes = bytes.subspan(begin + length);
  const std::optional<uint64_t> wanted = BytesFor(tensor.shape, tensor.dtype);
  if (!wanted.has_value() || *wanted != tensor.bytes.size()) {
    return InvalidArgumentError(
        "has ", tensor.bytes.size(), " bytes of elements, want ",
        wanted.has_value() ? absl::StrCat(*wanted) : "more than there can be");
  }
  if (header->by_columns && tensor.shape.size() > 1) {
    if (tensor.shape.size() != 2) {
      return absl::InvalidArgumentError("is in column-major order, want row-major");
    }
    tensor.transposed = true;
  }
  return tensor;
}

// The arrays of an archive and the files that hold them.
struct Archive {
  std::vector<std::shared_ptr<const MappedFile>> files;
  std::vector<std::pair<std::string, Bytes>> arrays;
};

absl::StatusOr<Archive> ReadStored(std::shared_ptr<const MappedFile> file, const ZipArchive& zip) {
  Archive archive{{std::move(file)}, {}};
  for (const ZipArchive::Entry& entry : zip.entries()) {
    archive.arrays.emplace_back(entry.name, entry.stored);
  }
  return archive;
}

// The mapped files stay readable after the unpacked ones are deleted.
absl::StatusOr<Archive> ReadUnpacked(const std::string& path, const ZipArchive& zip) {
  ASSIGN_OR_RETURN(const auto unpacked, UnpackedZip::Open(path));
  Archive archive;
  for (const ZipArchive::Entry& entry : zip.entries()) {
    if (entry.name.ends_with('/')) continue;
    ASSIGN_OR_RETURN(auto file,
                     MappedFile::Open(absl::StrCat(unpacked->directory(), "/", entry.name)));
    archive.arrays.emplace_back(entry.name, file->bytes());
    archive.files.push_back(std::move(file));
  }
  return archive;
}

absl::StatusOr<Checkpoint> Read(const std::string& path) {
  ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  ASSIGN_OR_RETURN(const ZipArchive zip, ZipArchive::Open(file->bytes()));
  const bool compressed = absl::c_any_of(zip.entries(), [](const ZipArchive::Entry& entry) {
    return entry.size > 0 && entry.stored.empty();
  });
  ASSIGN_OR_RETURN(Archive archive, compressed ? ReadUnpacked(path, zip) : ReadStored(file, zip));
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, bytes] : archive.arrays) {
    if (!name.ends_with(kSuffix)) continue;
    absl::StatusOr<std::optional<Tensor>> tensor = ReadArray(bytes);
    if (!tensor.ok()) return Annotate(tensor.status(), name, " ");
    if (tensor->has_value()) {
      tensors.emplace(name.substr(0, name.size() - kSuffix.size()), **std::move(tensor));
    }
  }
  return Checkpoint(path.substr(path.rfind('/') + 1), std::move(archive.files), std::move(tensors));
}

}  // namespace

absl::StatusOr<Checkpoint> OpenNpz(const std::string& path) {
  absl::StatusOr<Checkpoint> checkpoint = Read(path);
  if (checkpoint.ok() || absl::IsNotFound(checkpoint.status())) return checkpoint;
  return Annotate(checkpoint.status(), path, ": ");
}

}  // namespace dragoman
