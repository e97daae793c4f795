// Tags of the catalog's documents, and filters over them.
//
//   Packed   the tags of a document as one string: sorted, each once, with a
//            byte of length in front. Records and stores keep them so.
//   Threads  free functions, from any thread; TagSets belongs to one.
#ifndef SEMRANK_SERVER_CATALOG_STORE_DOCUMENT_TAGS_H_
#define SEMRANK_SERVER_CATALOG_STORE_DOCUMENT_TAGS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"

namespace semrank {

inline constexpr std::size_t kMaxTagBytes = 64;
inline constexpr std::size_t kMaxTagsPerDocument = 32;
// Of each list of a filter.
inline constexpr std::size_t kMaxTagsPerFilter = 256;

// TOO_MANY_TAGS, TAG_TOO_LONG or INVALID_FIELD for an empty one. `field` names
// the list.
absl::Status CheckTags(std::string_view field,
                       std::span<const std::string_view> tags,
                       std::size_t max_tags);

// Of tags that CheckTags accepts.
std::string PackTags(std::span<const std::string_view> tags);
// Views into `packed`; nothing after a byte that cannot be a length.
std::vector<std::string_view> UnpackTags(std::string_view packed);

// Which documents a request wants, by their tags.
struct TagFilter {
  // At least one of these; empty = any document.
  std::vector<std::string_view> include = {};
  // None of these.
  std::vector<std::string_view> exclude = {};

  bool empty() const { return include.empty() && exclude.empty(); }
  bool Keeps(std::string_view packed_tags) const;
  // What is wrong with the filter, also text that is not UTF-8.
  absl::Status Check() const;
};

// Numbers for packed tags: documents with the same tags share a number, so that
// a search looks at each set once. Number 0 is that of no tags. A number is
// used again once no document has it.
class TagSets {
 public:
  // The number of `packed`, for one more document.
  std::uint32_t Add(std::string_view packed);
  // One document fewer has these tags.
  void Remove(std::string_view packed);
  // All numbers are below.
  std::uint32_t num_numbers() const { return num_numbers_; }
  std::size_t num_bytes() const { return num_bytes_; }

 private:
  struct Set {
    std::uint32_t number = 0;
    std::uint32_t num_documents = 0;
  };
  static std::size_t BytesOf(std::string_view packed);

  absl::flat_hash_map<std::string, Set> sets_;
  std::vector<std::uint32_t> free_numbers_;
  std::uint32_t num_numbers_ = 1;
  std::size_t num_bytes_ = 0;
};

}  // namespace semrank

#endif  // SEMRANK_SERVER_CATALOG_STORE_DOCUMENT_TAGS_H_
