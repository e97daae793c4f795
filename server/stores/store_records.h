// How vectors and documents lie in a store, whichever it is: keys and values as
// bytes, little-endian, checked before they are believed.
//
//   Vector key    fingerprint of the model's identity (16 bytes), side (1),
//                 fingerprint of the normalised text (16), both under the
//                 store's secret.
//   Vector value  checksum (8), numbers (4), the float32 of the vector.
//   Document key  'n' and the number, or 's' and the name.
//   Document      checksum (8), bytes of title, payload and model identity and
//                 numbers of the vector (4 each), then those four, then the
//                 packed tags, which are the rest.
//   Checksum      64 bits of XXH3 over key and value, so that a value which
//                 got under another key is refused like one that was damaged.
//   Threads       free functions, from any thread.
#ifndef SEMRANK_SERVER_STORES_STORE_RECORDS_H_
#define SEMRANK_SERVER_STORES_STORE_RECORDS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/base/fingerprint.h"
#include "server/stores/document_store.h"

namespace semrank {

// Changes with anything above; a store of another version is refused.
inline constexpr int kStoreFormat = 1;

// The keys of all texts of one space, one after another.
class VectorKeys {
 public:
  VectorKeys(const Fingerprinter& fingerprint, const VectorSpace& space,
             std::span<const std::string_view> normalized_texts);

  std::size_t size() const { return bytes_.size() / kKeyBytes; }
  std::string_view operator[](std::size_t i) const {
    return std::string_view(bytes_).substr(i * kKeyBytes, kKeyBytes);
  }

 private:
  static constexpr std::size_t kKeyBytes = 16 + 1 + 16;
  std::string bytes_;
};

std::string VectorValue(std::string_view key, std::span<const float> vector);
// False, and `row` is left alone, when `value` is not what VectorValue made of
// this key and row.size() floats.
bool ReadVectorValue(std::string_view key, std::string_view value,
                     std::span<float> row);

std::string DocumentKeyBytes(const DocumentKeyView& key);
// Views `bytes`. DataLoss for what DocumentKeyBytes did not make.
absl::StatusOr<DocumentKeyView> ReadDocumentKey(std::string_view bytes);
// For messages: 7, or "name".
std::string DescribeKey(const DocumentKeyView& key);

std::string DocumentValue(std::string_view key, const StoredDocument& document);
// Views into `key` and `value`, the vector in `vector`. DataLoss, naming the
// key, for what DocumentValue did not make.
absl::StatusOr<StoredDocument> ReadDocument(std::string_view key,
                                            std::string_view value,
                                            std::vector<float>& vector);

}  // namespace semrank

#endif  // SEMRANK_SERVER_STORES_STORE_RECORDS_H_
