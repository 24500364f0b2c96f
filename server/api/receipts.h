// Receipts of answers: digests by which somebody else can check them (docs/receipts.md).

#ifndef DRAGOMAN_SERVER_API_RECEIPTS_H_
#define DRAGOMAN_SERVER_API_RECEIPTS_H_

#include <string>

#include "dragoman/v1/translation.pb.h"
#include "engine/request/translator.h"

namespace dragoman {

// The digest of all of a request that can make a difference to its translations: `request` as it
// came, and from `judged` what the server put in its place, the beam that the caller may have and
// the entries of stored glossaries.
std::string DigestOfRequest(v1::TranslateRequest request, const TranslateRequest& judged);

// Adds the receipt to an otherwise complete response.
void AddReceipt(const std::string& request_digest, v1::TranslateResponse* response);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_API_RECEIPTS_H_
