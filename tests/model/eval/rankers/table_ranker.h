// A ranker whose scores are written down: one row a query text.
#ifndef SEMRANK_TESTS_MODEL_EVAL_RANKERS_TABLE_RANKER_H_
#define SEMRANK_TESTS_MODEL_EVAL_RANKERS_TABLE_RANKER_H_

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/eval/rankers/ranker.h"

namespace semrank {

class TableRanker : public Ranker {
 public:
  using Table = std::map<std::string, std::vector<float>, std::less<>>;

  TableRanker(std::string name, Table rows)
      : name_(std::move(name)), rows_(std::move(rows)) {}

  std::string name() const override { return name_; }
  std::size_t num_documents() const override {
    return rows_.begin()->second.size();
  }
  void ScoreAll(std::span<const std::string_view> queries,
                float* scores) const override {
    for (const std::string_view query : queries) {
      const std::vector<float>& row = rows_.find(query)->second;
      scores = std::copy(row.begin(), row.end(), scores);
    }
  }

 private:
  std::string name_;
  Table rows_;
};

}  // namespace semrank

#endif  // SEMRANK_TESTS_MODEL_EVAL_RANKERS_TABLE_RANKER_H_
