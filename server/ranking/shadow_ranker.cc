#include "server/ranking/shadow_ranker.h"

#include <prometheus/family.h>
#include <sys/resource.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/base/caller.h"

namespace semrank {
namespace {

constexpr std::size_t kMaxQueued = 64;
constexpr std::size_t kMaxQueuedBytes = std::size_t{16} << 20;
constexpr std::size_t kCacheBytes = std::size_t{32} << 20;
// The load is that of the time since the last look.
constexpr absl::Duration kTimeBetweenLooks = absl::Milliseconds(100);
constexpr double kMaxBusyShare = .75;
constexpr std::size_t kComparedOverlap = 10;
// The correlation takes this many of the first results, since its cost grows
// with their square.
constexpr std::size_t kComparedOrder = 100;

const prometheus::Histogram::BucketBoundaries& ShareBuckets() {
  static const prometheus::Histogram::BucketBoundaries buckets = {
      0, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1};
  return buckets;
}

const prometheus::Histogram::BucketBoundaries& CorrelationBuckets() {
  static const prometheus::Histogram::BucketBoundaries buckets = {
      -.5, -.25, 0, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1};
  return buckets;
}

// Ends the work as soon as it would delay a caller.
class SpareTime final : public Caller {
 public:
  SpareTime(const std::function<bool()>& callers_wait,
            const std::atomic<bool>& stopping)
      : callers_wait_(callers_wait), stopping_(stopping) {}
  absl::Time deadline() const override { return absl::InfiniteFuture(); }
  bool cancelled() const override { return stopping_ || callers_wait_(); }

 private:
  const std::function<bool()>& callers_wait_;
  const std::atomic<bool>& stopping_;
};

std::size_t NumBytes(std::span<const std::string_view> texts) {
  std::size_t sum = 0;
  for (const std::string_view text : texts) sum += text.size();
  return sum;
}

// Bytes of all texts of a request.
std::size_t TextBytes(const RankInput& input) {
  return input.query.size() + NumBytes(input.titles) +
         NumBytes(input.document_ids) + NumBytes(input.filter.include) +
         NumBytes(input.filter.exclude);
}

// Bytes of what a copy has for each of its texts and results.
std::size_t ItemBytes(const RankInput& input, const RankResult& result) {
  return input.num_named() * sizeof(std::string_view) +
         result.ranking.size() * sizeof(RankedDocument);
}

}  // namespace

absl::Duration ProcessorTime() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return absl::DurationFromTimeval(usage.ru_utime) +
         absl::DurationFromTimeval(usage.ru_stime);
}

RankingComparison CompareRankings(std::span<const RankedDocument> shown,
                                  std::span<const RankedDocument> other) {
  absl::flat_hash_map<std::uint32_t, std::size_t> place_in_other;
  for (std::size_t i = 0; i < other.size(); ++i) {
    place_in_other.emplace(other[i].index, i);
  }
  const std::size_t num_first = std::min(shown.size(), kComparedOverlap);
  // places[i] is the place in `other` of result i of `shown`. Results that
  // `other` lacks share the place after its last one, as if they were tied.
  std::vector<std::size_t> places;
  for (const RankedDocument& document :
       shown.first(std::min(shown.size(), kComparedOrder))) {
    const auto found = place_in_other.find(document.index);
    places.push_back(found == place_in_other.end() ? other.size()
                                                   : found->second);
  }
  RankingComparison comparison;
  if (num_first > 0) {
    const auto common =
        std::count_if(places.begin(), places.begin() + num_first,
                      [&](std::size_t place) { return place < num_first; });
    comparison.overlap =
        static_cast<double>(common) / static_cast<double>(num_first);
  }
  const std::size_t size = places.size();
  if (size < 2) return comparison;
  // The difference between pairs in the same and in the opposite order.
  std::int64_t difference = 0;
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = i + 1; j < size; ++j) {
      difference += (places[i] < places[j]) - (places[i] > places[j]);
    }
  }
  // Kendall's tau-a: ties are neither concordant nor discordant, but count in
  // the number of pairs.
  const double num_pairs = static_cast<double>(size * (size - 1)) / 2;
  comparison.correlation = static_cast<double>(difference) / num_pairs;
  return comparison;
}

// A request and its answer, which outlive the call.
struct ShadowRanker::Request {
  Request(const RankInput& from, const RankResult& result)
      : texts(ReserveText(from)),
        titles(CopyTexts(from.titles)),
        ids(from.ids.begin(), from.ids.end()),
        document_ids(CopyTexts(from.document_ids)),
        input(from),
        shown(result.ranking),
        num_bytes(TextBytes(from) + ItemBytes(from, result)) {
    input.query = CopyText(from.query);
    input.titles = titles;
    input.ids = ids;
    input.document_ids = document_ids;
    input.filter.include = CopyTexts(from.filter.include);
    input.filter.exclude = CopyTexts(from.filter.exclude);
    // All candidates are ranked: the comparison needs the place of each.
    input.top_k = 0;
    input.min_score.reset();
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  // All copies are in one buffer, which has room for them from the start.
  static std::string ReserveText(const RankInput& input) {
    std::string buffer;
    buffer.reserve(TextBytes(input));
    return buffer;
  }
  std::string_view CopyText(std::string_view text) {
    const std::size_t begin = texts.size();
    texts += text;
    return std::string_view(texts).substr(begin);
  }
  std::vector<std::string_view> CopyTexts(
      std::span<const std::string_view> from) {
    std::vector<std::string_view> copies;
    copies.reserve(from.size());
    for (const std::string_view text : from) copies.push_back(CopyText(text));
    return copies;
  }

  std::string texts;
  const std::vector<std::string_view> titles;
  const std::vector<std::uint64_t> ids;
  const std::vector<std::string_view> document_ids;
  RankInput input;
  const std::vector<RankedDocument> shown;
  const std::size_t num_bytes;
};

ShadowRanker::ShadowRanker(Options options, const Limits& limits,
                           const ModelStore* models,
                           const DocumentCatalog* catalog, Metrics* metrics)
    : options_(std::move(options)),
      models_(*models),
      cache_(DocumentVectorCache::Create(kCacheBytes).value()),
      embedder_(cache_.get(), &own_metrics_),
      engine_(limits, &embedder_, &own_metrics_, catalog) {
  auto& rankings = metrics->CounterFamily(
      "semrank_shadow_rankings_total",
      "Requests that --shadow has ranked again, dropped because the server was "
      "busy, or could not rank.");
  ranked_ = &rankings.Add({{"result", "ranked"}});
  dropped_ = &rankings.Add({{"result", "dropped"}});
  failed_ = &rankings.Add({{"result", "failed"}});
  overlap_ =
      &metrics
           ->HistogramFamily("semrank_shadow_overlap_at_10",
                             "Share of the first ten results that --shadow has "
                             "among its first ten.")
           .Add({}, ShareBuckets());
  correlation_ =
      &metrics
           ->HistogramFamily("semrank_shadow_rank_correlation",
                             "Kendall's tau of the first hundred results "
                             "between the answer and --shadow.")
           .Add({}, CorrelationBuckets());
  seconds_ = &metrics
                  ->HistogramFamily("semrank_shadow_duration_seconds",
                                    "Time that --shadow took for a ranking.")
                  .Add({}, Metrics::PhaseBuckets());
}

// Rankings that wait or run then end early, and the thread is joined soon.
ShadowRanker::~ShadowRanker() { stopping_ = true; }

// The processor time of the server, this thread's included, as a share of all
// processors since the last look.
bool ShadowRanker::IsBusy() {
  const MutexLock lock(mutex_);
  const absl::Time now = options_.now();
  const absl::Duration wall = now - looked_at_;
  if (wall < kTimeBetweenLooks) return busy_;
  const absl::Duration used = options_.processor_time();
  busy_ = used - time_at_look_ > wall * options_.num_processors * kMaxBusyShare;
  looked_at_ = now;
  time_at_look_ = used;
  return busy_;
}

std::shared_ptr<const ShadowRanker::Request> ShadowRanker::Copy(
    const ServedModel& served, const RankInput& input,
    const RankResult& result) {
  // What the shadow model itself has answered would be compared with itself.
  if (!input.vectors.empty() ||
      served.model->version().name == options_.model) {
    return nullptr;
  }
  const std::size_t num_bytes = TextBytes(input) + ItemBytes(input, result);
  if (options_.callers_wait() || IsBusy() || !HasRoom(num_bytes)) {
    dropped_->Increment();
    return nullptr;
  }
  return std::make_shared<const Request>(input, result);
}

bool ShadowRanker::HasRoom(std::size_t num_bytes) const {
  const MutexLock lock(mutex_);
  return num_queued_ < kMaxQueued &&
         queued_bytes_ + num_bytes <= kMaxQueuedBytes;
}

void ShadowRanker::Queue(std::shared_ptr<const Request> request) {
  {
    const MutexLock lock(mutex_);
    ++num_queued_;
    queued_bytes_ += request->num_bytes;
  }
  thread_.Submit([this, request = std::move(request)] {
    Rank(*request);
    const MutexLock lock(mutex_);
    queued_bytes_ -= request->num_bytes;
    if (--num_queued_ == 0) became_idle_.NotifyAll();
  });
}

void ShadowRanker::WaitUntilIdle() {
  const MutexLock lock(mutex_);
  while (num_queued_ > 0) became_idle_.Wait(mutex_);
}

void ShadowRanker::Rank(const Request& request) {
  const SpareTime spare_time(options_.callers_wait, stopping_);
  const absl::StatusOr<ServedModelPtr> served = models_.Find(options_.model, 0);
  if (!served.ok() || !engine_.Check(**served, request.input).ok()) {
    return failed_->Increment();
  }
  const absl::Time begin = absl::Now();
  RankState state;
  RankResult result;
  absl::StatusOr<Progress> progress = Progress::kMore;
  // The embedder asks `spare_time` between batches of texts, so a caller that
  // waits ends this ranking.
  while (progress.ok() && *progress != Progress::kDone) {
    progress =
        engine_.RunSlice(**served, request.input, spare_time, state, result);
  }
  if (!progress.ok()) {
    return (absl::IsCancelled(progress.status()) ? dropped_ : failed_)
        ->Increment();
  }
  seconds_->Observe(absl::ToDoubleSeconds(absl::Now() - begin));
  Compare(request, result);
}

void ShadowRanker::Compare(const Request& request, const RankResult& result) {
  const RankingComparison comparison =
      CompareRankings(request.shown, result.ranking);
  overlap_->Observe(comparison.overlap);
  if (comparison.correlation.has_value()) {
    correlation_->Observe(*comparison.correlation);
  }
  ranked_->Increment();
  const MutexLock lock(mutex_);
  overlap_sum_ += comparison.overlap;
  if (comparison.correlation.has_value()) {
    correlation_sum_ += *comparison.correlation;
    ++num_correlations_;
  }
}

ShadowRanker::Stats ShadowRanker::GetStats() const {
  const auto count = [](const prometheus::Counter* counter) {
    return static_cast<std::int64_t>(counter->Value());
  };
  Stats stats = {.model = options_.model,
                 .num_ranked = count(ranked_),
                 .num_dropped = count(dropped_),
                 .num_failed = count(failed_)};
  const MutexLock lock(mutex_);
  if (stats.num_ranked > 0) {
    stats.mean_overlap = overlap_sum_ / static_cast<double>(stats.num_ranked);
  }
  if (num_correlations_ > 0) {
    stats.mean_correlation =
        correlation_sum_ / static_cast<double>(num_correlations_);
  }
  return stats;
}

}  // namespace semrank
