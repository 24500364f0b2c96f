// How a product walks through its weights.
//
// Outputs are cut into panels, whose weights are contiguous and stay in the second level cache;
// rows are cut into tiles of about the same height, whose sums fit into registers.  All tiles of a
// panel are computed before the next panel, which is prefetched in the meantime.  So a product of
// many rows never waits for memory, and a product of few reads it at full speed.
//
// A panel that is too large for the cache is cut into blocks of inputs.  All tiles are multiplied
// by the first block, then by the second, and so on; a tile continues with the sums that it left in
// y.  The terms of a sum are still added in the order of the inputs, so blocks change no bit.

#ifndef DRAGOMAN_ENGINE_MATH_PANELS_H_
#define DRAGOMAN_ENGINE_MATH_PANELS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "engine/math/matrix.h"

namespace dragoman {

constexpr int kCacheLine = 64;  // bytes

// While it multiplies, a tile may move weights from the second level cache to the first, this many
// bytes ahead.
constexpr int kNear = 1024;

// The rows of a tile's x, at the current position of the loop.  Four rows share a register for
// their address and two for their distances, which is all that there is for twelve rows.  Without
// this class, GCC computes the address of every row again in every iteration.
template <typename T, int kRows>
class RowCursor {
 public:
  RowCursor(const T* x, ptrdiff_t stride) : stride_(stride) {
    for (int g = 0; g < kGroups; ++g) {
      groups_[g] = x + kGroup * g * stride;
      asm("" : "+r"(groups_[g]));  // hides from GCC how they are related
    }
  }
  const T* row(int r) const { return groups_[r / kGroup] + r % kGroup * stride_; }
  void Advance(int n) {
#pragma GCC unroll 4
    for (int g = 0; g < kGroups; ++g) groups_[g] += n;
  }

 private:
  static constexpr int kGroup = 4;
  static constexpr int kGroups = (kRows + kGroup - 1) / kGroup;

  const ptrdiff_t stride_;
  const T* groups_[kGroups];
};

struct PanelShape {
  int width;         // outputs
  size_t bytes;      // of the weights; 0: nothing to prefetch
  int lines;         // cache lines that a kernel reads per iteration: 1, 2 or 4
  int tallest_tile;  // rows
  int blocks = 1;    // of inputs, about equal

  // The most numbers that a tile has.
  static constexpr int kMaxTile = 12 * 32;
};

// Some rows times one panel.
struct PanelTile {
  int panel;
  int block, blocks;  // of the panel; a whole panel is block 0 of 1
  int row, rows;
  // What to prefetch on the way: this many cache lines (at most the shape's, or none) per
  // iteration, starting this many bytes after the beginning of the block.  Each is `stride` bytes
  // after the one before: at most a cache line, so that none is left out.
  size_t prefetch;
  int prefetch_lines;
  int prefetch_stride;
  float* y;  // [rows, width], for the kernel to write
  int y_stride;
};

// Calls multiply(tile) for all rows of `y` and the panels [first_panel, end_panel).
inline void ForEachTile(const PanelShape& shape, int first_panel, int end_panel,
                        MatrixView<float> y, absl::FunctionRef<void(const PanelTile&)> multiply) {
  const int tiles = (y.rows() + shape.tallest_tile - 1) / shape.tallest_tile;
  // Every tile prefetches an equal part of the next panel, one line after the other.  If the first
  // tiles prefetched all of it, they would wait for memory, which would then be idle during the
  // other tiles.  A single tile runs through a panel in one go and prefetches what it will need
  // soon.
  constexpr size_t kSoon = 4096;
  const int lines = (shape.lines + tiles - 1) / std::max(tiles, 1);
  const int fetches = std::max(lines * tiles, 1);  // in one iteration of every tile
  const int stride = (shape.lines * kCacheLine + fetches - 1) / fetches;
  const size_t block_bytes = shape.bytes / shape.blocks;
  const size_t distance = tiles == 1 ? kSoon : block_bytes;
  const size_t part = block_bytes / (shape.lines * kCacheLine) * lines * stride;
  // The first tiles are taller by one row if not all can have the same height.  (No division per
  // tile: one of 64 bits can take 90 cycles, and a tile takes some 1500.)
  const int height = y.rows() / std::max(tiles, 1), higher = y.rows() - height * tiles;
  alignas(kCacheLine) float last[PanelShape::kMaxTile];  // of a panel that is not full
  DRAGOMAN_CHECK(shape.width * shape.tallest_tile <= PanelShape::kMaxTile);
  for (int p = first_panel; p < end_panel; ++p) {
    const int column = p * shape.width;
    const int columns = std::min(shape.width, y.cols() - column);
    const bool full = columns == shape.width;
    // A single tile reads the weights once in any case, and an incomplete panel keeps no sums in y.
    const int blocks = full && tiles > 1 ? shape.blocks : 1;
    for (int block = 0; block < blocks; ++block) {
      for (int t = 0, row = 0, rows = 0; t < tiles; ++t, row += rows) {
        rows = t < higher ? height + 1 : height;
        multiply({.panel = p,
                  .block = block,
                  .blocks = blocks,
                  .row = row,
                  .rows = rows,
                  .prefetch = distance + t * part,
                  .prefetch_lines = t * part < block_bytes ? lines : 0,
                  .prefetch_stride = stride,
                  .y = full ? &y.at(row, column) : last,
                  .y_stride = full ? y.stride() : shape.width});
        for (int r = 0; !full && r < rows; ++r) {
          std::copy_n(last + r * shape.width, columns, &y.at(row + r, column));
        }
      }
    }
  }
}

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_PANELS_H_
