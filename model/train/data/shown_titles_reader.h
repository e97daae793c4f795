// What hard negatives are made of, out of the click log and --judged.
#ifndef SEMRANK_MODEL_TRAIN_DATA_SHOWN_TITLES_READER_H_
#define SEMRANK_MODEL_TRAIN_DATA_SHOWN_TITLES_READER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/base/bad_lines.h"
#include "model/train/data/shown_titles.h"
#include "model/train/data/training_data.h"

namespace semrank {

// `lines` of the click log together with the lines `query<TAB>title<TAB>grade`
// of `judged_file` ("" = none), whose texts are normalised and interned; grades
// are whole numbers from 0. A line that cannot be used goes to `bad_lines`.
// InvalidArgument when no line of the file can be used.
absl::StatusOr<ShownTitles> ReadShownTitles(std::vector<ShownTitle> lines,
                                            const std::string& judged_file,
                                            BadLines& bad_lines,
                                            TextInterner& texts);

// Says on standard error how many pairs have such negatives. InvalidArgument
// when none has.
absl::Status CheckShownTitles(const ShownTitles& shown,
                              const std::vector<TextPair>& pairs);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_SHOWN_TITLES_READER_H_
