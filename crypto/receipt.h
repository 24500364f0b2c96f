// The digests of receipts (docs/receipts.md), which the server gives and the command verifies.

#ifndef DRAGOMAN_CRYPTO_RECEIPT_H_
#define DRAGOMAN_CRYPTO_RECEIPT_H_

#include <string>
#include <vector>

namespace dragoman {

// The SHA-256, in lower-case hexadecimal, of these fields, each of which is preceded by its length,
// so that no other fields have the same digest.
std::string DigestOfFields(const std::vector<std::string>& fields);

// A score as the text of a field: its 32 bits.
std::string FieldOfScore(float score);

// The digests of a v1::TranslateResponse: Receipt.answer, and from that Receipt.digest.
template <typename Response>
std::string DigestOfAnswer(const Response& response) {
  std::vector<std::string> fields;
  for (const auto& translation : response.translations()) {
    fields.push_back(std::to_string(translation.hypotheses_size()));
    for (const auto& hypothesis : translation.hypotheses()) {
      fields.push_back(hypothesis.text());
      fields.push_back(FieldOfScore(hypothesis.score()));
    }
  }
  return DigestOfFields(fields);
}
template <typename Response>
std::string DigestOfReceipt(const Response& response) {
  return DigestOfFields({"dragoman receipt 1", response.isa(), response.model_version(),
                         response.receipt().request(), response.receipt().answer()});
}

}  // namespace dragoman

#endif  // DRAGOMAN_CRYPTO_RECEIPT_H_
