// Embeds the titles of a file before the server says that it is ready, so that
// its first requests find them in memory.
#ifndef SEMRANK_SERVER_WARM_UP_H_
#define SEMRANK_SERVER_WARM_UP_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/models/served_model.h"
#include "server/vectors/embedding_engine.h"

namespace semrank {

struct WarmUpOptions {
  // doc_id<TAB>title a line, also .gz and .zst.
  std::string path;
  // Where vectors are kept; those without vectors are passed over.
  std::vector<ServedModelPtr> models = {};
  // Asked now and then; true ends it.
  std::function<bool()> stop = {};
};

struct WarmUpCounts {
  std::int64_t num_titles = 0;
  // Lines without a tab, and titles that no request could send.
  std::int64_t num_bad_lines = 0;
  std::int64_t num_embedded = 0;  // the others were in the document store
};

// On all processors, with its progress in the log. Errors of the file as
// LineReader's; Cancelled when options.stop said so.
absl::StatusOr<WarmUpCounts> WarmUp(const WarmUpOptions& options,
                                    const EmbeddingEngine& engine);

}  // namespace semrank

#endif  // SEMRANK_SERVER_WARM_UP_H_
