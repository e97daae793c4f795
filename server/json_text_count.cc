#include "server/json_text_count.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace semrank {
namespace {

using Json = nlohmann::json;

// Gets the pieces of the body one by one; true = go on.
class TextCounter final : public nlohmann::json_sax<Json> {
 public:
  explicit TextCounter(std::span<const std::string_view> fields)
      : fields_(fields) {}
  std::int64_t count() const { return count_; }

  bool key(std::string& name) override {
    if (depth_ == 1)
      counted_ = std::ranges::find(fields_, name) != fields_.end();
    return true;
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t) override { return Count(); }
  bool number_unsigned(std::uint64_t) override { return Count(); }
  bool number_float(double, const std::string&) override { return Count(); }
  bool string(std::string&) override { return Count(); }
  bool binary(Json::binary_t&) override { return true; }
  bool start_object(std::size_t) override { return Enter(); }
  bool end_object() override { return Leave(); }
  bool start_array(std::size_t) override { return Enter(); }
  bool end_array() override { return Leave(); }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  // Depth 1 is the outermost object, 2 an array or a message in it.
  bool Count() {
    if (counted_ && depth_ <= 2) ++count_;
    return true;
  }
  bool Enter() {
    ++depth_;
    return true;
  }
  bool Leave() {
    --depth_;
    return true;
  }

  const std::span<const std::string_view> fields_;
  int depth_ = 0;
  bool counted_ = false;  // inside one of the fields
  std::int64_t count_ = 0;
};

}  // namespace

std::int64_t CountJsonTexts(std::string_view json,
                            std::span<const std::string_view> fields) {
  TextCounter counter(fields);
  Json::sax_parse(json.begin(), json.end(), &counter);
  return counter.count();
}

}  // namespace semrank
