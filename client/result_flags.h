// How results are printed: flags of the commands that have some.
#ifndef SEMRANK_CLIENT_RESULT_FLAGS_H_
#define SEMRANK_CLIENT_RESULT_FLAGS_H_

#include "client/output.h"

namespace semrank {

// --output; never kAuto.
OutputFormat FormatFromFlags();

}  // namespace semrank

#endif  // SEMRANK_CLIENT_RESULT_FLAGS_H_
