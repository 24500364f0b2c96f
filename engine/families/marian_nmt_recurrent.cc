// Marian's recurrent networks: types s2s, amun and nematus.  The latter two use the tensor names of
// Nematus (https://github.com/EdinburghNLP/nematus), which are translated to those of s2s here.

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/base/status.h"
#include "engine/families/hugging_face.h"
#include "engine/families/marian_nmt.h"
#include "engine/spec/recurrent_spec.h"

namespace dragoman {
namespace {

absl::Status ReadCell(const JsonFields& fields, const char* option) {
  std::string cell = "gru";
  RETURN_IF_ERROR(fields.Read(option, &cell));
  if (cell == "gru" || cell == "gru-nematus") return absl::OkStatus();
  return fields.Unknown(option, "gru or gru-nematus");
}

absl::Status ReadEncoder(const JsonFields& fields, RecurrentSpec* details) {
  std::string type = "bidirectional";
  RETURN_IF_ERROR(fields.Read("enc-type", &type));
  if (type == "bidirectional") {
    details->encoder = RecurrentSpec::kBidirectional;
  } else if (type == "alternating") {
    details->encoder = RecurrentSpec::kAlternating;
  } else if (type == "bi-unidirectional") {
    details->encoder = RecurrentSpec::kBiUnidirectional;
  } else {
    return fields.Unknown("enc-type", "bidirectional, alternating or bi-unidirectional");
  }
  return absl::OkStatus();
}

// A name after the side's own prefix, and its new name: in decoder_U_nl, U belongs to cell 2.
struct Renaming {
  const char* from;
  const char* to;
};

// Names that are replaced as a whole.
constexpr Renaming kWhole[] = {{"Wemb_dec", "decoder_Wemb"},
                               {"ff_logit_W", "decoder_ff_logit_l2_W"},
                               {"ff_logit_b", "decoder_ff_logit_l2_b"}};

// Prefixes that are replaced; the first match counts.
constexpr Renaming kBeginnings[] = {{"ff_logit_l1_", "decoder_ff_logit_l1_"},
                                    {"ff_state_", "decoder_ff_state_"},
                                    {"encoder_r_", "encoder_bi_r_"},
                                    {"encoder_", "encoder_bi_"}};

// The inputs of the deep output, by their number.
constexpr Renaming kDeepInputs[] = {
    {"ff_logit_prev_", "0"}, {"ff_logit_lstm_", "1"}, {"ff_logit_ctx_", "2"}};

// Splits off the part that tells a tensor's cell: "U_nl_drt_1_lns" is "U_lns" of the decoder's cell
// 3, "U_drt_1" is "U" of the encoder's cell 2. 0: there is none.
int TakeCell(std::string* name) {
  int cell = 0;
  if (const size_t at = name->find("_drt_"); at != std::string::npos) {
    size_t end = at + 5;
    while (end < name->size() && absl::ascii_isdigit((*name)[end])) ++end;
    int number = 0;
    if (!absl::SimpleAtoi(name->substr(at + 5, end - at - 5), &number)) return 0;
    cell = number + 1;
    name->erase(at, end - at);
  }
  if (const size_t at = name->find("_nl"); at != std::string::npos) {
    cell = std::max(cell + 1, 2);
    name->erase(at, 3);
  }
  return cell;
}

std::string RenameOfDecoder(const std::string& name) {
  std::string own(absl::StripPrefix(name, "decoder_"));
  int cell = TakeCell(&own);
  if (absl::StartsWith(own, "Wc_att") || absl::StartsWith(own, "W_comb_att") || own == "U_att" ||
      own == "b_att" || absl::StartsWith(own, "att_") || absl::StartsWith(own, "cell") ||
      absl::StartsWith(own, "ff_logit_")) {
    return name;
  }
  // The second cell's input is the context.
  for (const Renaming& input : {Renaming{"Wcx", "Wx"}, Renaming{"Wc", "W"}}) {
    if (cell == 0 && absl::StartsWith(own, input.from)) {
      cell = 2;
      own = absl::StrCat(input.to, own.substr(std::string(input.from).size()));
    }
  }
  return absl::StrCat("decoder_cell", std::max(cell, 1), "_", own);
}

// Translates a name of Nematus to one of s2s.
std::string Rename(const std::string& name) {
  for (const Renaming& whole : kWhole) {
    if (name == whole.from) return whole.to;
  }
  for (const Renaming& input : kDeepInputs) {
    if (absl::StartsWith(name, input.from)) {
      return absl::StrCat("decoder_ff_logit_l1_", absl::StripPrefix(name, input.from), input.to);
    }
  }
  if (absl::StartsWith(name, "decoder_")) return RenameOfDecoder(name);
  for (const Renaming& beginning : kBeginnings) {
    if (!absl::StartsWith(name, beginning.from)) continue;
    std::string own(absl::StripPrefix(name, beginning.from));
    const int cell = TakeCell(&own);
    return cell > 1 ? absl::StrCat(beginning.to, "cell", cell, "_", own)
                    : absl::StrCat(beginning.to, own);
  }
  return name;
}

}  // namespace

Checkpoint RenameFromNematus(const Checkpoint& tensors, bool shared_embeddings) {
  if (!tensors.Has("decoder_U_nl")) return tensors.Renamed([](const std::string& n) { return n; });
  return tensors.Renamed([&](const std::string& name) -> std::string {
    if (name == "Wemb") return shared_embeddings ? name : "encoder_Wemb";
    return Rename(name);
  });
}

absl::StatusOr<ModelSpec> ReadMarianRecurrent(const MarianModel& model) {
  const JsonFields fields = model.fields();
  auto details = std::make_shared<RecurrentSpec>();
  ModelSpec spec;
  spec.network = "recurrent";
  spec.d_model = 512;
  details->state_width = 1024;
  spec.encoder_layers = spec.decoder_layers = 1;
  RETURN_IF_ERROR(ReadCell(fields, "enc-cell"));
  RETURN_IF_ERROR(ReadCell(fields, "dec-cell"));
  RETURN_IF_ERROR(ReadEncoder(fields, details.get()));
  RETURN_IF_ERROR(fields.Read("dim-emb", 1, kMaxWidth, &spec.d_model));
  RETURN_IF_ERROR(fields.Read("dim-rnn", 1, kMaxWidth, &details->state_width));
  RETURN_IF_ERROR(fields.Read("enc-depth", 1, kMaxLayers, &spec.encoder_layers));
  RETURN_IF_ERROR(fields.Read("dec-depth", 1, kMaxLayers, &spec.decoder_layers));
  RETURN_IF_ERROR(fields.Read("enc-cell-depth", 1, 64, &details->encoder_cells));
  RETURN_IF_ERROR(fields.Read("dec-cell-base-depth", 1, 64, &details->decoder_base_cells));
  RETURN_IF_ERROR(fields.Read("dec-cell-high-depth", 1, 64, &details->decoder_high_cells));
  RETURN_IF_ERROR(fields.Read("skip", &details->skip));
  spec.positions.kind = Positions::kNone;
  spec.max_positions = kMarianPositions;
  spec.zero_start = true;
  spec.details = std::move(details);
  return spec;
}

absl::StatusOr<Checkpoint> MarianRecurrentTensors(const MarianModel& model) {
  ASSIGN_OR_RETURN(const MarianTables tables, ReadMarianTables(model));
  TensorMap map(model.tensors);
  RETURN_IF_ERROR(TakeMarianTables(tables, &map));
  for (const auto& [name, tensor] : model.tensors.tensors()) {
    const bool table = name == tables.source || name == tables.target || name == tables.output ||
                       name == tables.output_bias;
    if (table || absl::StartsWith(name, "special:")) continue;
    const bool matrix = tensor.shape.size() == 2 && tensor.shape[0] > 1;
    RETURN_IF_ERROR(matrix ? map.TakeTransposed(name, name) : map.Take(name, name));
  }
  return std::move(map).Finish();
}

}  // namespace dragoman
