// The pages for people: / to try a translation, /status to see how the server does, and /page/*
// what they are made of (server/page).
//
// They are the same for everybody, so nobody must show a token for them; what they ask the API for
// is another matter.  A policy keeps them from taking or running anything that is not the server's.

#ifndef DRAGOMAN_SERVER_HTTP_SITE_H_
#define DRAGOMAN_SERVER_HTTP_SITE_H_

#include "server/http/router.h"

namespace dragoman {

void AddSite(HttpRouter* router);

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_SITE_H_
