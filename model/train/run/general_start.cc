#include "model/train/run/general_start.h"

#include <filesystem>
#include <limits>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "model/data/input_lines.h"
#include "model/data/pair_reader.h"

namespace semrank {

std::string FindInstalledModel(std::string_view name) {
  std::error_code error;
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
  if (std::filesystem::exists(name, error)) return name;
  const std::string installed = FindInstalledModel(name);
  return installed.empty() ? name : installed;
}

absl::StatusOr<LogLanguage> ReadLanguage(const std::vector<std::string>& files,
                                         const Featurizer& featurizer) {
  // The run itself reports bad lines.
  BadLines bad_lines(std::numeric_limits<std::int64_t>::max(),
                     /*num_before=*/0, [](std::string_view) {});
  PairReader reader(files, PairLines::kClicked, bad_lines);
  StartLanguage language(featurizer, {});
  ClickPair pair;
  for (std::int64_t pairs = 0; pairs <= kMaxPairsForGeneral; ++pairs) {
    SEMRANK_ASSIGN_OR_RETURN(const bool more, reader.Next(pair));
    if (!more) return LogLanguage{language.share(), /*is_small=*/true};
    language.Add(pair.query);
    language.Add(pair.title);
  }
  return LogLanguage{language.share(), /*is_small=*/false};
}

}  // namespace semrank
