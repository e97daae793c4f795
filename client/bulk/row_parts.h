// Bytes to append to a file, in parts that several threads may fill at once.
// Parts keep their memory when the bytes are cleared, which saves allocating
// and clearing megabytes for each chunk of vectors.
//
//   Threads  not thread-safe, but different parts may be written at once.
#ifndef SEMRANK_CLIENT_BULK_ROW_PARTS_H_
#define SEMRANK_CLIENT_BULK_ROW_PARTS_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace semrank {

class RowParts {
 public:
  // `count` more parts, with whatever they held before. Earlier spans become
  // invalid.
  std::span<std::string> Add(std::size_t count) {
    const std::size_t first = num_parts_;
    num_parts_ += count;
    if (parts_.size() < num_parts_) parts_.resize(num_parts_);
    return std::span(parts_).subspan(first, count);
  }
  std::span<const std::string> parts() const {
    return std::span(parts_).first(num_parts_);
  }
  void Clear() { num_parts_ = 0; }
  // All parts, one after another.
  std::string Join() const {
    std::string bytes;
    for (const std::string& part : parts()) bytes += part;
    return bytes;
  }

 private:
  std::vector<std::string> parts_;
  std::size_t num_parts_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_CLIENT_BULK_ROW_PARTS_H_
