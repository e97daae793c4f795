// Sums of clicks by query, title and position: the rows of training data that
// ClickJoin makes.
//
//   Memory   about 40 bytes a row.
//   Threads  not thread-safe.
#ifndef SEMRANK_MODEL_EVENTS_CLICK_ROWS_H_
#define SEMRANK_MODEL_EVENTS_CLICK_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/data/text_table.h"

namespace semrank {

struct ClickRow {
  TextId query = 0;
  TextId title = 0;
  std::uint32_t position = 0;  // from 1
  std::uint32_t clicks = 0;
  std::uint32_t impressions = 0;

  friend bool operator==(const ClickRow&, const ClickRow&) = default;
};

class ClickRows {
 public:
  // Counts impressions of a title and clicks on them, up to 2^32 - 1 each.
  // `position` is from 1.
  void Add(TextId query, TextId title, std::uint32_t position,
           std::uint32_t clicks, std::uint32_t impressions = 1);

  // By query and title, in the order in which each was first shown, and
  // position.
  std::vector<ClickRow> Sorted() const;
  std::size_t size() const { return sums_.size(); }
  // About how much memory they take.
  std::size_t num_bytes() const { return sums_.size() * 40; }

 private:
  struct Key {
    TextId query;
    TextId title;
    std::uint32_t position;

    friend bool operator==(const Key&, const Key&) = default;
    template <typename H>
    friend H AbslHashValue(H state, const Key& key) {
      return H::combine(std::move(state), key.query, key.title, key.position);
    }
  };
  struct Sums {
    std::uint32_t clicks = 0;
    std::uint32_t impressions = 0;
  };

  absl::flat_hash_map<Key, Sums> sums_;
};

// Appends `query TAB title TAB clicks TAB impressions TAB position` and a line
// break. A tab or a line break in a text becomes a blank.
void AppendClickRow(const ClickRow& row, std::string_view query,
                    std::string_view title, std::string& lines);

}  // namespace semrank

#endif  // SEMRANK_MODEL_EVENTS_CLICK_ROWS_H_
