// When glibc returns free memory to the system; without glibc these do nothing.

#ifndef DRAGOMAN_ENGINE_BASE_HEAP_H_
#define DRAGOMAN_ENGINE_BASE_HEAP_H_

namespace dragoman {

// Blocks of up to so many bytes come from the heap, which keeps at most twice as much at the end of
// each of its parts; larger ones are mapped separately.
void KeepInHeap(int bytes);

// Returns what is free, also what the heap would keep at the end of this thread's part.  A part
// goes on to another thread when one ends, so that each of them would keep the largest work that it
// has seen.  Takes milliseconds.
void GiveBackHeap();

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_HEAP_H_
