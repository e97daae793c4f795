#include "model/train/data/judged_clicks.h"

#include <functional>
#include <map>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "model/train/data/report_data.h"

namespace semrank {

ClickedLists MakeClickedLists(std::span<const ClickedList> lists,
                              const PositionWeights& weights) {
  ClickedLists made;
  // The id of a document is its title, and ids descend in a collection.
  std::map<std::string, std::uint32_t, std::greater<>> places;
  for (const ClickedList& list : lists) {
    for (const std::string& title : list.titles) places.emplace(title, 0);
  }
  for (auto& [title, place] : places) {
    place = static_cast<std::uint32_t>(made.collection.documents.size());
    made.collection.documents.push_back(title);
    made.collection.document_ids.push_back(title);
  }
  for (const ClickedList& list : lists) {
    std::map<std::uint32_t, double> sums;  // 0 = not clicked
    // The first loop adds every title with 0, so that titles without a click
    // are ranked, too.
    for (const std::string& title : list.titles) sums[places.at(title)];
    for (const ListClick& click : list.clicks) {
      sums[places.at(list.titles[click.place])] += weights.Of(click.position);
    }
    JudgedQuery& query = made.collection.queries.emplace_back();
    // Two lists of one query are two queries here: each was shown, and clicked,
    // by itself.
    query.id = std::to_string(made.collection.queries.size());
    query.text = list.query;
    auto& clicks = made.clicks.emplace_back();
    for (const auto& [document, weight] : sums) {
      query.judgements.push_back(
          {.document = document, .grade = weight > 0 ? 1 : 0});
      if (weight > 0) clicks.emplace_back(document, weight);
    }
  }
  return made;
}

std::size_t NumNewQueries(const JudgedClicks& clicks) {
  const Collection* const collection = clicks.new_lists != nullptr
                                           ? &clicks.new_lists->collection
                                           : clicks.new_pairs.get();
  if (collection == nullptr) return 0;
  // Lists of one query say less than lists of as many queries, so distinct
  // texts are counted.
  absl::flat_hash_set<std::string_view> texts;
  for (const JudgedQuery& query : collection->queries) texts.insert(query.text);
  return texts.size();
}

std::vector<TextPair> PairsOfLists(const ClickedLists* lists,
                                   TextInterner& texts) {
  std::vector<TextPair> pairs;
  if (lists == nullptr) return pairs;
  for (std::size_t i = 0; i < lists->clicks.size(); ++i) {
    const TextId query = texts.Intern(lists->collection.queries[i].text);
    for (const auto& [document, weight] : lists->clicks[i]) {
      pairs.push_back(
          {query, texts.Intern(lists->collection.documents[document])});
    }
  }
  return pairs;
}

JudgedClicks MakeJudged(const TrainOptions& options, const TextInterner& texts,
                        std::span<const TextId> titles,
                        std::span<const TextPair> new_pairs,
                        std::vector<TextPair> earlier,
                        std::shared_ptr<const ClickedLists> new_lists) {
  JudgedClicks judged;
  if (options.data.judge_fraction == 0) return judged;
  // A start that has learned from them would always look better there.
  if (options.initial_model.judge_fraction < options.data.judge_fraction) {
    earlier.clear();
  }
  const auto collection = [&](std::span<const TextPair> pairs) {
    return MakeHeldOutCollection(texts, pairs, titles, options.seed);
  };
  // Beside lists, which are the newest clicks, pairs only wait for later
  // nights.
  judged.new_lists = std::move(new_lists);
  judged.new_pairs = collection(new_pairs);
  judged.earlier = collection(earlier);
  return judged;
}

}  // namespace semrank
