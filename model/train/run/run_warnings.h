// Errors that do not end a run, on standard error: a full disk must not cost
// the hours that a run has taken.
#ifndef SEMRANK_MODEL_TRAIN_RUN_RUN_WARNINGS_H_
#define SEMRANK_MODEL_TRAIN_RUN_RUN_WARNINGS_H_

#include <cstdio>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

namespace semrank {

class RunWarnings {
 public:
  // Prints `what` with an error's message, once until `what` has succeeded: a
  // checkpoint may fail after each of a million batches.
  void WarnUnlessOk(const std::string& what, const absl::Status& status) {
    if (status.ok()) {
      shown_.erase(what);
    } else if (shown_.insert(what).second) {
      absl::FPrintF(stderr, "%s: %s; the run continues\n", what,
                    std::string(status.message()));
    }
  }

 private:
  std::set<std::string> shown_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_RUN_RUN_WARNINGS_H_
