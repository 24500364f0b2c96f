// Describes this machine, as far as it affects speed and bytes: for `--machine` and for the log.

#ifndef DRAGOMAN_SERVER_OBSERVE_MACHINE_REPORT_H_
#define DRAGOMAN_SERVER_OBSERVE_MACHINE_REPORT_H_

#include <string>

#include "engine/math/precision.h"

namespace dragoman {

// Several lines: the processor, how much of it this process may use, and for every precision what
// would multiply matrices with which instructions, or why nothing can.
std::string DescribeMachine(Matmul matmul);

// The same as one event of the log, for the arithmetic that models are loaded with.
void LogMachine(Arithmetic arithmetic);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_OBSERVE_MACHINE_REPORT_H_
