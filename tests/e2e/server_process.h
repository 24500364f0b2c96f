// The real server binary as a child process, with the embedded model, on free ports.

#ifndef DRAGOMAN_TESTS_E2E_SERVER_PROCESS_H_
#define DRAGOMAN_TESTS_E2E_SERVER_PROCESS_H_

#include <sys/types.h>

#include <string>

namespace dragoman {

class ServerProcess {
 public:
  // Starts DRAGOMAN_SERVER_BINARY and waits until it listens; grpc_address() is empty if it ended
  // before.  It listens for gRPC on `grpc_address`.
  explicit ServerProcess(const std::string& grpc_address = "127.0.0.1:0");
  // Stops it, if Stop has not.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  const std::string& grpc_address() const { return grpc_address_; }

  // Ends the server by SIGTERM and returns its exit code; -1 if a signal killed it.
  int Stop();
  // Ends it by SIGKILL.
  void Kill();

 private:
  pid_t pid_ = -1;
  int output_ = -1;  // what it prints
  std::string grpc_address_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_E2E_SERVER_PROCESS_H_
