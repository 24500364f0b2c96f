// DeepL's API for translation memories
// (https://developers.deepl.com/api-reference/translation-memory), as its own libraries call it,
// over the memories of MemoryStore:
//
//   GET     /v3/translation_memories               lists them, by pages
//   GET     /v3/translation_memories/ID            one of them; DELETE deletes it
//   GET     /v3/translation_memories/ID/segments   by pages, perhaps only those with a text
//   POST    /v3/translation_memories/import        begins a job: a file in TMX becomes a memory
//   POST    /v3/translation_memories/ID/export     begins a job: a memory becomes such a file
//   GET     /v3/translation_memories/jobs/ID       how far it is
//   PUT     /v3/translation_memories/jobs/ID/file  the file of an import; GET that of an export
//
// The last path wants no token: whoever knows the job's id acts for who began the job, for an hour.
// Jobs are this server's alone, and end with it.

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "documents/tmx.h"
#include "engine/base/mapped_file.h"
#include "engine/base/status.h"
#include "engine/base/utf8.h"
#include "engine/text/letter_case.h"
#include "server/api/memories.h"
#include "server/base/uuid.h"
#include "server/compat/compat.h"
#include "server/compat/deepl.h"
#include "server/http/document_api.h"
#include "server/http/document_form.h"
#include "server/store/kept_text.h"

namespace dragoman::deepl_memories {
namespace {

using Json = nlohmann::ordered_json;
using deepl::KeptCall;
using Answer = absl::StatusOr<HttpResponse>;

constexpr char kPath[] = "/v3/translation_memories";
constexpr int kStep = 1000;        // segments that are read at a time
constexpr int kSearched = 20'000;  // and looked through for one page

// ---- Jobs --------------------------------------------------------------------------------------

struct Job {
  std::string id = NewUuid();
  std::string principal, authorization;  // of who began it; the latter as in its header
  bool is_import = false;
  std::string memory_id;  // of an export, or of an import that is done
  std::string name;       // of the memory that is imported
  int bytes = 0;          // that its file has
  bool has_file = false;  // it was sent, or is on its way
  std::string error;
  absl::Time created = absl::Now();
  absl::Time end = created + absl::Hours(1);
};

// Thread-safe.
class Jobs {
 public:
  // RESOURCE_EXHAUSTED if the holder has too many of them.
  absl::Status Add(const std::string& holder, Job job) {
    absl::MutexLock lock(&mutex_);
    std::erase_if(jobs_, [](const auto& each) { return each.second.first.end < absl::Now(); });
    ASSIGN_OR_RETURN(Share place, places_.Take(holder, 1));
    std::string id = job.id;
    jobs_.emplace(std::move(id), std::pair(std::move(job), std::move(place)));
    return absl::OkStatus();
  }

  // NOT_FOUND if there is none.
  absl::StatusOr<Job> Find(const std::string& id) const {
    absl::MutexLock lock(&mutex_);
    const auto found = jobs_.find(id);
    if (found != jobs_.end() && found->second.first.end >= absl::Now()) return found->second.first;
    return absl::NotFoundError("there is no such job (any more)");
  }

  // An import that waits for its file, and does so no more.  FAILED_PRECONDITION if there is no
  // such.
  absl::StatusOr<Job> TakeWaiting(const std::string& id) {
    absl::MutexLock lock(&mutex_);
    const auto found = jobs_.find(id);
    if (found == jobs_.end() || !found->second.first.is_import || found->second.first.has_file) {
      return absl::FailedPreconditionError("the job waits for no file");
    }
    found->second.first.has_file = true;
    return found->second.first;
  }

  // Takes the place of the one with its id.
  void Update(const Job& job) {
    absl::MutexLock lock(&mutex_);
    if (const auto found = jobs_.find(job.id); found != jobs_.end()) found->second.first = job;
  }

 private:
  SharedBudget places_{"memory_jobs", 1000};
  mutable absl::Mutex mutex_;
  std::map<std::string, std::pair<Job, Share>> jobs_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<v1::TranslationMemory> FindMemory(const KeptCall& call, const std::string& id) {
  v1::GetMemoryRequest request;
  request.set_id(id);
  return GetMemory(request, call.call);
}

absl::Status Begin(const KeptCall& call, Job job, Jobs* jobs) {
  job.principal = call.call->principal();
  job.authorization = std::string(call.http.Header("authorization"));
  return jobs->Add(HolderOf(job.principal, call.http.peer), std::move(job));
}

std::string AddressOf(const HttpRequest& http, const Job& job) {
  return absl::StrCat(OriginOf(http), kPath, "/jobs/", job.id, "/file");
}

Answer BeginImport(const KeptCall& call, Jobs* jobs) {
  ASSIGN_OR_RETURN(const CompatFields file, call.fields.Object("source_file"));
  ASSIGN_OR_RETURN(const CompatFields parameters, call.fields.Object("parameters"));
  Job job = {.is_import = true};
  ASSIGN_OR_RETURN(job.bytes, file.Number("content_length", 0));
  ASSIGN_OR_RETURN(const std::string file_name, file.Text("file_name"));
  ASSIGN_OR_RETURN(job.name, parameters.Text("display_name", file_name));
  if (file_name.empty()) return InvalidField("source_file.file_name", "is missing");
  if (job.bytes == 0) return InvalidField("source_file.content_length", "is missing");
  RETURN_IF_ERROR(CheckLine("parameters.display_name", job.name, kMaxKeptName));
  RETURN_IF_ERROR(Begin(call, job, jobs));
  return JsonResponse(201, {{"job_id", job.id},
                            {"upload_url", AddressOf(call.http, job)},
                            {"expires_at", deepl::TimeText(job.end)}});
}

Answer BeginExport(const KeptCall& call, Jobs* jobs) {
  RETURN_IF_ERROR(FindMemory(call, call.id).status());
  const Job job = {.memory_id = call.id};
  RETURN_IF_ERROR(Begin(call, job, jobs));
  return JsonResponse(
      202, {{"job_id", job.id}, {"parameters", {{"translation_memory_id", job.memory_id}}}});
}

Answer DescribeJob(const KeptCall& call, const Jobs* jobs) {
  ASSIGN_OR_RETURN(const Job job, jobs->Find(call.id));
  if (job.principal != call.call->principal()) {
    return absl::NotFoundError("there is no such job (any more)");
  }
  Json body = {{"job_id", job.id},
               {"operation", job.is_import ? "import" : "export"},
               {"product", "translation_memory"},
               {"creation_time", deepl::TimeText(job.created)}};
  Json result = {{"status", "completed"}};
  if (!job.is_import) {
    body["parameters"] = {{"translation_memory_id", job.memory_id}};
    result["download_url"] = AddressOf(call.http, job);
    result["expires_at"] = deepl::TimeText(job.end);
  } else {
    body["parameters"] = {{"display_name", job.name}};
    body["source_file"] = {{"content_length", job.bytes}};
    if (!job.error.empty()) {
      result = {{"status", "failed"}, {"error", {{"message", job.error}}}};
    } else if (job.memory_id.empty() && job.has_file) {
      result = {{"status", "processing"}};
    } else if (job.memory_id.empty()) {
      result = {{"status", "awaiting_input"},
                {"status_metadata", {{"required_action", "the file is sent to upload_url"}}}};
    } else {
      result["translation_memory_id"] = job.memory_id;
    }
  }
  body["results"] = Json::array({std::move(result)});
  return JsonResponse(200, body);
}

// ---- Their files -------------------------------------------------------------------------------

// The id of the memory that the file has become.
absl::StatusOr<std::string> Import(const KeptCall& call, const Job& job) {
  ASSIGN_OR_RETURN(const DocumentForm form, TakeDocumentForm(call.http, "the file"));
  if (form.file->size() != static_cast<size_t>(job.bytes)) {
    return InvalidArgumentError("the file has ", form.file->size(),
                                " bytes, its job was begun for ", job.bytes);
  }
  ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file,
                   MappedFile::Open(form.file->path()));
  constexpr size_t kCopies = 3;  // its segments, those of the request, and those of the store
  ASSIGN_OR_RETURN(const Share memory, call.call->parts().requests->Take(
                                           HolderOf(call.call->principal(), call.http.peer),
                                           kCopies * form.file->size()));
  ASSIGN_OR_RETURN(MemoryText text, ParseTmxMemory(file->text()));
  text.name = job.name;
  text.owner = call.call->principal();
  ASSIGN_OR_RETURN(const Owned made,
                   call.call->parts().memories->Create(call.asker.until, std::move(text)));
  return made.id;
}

Answer PutFile(const KeptCall& call, Jobs* jobs) {
  ASSIGN_OR_RETURN(Job job, jobs->TakeWaiting(call.id));
  const absl::StatusOr<std::string> memory_id = Import(call, job);
  if (memory_id.ok()) {
    job.memory_id = *memory_id;
  } else {
    job.error = std::string(memory_id.status().message());
  }
  jobs->Update(job);
  RETURN_IF_ERROR(memory_id.status());
  return HttpResponse{.code = 200};
}

// Calls `add` for each segment from this one on, until it returns false; returns how many there
// are.
absl::StatusOr<int> ReadSegments(
    const KeptCall& call, const std::string& id, int start,
    absl::FunctionRef<absl::StatusOr<bool>(const v1::MemorySegment&)> add) {
  v1::GetMemorySegmentsRequest request;
  request.set_id(id);
  request.set_limit(kStep);
  for (request.set_start(start);; request.set_start(request.start() + kStep)) {
    ASSIGN_OR_RETURN(const v1::GetMemorySegmentsResponse page,
                     GetMemorySegments(request, call.call));
    bool more = page.segments_size() == kStep;
    for (const v1::MemorySegment& segment : page.segments()) {
      ASSIGN_OR_RETURN(const bool wanted, add(segment));
      if (wanted) continue;
      more = false;
      break;
    }
    if (!more) return page.memory().segment_count();
  }
}

Answer GetFile(const KeptCall& call, const Jobs* jobs) {
  ASSIGN_OR_RETURN(const Job job, jobs->Find(call.id));
  if (job.is_import) return absl::NotFoundError("the job has no file");
  ASSIGN_OR_RETURN(const v1::TranslationMemory memory, FindMemory(call, job.memory_id));
  TmxMemory tmx = {memory.source_language(), memory.target_language(), {}};
  ASSIGN_OR_RETURN(Share share, call.call->parts().requests->Take(
                                    HolderOf(call.call->principal(), call.http.peer), 0));
  const auto add = [&](const v1::MemorySegment& segment) -> absl::StatusOr<bool> {
    constexpr size_t kCopies = 3;  // a segment, as a part of the file, and of the answer
    RETURN_IF_ERROR(
        share.Raise(share.amount() + kCopies * segment.ByteSizeLong() + sizeof(TmxSegment)));
    tmx.segments.push_back(
        {segment.source(), segment.target(), segment.previous_source(), segment.next_source()});
    return true;
  };
  RETURN_IF_ERROR(ReadSegments(call, job.memory_id, 0, add).status());
  return HttpResponse{.content_type = "application/xml",
                      .body = WriteTmx(tmx),
                      .headers = {SaveAs(memory.name() + ".tmx")}};
}

// Who knows the job's id acts for who began it.
absl::Status UseKeyOfJob(const Jobs& jobs, const std::string& id, HttpRequest* http) {
  std::erase_if(http->headers, [](const auto& header) { return header.first == "authorization"; });
  ASSIGN_OR_RETURN(const Job job, jobs.Find(id));
  if (!job.authorization.empty()) http->headers.emplace_back("authorization", job.authorization);
  return absl::OkStatus();
}

void AddFiles(const ApiContext& context, const std::shared_ptr<Jobs>& jobs, HttpRouter* router) {
  const std::string path = absl::StrCat(kPath, "/jobs/*/file");
  for (const bool put : {true, false}) {
    const deepl::KeptRoute to = {
        put ? "PUT" : "GET", path, put ? "CreateMemory" : "GetMemorySegments",
        [jobs, put](const KeptCall& call) {
          return put ? PutFile(call, jobs.get()) : GetFile(call, jobs.get());
        }};
    const auto handler = [handle = deepl::KeptHandler(context, to), jobs, path](
                             HttpRequest http, std::shared_ptr<HttpAnswer> answer) {
      const absl::Status known = UseKeyOfJob(*jobs, deepl::IdIn(http, path), &http);
      if (!known.ok()) return answer->Send(deepl::Error(known));
      handle(std::move(http), std::move(answer));
    };
    HttpRoute route = {
        .method = to.method, .path = path, .handler = handler, .error = deepl::PlainError};
    const auto use_key = [jobs, path](HttpRequest* http) {
      UseKeyOfJob(*jobs, deepl::IdIn(*http, path), http).IgnoreError();
    };
    if (put) {
      ReceiveFiles(context, {.file_field = nullptr, .use_key = use_key, .method = "CreateMemory"},
                   &route);
    }
    router->Add(std::move(route));
  }
}

// ---- Memories ----------------------------------------------------------------------------------

Json Describe(const v1::TranslationMemory& memory) {
  const std::string created =
      deepl::TimeText(absl::FromUnixSeconds(memory.create_time().seconds()));
  return {{"translation_memory_id", memory.id()},
          {"name", memory.name()},
          {"source_language", memory.source_language()},
          {"target_languages", Json::array({memory.target_language()})},
          {"segment_count", memory.segment_count()},
          {"creation_time", created},
          {"updated_time", created}};
}

absl::StatusOr<int> NumberIn(const CompatFields& fields, const char* name, int otherwise, int least,
                             int most) {
  ASSIGN_OR_RETURN(const int number, fields.Number(name, otherwise));
  if (number >= least && number <= most) return number;
  return InvalidField(name, "is ", number, ", want ", least, " to ", most);
}

Answer List(const KeptCall& call) {
  constexpr int kMost = 25;  // in a page
  ASSIGN_OR_RETURN(const int page, NumberIn(call.fields, "page", 0, 0, 1'000'000));
  ASSIGN_OR_RETURN(const int size, NumberIn(call.fields, "page_size", kMost, 1, kMost));
  ASSIGN_OR_RETURN(const v1::ListMemoriesResponse list, ListMemories({}, call.call));
  Json memories = Json::array();
  for (int i = page * size; i < std::min(page * size + size, list.memories_size()); ++i) {
    memories.push_back(Describe(list.memories(i)));
  }
  return JsonResponse(
      200, {{"translation_memories", std::move(memories)}, {"total_count", list.memories_size()}});
}

Answer Get(const KeptCall& call) {
  ASSIGN_OR_RETURN(const v1::TranslationMemory memory, FindMemory(call, call.id));
  return JsonResponse(200, Describe(memory));
}

Answer Delete(const KeptCall& call) {
  v1::DeleteMemoryRequest request;
  request.set_id(call.id);
  RETURN_IF_ERROR(DeleteMemory(request, call.call).status());
  return HttpResponse{.code = 204};
}

// A cursor is the number of the next segment.
Answer ListSegments(const KeptCall& call) {
  ASSIGN_OR_RETURN(const int size, NumberIn(call.fields, "page_size", 50, 1, 100));
  ASSIGN_OR_RETURN(const int start, NumberIn(call.fields, "page_cursor", 0, 0, 100'000'000));
  ASSIGN_OR_RETURN(const bool exact, call.fields.Flag("filter_case_sensitive", false));
  ASSIGN_OR_RETURN(std::string filter, call.fields.Text("filter_text"));
  if (!filter.empty() && CountCodePoints(filter) < 2) {
    return InvalidField("filter_text", "has one character, want at least 2");
  }
  const auto cased = [&](const std::string& text) { return exact ? text : InUpperCase(text); };
  filter = cased(filter);
  ASSIGN_OR_RETURN(const v1::TranslationMemory memory, FindMemory(call, call.id));
  int next = start;
  Json segments = Json::array();
  const auto add = [&](const v1::MemorySegment& segment) -> absl::StatusOr<bool> {
    if (static_cast<int>(segments.size()) == size || next - start == kSearched) return false;
    const std::string id = std::to_string(next++);
    if (cased(segment.source()).find(filter) == std::string::npos &&
        cased(segment.target()).find(filter) == std::string::npos) {
      return true;
    }
    segments.push_back({{"source_segment_id", id},
                        {"source_text", segment.source()},
                        {"targets", Json::array({{{"target_segment_id", id},
                                                  {"target_language", memory.target_language()},
                                                  {"target_text", segment.target()}}})}});
    return true;
  };
  ASSIGN_OR_RETURN(const int count, ReadSegments(call, call.id, start, add));
  Json body = {{"segments", std::move(segments)}, {"segment_count", count}};
  if (next < count) body["next_page_cursor"] = std::to_string(next);
  return JsonResponse(200, body);
}

}  // namespace

void AddRoutes(const ApiContext& context, HttpRouter* router) {
  const auto jobs = std::make_shared<Jobs>();
  const auto of_jobs = [&](auto answer) {
    return [jobs, answer](const KeptCall& call) { return answer(call, jobs.get()); };
  };
  AddFiles(context, jobs, router);
  const auto add = [&](const char* method, const char* path, const char* call,
                       std::function<Answer(const KeptCall& call)> answer) {
    deepl::AddKeptRoute(context, {method, absl::StrCat(kPath, path), call, std::move(answer)},
                        router);
  };
  add("GET", "", "ListMemories", List);
  add("POST", "/import", "CreateMemory", of_jobs(BeginImport));
  add("GET", "/jobs/*", "GetMemory", of_jobs(DescribeJob));
  add("POST", "/*/export", "GetMemorySegments", of_jobs(BeginExport));
  add("GET", "/*/segments", "GetMemorySegments", ListSegments);
  add("GET", "/*", "GetMemory", Get);
  add("DELETE", "/*", "DeleteMemory", Delete);
}

}  // namespace dragoman::deepl_memories
