// One end of a connection, plain TCP or TLS over it, as a single stream type for the operations of
// Boost.Asio and Beast.  Used on one thread.

#ifndef DRAGOMAN_SERVER_HTTP_STREAM_H_
#define DRAGOMAN_SERVER_HTTP_STREAM_H_

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <memory>
#include <utility>

namespace dragoman {

class HttpStream {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using executor_type = Socket::executor_type;

  explicit HttpStream(Socket socket) : socket_(std::move(socket)) {}

  executor_type get_executor() { return socket_.get_executor(); }
  Socket& socket() { return socket_; }
  bool encrypted() const { return tls_ != nullptr; }
  SSL* tls() { return tls_ == nullptr ? nullptr : tls_->native_handle(); }

  template <typename Handler>
  void Handshake(std::shared_ptr<boost::asio::ssl::context> context, Handler&& handler) {
    context_ = std::move(context);
    tls_ = std::make_unique<boost::asio::ssl::stream<Socket&>>(socket_, *context_);
    tls_->async_handshake(boost::asio::ssl::stream_base::server, std::forward<Handler>(handler));
  }

  template <typename Buffers, typename Handler>
  void async_read_some(const Buffers& buffers, Handler&& handler) {
    if (tls_ != nullptr) {
      tls_->async_read_some(buffers, std::forward<Handler>(handler));
    } else {
      socket_.async_read_some(buffers, std::forward<Handler>(handler));
    }
  }

  template <typename Buffers, typename Handler>
  void async_write_some(const Buffers& buffers, Handler&& handler) {
    if (tls_ != nullptr) {
      tls_->async_write_some(buffers, std::forward<Handler>(handler));
    } else {
      socket_.async_write_some(buffers, std::forward<Handler>(handler));
    }
  }

  // Ends the TLS session, and then the sending direction.
  template <typename Handler>
  void Shutdown(Handler&& handler) {
    if (tls_ != nullptr) {
      tls_->async_shutdown(std::forward<Handler>(handler));
    } else {
      boost::system::error_code error;
      socket_.shutdown(Socket::shutdown_send, error);
      handler(error);
    }
  }

 private:
  Socket socket_;
  std::shared_ptr<boost::asio::ssl::context> context_;  // must live as long as the stream over it
  std::unique_ptr<boost::asio::ssl::stream<Socket&>> tls_;  // null: plain
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_HTTP_STREAM_H_
