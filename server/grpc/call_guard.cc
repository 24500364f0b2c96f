#include "server/grpc/call_guard.h"

#include <grpc/grpc.h>
#include <grpc/support/alloc.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "engine/base/json.h"
#include "server/net/arrivals.h"

namespace dragoman {
namespace {

constexpr int64_t kBytesOfCall = 20 << 10;
constexpr int64_t kLessOfOne = 16;  // while all are too many
constexpr absl::Duration kBetweenLooks = absl::Milliseconds(5),
                         kBetweenArrivals = absl::Milliseconds(20);

// What channelz writes; an empty object if there is nothing.
nlohmann::json FromChannelz(char* text) {
  const std::unique_ptr<char, void (*)(void*)> owned(text, gpr_free);
  if (text == nullptr) return nlohmann::json::object();
  const absl::StatusOr<nlohmann::json> parsed = ParseJsonObject(text, "channelz");
  return parsed.ok() ? *parsed : nlohmann::json::object();
}

// It writes integers of 64 bits as strings, and leaves zeros out.
int64_t IntegerOf(const nlohmann::json& object, const char* key) {
  int64_t number = 0;
  return absl::SimpleAtoi(object.value(key, "0"), &number) ? number : 0;
}

}  // namespace

CallGuard::CallGuard(Listener* listener, int most_open, size_t memory)
    : listener_(listener),
      memory_(static_cast<int64_t>(memory)),
      most_of_one_(2 * static_cast<int64_t>(most_open)),
      most_of_all_(memory > 0 ? static_cast<int64_t>(memory) / kBytesOfCall
                              : std::numeric_limits<int64_t>::max()),
      unlooked_(std::min(most_of_one_, most_of_all_)) {}

CallGuard::~CallGuard() {
  stopped_ = true;
  Wake();
  if (thread_.joinable()) thread_.join();
}

void CallGuard::Start() {
  const nlohmann::json none = nlohmann::json::object(),
                       servers = FromChannelz(grpc_channelz_get_servers(0));
  for (const nlohmann::json& server : servers.value("server", none)) {
    const intptr_t id = IntegerOf(server.value("ref", none), "serverId");
    server_ = std::max(server_, id);
  }
  thread_ = std::thread([this] { Run(); });
}

void CallGuard::Wake() { Arrivals::Get().Wake(&awake_); }

void CallGuard::Run() {
  bool many = false;
  absl::Duration tick = kBetweenArrivals;
  absl::Time looked;
  while (true) {
    Arrivals::Get().Await(many ? stopped_ : awake_, many ? kBetweenLooks : tick,
                          /*may_sleep=*/!many && unlooked_ <= most_of_one_);
    if (stopped_) return;
    const bool called = awake_.exchange(false);
    const absl::Time now = absl::Now();
    if (memory_ > 0) Arrivals::Get().Look(memory_ / 2, listener_);
    tick = std::max(kBetweenArrivals, 10 * (absl::Now() - now));  // there may be many connections
    // Of many calls that were open at the last look, few may be left.
    const bool due = unlooked_ > most_of_one_ && now - looked > absl::Seconds(1);
    if (!called && !many && !due) continue;
    Look();
    looked = now;
    many = calls_ > unlooked_;
    listener_->Hold(many);
  }
}

void CallGuard::Look() {
  const absl::Time now = absl::Now();
  const bool attacked = now - attacked_ < absl::Seconds(1);
  const bool too_many = calls_ > most_of_all_;
  const int64_t less_of_one = most_of_one_ / kLessOfOne;
  std::vector<Connection> connections = Connections();
  absl::c_sort(connections,
               [](const Connection& a, const Connection& b) { return a.calls > b.calls; });
  int64_t calls = 0;
  intptr_t newest = 0;
  for (const Connection& connection : connections) {
    calls += connection.calls;
    newest = std::max(newest, connection.id);
  }
  for (const Connection& connection : connections) {
    const bool newcomer = attacked && connection.id > newest_before_;
    const int64_t most_of_one = too_many || newcomer ? less_of_one : most_of_one_;
    if (connection.calls <= most_of_one && calls <= most_of_all_) continue;
    listener_->Abort(connection.peer);  // not there if it was aborted before
    calls -= connection.calls;
    attacked_ = now;
  }
  if (!attacked) newest_before_ = newest;
  unlooked_ = std::min(calls + (attacked ? less_of_one : most_of_one_) / 2, most_of_all_);
}

std::vector<CallGuard::Connection> CallGuard::Connections() const {
  constexpr intptr_t kAll = 1 << 30;
  const nlohmann::json none = nlohmann::json::object();
  const nlohmann::json sockets = FromChannelz(grpc_channelz_get_server_sockets(server_, 0, kAll));
  std::vector<Connection> connections;
  for (const nlohmann::json& reference : sockets.value("socketRef", none)) {
    const intptr_t id = IntegerOf(reference, "socketId");
    const nlohmann::json socket = FromChannelz(grpc_channelz_get_socket(id)).value("socket", none);
    const nlohmann::json streams = socket.value("data", none);
    const nlohmann::json address = socket.value("remote", none).value("tcpip_address", none);
    // A stream ends with its call.
    Connection& connection = connections.emplace_back();
    connection.id = id;
    connection.calls = IntegerOf(streams, "streamsStarted") -
                       IntegerOf(streams, "streamsSucceeded") - IntegerOf(streams, "streamsFailed");
    std::string ip;
    absl::Base64Unescape(address.value("ip_address", ""), &ip);
    connection.peer = Listener::PeerAt(ip, address.value("port", 0));
  }
  return connections;
}

}  // namespace dragoman
