// Abseil can look for deadlocks while a program runs: every Lock() of every Mutex is then entered
// into one graph of the process, under one spin lock.  Debian builds the library with these checks
// on, for gRPC's locks as for ours.  They cost a server of two cores a third of the CPU time of a
// short request, and more cores only queue up longer at the graph.

#ifndef DRAGOMAN_ENGINE_BASE_MUTEX_CHECKS_H_
#define DRAGOMAN_ENGINE_BASE_MUTEX_CHECKS_H_

namespace dragoman {

// Turns the search for deadlocks off for the rest of the process.  For the first line of a main
// function; tests keep the checks.
void DisableMutexChecks();

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_MUTEX_CHECKS_H_
