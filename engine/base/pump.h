// Lets one thread at a time do what several threads find to do, without a lock around it.
//
//   pump.Run([&] { ... });       by every thread that has made something possible
//
// A thread that calls Run while another one is in it returns at once, and the other one goes on. So
// a step sees all that happened before any call of Run that has returned.

#ifndef DRAGOMAN_ENGINE_BASE_PUMP_H_
#define DRAGOMAN_ENGINE_BASE_PUMP_H_

#include <atomic>

namespace dragoman {

class Pump {
 public:
  // `step` does the next thing that can be done now; false: there is none.  The pump must live
  // until Run has returned.
  template <typename Step>
  void Run(const Step& step) {
    if (asked_.fetch_add(1) > 0) return;
    int seen = 1;
    do {
      while (step()) {
      }
    } while (!asked_.compare_exchange_strong(seen, 0));
  }

 private:
  std::atomic<int> asked_ = 0;  // since the thread that is in Run last looked
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_PUMP_H_
