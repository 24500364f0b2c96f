// What an exchange has to send, and its transport has not taken yet: messages in their order.  Each
// counts among the answers that wait (answer_budget.h) until it is sent.
//
//   engine's threads ──Put──► outbox ──Next──► transport ──► client
//                     └─ready()──────────────────►┘ (pump.h: one thread at a time)
//
// The exchange bounds what waits here, by what it reads and begins, and guards the outbox.

#ifndef DRAGOMAN_SERVER_API_OUTBOX_H_
#define DRAGOMAN_SERVER_API_OUTBOX_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "server/api/answer_budget.h"
#include "server/api/call.h"

namespace dragoman {

// What an exchange has to send: a message, or the end, or neither: nothing yet.
template <typename Message>
struct ExchangeEvent {
  std::optional<Message> message;
  std::shared_ptr<HeldAnswer> held;  // to be kept until the message is sent
  std::optional<CallEnd> end;        // after an error at once, whatever was not pulled
};

template <typename Message>
class Outbox {
 public:
  size_t size() const { return waiting_.size(); }
  size_t bytes() const { return bytes_; }  // of all
  // Whether the transport has got a message, and has not asked again.
  bool sending() const { return sending_; }

  void Put(Message message, size_t bytes, std::shared_ptr<HeldAnswer> held) {
    waiting_.push_back({std::move(message), 0, std::move(held)});
    Grow(bytes);
  }

  // Null if nothing waits.  Who makes it longer, says by how much.
  Message* last() { return waiting_.empty() ? nullptr : &waiting_.back().message; }
  void Grow(size_t bytes) {
    Item& item = waiting_.back();
    bytes_ += bytes;
    item.bytes += bytes;
    item.held->Set(item.bytes);
  }

  void Clear() {
    waiting_.clear();
    bytes_ = 0;
  }

  // The next message, if any waits.
  ExchangeEvent<Message> Next() {
    sending_ = !waiting_.empty();
    if (!sending_) return {};
    Item item = std::move(waiting_.front());
    waiting_.pop_front();
    bytes_ -= item.bytes;
    return {.message = std::move(item.message), .held = std::move(item.held)};
  }

 private:
  struct Item {
    Message message;
    size_t bytes = 0;
    std::shared_ptr<HeldAnswer> held;
  };

  std::deque<Item> waiting_;
  size_t bytes_ = 0;
  bool sending_ = false;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_OUTBOX_H_
