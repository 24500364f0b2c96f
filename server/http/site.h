// The pages for people: / to try a translation, /status to see the state of the server, /api to
// learn how programs call it, and /page/* with their parts (server/page).
//
// They are the same for everybody, so they require no token; the calls that they make to the API
// do.  A content security policy keeps them from loading or running anything that is not the
// server's.

#ifndef DRAGOMAN_SERVER_HTTP_SITE_H_
#define DRAGOMAN_SERVER_HTTP_SITE_H_

#include <functional>
#include <string>

#include "server/http/router.h"

namespace dragoman {

// `settings` is what the pages must know of the server, as JSON at /page/settings.json:
// {"maxCharacters": 131072, "pivot": "en", "version": "0.1.0", "grpcPort": "50051",
// "suffixes": [".txt", ...]}.
void AddSite(std::function<std::string()> settings, HttpRouter* router);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_SITE_H_
