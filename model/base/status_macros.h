// Early return on error; the packaged Abseil has no such macros.
#ifndef SEMRANK_MODEL_BASE_STATUS_MACROS_H_
#define SEMRANK_MODEL_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define SEMRANK_RETURN_IF_ERROR(expression)          \
  do {                                               \
    absl::Status semrank_status = (expression);      \
    if (!semrank_status.ok()) return semrank_status; \
  } while (false)

#define SEMRANK_CONCAT_INNER(a, b) a##b
#define SEMRANK_CONCAT(a, b) SEMRANK_CONCAT_INNER(a, b)

// SEMRANK_ASSIGN_OR_RETURN(auto model, LoadModel(path));
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration takes none.
#define SEMRANK_ASSIGN_OR_RETURN(declaration, expression)              \
  SEMRANK_ASSIGN_OR_RETURN_IMPL(SEMRANK_CONCAT(semrank_or_, __LINE__), \
                                declaration, expression)
#define SEMRANK_ASSIGN_OR_RETURN_IMPL(temporary, declaration, expression) \
  auto temporary = (expression);                                          \
  if (!temporary.ok()) return std::move(temporary).status();              \
  declaration = std::move(temporary).value()
// NOLINTEND(bugprone-macro-parentheses)

#endif  // SEMRANK_MODEL_BASE_STATUS_MACROS_H_
