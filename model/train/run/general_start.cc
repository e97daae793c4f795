#include "model/train/run/general_start.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <system_error>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/data/input_lines.h"
#include "model/data/pair_reader.h"
#include "model/data/text_table.h"
#include "model/events/click_join.h"
#include "model/events/event_files.h"
#include "model/format/model_bundle.h"
#include "model/text/normalizer.h"

namespace semrank {
namespace {

// The clicked results of lists, and what a model knows of their texts. A title
// counts once for each query and position that it was clicked at, as it is
// trained on.
class ClickedTexts {
 public:
  explicit ClickedTexts(const Featurizer& featurizer)
      : language_(featurizer, {}) {}

  // `join` has the texts. OutOfRange once there are too many pairs for a small
  // log.
  absl::Status Add(const JoinedList& list, const ClickJoin& join) {
    for (const JoinedResult& result : list.results) {
      if (!result.clicked ||
          !pairs_.emplace(list.query, result.title, result.position).second) {
        continue;
      }
      AddText(join.text(list.query));
      AddText(join.text(result.title));
    }
    return is_small() ? absl::OkStatus()
                      : absl::OutOfRangeError("this is not a small log");
  }

  bool is_small() const { return std::ssize(pairs_) <= kMaxPairsForGeneral; }
  const KnownShare& share() const { return language_.share(); }

 private:
  void AddText(std::string_view text) {
    if (NormalizeText(text, kNormalizerVersion, normalized_).ok()) {
      language_.Add(normalized_);
    }
  }

  absl::flat_hash_set<std::tuple<TextId, TextId, std::uint32_t>> pairs_;
  StartLanguage language_;
  std::string normalized_;
};

absl::StatusOr<LogLanguage> ReadLanguageOfPairs(
    const std::vector<std::string>& files, const Featurizer& featurizer) {
  // The run itself reports bad lines.
  BadLines bad_lines(std::numeric_limits<std::int64_t>::max(),
                     /*num_before=*/0, [](std::string_view) {});
  PairReader reader(files, PairLines::kClicked, bad_lines);
  StartLanguage language(featurizer, {});
  ClickPair pair;
  // The loop reads one pair more than a small log has. A large log is known as
  // such by then, and the rest of it is not read.
  for (std::int64_t pairs = 0; pairs <= kMaxPairsForGeneral; ++pairs) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, reader.Next(pair));
    if (!more) return LogLanguage{language.share(), /*is_small=*/true};
    language.Add(pair.query);
    language.Add(pair.title);
  }
  return LogLanguage{language.share(), /*is_small=*/false};
}

absl::StatusOr<LogLanguage> ReadLanguageOfEvents(
    const std::vector<std::string>& paths, const BadLineLimit& max_bad_lines,
    const Featurizer& featurizer) {
  ClickedTexts texts(featurizer);
  ClickJoin join(
      {.with_rows = false,
       .on_list = [&](const JoinedList& list, const ClickJoin& joined) {
         return texts.Add(list, joined);
       }});
  EventFileCounts counts;
  absl::Status status = ForEachEvent(
      paths, max_bad_lines,
      [&](const EventRecord& record) { return join.Add(record); }, counts);
  if (status.ok()) status = join.Finish();
  // The error that ends the reading of a large log is not one of the files.
  if (!status.ok() && texts.is_small()) return status;
  return LogLanguage{texts.share(), texts.is_small()};
}

}  // namespace

std::string FindInstalledModel(std::string_view name) {
  std::error_code error;
  // A package installs the program in PREFIX/bin and models in PREFIX/share.
  // PREFIX need not be /usr.
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe", error);
  for (const std::filesystem::path& prefix :
       {program.parent_path().parent_path(), std::filesystem::path("/usr")}) {
    const std::filesystem::path folder =
        prefix / "share" / "semrank" / "models" / name;
    if (std::filesystem::is_directory(folder, error)) return folder.string();
  }
  return "";
}

std::string FolderOfModel(const std::string& name) {
  std::error_code error;
  // A folder of the user wins over an installed model of the same name.
  if (std::filesystem::exists(name, error)) return name;
  const std::string installed = FindInstalledModel(name);
  return installed.empty() ? name : installed;
}

absl::StatusOr<LogLanguage> ReadLanguage(const DataOptions& data,
                                         const Featurizer& featurizer) {
  return data.event_paths.empty()
             ? ReadLanguageOfPairs(data.train_files, featurizer)
             : ReadLanguageOfEvents(data.event_paths, data.max_bad_lines,
                                    featurizer);
}

absl::StatusOr<std::string> GeneralModelFor(const std::string& general,
                                            const DataOptions& data) {
  // A pipe would be empty when the run reads it, so such a log has no start
  // by default.
  if (general.empty() || !HasClicks(data) ||
      !std::ranges::all_of(data.train_files, IsRereadable)) {
    return "";
  }
  SEMRANK_ASSIGN_OR_RETURN(const auto model, LoadModel(general));
  SEMRANK_ASSIGN_OR_RETURN(const LogLanguage log,
                           ReadLanguage(data, model->featurizer()));
  const double known = log.known.OfWords();
  if (!log.is_small || known < kMinWordsOfLanguage) return "";
  absl::FPrintF(stderr,
                "begins from the general English model %s, which knows %.0f %% "
                "of the words of the log (--init_from=none: from random "
                "weights)\n",
                general, 100 * known);
  return general;
}

}  // namespace semrank
