// A uniform sample of the distinct titles of a click log, in bounded memory:
// the titles of the lowest hashes. Each distinct title has the same
// probability, however often it occurs; the sample has all titles while they
// fit.
//
//   Memory   KeptTextBytes of all titles, except that the first few always fit.
//   Threads  one sample, one thread.
#ifndef SEMRANK_MODEL_TRAIN_DATA_TITLE_SAMPLE_H_
#define SEMRANK_MODEL_TRAIN_DATA_TITLE_SAMPLE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

namespace semrank {

class TitleSample {
 public:
  // This many titles are kept, whatever their size.
  static constexpr std::size_t kMinTitles = 16;

  TitleSample(std::int64_t max_titles, std::int64_t max_bytes)
      : max_titles_(static_cast<std::size_t>(max_titles)),
        max_bytes_(max_bytes) {}

  // `hash` is a function of the title.
  void Add(std::uint64_t hash, const std::string& title);

  // By hash.
  const std::map<std::uint64_t, std::string>& titles() const { return titles_; }
  // Whether these are all titles that were added.
  bool complete() const { return complete_; }

 private:
  bool IsFull() const;

  std::size_t max_titles_;
  std::int64_t max_bytes_;
  std::map<std::uint64_t, std::string> titles_;
  std::int64_t bytes_ = 0;
  // Titles of higher hashes are not in the sample.
  std::uint64_t highest_ = std::numeric_limits<std::uint64_t>::max();
  bool complete_ = true;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_TRAIN_DATA_TITLE_SAMPLE_H_
