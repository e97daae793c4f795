#include "model/base/version.h"

namespace semrank {

std::string_view Version() { return SEMRANK_VERSION; }

}  // namespace semrank
