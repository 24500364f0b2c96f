// Everything that a job's result depends on, as bytes: jobs with equal keys have equal results,
// whatever else the workers do and whichever worker runs them (the row law).

#ifndef DRAGOMAN_ENGINE_DECODE_JOB_KEY_H_
#define DRAGOMAN_ENGINE_DECODE_JOB_KEY_H_

#include <string>

#include "engine/decode/job.h"

namespace dragoman {

// Made from the version of the model, the tokens and all parameters of the search; who asks, how
// urgently and by when does not matter.
std::string ResultKey(const Job& job);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_JOB_KEY_H_
