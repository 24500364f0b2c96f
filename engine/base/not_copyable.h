// The base of classes whose objects are neither copied nor moved.

#ifndef DRAGOMAN_ENGINE_BASE_NOT_COPYABLE_H_
#define DRAGOMAN_ENGINE_BASE_NOT_COPYABLE_H_

namespace dragoman {

class NotCopyable {
 protected:
  NotCopyable() = default;
  NotCopyable(const NotCopyable&) = delete;
  NotCopyable& operator=(const NotCopyable&) = delete;
};

}  // namespace dragoman

#endif  // DRAGOMAN_ENGINE_BASE_NOT_COPYABLE_H_
