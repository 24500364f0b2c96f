// The .npy format (numpy.org/doc/stable/reference/generated/numpy.lib.format.html): a magic number,
// a version, the length of a header, the header (a Python dictionary), then the data.

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/golden/golden.h"

namespace dragoman::golden {
namespace {

constexpr char kMagic[] = "\x93NUMPY\x01";
constexpr size_t kMagicSize = 7;
constexpr size_t kPreambleSize = 10;  // magic, minor version, two bytes of header length

template <typename T>
std::vector<std::vector<float>> Rows(const char* bytes, int rows, int cols) {
  std::vector<std::vector<float>> result(rows, std::vector<float>(cols));
  for (std::vector<float>& row : result) {
    for (float& element : row) {
      T value;
      std::memcpy(&value, bytes, sizeof(T));
      bytes += sizeof(T);
      element = static_cast<float>(value);
    }
  }
  return result;
}

}  // namespace

std::vector<std::vector<float>> ReadNpy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (bytes.size() < kPreambleSize || bytes.compare(0, kMagicSize, kMagic) != 0) {
    throw std::runtime_error(path + " is no .npy file of version 1");
  }
  const size_t header_size =
      static_cast<unsigned char>(bytes[8]) + 256 * static_cast<unsigned char>(bytes[9]);
  const std::string header = bytes.substr(kPreambleSize, header_size);
  int rows = 0;
  int cols = 0;
  const size_t shape = header.find("'shape': (");
  if (shape == std::string::npos || header.find("'fortran_order': False") == std::string::npos ||
      std::sscanf(header.c_str() + shape, "'shape': (%d, %d)", &rows, &cols) != 2) {
    throw std::runtime_error(path + " is no matrix in C order: " + header);
  }
  const bool is_float64 = header.find("'<f8'") != std::string::npos;
  if (!is_float64 && header.find("'<f4'") == std::string::npos) {
    throw std::runtime_error(path + " is neither float32 nor float64: " + header);
  }
  const size_t count = static_cast<size_t>(rows) * static_cast<size_t>(cols);
  const size_t begin = kPreambleSize + header_size;
  if (bytes.size() != begin + count * (is_float64 ? sizeof(double) : sizeof(float))) {
    throw std::runtime_error(path + " has not the bytes that its shape wants: " + header);
  }
  return is_float64 ? Rows<double>(bytes.data() + begin, rows, cols)
                    : Rows<float>(bytes.data() + begin, rows, cols);
}

}  // namespace dragoman::golden
