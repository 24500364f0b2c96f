// How a product walks through its weights.
//
// Outputs are cut into panels, whose weights lie in one piece and stay in the second level cache,
// and rows into tiles of about the same height, whose sums fit into registers.  All tiles of a
// panel are computed before the next panel; meanwhile that one is fetched, so that a product of
// many rows never waits for memory and a product of few reads it at full speed.

#ifndef DRAGOMAN_ENGINE_MATH_PANELS_H_
#define DRAGOMAN_ENGINE_MATH_PANELS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "engine/math/matrix.h"

namespace dragoman {

constexpr int kCacheLine = 64;  // bytes

struct PanelShape {
  int width;         // outputs
  size_t bytes;      // of the weights; 0: none are to be fetched
  int lines;         // cache lines that a kernel reads at every turn of its loop: 1, 2 or 4
  int tallest_tile;  // rows

  // The most numbers that a tile has.
  static constexpr int kMaxTile = 12 * 32;
};

// Some rows by one panel.
struct PanelTile {
  int panel;
  int row, rows;
  // What to fetch on the way: so many cache lines (at most the shape's, or none) at every turn,
  // from so many bytes behind the beginning of the panel.
  size_t prefetch;
  int prefetch_lines;
  float* y;  // [rows, width], for the kernel to write
  int y_stride;
};

// The columns of `y` that the panels [first_panel, end_panel) compute.
inline MatrixView<float> PanelColumns(const PanelShape& shape, int first_panel, int end_panel,
                                      MatrixView<float> y) {
  const int first = first_panel * shape.width;
  return y.Cols(first, std::min(end_panel * shape.width, y.cols()) - first);
}

// Calls multiply(tile) for all rows of `y` and the panels [first_panel, end_panel).
inline void ForEachTile(const PanelShape& shape, int first_panel, int end_panel,
                        MatrixView<float> y, absl::FunctionRef<void(const PanelTile&)> multiply) {
  const int tiles = (y.rows() + shape.tallest_tile - 1) / shape.tallest_tile;
  // Of the next panel, some tiles fetch a line in every turn, and two or three tiles two where
  // there are four.  A single tile runs through a panel at once and fetches what it will need soon.
  constexpr size_t kSoon = 4096;
  const int lines = tiles == 1 ? shape.lines : tiles < shape.lines ? shape.lines / 2 : 1;
  const size_t distance = tiles == 1 ? kSoon : shape.bytes;
  const size_t part = shape.bytes / shape.lines * lines;
  const auto first_row = [&](int t) {
    return static_cast<int>(int64_t{t} * y.rows() / tiles);  // of tile t
  };
  alignas(kCacheLine) float last[PanelShape::kMaxTile];  // of a panel that is not full
  DRAGOMAN_CHECK(shape.width * shape.tallest_tile <= PanelShape::kMaxTile);
  for (int p = first_panel; p < end_panel; ++p) {
    const int column = p * shape.width;
    const int columns = std::min(shape.width, y.cols() - column);
    const bool full = columns == shape.width;
    for (int t = 0; t < tiles; ++t) {
      const int row = first_row(t), rows = first_row(t + 1) - row;
      multiply({.panel = p,
                .row = row,
                .rows = rows,
                .prefetch = distance + t * part,
                .prefetch_lines = t * part < shape.bytes ? lines : 0,
                .y = full ? &y.at(row, column) : last,
                .y_stride = full ? y.stride() : shape.width});
      for (int r = 0; !full && r < rows; ++r) {
        std::copy_n(last + r * shape.width, columns, &y.at(row + r, column));
      }
    }
  }
}

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_MATH_PANELS_H_
