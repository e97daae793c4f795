#include "client/commands/events_changes.h"

#include <iterator>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "client/streams/stream_records.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/cli/exit_code.h"
#include "model/cli/output_paths.h"
#include "model/events/event_address.h"
#include "model/events/event_deletion.h"
#include "model/events/event_writer.h"
#include "model/events/keyed_hash.h"
#include "model/events/ubi.h"
#include "model/redis/redis_url.h"

// Both actions have two forms, one for a folder or a file and one for a stream,
// and flags that only one of them uses. The form is chosen first, so that an
// error names the flag that is missing there.
namespace semrank {
namespace {

// The stream of --stream.
absl::StatusOr<EventStream::Options> StreamOf(const EventsRun& run) {
  const EventsOptions& options = run.options;
  absl::StatusOr<EventAddress> address = ParseStreamAddress(options.stream);
  if (!address.ok()) {
    return FlagError("stream", WithoutPassword(options.stream),
                     ToStd(address.status().message()));
  }
  const CredentialFiles& files = run.common.credential_files;
  return EventStream::Options{
      .address = *std::move(address),
      .tls = {.ca = files.tls_ca, .cert = files.tls_cert, .key = files.tls_key},
      .kafka_config = options.kafka_config};
}

absl::Status RunStreamDeletion(EventsRun& run) {
  const EventsOptions& options = run.options;
  SEMRANK_ASSIGN_OR_RETURN(const EventStream::Options stream, StreamOf(run));
  // This comes before the other checks, since with Kafka no flag can help.
  if (stream.address.kind == EventAddress::Kind::kKafka) {
    return FlagError("stream", options.stream, kNoKafkaDeletion);
  }
  if (options.user.empty()) return UsageError("--user=ID is required");
  if (options.events_key.empty()) {
    return UsageError("--events_key=FILE, that of the servers, is required");
  }
  // A stream has no folder with a key: all servers that write to it share the
  // file of --events_key.
  SEMRANK_ASSIGN_OR_RETURN(const KeyedHash hash,
                           KeyedHash::OpenFile(options.events_key));
  SEMRANK_ASSIGN_OR_RETURN(
      const DeletedRecords deleted,
      DeleteUserOfStream(stream, hash(HashedKind::kUser, options.user),
                         options.max_bad_lines));
  run.report.Add("deleted_impressions", deleted.impressions);
  run.report.Add("deleted_events", deleted.events);
  return run.report.Write();
}

absl::Status RunStreamImport(EventsRun& run) {
  const EventsOptions& options = run.options;
  SEMRANK_ASSIGN_OR_RETURN(EventStream::Options stream, StreamOf(run));
  SEMRANK_ASSIGN_OR_RETURN(const StreamedRecords imported,
                           ImportStream({.stream = std::move(stream),
                                         .folder = run.common.output_file,
                                         .max_bad_lines = options.max_bad_lines,
                                         .max_age = options.max_age,
                                         .max_bytes = options.join.max_bytes}));
  run.report.Add("impressions", imported.impressions);
  run.report.Add("events", imported.events);
  run.report.AddIfAny("bad_lines", imported.bad_lines);
  run.report.Add("files", imported.files);
  run.report.AddIfAny("removed_files", imported.removed_files);
  return run.report.Write();
}

// An import has one source. The stream may come from SEMRANK_STREAM, so the
// error names that variable.
absl::Status CheckSource(const EventsRun& run) {
  const EventsOptions& options = run.options;
  const bool has_exports =
      !options.ubi_queries.empty() || !options.ubi_events.empty();
  if (has_exports && !options.stream.empty()) {
    return UsageError(
        "--ubi_queries and --ubi_events exclude --stream (SEMRANK_STREAM)");
  }
  if (options.stream.empty() && options.max_age > absl::ZeroDuration()) {
    return FlagError("max_age", absl::FormatDuration(options.max_age),
                     "needs --stream");
  }
  bool is_kafka = false;
  if (!options.stream.empty()) {
    SEMRANK_ASSIGN_OR_RETURN(const EventStream::Options stream, StreamOf(run));
    is_kafka = stream.address.kind == EventAddress::Kind::kKafka;
  }
  if (!options.kafka_config.empty() && !is_kafka) {
    return FlagError("kafka_config", options.kafka_config,
                     absl::StrFormat("needs --stream=%s", kKafkaAddressForm));
  }
  return absl::OkStatus();
}

// Queries and events are two indices, hence two files. Their records refer to
// each other, so both are needed.
absl::Status RunUbiImport(EventsRun& run) {
  const EventsOptions& options = run.options;
  SEMRANK_ASSIGN_OR_RETURN(
      const ImportedRecords imported,
      ImportUbi({.paths = {options.ubi_queries, options.ubi_events},
                 .folder = run.common.output_file,
                 .max_bad_lines = options.max_bad_lines,
                 .max_bytes = options.join.max_bytes}));
  run.report.Add("impressions", imported.impressions);
  run.report.Add("events", imported.events);
  run.report.AddIfAny("ignored_records", imported.ignored);
  run.report.AddIfAny("bad_lines", imported.bad_lines);
  run.report.Add("files", std::ssize(imported.files));
  return run.report.Write();
}

}  // namespace

absl::Status RunEventDeletion(EventsRun& run) {
  const EventsOptions& options = run.options;
  // With a folder, a stream can only come from SEMRANK_STREAM (RunEvents), and
  // is for imports.
  if (run.folders.empty() && !options.stream.empty()) {
    return RunStreamDeletion(run);
  }
  if (options.user.empty()) return UsageError("--user=ID is required");
  if (run.folders.size() != 1) {
    return UsageError(
        "delete takes one folder, since each has its own key, or "
        "--stream=ADDRESS");
  }
  SEMRANK_ASSIGN_OR_RETURN(
      const DeletedRecords deleted,
      DeleteUser(run.folders[0], options.user, options.max_bad_lines));
  run.report.Add("deleted_impressions", deleted.impressions);
  run.report.Add("deleted_events", deleted.events);
  run.report.Add("rewritten_files", deleted.files);
  return run.report.Write();
}

absl::Status RunEventImport(EventsRun& run) {
  const EventsOptions& options = run.options;
  SEMRANK_RETURN_IF_ERROR(CheckSource(run));
  const std::string& output = run.common.output_file;
  if (!options.stream.empty() && output.empty()) {
    return UsageError("--output=DIR is required");
  }
  if (options.stream.empty() &&
      (options.ubi_queries.empty() || options.ubi_events.empty() ||
       output.empty())) {
    return UsageError(
        "--ubi_queries=FILE, --ubi_events=FILE and --output=DIR are required, "
        "or --stream=ADDRESS and --output=DIR");
  }
  // A failed import leaves no folder that it has created.
  SEMRANK_ASSIGN_OR_RETURN(const OutputFolder folder,
                           OutputFolder::Create(output));
  absl::Status status =
      options.stream.empty() ? RunUbiImport(run) : RunStreamImport(run);
  // The program that has the lock of the folder needs the files.
  if (!status.ok() && !absl::IsFailedPrecondition(status)) {
    folder.RemoveIfAlone({kEventLockFile, KeyedHash::kKeyFile});
  }
  return status;
}

}  // namespace semrank
