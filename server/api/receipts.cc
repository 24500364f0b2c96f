#include "server/api/receipts.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "crypto/receipt.h"

namespace dragoman {

std::string DigestOfRequest(v1::TranslateRequest request, const TranslateRequest& judged) {
  request.mutable_output()->clear_receipt();
  request.clear_priority();
  request.clear_previous_sources();
  request.clear_previous_translations();
  if (judged.options.beam_size.has_value()) {
    request.mutable_options()->set_beam_size(*judged.options.beam_size);
  }
  request.DiscardUnknownFields();
  // It has no maps, so there is one way to serialize it: by the numbers of its fields.
  std::vector<std::string> fields = {request.SerializeAsString()};
  for (const auto& list : judged.words.stored) {
    for (const GlossaryEntry& entry : list->entries()) {
      fields.push_back(entry.source);
      fields.insert(fields.end(), entry.targets.begin(), entry.targets.end());
      fields.push_back(absl::StrCat(entry.targets.size(), entry.ignore_case ? " ignore-case" : "",
                                    entry.inflect ? " inflect" : ""));
    }
  }
  if (judged.most_rows < TranslateRequest().most_rows) {
    fields.push_back(absl::StrCat("rows ", judged.most_rows));
  }
  for (const MemoryPtr& memory : judged.memories) {
    fields.push_back(absl::StrCat(memory->id(), " ", memory->version()));
  }
  return DigestOfFields(fields);
}

void AddReceipt(const std::string& request_digest, v1::TranslateResponse* response) {
  v1::Receipt* const receipt = response->mutable_receipt();
  receipt->set_request(request_digest);
  receipt->set_answer(DigestOfAnswer(*response));
  receipt->set_digest(DigestOfReceipt(*response));
}

}  // namespace dragoman
