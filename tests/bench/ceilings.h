// Measures the ceilings of one core of this machine: arithmetic in registers, and reads from a
// working set.  A kernel's figures mean little without them.

#ifndef DRAGOMAN_TESTS_BENCH_CEILINGS_H_
#define DRAGOMAN_TESTS_BENCH_CEILINGS_H_

#include <cstddef>

#include "engine/math/precision.h"

namespace dragoman {

// Operations per second of the widest multiply-and-add instruction for the precision (a
// multiplication and an addition are two operations), with sums that stay in registers; 0 if this
// CPU has none that we know.  Measured at the first call.
double PeakOperations(Precision precision);

// PeakOperations, measured again in about 20 ms: the ceiling of a kernel that is timed right before
// or after it, on a machine whose speed changes.
double MeasurePeak(Precision precision);

// Bytes per second when a working set of this many bytes is read again and again.
double ReadBandwidth(size_t bytes);

// A working set that does not fit in the last-level cache.
size_t BytesBeyondCaches();

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_BENCH_CEILINGS_H_
