// How many texts a request has, told from its bytes before anything is made of
// them, so that a request for which there is no room costs one walk over it.
//
//   Promise  the same as after parsing, whatever Protobuf makes of the bytes:
//            of a field said twice the last one counts, lists go on, numbers
//            may be packed or not, unknown fields are passed over.
//   Memory   none; texts are views into the bytes.
//   Errors   MALFORMED_MESSAGE for bytes that are no message, as far as the
//            table of the method looks into them. Text is not looked at: that
//            it is UTF-8 is checked once it is admitted.
//   Threads  free functions, from any thread.
#ifndef SEMRANK_SERVER_REQUESTS_TEXT_COUNT_H_
#define SEMRANK_SERVER_REQUESTS_TEXT_COUNT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "server/requests/message_texts.h"
#include "server/stores/document_store.h"

namespace semrank {

// What the bytes say; what its method makes of it, RequestWork::Measure says.
struct TextCount {
  std::size_t num_bytes = 0;  // of the whole request
  // Of all the lists, and the field of the first item.
  std::int64_t num_items = 0;
  int first_item_field = 0;
  std::size_t vector_bytes = 0;
  std::string_view model_name = {};
  std::int64_t model_version = 0;
  std::string_view query = {};
  // At most one of the two.
  std::optional<std::string_view> title = {};
  std::optional<DocumentKeyView> key = {};
  bool has_request = false;
  std::uint64_t request_number = 0;

  void AddItems(int field, std::int64_t number) {
    if (num_items == 0) first_item_field = field;
    num_items += number;
  }
};

// Counts a serialised message into `count`, which is empty before. After an
// error it holds what came before the bad byte.
absl::Status CountTexts(std::string_view bytes, const MessageTexts& texts,
                        TextCount& count);

// TOO_MANY_TEXTS when the lists are longer than `max_texts_per_request`.
absl::Status CheckNumItems(const TextCount& count, const MessageTexts& texts,
                           std::int64_t max_texts_per_request);

}  // namespace semrank

#endif  // SEMRANK_SERVER_REQUESTS_TEXT_COUNT_H_
