// Abseil can look for deadlocks while a program runs: every Lock() of every Mutex is then recorded
// in one graph for the whole process, under one spin lock.  Debian builds the library with these
// checks on, for gRPC's locks as well as ours.  On a server with two cores they take a third of the
// CPU time of a short request, and with more cores threads only wait longer for the spin lock.

#ifndef DRAGOMAN_ENGINE_BASE_MUTEX_CHECKS_H_
#define DRAGOMAN_ENGINE_BASE_MUTEX_CHECKS_H_

namespace dragoman {

// Turns the search for deadlocks off for the rest of the process.  Call it in the first line of a
// main function; tests keep the checks.
void DisableMutexChecks();

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_MUTEX_CHECKS_H_
