#include "server/api/score_exchange.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "engine/base/field_error.h"
#include "engine/base/status.h"
#include "engine/request/still_wanted.h"
#include "server/api/convert.h"
#include "server/api/convert_alignment.h"
#include "server/api/reverse_checks.h"

namespace dragoman {
namespace {

// The engine names texts and targets in its errors; callers sent pairs.
absl::Status NamePairs(const absl::Status& status) {
  const std::string field = FieldOf(status);
  std::string pair;
  if (field.rfind("contents", 0) == 0) {
    pair = "pairs" + field.substr(8) + (field.size() > 8 ? ".source" : "");
  } else if (field.rfind("targets", 0) == 0) {
    pair = "pairs" + field.substr(7) + ".target";
  } else {
    return status;
  }
  return WithField(status, pair);
}

// The single model for a request of either kind; a route through a third language will not do.
// PERMISSION_DENIED if the caller may not use it.
template <typename Request>
absl::StatusOr<std::shared_ptr<const Translator>> FindModel(const ModelRegistry& models,
                                                            const Request& request,
                                                            const Permit& permit) {
  RETURN_IF_ERROR(permit.MayUse(request.model()));
  ASSIGN_OR_RETURN(const Route route,
                   models.FindRoute(request.model(), request.source_language(),
                                    request.target_language(), std::nullopt, permit.Models()));
  if (route.translators().size() != 1) {
    return InvalidField("model", "is not named, and no single model serves the languages");
  }
  return route.translators().front();
}

}  // namespace

absl::Status ScoreExchange::Run(v1::ScoreRequest proto) {
  call().size().texts = proto.pairs_size();
  ASSIGN_OR_RETURN(const std::shared_ptr<const Translator> translator,
                   FindModel(*parts().models, proto, call().permit()));
  call().set_translator(translator);
  TranslateRequest pairs;
  pairs.source_language = proto.source_language();
  pairs.target_language = proto.target_language();
  ASSIGN_OR_RETURN(pairs.alignment, AlignmentFrom(proto, ""));
  pairs.judge = pairs.check_literals = proto.quality();
  for (const v1::ScorePair& pair : proto.pairs()) {
    pairs.texts.push_back(pair.source());
    pairs.targets.push_back(pair.target());
  }
  Itinerary itinerary = {{{.language = pairs.source_language, .route = Route(translator)}}};
  proto.clear_pairs();
  output_ = proto;
  if (proto.reverse_check()) {
    if (!proto.quality()) return InvalidField("reverse_check", "goes with quality");
    ASSIGN_OR_RETURN(itinerary.check,
                     FindReverse(*parts().models, Route(translator),
                                 {pairs.source_language, pairs.target_language}, call().permit()));
  }
  RETURN_IF_ERROR(call().permit().TakeTexts(call().size().texts));
  Translate(std::move(pairs), std::move(itinerary), request(),
            [this](TranslateResponse result) { Scored(std::move(result)); });
  return absl::OkStatus();
}

void ScoreExchange::Scored(TranslateResponse scored) {
  scored.status.Update(request()->Wanted(absl::Now()));  // the caller may have gone
  call().size().SetTimes(scored.times, scored.status.ok());
  call().permit().SettleTexts(call().size().texts, scored.status);
  if (!scored.status.ok()) return End(NamePairs(scored.status), {});
  const Model& model = call().translator()->model();
  const std::string end = model.tokenizer().TargetPiece(model.spec().eos_id);
  v1::ScoreResponse response;
  StillWanted wanted = WantedBy(request().get());
  for (const Translation& translation : scored.translations) {
    if (!wanted.After(translation.hypotheses.front().text.size()).ok()) break;
    ToProto(translation, end, output_, response.add_scores());
    call().size().source_tokens += translation.source_tokens;
    call().size().target_tokens += translation.hypotheses.front().scored_tokens;
  }
  End(wanted.status(), std::move(response));
}

absl::Status TokenizeExchange::Run(v1::TokenizeRequest proto) {
  call().size().texts = proto.contents_size();
  ASSIGN_OR_RETURN(const std::shared_ptr<const Translator> translator,
                   FindModel(*parts().models, proto, call().permit()));
  call().set_translator(translator);
  RETURN_IF_ERROR(
      CheckTexts({proto.contents().begin(), proto.contents().end()}, parts().models->limits()));
  translator->Await(request(), [this, proto = std::move(proto)](const absl::Status& status) {
    if (!status.ok()) return End(status, {});
    call().translator()->Prepare(request(), proto.ByteSizeLong(), [=, this](absl::Status prepared) {
      v1::TokenizeResponse response;
      if (prepared.ok()) {
        prepared = Tokenize(call().translator()->model().tokenizer(), proto, &response);
      }
      End(prepared, std::move(response));
    });
  });
  return absl::OkStatus();
}

absl::Status TokenizeExchange::Tokenize(const Tokenizer& tokenizer,
                                        const v1::TokenizeRequest& request,
                                        v1::TokenizeResponse* response) const {
  Frame frame;
  if (!request.target()) {
    ASSIGN_OR_RETURN(
        const LanguagePair languages,
        tokenizer.languages().Resolve(request.source_language(), request.target_language()));
    frame = tokenizer.FrameOf(languages);
  }
  StillWanted wanted = WantedBy(this->request().get());
  for (const std::string& text : request.contents()) {
    RETURN_IF_ERROR(wanted.After(text.size()));
    v1::TokenizedText* const to = response->add_texts();
    for (const int32_t id :
         request.target() ? tokenizer.EncodeTarget(text) : tokenizer.Encode(text, frame).ids) {
      to->add_token_ids(id);
      to->add_tokens(request.target() ? tokenizer.TargetPiece(id) : tokenizer.SourcePiece(id));
    }
  }
  return absl::OkStatus();
}

}  // namespace dragoman
