#include "server/api/exchange.h"

#include <utility>

#include "absl/time/clock.h"
#include "server/api/convert_alignment.h"

namespace dragoman {

Exchange::Exchange(const ServerParts* parts, const char* method, Caller caller)
    : parts_(parts), call_(parts, method, std::move(caller)) {}

Exchange::~Exchange() {
  if (inside_) parts_->gate->Leave();
}

absl::Status Exchange::Enter() {
  inside_ = true;
  RETURN_IF_ERROR(parts_->gate->Enter());
  return call_.Admit();
}

void Exchange::Cancel() {
  if (request_ != nullptr) request_->Cancel(absl::Now());
}

std::shared_ptr<RequestState> Exchange::NewRequest(Priority priority) const {
  return std::make_shared<RequestState>(
      RequestTerms{.deadline = call_.deadline(),
                   .principal = call_.principal(),
                   .priority = priority,
                   .quota = parts_->principals->QuotaOf(call_.principal())});
}

absl::StatusOr<Priority> Exchange::PriorityOf(v1::Priority asked, Priority otherwise) const {
  const Permit& permit = call_.permit();
  ASSIGN_OR_RETURN(const Priority priority,
                   FromProto(asked, permit.only_batch() ? Priority::kBatch : otherwise));
  if (priority == Priority::kInteractive) RETURN_IF_ERROR(permit.MayBeInteractive());
  return priority;
}

absl::Status Exchange::Prepare(v1::TranslateRequest request, TranslateTask* task) {
  RETURN_IF_ERROR(call_.TakeMore(MemoryOfInsight(request.output())));
  StillWanted wanted = WantedBy(request_.get());
  const absl::Status prepared =
      task->Prepare(std::move(request), call_.permit(), call_.deadline(), &wanted);
  call_.set_translator(task->translator());
  call_.size() = task->size();
  return prepared;
}

absl::Status Exchange::Begin(const absl::Status& read, Priority priority) {
  request_ = NewRequest(priority);
  call_.set_priority(priority);
  if (absl::IsCancelled(read)) Cancel();
  RETURN_IF_ERROR(request_->Wanted(absl::Now()));
  return read;
}

}  // namespace dragoman
