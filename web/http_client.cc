#include "web/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "absl/functional/function_ref.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

constexpr size_t kMaxErrorBody = 4096;
constexpr size_t kMaxHeaders = 1000;
constexpr long kConnectSeconds = 30;
constexpr long kStalledSeconds = 60;
constexpr long kMaxRedirects = 10;

// The state of one transfer, for libcurl's callbacks.
struct Transfer {
  CURL* curl;
  const HttpClient::Sink* sink;
  WebResponse response;
  absl::Status error;   // from the sink
  bool enough = false;  // of the body of an error

  bool Succeeds() {
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    response.status = static_cast<int>(status);
    return status >= 200 && status < 300;
  }
};

size_t TakeHeader(char* data, size_t size, size_t count, void* user) {
  auto* const transfer = static_cast<Transfer*>(user);
  std::map<std::string, std::string>& headers = transfer->response.headers;
  const std::string line(data, size * count);
  if (absl::StartsWith(line, "HTTP/")) {  // the next hop
    std::erase_if(headers, [](const auto& header) { return header.first.substr(0, 2) != "x-"; });
    return size * count;
  }
  const size_t colon = line.find(':');
  if (colon == line.npos || headers.size() > kMaxHeaders) return size * count;
  const std::string name = absl::AsciiStrToLower(line.substr(0, colon));
  std::string value(absl::StripAsciiWhitespace(line.substr(colon + 1)));
  if (absl::StartsWith(name, "x-")) {
    headers.emplace(name, std::move(value));
  } else {
    headers[name] = std::move(value);
  }
  return size * count;
}

size_t TakeBody(char* data, size_t size, size_t count, void* user) {
  auto* const transfer = static_cast<Transfer*>(user);
  const std::string_view part(data, size * count);
  if (transfer->Succeeds()) {
    transfer->error = (*transfer->sink)(transfer->response, part);
    return transfer->error.ok() ? part.size() : 0;
  }
  std::string& body = transfer->response.error_body;
  body.append(part.substr(0, kMaxErrorBody - body.size()));
  transfer->enough = body.size() == kMaxErrorBody;  // there may be no end to it
  return transfer->enough ? 0 : part.size();
}

// The variables in which Python's requests library, and so Hugging Face's tools, take a file of
// other certificate authorities.
const char* CertificateFile() {
  for (const char* name : {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}) {
    const char* const file = std::getenv(name);
    if (file != nullptr && *file != '\0') return file;
  }
  return nullptr;
}

}  // namespace

std::string WebResponse::Header(const std::string& name) const {
  const auto it = headers.find(name);
  return it != headers.end() ? it->second : "";
}

struct HttpClient::Impl {
  CURL* curl = curl_easy_init();  // null if out of memory

  ~Impl() { curl_easy_cleanup(curl); }

  // `more` sets what the kind of request needs besides.
  absl::StatusOr<WebResponse> Perform(const WebRequest& request, const Sink& sink,
                                      absl::FunctionRef<void(CURL*)> more);

  void SetUp(const WebRequest& request, Transfer* transfer, char* message) {
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "dragoman/" DRAGOMAN_VERSION);
    const bool https = absl::StartsWithIgnoreCase(request.url, "https:");
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, https ? "https" : "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, kMaxRedirects);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, kStalledSeconds);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, message);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, TakeHeader);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, transfer);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, TakeBody);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
    if (!request.token.empty()) {
      // libcurl sends this only to the first host and port.
      curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BEARER);
      curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, request.token.c_str());
    }
    if (request.from > 0) {
      curl_easy_setopt(curl, CURLOPT_RANGE, absl::StrCat(request.from, "-").c_str());
    }
    if (const char* const file = CertificateFile()) {
      curl_easy_setopt(curl, CURLOPT_CAINFO, file);
    }
  }
};

HttpClient::HttpClient() : impl_(std::make_unique<Impl>()) {}
HttpClient::~HttpClient() = default;

absl::StatusOr<WebResponse> HttpClient::Get(const WebRequest& request, const Sink& sink) {
  return impl_->Perform(request, sink, [](CURL*) {});
}

absl::StatusOr<WebResponse> HttpClient::PostJson(const WebRequest& request, const std::string& body,
                                                 absl::Duration timeout, const Sink& sink) {
  curl_slist* headers = curl_slist_append(nullptr, "Content-Type: application/json");
  for (const std::string& header : request.headers) {
    headers = curl_slist_append(headers, header.c_str());
  }
  absl::StatusOr<WebResponse> response = impl_->Perform(request, sink, [&](CURL* curl) {
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.c_str());
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS,
                     static_cast<long>(absl::ToInt64Milliseconds(timeout)));
  });
  curl_slist_free_all(headers);
  return response;
}

absl::StatusOr<WebResponse> HttpClient::Impl::Perform(const WebRequest& request, const Sink& sink,
                                                      absl::FunctionRef<void(CURL*)> more) {
  if (curl == nullptr) return absl::ResourceExhaustedError("no memory for a connection");
  Transfer transfer{curl, &sink, {}, {}};
  char message[CURL_ERROR_SIZE] = "";
  SetUp(request, &transfer, message);
  more(curl);
  const CURLcode code = curl_easy_perform(curl);
  if (!transfer.error.ok()) return transfer.error;
  if (code == CURLE_OK || (code == CURLE_WRITE_ERROR && transfer.enough)) {
    transfer.Succeeds();  // stores the status of a response without a body
    return std::move(transfer.response);
  }
  const std::string why =
      absl::StrCat(request.url, ": ", *message != '\0' ? message : curl_easy_strerror(code));
  switch (code) {
    case CURLE_SSL_CACERT_BADFILE:
      return FailedPreconditionError(why,
                                     "; install ca-certificates, or name a file of authorities in "
                                     "CURL_CA_BUNDLE");
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_TOO_MANY_REDIRECTS:
      return absl::FailedPreconditionError(why);
    default:
      return absl::UnavailableError(why);
  }
}

}  // namespace dragoman
