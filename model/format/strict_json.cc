#include "model/format/strict_json.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

namespace semrank {
namespace {

using nlohmann::json;

// Checks the text without building values; stops at the first problem.
class Checker : public nlohmann::json_sax<json> {
 public:
  const std::string& problem() const { return problem_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return Enter(); }
  bool end_object() override { return Leave(); }
  bool start_array(std::size_t) override { return Enter(); }
  bool end_array() override { return Leave(); }
  bool key(string_t& name) override {
    if (names_.back().insert(name).second) return true;
    return Refuse(absl::StrFormat("member \"%s\" is repeated", name));
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return Refuse(absl::StrFormat("not valid JSON from byte %d on", position));
  }

 private:
  bool Enter() {
    names_.emplace_back();
    if (names_.size() <= kMaxJsonDepth) return true;
    return Refuse(
        absl::StrFormat("JSON nested more than %d deep", kMaxJsonDepth));
  }
  bool Leave() {
    names_.pop_back();
    return true;
  }
  bool Refuse(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  // One set for each open object or array; that of an array stays empty.
  std::vector<std::set<std::string>> names_;
  std::string problem_;
};

}  // namespace

absl::StatusOr<json> ParseStrictJson(std::string_view text) {
  // The parser would take a NUL for the end of the text and ignore the rest.
  if (const std::size_t nul = text.find('\0'); nul != text.npos) {
    return absl::InvalidArgumentError(
        absl::StrFormat("not valid JSON from byte %d on", nul));
  }
  // The first pass only checks. json::parse alone would silently keep the last
  // of repeated members, and would accept any depth, which functions that walk
  // the values follow by recursion.
  Checker checker;
  if (!json::sax_parse(text, &checker)) {
    return absl::InvalidArgumentError(checker.problem());
  }
  // This cannot fail, as the same parser has accepted the text.
  return json::parse(text, /*cb=*/nullptr, /*allow_exceptions=*/false);
}

}  // namespace semrank
