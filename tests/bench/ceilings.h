// What one core of this machine can do at most, measured: arithmetic from registers alone and reads
// from a working set.  A kernel's figure means little without it.

#ifndef DRAGOMAN_TESTS_BENCH_CEILINGS_H_
#define DRAGOMAN_TESTS_BENCH_CEILINGS_H_

#include <cstddef>

#include "engine/math/precision.h"

namespace dragoman {

// Operations per second (a multiplication and an addition are two) of the widest multiply-and-add
// instruction for the precision, over sums that stay in registers; 0 if this CPU has none that we
// know.  Measured at the first call.
double PeakOperations(Precision precision);

// The same measured anew, in some 20 ms: what a kernel that is timed right before and after can
// reach on a machine whose speed changes.
double MeasurePeak(Precision precision);

// Bytes per second of reading a working set of so many bytes, again and again.
double ReadBandwidth(size_t bytes);

// A working set that the last cache cannot hold.
size_t BytesBeyondCaches();

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_BENCH_CEILINGS_H_
