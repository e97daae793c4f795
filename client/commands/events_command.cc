// `semrank events`: what was shown and clicked, from the folders of
// semrank-server --events. It needs no server.
//
// Three actions are one pass over the records: ForEachEvent reads them,
// ClickJoin attaches clicks to lists and passes each list to the statistics or
// the comparison of the action. Only the action join needs the rows of the
// join, so the others switch them off, which saves their memory.
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "client/commands/command.h"
#include "client/commands/events_changes.h"
#include "client/commands/events_flags.h"
#include "client/commands/events_output.h"
#include "client/streams/stream_records.h"
#include "model/base/file_io.h"
#include "model/base/interrupt.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/cli/exit_code.h"
#include "model/cli/output_paths.h"
#include "model/data/text_reader.h"
#include "model/events/click_join.h"
#include "model/events/event_files.h"
#include "model/events/event_stats.h"
#include "model/events/examination.h"
#include "model/events/interleaving.h"
#include "model/events/keyed_hash.h"

namespace semrank {
namespace {

// Reads the folders into a join and reports what was read.
absl::Status ReadFolders(EventsRun& run, ClickJoin& join,
                         const std::function<void(const EventRecord&)>& look) {
  EventFileCounts counts;
  SEMRANK_RETURN_IF_ERROR(ForEachEvent(
      run.folders, run.options.max_bad_lines,
      [&](EventRecord& record) {
        if (look != nullptr) look(record);
        return join.Add(record);
      },
      counts));
  SEMRANK_RETURN_IF_ERROR(join.Finish());
  AddFileCounts(counts, run.report);
  AddJoinCounts(join.counts(), run.report);
  return absl::OkStatus();
}

// Event kinds are counted for every event that is read, including dropped ones.
// All other statistics cover only the lists that the join keeps.
absl::Status RunEventStats(EventsRun& run) {
  EventStats stats;
  run.options.join.with_rows = false;
  run.options.join.on_list = [&](const JoinedList& list,
                                 const ClickJoin& join) {
    stats.AddList(list, join);
    return absl::OkStatus();
  };
  ClickJoin join(run.options.join);
  SEMRANK_RETURN_IF_ERROR(ReadFolders(
      run, join, [&](const EventRecord& record) { stats.AddRecord(record); }));
  AddStats(stats, run.report);
  return run.report.Write();
}

absl::Status RunEventComparison(EventsRun& run) {
  InterleavingComparison comparison;
  run.options.join.with_rows = false;
  run.options.join.on_list = [&](const JoinedList& list,
                                 const ClickJoin& join) {
    comparison.Add(list, join);
    return absl::OkStatus();
  };
  ClickJoin join(run.options.join);
  SEMRANK_RETURN_IF_ERROR(ReadFolders(run, join, nullptr));
  const std::vector<InterleavedPair> pairs = comparison.Results();
  if (pairs.empty()) {
    return absl::FailedPreconditionError(
        "no list was interleaved; see semrank-server --interleave");
  }
  AddComparison(pairs, run.options.effect, run.report);
  return run.report.Write();
}

// The file appears when it is complete: a trainer must not read half of it.
absl::Status WriteRows(const ClickJoin& join, const std::vector<ClickRow>& rows,
                       const std::string& path) {
  constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
  SEMRANK_ASSIGN_OR_RETURN(FileReplacement file, FileReplacement::Create(path));
  std::string lines;
  for (const ClickRow& row : rows) {
    AppendClickRow(row, join.text(row.query), join.text(row.title), lines);
    if (lines.size() < kBlockBytes) continue;
    SEMRANK_RETURN_IF_ERROR(file.Write(lines));
    lines.clear();
  }
  SEMRANK_RETURN_IF_ERROR(file.Write(lines));
  return file.Commit();
}

// Titles by document, of --titles. The last line of a document wins, as it
// would in the catalog.
absl::StatusOr<absl::flat_hash_map<std::string, std::string>> ReadTitles(
    const EventsOptions& options) {
  absl::flat_hash_map<std::string, std::string> titles;
  if (options.titles.empty()) return titles;
  SEMRANK_ASSIGN_OR_RETURN(
      TextList list,
      ReadTexts(options.titles, {.format = DocumentFormatOf(options.titles),
                                 .max_bad_lines = options.max_bad_lines}));
  for (std::size_t i = 0; i < list.texts.size(); ++i) {
    titles[std::string(list.id(i))] = std::move(list.texts[i]);
  }
  return titles;
}

// The output of a join must not replace recorded events, or the key of a
// folder.
absl::Status CheckKeepsEvents(const std::string& output,
                              const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    // A folder that cannot be listed is reported when it is read.
    std::vector<std::string> paths =
        ListEventFiles(folder).value_or(std::vector<std::string>());
    paths.push_back(folder);  // may be a single file
    for (const std::string_view name : {KeyedHash::kKeyFile, kPositionsFile}) {
      paths.push_back(absl::StrFormat("%s/%s", folder, name));
    }
    for (const std::string& path : paths) {
      if (CheckKeepsInputs({"output", output}, {{"", path}}).ok()) continue;
      return UsageError(absl::StrFormat(
          "--output would overwrite %s, which belongs to the events", output));
    }
  }
  return absl::OkStatus();
}

// The rows are written even where examination cannot be estimated, as where no
// title changed its position. The report then says why.
absl::Status RunEventJoin(EventsRun& run) {
  const std::string& output = run.common.output_file;
  if (output.empty()) return UsageError("--output=FILE is required");
  SEMRANK_RETURN_IF_ERROR(
      CheckKeepsInputs({"output", output}, {{"titles", run.options.titles}}));
  SEMRANK_RETURN_IF_ERROR(CheckKeepsEvents(output, run.folders));
  SEMRANK_ASSIGN_OR_RETURN(const auto titles, ReadTitles(run.options));
  run.options.join.title_of = [&titles](std::string_view document) {
    const auto found = titles.find(ToAbsl(document));
    return found == titles.end() ? std::string_view() : found->second;
  };
  ClickJoin join(run.options.join);
  SEMRANK_RETURN_IF_ERROR(ReadFolders(run, join, nullptr));
  const std::vector<ClickRow> rows = join.rows().Sorted();
  SEMRANK_RETURN_IF_ERROR(WriteRows(join, rows, output));
  run.report.Add("rows", std::ssize(rows));
  const auto curve =
      EstimateExamination(rows, {.monotone = run.options.monotone});
  if (curve.ok()) {
    AddExamination(*curve, run.report);
  } else {
    run.report.AddNote("examination_problem", ToStd(curve.status().message()));
  }
  return run.report.Write();
}

// Actions are words of the command line and not commands, so that they share
// one set of flags. Thus what CLI11 would check is checked here.
absl::StatusOr<const EventsAction*> FindAction(const EventsOptions& options) {
  const std::string name =
      options.arguments.empty() ? "" : options.arguments[0];
  for (const EventsAction& action : EventsActions()) {
    if (action.name != name) continue;
    const bool has_folders = options.arguments.size() > 1;
    if (action.folders == EventsAction::kMayHaveFolders ||
        (action.folders == EventsAction::kNeedsFolders) == has_folders) {
      return &action;
    }
    // The command line has folders that the action does not take, or lacks
    // folders that it needs.
    return UsageError(
        has_folders
            ? absl::StrFormat("unexpected argument '%s'", options.arguments[1])
            : absl::StrFormat("semrank events %s: no folder of events", name));
  }
  return UsageError(absl::StrFormat(
      "semrank events %s: there is stats, join, compare, delete, import",
      name.empty() ? "ACTION" : name));
}

absl::Status RunAction(EventsAction::Kind kind, EventsRun& run) {
  switch (kind) {
    case EventsAction::kStats:
      return RunEventStats(run);
    case EventsAction::kJoin:
      return RunEventJoin(run);
    case EventsAction::kCompare:
      return RunEventComparison(run);
    case EventsAction::kDelete:
      return RunEventDeletion(run);
    case EventsAction::kImport:
      return RunEventImport(run);
  }
  return absl::InternalError("no such action");
}

absl::Status RunEvents(const CommandLine& command, EventsOptions& options,
                       const CommonOptions& common) {
  SEMRANK_ASSIGN_OR_RETURN(const EventsAction* action, FindAction(options));
  SEMRANK_RETURN_IF_ERROR(CheckEventsFlags(command, *action));
  if (!action->writes_output && !common.output_file.empty()) {
    return FlagError("output", common.output_file, kOutputForm);
  }
  if (action->kind == EventsAction::kDelete) {
    // One in the environment is for imports.
    if (options.arguments.size() > 1 &&
        command.Source("stream") == FlagSource::kCommandLine) {
      return UsageError("delete takes a folder or --stream");
    }
    // Records that cannot be read may be the user's.
    if (!command.IsSet("max_bad_lines")) options.max_bad_lines = 0;
  }
  EventsRun run{
      .options = options,
      .folders = {options.arguments.begin() + 1, options.arguments.end()},
      .report = EventsReport(options.json ? OutputFormat::kJson
                                          : common.ResultFormat()),
      .common = common};
  // From here on Ctrl-C ends the action, which then removes its unfinished
  // files.
  CatchInterrupts();
  return RunAction(action->kind, run);
}

}  // namespace

Command AddEventsCommand(CommandLine& program, const CommonOptions& common) {
  const auto options = std::make_shared<EventsOptions>();
  CommandLine& command = program.AddCommand(EventsInfo());
  AddEventsFlags(command, *options);
  for (const EventsAction& action : EventsActions()) {
    command.AddHelpTopic({.word = std::string(action.name),
                          .usage = std::string(action.usage),
                          .flags = FlagsOf(action)});
  }
  return {EventsInfo().name, [options, &command, &common] {
            return RunEvents(command, *options, common);
          }};
}

}  // namespace semrank
