// The Open Inference Protocol, version 2 (https://github.com/kserve/open-inference-protocol), which
// clients of KServe and Triton speak over HTTP and gRPC.  A model's tensors hold texts (BYTES):
//
//   text              in any shape
//   source_language   one, or the same many times; without it the language is detected
//   target_language   likewise; without both, those of the model are meant
//   translation       the output, in the shape of `text`
//
//   curl localhost:9464/v2/models/en-de/infer -H 'Content-Type: application/json' -d '{"inputs":
//     [{"name": "text", "datatype": "BYTES", "shape": [1], "data": ["Good morning."]}]}'
//   {"model_name": "en-de", "model_version": "stable", "outputs": [{"name": "translation",
//     "datatype": "BYTES", "shape": [1], "data": ["Guten Morgen."]}]}
//
// The versions of a model are "stable" and "canary".  Over HTTP, tensors may stand behind the JSON
// as bytes (https://github.com/triton-inference-server/server, the extension binary_tensor_data):
// the header Inference-Header-Content-Length says how long the JSON is.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "engine/base/field_error.h"
#include "engine/base/json.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "inference/grpc_service.pb.h"
#include "server/api/list_models.h"
#include "server/compat/fields.h"
#include "server/compat/rpc.h"
#include "server/http/json.h"

namespace dragoman::open_inference {
namespace {

using Json = nlohmann::ordered_json;

constexpr CompatApi kApi = {.name = "open-inference",
                            .credential = "as a bearer token",
                            .service = "inference.GRPCInferenceService",
                            .texts = "text",
                            .source = "source_language",
                            .target = "target_language"};
constexpr char kOutput[] = "translation", kBytes[] = "BYTES";
constexpr char kModels[] = "/v2/models/", kVersions[] = "/versions/";
constexpr char kJsonLength[] = "Inference-Header-Content-Length";
constexpr char kBinary[] = "application/octet-stream";

HttpResponse PlainError(int code, std::string_view message) {
  return JsonResponse(code, {{"error", message}});
}
constexpr auto* Error = ErrorByCode<PlainError>;

// ---- Tensors -----------------------------------------------------------------------------------

// An input as it came.
struct Tensor {
  std::string name, datatype;
  std::vector<int64_t> shape;
  std::vector<std::string_view> elements;  // in the request
};

// What an answer depends on besides the translations.
struct InferCall {
  std::string id;
  std::vector<int64_t> shape;  // of the texts
  bool binary = false;         // whether the translations are to be bytes
};

constexpr size_t kLengthBytes = 4;

absl::StatusOr<std::vector<std::string_view>> ReadElements(std::string_view bytes) {
  std::vector<std::string_view> elements;
  while (!bytes.empty()) {
    size_t length = 0;
    for (size_t i = std::min(kLengthBytes, bytes.size()); i-- > 0;) {
      length = length << 8 | static_cast<unsigned char>(bytes[i]);
    }
    if (bytes.size() < kLengthBytes || bytes.size() - kLengthBytes < length) {
      return InvalidField("inputs", "has a tensor that ends within an element");
    }
    elements.push_back(bytes.substr(kLengthBytes, length));
    bytes.remove_prefix(kLengthBytes + length);
  }
  return elements;
}

std::string WriteElements(const v1::TranslateResponse& ours) {
  std::string bytes;
  for (const v1::Translation& translation : ours.translations()) {
    const std::string& text = translation.hypotheses(0).text();
    for (size_t i = 0; i < kLengthBytes; ++i) bytes += static_cast<char>(text.size() >> 8 * i);
    bytes += text;
  }
  return bytes;
}

bool HasShape(const Tensor& tensor) {
  double elements = 1;
  for (const int64_t size : tensor.shape) {
    if (size < 0) return false;
    elements *= static_cast<double>(size);
  }
  return elements == static_cast<double>(tensor.elements.size());
}

absl::Status AddInput(Tensor tensor, v1::TranslateRequest* request, InferCall* call) {
  const std::string& name = tensor.name;
  if (name != kApi.texts && name != kApi.source && name != kApi.target) {
    return InvalidField("inputs", "\"", name.substr(0, 32), "\" is none, want ", kApi.texts, ", ",
                        kApi.source, " or ", kApi.target);
  }
  if (tensor.datatype != kBytes) return InvalidField(name, "is not of the datatype BYTES");
  if (!HasShape(tensor)) {
    return InvalidField(name, "has another shape than that of its ", tensor.elements.size(),
                        " elements");
  }
  for (const std::string_view element : tensor.elements) {
    if (!IsValidUtf8(element)) return InvalidField(name, "is not valid UTF-8");
    if (element != tensor.elements[0] && name != kApi.texts) {
      return InvalidField(name, "has several languages, want one for all texts");
    }
  }
  if (name == kApi.texts) {
    if (request->contents_size() > 0) return InvalidField(name, "is there twice");
    call->shape = std::move(tensor.shape);
    for (const std::string_view text : tensor.elements) request->add_contents(std::string(text));
  } else if (!tensor.elements.empty()) {
    (name == kApi.source ? *request->mutable_source_language()
                         : *request->mutable_target_language()) = tensor.elements[0];
  }
  return absl::OkStatus();
}

absl::Status CheckOutput(const std::string& name) {
  if (name == kOutput) return absl::OkStatus();
  return InvalidField("outputs", "\"", name.substr(0, 32), "\" is none, want \"", kOutput, "\"");
}

v1::TranslateRequest NewRequest(const std::string& model, const std::string& version) {
  v1::TranslateRequest request;
  request.set_model(version.empty() ? model : absl::StrCat(model, "@", version));
  request.set_sentence_splitting(v1::SENTENCE_SPLITTING_SENTENCES);
  return request;
}

v1::TranslateRequest Complete(v1::TranslateRequest request) {
  const bool detect = request.source_language().empty() && !request.target_language().empty();
  if (detect) request.set_source_language("auto");
  return request;
}

// ---- Over gRPC ---------------------------------------------------------------------------------

absl::StatusOr<v1::TranslateRequest> ReadMessage(const inference::ModelInferRequest& message,
                                                 InferCall* call) {
  v1::TranslateRequest request = NewRequest(message.model_name(), message.model_version());
  call->id = message.id();
  call->binary = message.raw_input_contents_size() > 0;
  if (call->binary && message.raw_input_contents_size() != message.inputs_size()) {
    return InvalidField("raw_input_contents", "has not as many elements as there are inputs");
  }
  for (int i = 0; i < message.inputs_size(); ++i) {
    const auto& input = message.inputs(i);
    const auto& given = input.contents().bytes_contents();
    Tensor tensor = {.name = input.name(),
                     .datatype = input.datatype(),
                     .shape = {input.shape().begin(), input.shape().end()},
                     .elements = {given.begin(), given.end()}};
    if (call->binary) {
      ASSIGN_OR_RETURN(tensor.elements, ReadElements(message.raw_input_contents(i)));
    }
    RETURN_IF_ERROR(AddInput(std::move(tensor), &request, call));
  }
  for (const auto& output : message.outputs()) RETURN_IF_ERROR(CheckOutput(output.name()));
  return Complete(std::move(request));
}

absl::Status WriteMessage(const InferCall& call, const v1::TranslateResponse& ours,
                          inference::ModelInferResponse* response) {
  response->set_model_name(ours.model());
  response->set_model_version(ours.model_label());
  response->set_id(call.id);
  auto& output = *response->add_outputs();
  output.set_name(kOutput);
  output.set_datatype(kBytes);
  output.mutable_shape()->Add(call.shape.begin(), call.shape.end());
  if (call.binary) response->add_raw_output_contents(WriteElements(ours));
  for (const v1::Translation& translation : ours.translations()) {
    if (call.binary) break;
    output.mutable_contents()->add_bytes_contents(translation.hypotheses(0).text());
  }
  return absl::OkStatus();
}

// ---- Over HTTP ---------------------------------------------------------------------------------

bool IsTrue(const nlohmann::json& object, const char* parameter) {
  return Member(Member(object, "parameters"), parameter) == true;
}

// Data may be nested as the shape is.
bool AddElements(const nlohmann::json& data, std::vector<std::string_view>* elements) {
  if (data.is_string()) elements->push_back(data.get_ref<const std::string&>());
  if (!data.is_array()) return data.is_string();
  return absl::c_all_of(data, [&](const auto& inner) { return AddElements(inner, elements); });
}

// Takes the bytes of a binary tensor off the front of `binary`.
absl::StatusOr<Tensor> ReadTensor(const nlohmann::json& input, std::string_view* binary) {
  Tensor tensor = {.name = TextIn(input, "name"), .datatype = TextIn(input, "datatype")};
  for (const nlohmann::json& size : Member(input, "shape")) {
    if (!size.is_number_integer()) return InvalidField("inputs", "has a shape that is no integers");
    tensor.shape.push_back(size.get<int64_t>());
  }
  const nlohmann::json& size = Member(Member(input, "parameters"), "binary_data_size");
  if (size.is_null()) {
    if (AddElements(Member(input, "data"), &tensor.elements)) return tensor;
    return InvalidField("inputs", "has data that are no texts");
  }
  if (!size.is_number_unsigned() || size.get<uint64_t>() > binary->size()) {
    return InvalidField("inputs", "has a binary_data_size beyond the end of the body");
  }
  const auto bytes = static_cast<size_t>(size.get<uint64_t>());
  ASSIGN_OR_RETURN(tensor.elements, ReadElements(binary->substr(0, bytes)));
  binary->remove_prefix(bytes);
  return tensor;
}

// /v2/models/NAME[/versions/VERSION] and another part.
CompatFields ModelIn(std::string_view path, std::string_view rest) {
  path.remove_prefix(sizeof(kModels) - 1);
  path.remove_suffix(rest.size());
  const size_t end = path.rfind(kVersions);
  const std::string_view version =
      end == path.npos ? std::string_view() : path.substr(end + sizeof(kVersions) - 1);
  return *CompatFields::FromForm(
      {{"name", std::string(path.substr(0, end))}, {"version", std::string(version)}});
}

absl::StatusOr<v1::TranslateRequest> ReadHttp(const HttpRequest& http, std::string_view rest,
                                              InferCall* call) {
  std::string_view text = http.body, binary;
  if (const std::string length(http.Header("inference-header-content-length")); !length.empty()) {
    size_t json = 0;
    if (!absl::SimpleAtoi(length, &json) || json > text.size()) {
      return InvalidField(kJsonLength, "is not a length within the body");
    }
    binary = text.substr(json);
    text = text.substr(0, json);
  }
  if (!IsValidUtf8(text)) return absl::InvalidArgumentError("the body is not valid UTF-8");
  ASSIGN_OR_RETURN(const nlohmann::json body, ParseJsonObject(text, "the body"));
  const CompatFields model = ModelIn(http.path, rest);
  v1::TranslateRequest request = NewRequest(*model.Text("name"), *model.Text("version"));
  call->id = TextIn(body, "id");
  for (const nlohmann::json& input : Member(body, "inputs")) {
    ASSIGN_OR_RETURN(Tensor tensor, ReadTensor(input, &binary));
    RETURN_IF_ERROR(AddInput(std::move(tensor), &request, call));
  }
  call->binary = IsTrue(body, "binary_data_output");
  for (const nlohmann::json& output : Member(body, "outputs")) {
    RETURN_IF_ERROR(CheckOutput(TextIn(output, "name")));
    call->binary = IsTrue(output, "binary_data");
  }
  return Complete(std::move(request));
}

HttpResponse WriteHttp(const InferCall& call, const v1::TranslateResponse& ours) {
  const std::string bytes = call.binary ? WriteElements(ours) : "";
  Json output = {{"name", kOutput}, {"datatype", kBytes}, {"shape", call.shape}};
  if (call.binary) {
    output["parameters"]["binary_data_size"] = bytes.size();
  } else {
    Json& data = output["data"] = Json::array();
    for (const auto& translation : ours.translations()) {
      data.push_back(translation.hypotheses(0).text());
    }
  }
  Json answer = {{"model_name", ours.model()}, {"model_version", ours.model_label()}};
  if (!call.id.empty()) answer["id"] = call.id;
  answer["outputs"].push_back(std::move(output));
  HttpResponse response = JsonResponse(200, answer);
  if (!call.binary) return response;
  response.content_type = kBinary;
  response.headers.emplace_back(kJsonLength, std::to_string(response.body.size()));
  response.body += bytes;
  return response;
}

void Infer(const ApiContext& context, std::string_view rest, const HttpRequest& http,
           std::shared_ptr<HttpAnswer> answer) {
  const auto call = std::make_shared<InferCall>();
  TranslateOverHttp(
      context, kApi.name, http, std::move(answer), [&] { return ReadHttp(http, rest, call.get()); },
      [call](const CallEnd& end, const v1::TranslateResponse& response) {
        return WithHeaders(
            end.status.ok() ? WriteHttp(*call, response) : Error(InWordsOf(kApi, end.status)), end);
      });
}

// ---- Health and metadata -----------------------------------------------------------------------

HttpResponse Is(const char* name, bool good) {
  return JsonResponse(good ? 200 : 503, {{name, good}});
}

CompatAnswer ServerLive(const CompatFields&, Call*) { return Is("live", true); }

CompatAnswer ServerReady(const CompatFields&, Call* call) {
  return Is("ready", call->parts().ready().ok());
}

CompatAnswer DescribeServer(const CompatFields&, Call*) {
  return JsonResponse(200, {{"name", "dragoman"},
                            {"version", DRAGOMAN_VERSION},
                            {"extensions", {"binary_tensor_data"}}});
}

std::vector<std::string> VersionsOf(const v1::Model& model) {
  std::vector<std::string> versions;
  for (const v1::ModelVersion& version : model.versions()) {
    const bool known = absl::c_linear_search(versions, version.label());
    if (!known) versions.push_back(version.label());
  }
  return versions;
}

absl::StatusOr<v1::Model> Find(const CompatFields& fields, Call* call) {
  ASSIGN_OR_RETURN(const std::string name, fields.Text("name"));
  ASSIGN_OR_RETURN(const std::string version, fields.Text("version"));
  ASSIGN_OR_RETURN(v1::Model model, NamedModel(name, call));
  const std::vector<std::string> versions = VersionsOf(model);
  if (version.empty() || absl::c_linear_search(versions, version)) return model;
  return NotFoundError("the model has no version \"", version.substr(0, 32), "\"");
}

CompatAnswer ModelReady(const CompatFields& fields, Call* call) {
  ASSIGN_OR_RETURN(const v1::Model model, Find(fields, call));
  const bool ready = model.state() == v1::Model::STATE_READY;
  return JsonResponse(ready ? 200 : 503, {{"name", model.name()}, {"ready", ready}});
}

Json DescribeTensor(const char* name, int size) {
  return {{"name", name}, {"datatype", kBytes}, {"shape", Json::array({size})}};
}

CompatAnswer DescribeModel(const CompatFields& fields, Call* call) {
  ASSIGN_OR_RETURN(const v1::Model model, Find(fields, call));
  return JsonResponse(
      200, {{"name", model.name()},
            {"versions", VersionsOf(model)},
            {"platform", "dragoman"},
            {"inputs", Json::array({DescribeTensor(kApi.texts, -1), DescribeTensor(kApi.source, 1),
                                    DescribeTensor(kApi.target, 1)})},
            {"outputs", Json::array({DescribeTensor(kOutput, -1)})}});
}

}  // namespace

// In front of DeepL's, which has all other paths below /v2.
void AddRoutes(const ApiContext& context, HttpRouter* router) {
  const auto add = [&](const char* method, const std::string& path, HttpHandler handler) {
    HttpRoute route = {
        .method = method, .path = path, .handler = std::move(handler), .error = PlainError};
    // Triton's client sends no type.
    if (route.method == "POST") route.body_types = {kJson, kBinary, ""};
    router->AddBefore(std::move(route));
  };
  // What Triton and KServe have besides, in words that their clients read.
  const HttpHandler refuse = AnswerAtOnce([](const HttpRequest&) {
    return PlainError(404, "this server has only health, metadata and infer");
  });
  for (const char* path :
       {"/v2/health/**", "/v2/repository/**", "/v2/models", "/v2/logging", "/v2/trace/**",
        "/v2/systemsharedmemory/**", "/v2/cudasharedmemory/**"}) {
    for (const char* method : {"GET", "POST"}) add(method, path, refuse);
  }
  const auto answer_at_once = [&](const std::string& path, const char* rest, CompatAct* act) {
    const auto read = [rest](const HttpRequest& http) { return ModelIn(http.path, rest); };
    add("GET", path + rest, AnswerWith(context, {kApi, "GetModel", Error}, act, read));
  };
  const std::string model = absl::StrCat(kModels, "**");
  answer_at_once(model, "", DescribeModel);
  answer_at_once(model, "/ready", ModelReady);
  add("POST", model + "/infer",
      [context](const HttpRequest& http, std::shared_ptr<HttpAnswer> answer) {
        Infer(context, "/infer", http, std::move(answer));
      });
  add("GET", "/v2", AnswerAtOnce([](const HttpRequest&) { return *DescribeServer({}, nullptr); }));
  add("GET", "/v2/health/live", AnswerAtOnce([](const HttpRequest&) { return Is("live", true); }));
  add("GET", "/v2/health/ready", AnswerAtOnce([context](const HttpRequest&) {
        return Is("ready", context.loaded().ok() && context.parts->ready().ok());
      }));
}

std::vector<Method> RpcMethods() {
  constexpr AnswerTerms kOpen = {.admit = &Call::AdmitAnybody};  // an answer to anybody
  return {
      CompatRpc(
          kApi, "Translate", "ModelInfer",
          TranslateMessages<inference::ModelInferRequest, inference::ModelInferResponse, InferCall>(
              {&kApi, ReadMessage, WriteMessage})),
      CompatRpc(kApi, "GetModel", "ModelMetadata", DescribeModel),
      CompatRpc(kApi, "GetModel", "ModelReady", ModelReady),
      CompatRpc(kApi, "ListModels", "ServerMetadata", DescribeServer, kOpen),
      CompatRpc(kApi, "ListModels", "ServerLive", ServerLive, kOpen),
      CompatRpc(kApi, "ListModels", "ServerReady", ServerReady, kOpen)};
}

}  // namespace dragoman::open_inference
