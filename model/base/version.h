// The version of all programs.
#ifndef SEMRANK_MODEL_BASE_VERSION_H_
#define SEMRANK_MODEL_BASE_VERSION_H_

#include <string_view>

namespace semrank {

// The release, "0.1.0".
std::string_view Version();

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_VERSION_H_
