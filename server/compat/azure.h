// What the two parts of Azure Translator's API have in common, texts and documents.

#ifndef DRAGOMAN_SERVER_COMPAT_AZURE_H_
#define DRAGOMAN_SERVER_COMPAT_AZURE_H_

#include "server/compat/compat.h"

namespace dragoman {

// With these names of fields.
constexpr CompatApi AzureApi(const char* texts, const char* source, const char* target) {
  return {.name = "azure",
          .credential = "as the header Ocp-Apim-Subscription-Key",
          .key_header = "ocp-apim-subscription-key",
          .key_field = "Subscription-Key",
          .texts = texts,
          .source = source,
          .target = target};
}

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_COMPAT_AZURE_H_
