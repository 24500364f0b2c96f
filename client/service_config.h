// deploy/service_config.json, as the client was built with it: calls are spread over the addresses
// of the server's name, those whose server is healthy, and tried again if it was UNAVAILABLE.
// https://github.com/grpc/grpc/blob/master/doc/service_config.md

#ifndef DRAGOMAN_CLIENT_SERVICE_CONFIG_H_
#define DRAGOMAN_CLIENT_SERVICE_CONFIG_H_

namespace dragoman {

extern const char kServiceConfig[];

}  // namespace dragoman

#endif  // DRAGOMAN_CLIENT_SERVICE_CONFIG_H_
