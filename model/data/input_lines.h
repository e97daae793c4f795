// Calls a function for every line of a file and counts bad lines.
#ifndef SEMRANK_MODEL_DATA_INPUT_LINES_H_
#define SEMRANK_MODEL_DATA_INPUT_LINES_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "model/base/bad_lines.h"

namespace semrank {

// Calls use(line) for each line of the file (see LineReader for formats). It
// returns why the line is bad, or "" for a good line.
absl::Status ForEachLine(
    const std::string& path, BadLines& bad_lines,
    const std::function<std::string(std::string_view line)>& use);

}  // namespace semrank

#endif  // SEMRANK_MODEL_DATA_INPUT_LINES_H_
