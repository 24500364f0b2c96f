// How Azure Translator writes the parts of a text and of its translation, in characters (code
// points) of the two.

#ifndef DRAGOMAN_SERVER_COMPAT_AZURE_SPANS_H_
#define DRAGOMAN_SERVER_COMPAT_AZURE_SPANS_H_

#include <string>
#include <string_view>
#include <vector>

#include "dragoman/v1/translation.pb.h"
#include "engine/base/json.h"
#include "engine/text/text_span.h"

namespace dragoman {

// "0:3-0:4 5:9-6:7": words of the source, first to last character, and of the translation, in the
// order of the source.  REQUIRES: both texts are valid UTF-8.
std::string AzureAlignment(std::string_view source, std::string_view target,
                           const v1::AlignedText& aligned);

// The lengths of the sentences, each with the white space after it: together, that of the text.
std::vector<int> AzureSentences(std::string_view text, const std::vector<TextSpan>& sentences);

// {"srcSentLen": [12, 20], "transSentLen": [15, 20]}
nlohmann::ordered_json AzureSentences(std::string_view source, std::string_view target,
                                      const v1::Translation& translation);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_COMPAT_AZURE_SPANS_H_
