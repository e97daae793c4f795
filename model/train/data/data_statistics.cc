#include "model/train/data/data_statistics.h"

#include <algorithm>

namespace semrank {

void LengthHistogram::Add(std::string_view text) {
  // Normalised text has one blank between two words.
  const std::int64_t words =
      text.empty() ? 0 : std::count(text.begin(), text.end(), ' ') + 1;
  ++bins_[std::min<std::int64_t>(words, kMaxWords)];
  ++num_texts_;
  num_words_ += words;
}

double LengthHistogram::Share(int words) const {
  return num_texts_ == 0 ? 0
                         : static_cast<double>(bins_[words]) /
                               static_cast<double>(num_texts_);
}

double LengthHistogram::MeanWords() const {
  return num_texts_ == 0 ? 0
                         : static_cast<double>(num_words_) /
                               static_cast<double>(num_texts_);
}

}  // namespace semrank
