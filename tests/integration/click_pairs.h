// A small click log that only a model of meaning can learn.
#ifndef SEMRANK_TESTS_INTEGRATION_CLICK_PAIRS_H_
#define SEMRANK_TESTS_INTEGRATION_CLICK_PAIRS_H_

#include <string>
#include <vector>

namespace semrank {

// Folder of the built programs.
inline const std::string kBinaries = SEMRANK_BINARY_DIR;

// Queries of three meanings; titles below have the same order.
inline const std::vector<std::vector<std::string>>& QueriesByMeaning() {
  static const auto* const queries = new std::vector<std::vector<std::string>>{
      {"fix auto", "auto broken", "repair vehicle", "vehicle service"},
      {"edit pictures", "pictures touch up", "retouch snapshot", "snapshot"},
      {"cheap flight", "flight abroad", "plane ticket", "ticket overseas"}};
  return *queries;
}

inline const std::vector<std::vector<std::string>>& TitlesByMeaning() {
  static const auto* const titles = new std::vector<std::vector<std::string>>{
      {"car mechanic", "garage for cars", "motor workshop"},
      {"photo editor", "image program", "paint and draw"},
      {"airline booking", "travel agency", "holiday journeys"}};
  return *titles;
}

// Returns lines for --train: each query with each title of its meaning. The two
// never share a word, so only training can order them.
inline std::string ClickPairs() {
  std::string pairs;
  for (std::size_t meaning = 0; meaning < QueriesByMeaning().size();
       ++meaning) {
    for (const std::string& query : QueriesByMeaning()[meaning]) {
      for (const std::string& title : TitlesByMeaning()[meaning]) {
        pairs += query + "\t" + title + "\n";
      }
    }
  }
  return pairs;
}

}  // namespace semrank

#endif  // SEMRANK_TESTS_INTEGRATION_CLICK_PAIRS_H_
