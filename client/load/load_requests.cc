#include "client/load/load_requests.h"

#include <array>
#include <string_view>
#include <utility>

#include "absl/random/random.h"
#include "absl/strings/str_format.h"

namespace semrank {
namespace {

constexpr int kNumMadeUp = 1'000;

std::vector<std::string> MakeUpTitles() {
  constexpr std::array<std::string_view, 20> kWords = {
      "photo",   "editor",  "network",  "viewer",   "desktop",
      "library", "manager", "system",   "graphics", "sound",
      "server",  "client",  "terminal", "database", "language",
      "package", "monitor", "player",   "security", "documents"};
  std::vector<std::string> titles;
  for (std::size_t i = 0; i < kNumMadeUp; ++i) {
    titles.push_back(absl::StrFormat(
        "%s %s for the %s and %s with %s %d", kWords[i % 20],
        kWords[i / 20 % 20], kWords[(3 * i + 7) % 20],
        kWords[(7 * i + 11) % 20], kWords[(11 * i + i / 400) % 20], i));
  }
  return titles;
}

LoadRequestOptions WithTitles(LoadRequestOptions options) {
  if (options.titles.empty()) options.titles = MakeUpTitles();
  return options;
}

}  // namespace

LoadRequests::LoadRequests(LoadRequestOptions options)
    : options_(WithTitles(std::move(options))),
      run_(
          absl::StrFormat("%x", absl::Uniform<std::uint64_t>(absl::BitGen()))) {
  request_.set_query(options_.query);
}

const v1::RankRequest& LoadRequests::Next() {
  // Its strings keep their memory.
  request_.mutable_titles()->Clear();
  for (int i = 0; i < options_.num_titles; ++i) {
    const std::uint64_t number = num_titles_sent_++;
    std::string& title = *request_.add_titles();
    title = options_.titles[number % options_.titles.size()];
    if (options_.new_titles)
      absl::StrAppendFormat(&title, " %s%d", run_, number);
  }
  return request_;
}

}  // namespace semrank
