// What a job's result depends on, as bytes: jobs of equal keys have equal results, whatever else
// the workers do (the row law), and on whichever worker they run.

#ifndef DRAGOMAN_ENGINE_DECODE_JOB_KEY_H_
#define DRAGOMAN_ENGINE_DECODE_JOB_KEY_H_

#include <string>

#include "engine/decode/job.h"

namespace dragoman {

// Of the version of the model, the tokens and all that the search is told.  Not of who asks, how
// urgently and until when.
std::string KeyOf(const Job& job);

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_DECODE_JOB_KEY_H_
