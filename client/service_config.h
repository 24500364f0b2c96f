// deploy/service_config.json, compiled into the client: calls are spread over the healthy servers
// behind the server's name, and retried if a server was UNAVAILABLE.
// https://github.com/grpc/grpc/blob/master/doc/service_config.md

#ifndef DRAGOMAN_CLIENT_SERVICE_CONFIG_H_
#define DRAGOMAN_CLIENT_SERVICE_CONFIG_H_

namespace dragoman {

extern const char kServiceConfig[];

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_SERVICE_CONFIG_H_
