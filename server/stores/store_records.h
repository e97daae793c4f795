// The bytes of vectors and documents in any store: keys and values,
// little-endian, with a checksum that is verified when they are read.
//
//   Vector key    fingerprint of the model's identity (16 bytes), side (1),
//                 fingerprint of the normalised text (16), both under the
//                 store's secret.
//   Vector value  checksum (8), number of elements (4), elements as float32.
//   Document key  'n' and the number, or 's' and the name.
//   Document      checksum (8); the sizes of title, payload and model identity
//                 in bytes and of the vector in elements (4 each); these four;
//                 the rest are the packed tags.
//   Checksum      64 bits of XXH3 over key and value, so that a value under the
//                 wrong key is refused like a damaged one.
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

// Must change with anything above; stores refuse another format.
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
// Reads a value that VectorValue made of this key and row.size() elements.
// Returns false for any other value, and leaves `row` unchanged.
bool ReadVectorValue(std::string_view key, std::string_view value,
                     std::span<float> row);

std::string DocumentKeyBytes(const DocumentKeyView& key);
// The result views `bytes`. Returns DataLoss for what DocumentKeyBytes did not
// make.
absl::StatusOr<DocumentKeyView> ReadDocumentKey(std::string_view bytes);
// The key for messages: 7, or "name".
std::string DescribeKey(const DocumentKeyView& key);

std::string DocumentValue(std::string_view key, const StoredDocument& document);
// The result views `key`, `value` and, for its vector, `vector`. Returns
// DataLoss, with the key, for what DocumentValue did not make.
absl::StatusOr<StoredDocument> ReadDocument(std::string_view key,
                                            std::string_view value,
                                            std::vector<float>& vector);

}  // namespace semrank

#endif  // SEMRANK_SERVER_STORES_STORE_RECORDS_H_
