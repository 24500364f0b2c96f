// dragoman tm: translation memories on a server.
//
// `import` takes TMX, if the file is called so, or a table: source, tab, target and, where they are
// known, tab, the sentence before, tab, the sentence after.  Lines that begin with # are comments,
// and a backslash at the beginning says that it is none.  `export` writes either.

#include <string>
#include <utility>
#include <vector>

#include "client/kept_command.h"
#include "client/text_table.h"
#include "documents/tmx.h"
#include "engine/base/status.h"

namespace dragoman {
namespace {

// What goes into one message: servers take 1 MiB by default.
constexpr size_t kMessageBytes = 256 << 10;
constexpr int kMessageSegments = 1000;

struct MemoryFlags : KeptFlags {
  bool tmx = false;
  std::string learned_source, learned_target;
};

using MemorySegments = std::vector<v1::MemorySegment>;

v1::MemorySegment SegmentOf(std::string source, std::string target, std::string previous = "",
                            std::string next = "") {
  v1::MemorySegment segment;
  segment.set_source(std::move(source));
  segment.set_target(std::move(target));
  segment.set_previous_source(std::move(previous));
  segment.set_next_source(std::move(next));
  return segment;
}

// Sets the languages that the flags do not name, if the file does.
absl::StatusOr<MemorySegments> ReadSegments(MemoryFlags* flags) {
  MemorySegments segments;
  if (flags->file.ends_with(".tmx")) {
    ASSIGN_OR_RETURN(const std::string text, ReadUtf8File(flags->file));
    absl::StatusOr<TmxMemory> tmx = ReadTmx(text, flags->source, flags->target);
    if (!tmx.ok()) return Annotate(tmx.status(), flags->file, ": ");
    flags->source = tmx->source_language;
    flags->target = tmx->target_language;
    for (TmxSegment& segment : tmx->segments) {
      segments.push_back(SegmentOf(std::move(segment.source), std::move(segment.target),
                                   std::move(segment.previous), std::move(segment.next)));
    }
    return segments;
  }
  ASSIGN_OR_RETURN(const std::vector<TextRow> rows, ReadTable(flags->file));
  for (const TextRow& row : rows) {
    const auto field = [&](size_t i) { return i < row.size() ? row[i] : std::string(); };
    segments.push_back(SegmentOf(field(0), field(1), field(2), field(3)));
  }
  return segments;
}

// Into a new memory, or one that there is.
absl::Status Import(MemoryFlags flags, TranslationClient* client, std::ostream* out) {
  ASSIGN_OR_RETURN(const MemorySegments segments, ReadSegments(&flags));
  v1::TranslationMemory memory;
  memory.set_id(flags.id);
  if (flags.id.empty()) {
    v1::CreateMemoryRequest request;
    request.mutable_memory()->set_name(flags.name.empty() ? flags.file : flags.name);
    request.mutable_memory()->set_shared(flags.shared);
    request.mutable_memory()->set_source_language(flags.source);
    request.mutable_memory()->set_target_language(flags.target);
    ASSIGN_OR_RETURN(memory, client->CreateMemory(request));
  }
  for (size_t next = 0; next < segments.size();) {
    v1::LearnSegmentsRequest request;
    request.set_id(memory.id());
    for (size_t bytes = 0; next < segments.size() && bytes < kMessageBytes &&
                           request.segments_size() < kMessageSegments;
         ++next) {
      bytes += segments[next].ByteSizeLong();
      *request.add_segments() = segments[next];
    }
    ASSIGN_OR_RETURN(memory, client->LearnSegments(request));
  }
  PrintKept(std::vector{memory}, flags.json, out);
  return absl::OkStatus();
}

absl::Status Export(MemoryFlags flags, TranslationClient* client, std::ostream* out) {
  TmxMemory memory;
  for (;;) {
    ASSIGN_OR_RETURN(const v1::GetMemorySegmentsResponse page,
                     client->GetMemorySegments(flags.id, static_cast<int>(memory.segments.size())));
    if (page.segments().empty()) break;
    memory.source_language = page.memory().source_language();
    memory.target_language = page.memory().target_language();
    for (const v1::MemorySegment& segment : page.segments()) {
      memory.segments.push_back(
          {segment.source(), segment.target(), segment.previous_source(), segment.next_source()});
    }
  }
  if (flags.tmx) {
    if (memory.source_language.empty()) memory.source_language = "und";
    if (memory.target_language.empty()) memory.target_language = "und";
    *out << WriteTmx(memory);
    return absl::OkStatus();
  }
  for (const TmxSegment& segment : memory.segments) {
    *out << EscapedSource(segment.source) << "\t" << segment.target;
    if (!segment.previous.empty() || !segment.next.empty()) {
      *out << "\t" << segment.previous << "\t" << segment.next;
    }
    *out << "\n";
  }
  return absl::OkStatus();
}

absl::Status Learn(MemoryFlags flags, TranslationClient* client, std::ostream* out) {
  v1::LearnSegmentsRequest request;
  request.set_id(flags.id);
  *request.add_segments() = SegmentOf(flags.learned_source, flags.learned_target);
  ASSIGN_OR_RETURN(const v1::TranslationMemory memory, client->LearnSegments(request));
  PrintKept(std::vector{memory}, flags.json, out);
  return absl::OkStatus();
}

absl::Status ListAll(MemoryFlags flags, TranslationClient* client, std::ostream* out) {
  ASSIGN_OR_RETURN(const v1::ListMemoriesResponse list, client->ListMemories());
  PrintKept(std::vector(list.memories().begin(), list.memories().end()), flags.json, out);
  return absl::OkStatus();
}

absl::Status Remove(MemoryFlags flags, TranslationClient* client, std::ostream*) {
  return client->DeleteMemory(flags.id);
}

}  // namespace

void AddMemoryCommand(CLI::App* app, const Console& console, ExitCode* exit_code) {
  const KeptCommands<MemoryFlags> all = {
      app->add_subcommand("tm",
                          "Imports, exports, teaches, lists and deletes translation memories."),
      console, exit_code};
  const auto [get, imported] =
      all.Add("import", "Stores the segments of a file: TMX, or source, tab, target.", Import);
  get->add_option("FILE", imported->file, "NAME.tmx, or a table with tabs")->required();
  get->add_option("--name", imported->name, "its name; that of the file if not given");
  get->add_option("-s,--source-language", imported->source,
                  "the source language; that of the file, or any, if not given");
  get->add_option("-t,--target-language", imported->target,
                  "the target language; that of the file, or any, if not given");
  get->add_flag("--shared", imported->shared, "others may use and read it");
  get->add_option("--into", imported->id, "the id of a memory that learns them");
  const auto [out, exported] =
      all.Add("export", "Writes the segments of a memory.", Export, "the memory");
  out->add_flag("--tmx", exported->tmx, "as TMX instead of a table");
  const auto [learn, learned] =
      all.Add("learn", "Adds a segment, or corrects it.", Learn, "the memory");
  learn->add_option("SOURCE", learned->learned_source, "a sentence")->required();
  learn->add_option("TARGET", learned->learned_target, "its translation")->required();
  all.Add("list", "Lists the memories that you see.", ListAll);
  all.Add("delete", "Deletes a memory.", Remove, "the memory");
}

}  // namespace dragoman
