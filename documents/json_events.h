// A part that is JSON, read by events; what its readers share.  `Reader` has the functions that
// rapidjson calls, each of which ends with Advance().

#ifndef DRAGOMAN_DOCUMENTS_JSON_EVENTS_H_
#define DRAGOMAN_DOCUMENTS_JSON_EVENTS_H_

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "documents/passage_list.h"
#include "documents/readers.h"
#include "documents/source_text.h"
#include "engine/base/patience.h"
#include "engine/base/status.h"

namespace dragoman {

template <typename Reader>
class JsonEvents : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Reader> {
 public:
  JsonEvents(std::string_view part, const DocumentOptions& options)
      : part_(part), patience_(options), lines_(part), stream_(part.data(), part.size()) {}

  bool Default() { return Advance(); }

  Passages Read() && {
    rapidjson::Reader reader;
    constexpr unsigned kFlags =
        rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
    if (reader.Parse<kFlags>(stream_, static_cast<Reader&>(*this))) return passages_.Take();
    RETURN_IF_ERROR(patience_.status());
    if (why_.empty()) {
      why_ = absl::StrCat("is not JSON: ", rapidjson::GetParseError_En(reader.GetParseErrorCode()));
    }
    return DamagedAt(part_, std::min(reader.GetErrorOffset(), part_.size()), why_);
  }

 protected:
  // Called behind each thing that is read; false ends the reading.
  bool Advance() {
    const size_t begin = std::exchange(place_, Here());
    return patience_.Lasts(place_ - begin);
  }
  size_t Here() const { return stream_.Tell(); }

  const std::string_view part_;
  Patience patience_;
  LineCounter lines_;
  size_t place_ = 0;  // behind what was read
  std::string why_;   // that is no JSON to be read; "": what the parser says
  PassageList passages_{&patience_};

 private:
  rapidjson::MemoryStream stream_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_DOCUMENTS_JSON_EVENTS_H_
