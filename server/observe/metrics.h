// Everything the server tells Prometheus: what the design lists, under the prefix `dragoman_`, and
// the usual process_*.  The only door to prometheus-cpp.
//
// Every series exists, at zero, before the first request: labels come from the configuration and
// never from a request.  The one exception is principals, whose series are made when they call and
// are limited in number.
//
// Thread-safe.

#ifndef DRAGOMAN_SERVER_OBSERVE_METRICS_H_
#define DRAGOMAN_SERVER_OBSERVE_METRICS_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "engine/decode/observer.h"
#include "engine/decode/worker_pool.h"
#include "engine/translator.h"
#include "server/observe/listener_stats.h"

namespace dragoman {

// A call that ended.
struct CallRecord {
  std::string_view method;  // "Translate"
  std::string_view model;   // a served one's name; "" if the call never came to a model
  absl::Status status;
  absl::Duration duration;
  bool draining = false;                      // the server was
  std::optional<std::string_view> principal;  // who called, if that was found out
};

// What is read again when its files change.
enum class Reloaded { kCertificates, kTokens };

class Metrics : public Observer {
 public:
  // `workers` is how many the pool has.
  explicit Metrics(int workers);
  ~Metrics() override;

  void AddModel(const Model& model, absl::Duration load);

  // How many rows of a model make a turn.
  void SetBatchRows(const std::string& model, int rows);

  // Reads the gauges of the queue and the KV memory from `pool` at every scrape, until it is null.
  void Watch(const WorkerPool* pool);
  // Likewise the connections of the gRPC port and of the HTTP port.
  void WatchGrpc(std::function<ListenerStats()> connections);
  void WatchHttp(std::function<ListenerStats()> connections);

  // The series of a path that the HTTP port serves; "" for all others.
  void AddHttpPath(const std::string& path);
  // An answer there, of whatever code.  REQUIRES: AddHttpPath was called.
  void OnHttpAnswer(const std::string& path, int code);

  // Files were read, at the start or later, or could not be.
  void OnReload(Reloaded what, const absl::Status& status);
  // The configuration was read again, or could not be.
  void OnConfigRead(const absl::Status& status);
  // A version of a model is served from now on; one could not be loaded ("memory", "broken" or
  // "golden"), while the one before it, if any, goes on; one has finished its last sentence.
  void OnModelLoaded(const std::string& model, const std::string& version);
  void OnModelFailed(const std::string& model, const std::string& failure);
  void OnModelLeft(const std::string& model, const std::string& version);
  // A version that could not be loaded is not wanted any more; or the whole model is not.
  void OnModelSettled(const std::string& model);
  void OnModelRemoved(const std::string& model);
  // The certificates of the gRPC port are valid from `not_before` to `not_after`.
  void OnCertificates(absl::Time not_before, absl::Time not_after);

  // Each call is started once and ended once.
  void OnCallStarted();
  void OnCallEnded(const CallRecord& record);

  // A Translate that was OK: `characters` are code points of its source.
  void OnTranslated(const Model& model, int characters, const TranslateTimes& times);

  // The first text of a TranslateStream was found, so long after its arrival.
  void OnFirstText(const Model& model, absl::Duration took);

  // A request of a bulk call has ended.  Counted as a call of method "TranslateBulkItem".
  void OnBulkItemEnded(const CallRecord& record);

  // Observer, called by the workers.
  void OnEncode(const Model& model, int sentences, int tokens, absl::Duration took) override;
  void OnDecodeStep(const Model& model, int sentences, int rows, absl::Duration took) override;
  void OnBusy(int worker, absl::Duration took) override;
  void OnJobDone(const Job& job, const JobResult& result) override;

  // The Prometheus text format, version 0.0.4.
  std::string Text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dragoman

#endif  // DRAGOMAN_SERVER_OBSERVE_METRICS_H_
