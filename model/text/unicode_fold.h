// NFKC and case folding of code points, repeated until nothing changes. One
// pass over each is not enough in general: folding can undo a composition, and
// composing can make something that folds again.
//
//   Cost     linear in the length but for runs of combining marks, which are
//            sorted (n log n): no input makes it quadratic.
//   Threads  free functions, from any thread.
#ifndef SEMRANK_MODEL_TEXT_UNICODE_FOLD_H_
#define SEMRANK_MODEL_TEXT_UNICODE_FOLD_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"

namespace semrank {

// Titles fit without allocation.
using CodePoints = absl::InlinedVector<std::int32_t, 128>;

// Replaces `text` by the fixed point of NFKC(CaseFold(x)) that starts from
// NFKC(text). Every value must be a code point, no surrogates.
void FoldToFixedPoint(CodePoints& text);

}  // namespace semrank

#endif  // SEMRANK_MODEL_TEXT_UNICODE_FOLD_H_
