// The chat completions of OpenAI (https://platform.openai.com/docs/api-reference/chat), which many
// programs call with a prompt that asks for a translation.  There is no language model here: the
// languages and the text are taken out of the prompt, and what is no translation is refused.
//
//   curl localhost:9464/v1/chat/completions -H 'Content-Type: application/json' -d '{"model":
//     "en-de", "messages": [{"role": "user", "content": "Translate into German:\n\nGood
//     morning."}]}'
//   {"object": "chat.completion", "choices": [{"message": {"role": "assistant",
//     "content": "Guten Morgen."}, "finish_reason": "stop", "index": 0}], ...}

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "engine/base/field_error.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/text/language_detector.h"
#include "engine/text/language_tag.h"
#include "re2/re2.h"
#include "server/api/list_models.h"
#include "server/compat/compat.h"
#include "server/compat/fields.h"
#include "server/http/json.h"
#include "server/http/stream_api.h"

namespace dragoman::openai {
namespace {

using Json = nlohmann::ordered_json;

constexpr CompatApi kApi = {.name = "openai",
                            .credential = "as a bearer token",
                            .texts = "messages",
                            .source = "model",
                            .target = "model"};

constexpr char kHowToAsk[] =
    "asks for no translation that is understood: name the languages in the model, NAME:en-de, and "
    "send the text alone, or begin it with \"Translate the following text from English to "
    "German:\" and a line of its own for the text";

// ---- What a prompt asks for
// ----------------------------------------------------------------------

// The forms of prompts, each with the groups `to` and `text`, and `from` where it names the source.
// Those that programs send are theirs by default; all have further words, which are skipped.
// Everything from `text` on is the text, without the end that the program puts behind it.
struct Form {
  const char* program;
  const char* pattern;
  const char* end = "";
};
constexpr Form kForms[] = {
    // github.com/SubtitleEdit/subtitleedit, ToolsSettings.cs
    {"Subtitle Edit",
     R"((?is)^\s*translate from (?P<from>[^,\n]+) to (?P<to>[^,\n]+), keep punctuation as input.*?comments(?: or notes)?:\s*(?P<text>.*)$)"},
    // github.com/Byaidu/PDFMathTranslate, translator.py
    {"pdf2zh",
     R"((?is)^.*translate the following markdown source text to (?P<to>[^.\n]+)\..*?source text:\s*(?P<text>.*)$)",
     "translated text:"},
    // github.com/funstory-ai/BabelDOC, translator.py
    {"BabelDOC",
     R"((?is)^.*?;;\s*treat next line as plain text input and translate it into (?P<to>[^,\n]+?),? output translation only.*?no notes\.(?:.*?input:)?\s*(?P<text>.*)$)"},
    // the same for one paragraph, when its prompt for several was not answered with JSON
    {"BabelDOC",
     R"((?is)^.*?output only the translated (?P<to>[^.\n]+?) text\..*?now translate the following text:\s*(?P<text>.*)$)"},
    // github.com/pot-app/pot-desktop, services/translate/openai
    {"pot", R"((?is)^\s*translate (?:in)?to (?P<to>[^:\n"]+):\s*"""\n?(?P<text>.*)$)", R"(""")"},
    // immersivetranslate.com, the services of its configuration
    {"Immersive Translate",
     R"((?is)^\s*translate (?:in)?to (?P<to>[^:\n(]+?)\s*(?:\(output translation only\))?:\s*\n(?P<text>.*)$)"},
    {"any other",
     R"((?is)^\s*(?:please\s+)?translate (?:the following|this|the)\s+(?:(?P<of>\p{L}+) )?(?:source )?(?:text|sentence|content|paragraph|document)s?(?: from (?P<from>[^:.\n]+?))? (?:in)?to (?P<to>[^:.,\n(]+)[^:\n]*:\s*(?P<text>.*)$)"},
    {"any other",
     R"((?is)^\s*(?:please\s+)?translate from (?P<from>[^:.,\n]+?) (?:in)?to (?P<to>[^:.,\n(]+)[^:\n]*:\s*(?P<text>.*)$)"},
};

// Of a system's message; the text is the user's.
constexpr Form kSystemForms[] = {
    // github.com/HIllya51/LunaTranslator, translator/gptcommon.py
    {"LunaTranslator",
     R"((?is)translate the following (?P<from>[^\n]+?) text (?:in)?to (?P<to>[^.,\n]+))"},
    {"any other",
     R"((?is)\btranslat\w*[^.:\n]*? from (?P<from>\p{L}[^.,:\n]*?) (?:in)?to (?P<to>\p{L}[^.,:;\n]*))"},
    {"any other", R"((?is)\btranslat\w*[^.:\n]*? (?:in)?to (?P<to>\p{L}[^.,:;\n]*))"},
};

struct Asked {
  std::string from, to, text;
};

struct CompiledForm {
  explicit CompiledForm(const Form& form) : pattern(form.pattern), end(form.end) {}
  const RE2 pattern;
  const std::string_view end;
};

// A form is recognized by how a prompt begins, so that a long one takes no longer.
std::optional<Asked> Match(const CompiledForm& form, const std::string& prompt) {
  constexpr size_t kHead = 4096;
  const std::string_view head = BeginningOf(prompt, kHead);
  const auto& groups = form.pattern.NamedCapturingGroups();
  std::vector<re2::StringPiece> found(form.pattern.NumberOfCapturingGroups() + 1);
  if (!form.pattern.Match({head.data(), head.size()}, 0, head.size(), RE2::UNANCHORED, found.data(),
                          static_cast<int>(found.size()))) {
    return std::nullopt;
  }
  const auto group = [&](const char* name) {
    const auto at = groups.find(name);
    return at == groups.end() ? re2::StringPiece() : found[at->second];
  };
  const auto words = [&](const char* name) {
    const re2::StringPiece piece = group(name);
    return std::string(StripWhiteSpace({piece.data(), piece.size()}));
  };
  Asked asked = {words("from"), words("to"), ""};
  if (asked.from.empty()) asked.from = words("of");
  const re2::StringPiece begin = group("text");
  if (begin.data() == nullptr) return asked;  // of a system's message
  std::string_view text = prompt;
  text = StripWhiteSpace(text.substr(begin.data() - head.data()));
  if (!form.end.empty()) {
    if (!absl::EndsWithIgnoreCase({text.data(), text.size()}, {form.end.data(), form.end.size()})) {
      return std::nullopt;
    }
    text = StripWhiteSpace(text.substr(0, text.size() - form.end.size()));
  }
  asked.text = std::string(text);
  return asked;
}

template <size_t kCount>
std::vector<std::unique_ptr<CompiledForm>> Compile(const Form (&forms)[kCount]) {
  std::vector<std::unique_ptr<CompiledForm>> compiled;
  for (const Form& form : forms) compiled.push_back(std::make_unique<CompiledForm>(form));
  return compiled;
}

// The tag of a language that a prompt names: a tag or an English name.  "" if it is neither.
std::string TagOf(std::string_view words) {
  constexpr size_t kLongest = 64;
  constexpr std::string_view kMarks = " \t\"'`*{}[]<>";
  words = words.substr(std::min(words.find_first_not_of(kMarks), words.size()));
  words = words.substr(0, words.find_last_not_of(kMarks) + 1);
  if (words.size() > kLongest) return "";
  std::string name(words);
  absl::AsciiStrToLower(&name);
  for (const char* const ending : {" language", " text", " please"}) {
    if (absl::EndsWith(name, ending)) name.resize(name.size() - std::string_view(ending).size());
  }
  static constexpr std::pair<std::string_view, const char*> kNames[] = {
      {"simplified chinese", "zh-Hans"},
      {"chinese (simplified)", "zh-Hans"},
      {"chinese simplified", "zh-Hans"},
      {"traditional chinese", "zh-Hant"},
      {"chinese (traditional)", "zh-Hant"},
      {"chinese traditional", "zh-Hant"},
      {"mandarin", "zh"},
      {"brazilian portuguese", "pt-BR"},
      {"european portuguese", "pt-PT"},
      {"american english", "en-US"},
      {"british english", "en-GB"}};
  for (const auto& [known, tag] : kNames) {
    if (name == known) return tag;
  }
  if (const std::string tag = TagOfEnglishName(name); !tag.empty()) return tag;
  // "English (en)", "German (Germany)"
  const size_t bracket = name.find(" (");
  if (bracket != name.npos) return TagOf(name.substr(0, bracket));
  return ParseLanguage(name).has_value() ? name : "";
}

// ---- Requests ----------------------------------------------------------------------------------

// What an answer depends on besides the translation.
struct Chat {
  std::string model;
  std::string separator;  // of the texts
  size_t texts = 1;
  int64_t created = absl::ToUnixSeconds(absl::Now());
  std::string id = absl::StrCat("chatcmpl-", absl::ToUnixNanos(absl::Now()));
  std::vector<std::string> ignored;
};

absl::StatusOr<std::string> ContentOf(const CompatFields& message) {
  if (!message.IsList("content")) return message.Text("content");
  ASSIGN_OR_RETURN(const std::vector<CompatFields> parts, message.Objects("content"));
  std::string content;
  for (const CompatFields& part : parts) {
    ASSIGN_OR_RETURN(const std::string type, part.Text("type"));
    if (type != "text") return InvalidField("messages", "have a part of type ", type);
    ASSIGN_OR_RETURN(const std::string text, part.Text("text"));
    content += text;
  }
  return content;
}

struct Prompt {
  std::string system, user;
};

// The last of each; answers that were given before are no part of what is asked.
absl::StatusOr<Prompt> PromptOf(const CompatFields& fields) {
  ASSIGN_OR_RETURN(const std::vector<CompatFields> messages, fields.Objects("messages"));
  Prompt prompt;
  for (const CompatFields& message : messages) {
    ASSIGN_OR_RETURN(const std::string role, message.Text("role"));
    if (role == "user") {
      ASSIGN_OR_RETURN(prompt.user, ContentOf(message));
    } else if (role == "system" || role == "developer") {
      ASSIGN_OR_RETURN(prompt.system, ContentOf(message));
    } else if (role != "assistant") {
      return InvalidField("messages", "have the role \"", role, "\"");
    }
  }
  if (prompt.user.empty()) return InvalidField("messages", "have no text of the role user");
  return prompt;
}

// What the prompt asks for, with the tags of its languages; the text alone if it names none.
Asked Understand(const Prompt& prompt) {
  static const auto& forms = *new auto(Compile(kForms));
  static const auto& system_forms = *new auto(Compile(kSystemForms));
  const auto match = [](const CompiledForm& form, const std::string& message) {
    std::optional<Asked> asked = Match(form, message);
    if (!asked.has_value()) return asked;
    asked->from = TagOf(asked->from);
    asked->to = TagOf(asked->to);
    return asked->to.empty() ? std::nullopt : asked;
  };
  for (const auto& form : forms) {
    if (std::optional<Asked> asked = match(*form, prompt.user)) return *std::move(asked);
  }
  for (const auto& form : system_forms) {
    std::optional<Asked> asked = match(*form, prompt.system);
    if (!asked.has_value()) continue;
    asked->text = prompt.user;
    return *std::move(asked);
  }
  return {.text = prompt.user};
}

// "NAME", "NAME:en-de", or ":de": a model, and the languages where it names them.
struct ModelAndPair {
  std::string model, source, target;
};
absl::StatusOr<ModelAndPair> ReadModel(const std::string& text) {
  ModelAndPair read;
  const size_t colon = text.rfind(':');
  read.model = text.substr(0, colon);
  if (colon == text.npos) return read;
  const std::string pair = text.substr(colon + 1);
  constexpr size_t kLongest = 64;
  if (pair.size() > kLongest) return InvalidField("model", "is not of the form NAME:en-de");
  // Every hyphen may be the one between the two, zh-Hant-de, but one before a region, en-GB.
  static const LazyRE2 kWithRegion = {"[a-z]+-[A-Z]{2}(-.*)?"};
  size_t at = RE2::FullMatch(pair, *kWithRegion) ? pair.find('-') + 1 : 0;
  for (; (at = pair.find('-', at)) != pair.npos; ++at) {
    const std::string source = pair.substr(0, at), target = pair.substr(at + 1);
    if (ParseLanguage(source).has_value() && ParseLanguage(target).has_value()) {
      read.source = source;
      read.target = target;
      return read;
    }
  }
  if (!ParseLanguage(pair).has_value()) {
    return InvalidField("model", "\"", text, "\" is not of the form NAME:en-de");
  }
  read.target = pair;
  return read;
}

absl::StatusOr<v1::TranslateRequest> ReadChat(const CompatFields& fields, Chat* chat) {
  ASSIGN_OR_RETURN(const Prompt prompt, PromptOf(fields));
  ASSIGN_OR_RETURN(chat->model, fields.Text("model"));
  ASSIGN_OR_RETURN(ModelAndPair named, ReadModel(chat->model));
  RETURN_IF_ERROR(fields.Refuse({"tools", "functions"}));
  ASSIGN_OR_RETURN(const int choices, fields.Number("n", 1));
  if (choices != 1) return InvalidField("n", "is not 1");
  // These change nothing of a translation, or could not.
  for (const char* const field :
       {"temperature", "top_p", "frequency_penalty", "presence_penalty", "seed", "max_tokens",
        "max_completion_tokens", "logit_bias", "reasoning_effort", "thinking", "user"}) {
    if (fields.Has(field)) chat->ignored.push_back(field);
  }
  const Asked asked = Understand(prompt);
  if (named.target.empty()) {
    named.target = asked.to;
    named.source = asked.from;
  }
  if (named.target.empty()) return InvalidField("messages", kHowToAsk);
  // Immersive Translate sends several paragraphs this way, and expects them back.
  chat->separator = absl::StrContains(asked.text, "\n\n%%\n\n") ? "\n\n%%\n\n" : "";
  std::vector<std::string> texts = {asked.text};
  if (!chat->separator.empty()) texts = absl::StrSplit(asked.text, chat->separator);
  chat->texts = texts.size();
  v1::TranslateRequest request = NewTranslateRequest(std::move(texts), named.source, named.target);
  request.mutable_output()->set_tokens(true);  // which are counted
  request.set_model(named.model);
  return request;
}

// ---- Answers -----------------------------------------------------------------------------------

HttpResponse ErrorOf(int code, const std::string& field, std::string_view message) {
  return JsonResponse(code, {{"error",
                              {{"message", std::string(message)},
                               {"type", code < 500 ? "invalid_request_error" : "server_error"},
                               {"param", field.empty() ? Json() : Json(field)},
                               {"code", code == 401 ? Json("invalid_api_key") : Json()}}}});
}

HttpResponse PlainError(int code, std::string_view message) { return ErrorOf(code, "", message); }

HttpResponse Error(const absl::Status& status) {
  return ErrorOf(HttpCodeOf(status), FieldOf(status),
                 {status.message().data(), status.message().size()});
}

Json Head(const Chat& chat, const char* object) {
  return {{"id", chat.id}, {"object", object}, {"created", chat.created}, {"model", chat.model}};
}

HttpResponse Translated(const Chat& chat, const v1::TranslateResponse& response) {
  std::vector<std::string> texts;
  int read = 0, written = 0;
  bool cut = false;
  for (const v1::Translation& translation : response.translations()) {
    const v1::Hypothesis& best = translation.hypotheses(0);
    texts.push_back(best.text());
    read += translation.source_tokens();
    written += best.tokens_size();
    cut = cut || translation.truncated();
  }
  Json body = Head(chat, "chat.completion");
  body["choices"] = Json::array(
      {{{"index", 0},
        {"message", {{"role", "assistant"}, {"content", absl::StrJoin(texts, chat.separator)}}},
        {"logprobs", nullptr},
        {"finish_reason", cut ? "length" : "stop"}}});
  body["usage"] = {
      {"prompt_tokens", read}, {"completion_tokens", written}, {"total_tokens", read + written}};
  return WithIgnored(chat.ignored, JsonResponse(200, body));
}

// The chunks of a stream.  Texts come in their order, each after the one before it is whole.
class Chunks {
 public:
  std::string Of(const Chat& chat, const v1::TranslateStreamResponse& message) {
    const auto text = static_cast<size_t>(message.content_index());
    if (message.has_stable_text()) {
      waiting_.resize(std::max(waiting_.size(), text + 1));
      waiting_[text].text += message.stable_text();
    } else if (message.has_translation()) {
      waiting_.resize(std::max(waiting_.size(), text + 1));
      waiting_[text].whole = true;
      cut_ = cut_ || message.translation().truncated();
    } else {
      return "";
    }
    std::string delta;
    while (next_ < waiting_.size()) {
      delta += std::exchange(waiting_[next_].text, "");
      if (!waiting_[next_].whole) break;
      ++next_;
      if (next_ < chat.texts) delta += chat.separator;
    }
    if (delta.empty()) return "";
    return Delta(chat, delta);
  }

  // What ends the stream.
  std::string Last(const Chat& chat) {
    return absl::StrCat(begun_ ? "" : Delta(chat, ""),
                        Chunk(chat, Json::object(), cut_ ? "length" : "stop"), "data: [DONE]\n\n");
  }

 private:
  struct Text {
    std::string text;  // that was not passed on
    bool whole = false;
  };

  std::string Delta(const Chat& chat, const std::string& delta) {
    Json part = {{"content", delta}};
    if (!std::exchange(begun_, true)) part["role"] = "assistant";
    return Chunk(chat, part, nullptr);
  }

  static std::string Chunk(const Chat& chat, const Json& delta, const Json& finish) {
    Json body = Head(chat, "chat.completion.chunk");
    body["choices"] = Json::array(
        {{{"index", 0}, {"delta", delta}, {"logprobs", nullptr}, {"finish_reason", finish}}});
    return absl::StrCat("data: ", WriteJson(body), "\n\n");
  }

  std::vector<Text> waiting_;
  size_t next_ = 0;
  bool cut_ = false;
  bool begun_ = false;
};

void Stream(const ApiContext& context, const HttpRequest& http,
            std::shared_ptr<HttpAnswer> answer) {
  const auto chat = std::make_shared<Chat>();
  const auto chunks = std::make_shared<Chunks>();
  const auto error = [](const CallEnd& end) {
    return WithHeaders(Error(InWordsOf(kApi, end.status)), end);
  };
  StreamOverHttp(context, kApi.name, http, std::move(answer),
                 [&]() -> absl::StatusOr<v1::TranslateRequest> {
                   ASSIGN_OR_RETURN(const CompatFields fields, CompatFields::Read(http));
                   return ReadChat(fields, chat.get());
                 },
                 {.event = [=](const auto& message) { return chunks->Of(*chat, message); },
                  .last =
                      [=](const CallEnd& end) {
                        if (!end.status.ok())
                          return absl::StrCat("data: ", error(end).body, "\n\n");
                        return chunks->Last(*chat);
                      },
                  .error = error});
}

// GET /v1/models and GET /v1/models/NAME are calls of the server's own API, too: their answers are
// those of both.
constexpr char kModels[] = "/v1/models";
constexpr CompatApi kModelsApi = {.name = kHttpApi,
                                  .credential = kApi.credential,
                                  .texts = kApi.texts,
                                  .source = kApi.source,
                                  .target = kApi.target};

HttpResponse ModelsError(const absl::Status& status) {
  HttpResponse own = ToHttpError({.status = status});
  Json body = Json::parse(own.body);
  body["error"] = Json::parse(Error(status).body)["error"];
  own.body = WriteJson(body);
  return own;
}

// The fields of a model, besides those that it has in the own API.
Json ModelFields(const std::string& name) {
  return {{"id", name}, {"object", "model"}, {"created", 0}, {"owned_by", "dragoman"}};
}

CompatAnswer ListModels(const CompatFields&, Call* call) {
  const v1::ListModelsResponse models = ListedModels(call->parts(), call->permit());
  ASSIGN_OR_RETURN(const std::string own, ToJson(models));
  Json body = Json::parse(own);
  body["object"] = "list";
  body["data"] = Json::array();
  for (const v1::Model& model : models.models()) {
    body["data"].push_back(ModelFields(model.name()));
  }
  return JsonResponse(200, body);
}

CompatAnswer GetModel(const CompatFields& fields, Call* call) {
  ASSIGN_OR_RETURN(const std::string path, fields.Text("path"));
  ASSIGN_OR_RETURN(const v1::Model model, NamedModel(path.substr(sizeof(kModels)), call));
  ASSIGN_OR_RETURN(const std::string own, ToJson(model));
  Json body = Json::parse(own);
  body.update(ModelFields(model.name()));
  return JsonResponse(200, body);
}

}  // namespace

void AddRoutes(const ApiContext& context, HttpRouter* router) {
  const auto add_models = [&](const char* method, const std::string& path, auto act) {
    const auto read = [](const HttpRequest& http) {
      return *CompatFields::FromForm({{"path", http.path}});
    };
    router->AddBefore({.method = "GET",
                       .path = path,
                       .handler = AnswerWith(context, {kModelsApi, method, ModelsError}, act, read),
                       .error = PlainError});
  };
  add_models("ListModels", kModels, ListModels);
  add_models("GetModel", absl::StrCat(kModels, "/**"), GetModel);
  const auto complete = [context](const HttpRequest& http, std::shared_ptr<HttpAnswer> answer) {
    const auto seen = CompatFields::Glance(http, {"stream"});
    if (seen.Flag("stream", false).value_or(false)) return Stream(context, http, std::move(answer));
    AnswerTranslate<Chat>(context, kApi, http, std::move(answer), {ReadChat, Translated, Error});
  };
  router->Add({.method = "POST",
               .path = "/v1/chat/completions",
               .handler = complete,
               .body_types = {"application/json"},
               .error = PlainError});
}

}  // namespace dragoman::openai
