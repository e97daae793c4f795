// Tags of the catalog's documents, and filters over them.
//
//   Packed   the tags of a document as one string: sorted, without repetitions,
//            each preceded by its length in one byte. Records and stores keep
//            them in this form.
#ifndef SEMRANK_SERVER_CATALOG_STORE_DOCUMENT_TAGS_H_
#define SEMRANK_SERVER_CATALOG_STORE_DOCUMENT_TAGS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"

namespace semrank {

inline constexpr std::size_t kMaxTagBytes = 64;
inline constexpr std::size_t kMaxTagsPerDocument = 32;
// Holds for each of the two lists of a filter.
inline constexpr std::size_t kMaxTagsPerFilter = 256;

// Fails with TOO_MANY_TAGS, TAG_TOO_LONG, or INVALID_FIELD for an empty tag.
// `field` names the list.
absl::Status CheckTags(std::string_view field,
                       std::span<const std::string_view> tags,
                       std::size_t max_tags);

// The tags must have passed CheckTags.
std::string PackTags(std::span<const std::string_view> tags);
// Returns views into `packed`; ignores the rest after an invalid length.
std::vector<std::string_view> UnpackTags(std::string_view packed);

// Selects documents by their tags.
struct TagFilter {
  // A document must have at least one of these; empty = every document.
  std::vector<std::string_view> include = {};
  // A document must have none of these.
  std::vector<std::string_view> exclude = {};

  bool empty() const { return include.empty() && exclude.empty(); }
  // Fails for lists that CheckTags refuses, and for tags that are not UTF-8.
  absl::Status Check() const;
};

// Applies a filter to documents. A document costs one look-up for each of its
// tags, however many tags the filter has. Const after construction.
class TagMatcher {
 public:
  // Copies the lists of `filter`, but not the tags, which must outlive this.
  explicit TagMatcher(const TagFilter& filter)
      : include_(filter.include.begin(), filter.include.end()),
        exclude_(filter.exclude.begin(), filter.exclude.end()) {}

  bool Keeps(std::string_view packed_tags) const;

 private:
  absl::flat_hash_set<std::string_view> include_;
  absl::flat_hash_set<std::string_view> exclude_;
};

// Numbers distinct sets of tags: documents with the same tags share a number,
// so that a search examines each set once. Number 0 is the empty set. A number
// is reused once no document has it. Not thread-safe.
class TagSets {
 public:
  // Counts one more document with these tags, and returns their number.
  std::uint32_t Add(std::string_view packed);
  // Counts one document fewer.
  void Remove(std::string_view packed);
  // All numbers are below this one.
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
