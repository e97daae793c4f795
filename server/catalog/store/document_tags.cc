#include "server/catalog/store/document_tags.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "model/base/status_macros.h"
#include "model/base/strings.h"
#include "server/base/errors.h"
#include "server/base/text_checks.h"

namespace semrank {
namespace {

absl::Status CheckFilterTags(std::string_view field,
                             std::span<const std::string_view> tags) {
  SEMRANK_RETURN_IF_ERROR(CheckTags(field, tags, kMaxTagsPerFilter));
  for (std::size_t i = 0; i < tags.size(); ++i) {
    SEMRANK_RETURN_IF_ERROR(CheckUtf8(ItemName(field, i), tags[i]));
  }
  return absl::OkStatus();
}

// Removes the first tag from `packed` and returns it; empty at the end, or
// before an invalid length. A damaged store may return anything, though
// checksums make it unlikely.
std::string_view TakeTag(std::string_view& packed) {
  if (packed.empty()) return {};
  const std::size_t size = static_cast<unsigned char>(packed.front());
  if (packed.size() <= size) return {};
  const std::string_view tag = packed.substr(1, size);
  packed.remove_prefix(size + 1);
  return tag;
}

}  // namespace

absl::Status CheckTags(std::string_view field,
                       std::span<const std::string_view> tags,
                       std::size_t max_tags) {
  if (tags.size() > max_tags) {
    return FieldError(
        "TOO_MANY_TAGS", field,
        absl::StrFormat("more than the limit of %d tags", max_tags),
        {{"limit", std::to_string(max_tags)}});
  }
  for (std::size_t i = 0; i < tags.size(); ++i) {
    const std::size_t size = tags[i].size();
    if (size == 0) {
      return FieldError("INVALID_FIELD", ItemName(field, i), "is empty");
    }
    if (size > kMaxTagBytes) {
      return FieldError(
          "TAG_TOO_LONG", ItemName(field, i),
          absl::StrFormat("%d bytes, over the limit of %d", size, kMaxTagBytes),
          {{"value", std::to_string(size)},
           {"limit", std::to_string(kMaxTagBytes)}});
    }
  }
  return absl::OkStatus();
}

// Sorts the tags and removes repetitions, so that documents with the same tags
// have the same bytes and share a number.
std::string PackTags(std::span<const std::string_view> tags) {
  std::vector<std::string_view> sorted(tags.begin(), tags.end());
  std::ranges::sort(sorted);
  // Not std::ranges::unique: clang 14 cannot compile GCC 12's subrange.
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::string packed;
  for (const std::string_view tag : sorted) {
    // CheckTags allows no more than kMaxTagBytes, so one byte has the size.
    packed += static_cast<char>(tag.size());
    packed += tag;
  }
  return packed;
}

std::vector<std::string_view> UnpackTags(std::string_view packed) {
  std::vector<std::string_view> tags;
  for (std::string_view tag; !(tag = TakeTag(packed)).empty();) {
    tags.push_back(tag);
  }
  return tags;
}

// An excluded tag outweighs an included one.
bool TagMatcher::Keeps(std::string_view packed_tags) const {
  bool included = include_.empty();
  for (std::string_view tag; !(tag = TakeTag(packed_tags)).empty();) {
    if (exclude_.contains(tag)) return false;
    included = included || include_.contains(tag);
  }
  return included;
}

absl::Status TagFilter::Check() const {
  SEMRANK_RETURN_IF_ERROR(CheckFilterTags("filter.include_tags", include));
  return CheckFilterTags("filter.exclude_tags", exclude);
}

// Counts the entry of the hash table twice, for the slack that it grows by.
std::size_t TagSets::BytesOf(std::string_view packed) {
  return packed.size() + 2 * sizeof(std::pair<std::string, Set>);
}

std::uint32_t TagSets::Add(std::string_view packed) {
  if (packed.empty()) return 0;
  Set& set = sets_[ToAbsl(packed)];
  if (set.num_documents++ > 0) return set.number;
  num_bytes_ += BytesOf(packed);
  // Numbers are used again, so that the table of a SlotFilter, which has a byte
  // for each, stays small.
  if (free_numbers_.empty()) {
    set.number = num_numbers_++;
  } else {
    set.number = free_numbers_.back();
    free_numbers_.pop_back();
  }
  return set.number;
}

// The number can be reused at once: the slot of the document has been freed, so
// no reader sees it any more.
void TagSets::Remove(std::string_view packed) {
  const auto set = sets_.find(ToAbsl(packed));
  // Documents without tags have no entry.
  if (set == sets_.end() || --set->second.num_documents > 0) return;
  free_numbers_.push_back(set->second.number);
  num_bytes_ -= BytesOf(packed);
  sets_.erase(set);
}

}  // namespace semrank
