#ifndef SEMRANK_CLIENT_OUTPUT_ADVICE_H_
#define SEMRANK_CLIENT_OUTPUT_ADVICE_H_

#include "absl/status/status.h"

namespace semrank {

// The failed status of a call as a person at the command line wants it: the
// same code, on one line without control characters, and what can be done
// about it at the end where that is known. Others come back as they are.
absl::Status WithAdvice(const absl::Status& status);

}  // namespace semrank

#endif  // SEMRANK_CLIENT_OUTPUT_ADVICE_H_
