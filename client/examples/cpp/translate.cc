// Translates each TEXT: example-translate HOST:PORT TEXT...

#include <cstdlib>
#include <iostream>
#include <string>

#include "client/translation_client.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: example-translate HOST:PORT TEXT...\n";
    return EXIT_FAILURE;
  }
  dragoman::ClientOptions options;
  if (const char* ca = std::getenv("DRAGOMAN_TLS_CA")) {
    auto tls = dragoman::LoadClientTls(ca, /*cert_path=*/"", /*key_path=*/"");
    if (!tls.ok()) {
      std::cerr << tls.status() << "\n";
      return EXIT_FAILURE;
    }
    options.tls = *tls;
  }
  if (const char* token = std::getenv("DRAGOMAN_TOKEN")) options.token = token;

  dragoman::TranslationClient client(argv[1], options);
  dragoman::v1::TranslateRequest request;
  for (int i = 2; i < argc; ++i) request.add_contents(argv[i]);
  const auto response = client.Translate(request);
  if (!response.ok()) {
    std::cerr << response.status() << "\n";
    return EXIT_FAILURE;
  }
  for (const auto& translation : response->translations()) {
    std::cout << translation.hypotheses(0).text() << "\n";
  }
}
