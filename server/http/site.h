// The pages for people: / to try a translation, /status to see the state of the server, and /page/*
// with their parts (server/page).
//
// They are the same for everybody, so they require no token; the calls that they make to the API
// do.  A content security policy keeps them from loading or running anything that is not the
// server's.

#ifndef DRAGOMAN_SERVER_HTTP_SITE_H_
#define DRAGOMAN_SERVER_HTTP_SITE_H_

#include "server/http/router.h"

namespace dragoman {

void AddSite(HttpRouter* router);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_SITE_H_
