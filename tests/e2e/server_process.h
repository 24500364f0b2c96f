// The real server binary as a child process, with the golden model en-de, on free ports.

#ifndef DRAGOMAN_TESTS_E2E_SERVER_PROCESS_H_
#define DRAGOMAN_TESTS_E2E_SERVER_PROCESS_H_

#include <sys/types.h>

#include <string>

namespace dragoman {

class ServerProcess {
 public:
  // Starts DRAGOMAN_SERVER_BINARY with `grpc_address` and waits until it listens.  If it exits
  // before that, grpc_address() is empty.
  explicit ServerProcess(const std::string& grpc_address = "127.0.0.1:0");
  // Ends the server if Stop has not done so.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  const std::string& grpc_address() const { return grpc_address_; }
  const std::string& http_address() const { return http_address_; }

  // Sends SIGTERM and returns the exit code, or -1 if a signal killed the server.
  int Stop();
  // Sends SIGKILL.
  void Kill();

 private:
  pid_t pid_ = -1;
  int output_ = -1;  // the read end of its standard output
  std::string grpc_address_;
  std::string http_address_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_TESTS_E2E_SERVER_PROCESS_H_
