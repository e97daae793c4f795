// Numbers of JSON as the types that fields of a message have.
#ifndef SEMRANK_SERVER_API_JSON_NUMBER_H_
#define SEMRANK_SERVER_API_JSON_NUMBER_H_

#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/strings/numbers.h"
#include "model/base/strings.h"
#include "server/api/json_document.h"

namespace semrank {

template <typename T>
bool TextToNumber(std::string_view text, T& number) {
  if constexpr (std::is_same_v<T, float>) {
    return absl::SimpleAtof(ToAbsl(text), &number);
  } else if constexpr (std::is_same_v<T, double>) {
    return absl::SimpleAtod(ToAbsl(text), &number);
  } else {
    return absl::SimpleAtoi(ToAbsl(text), &number);
  }
}

// False for a number that T does not have. A float keeps what it can of the
// digits; an integer may be written as 3.0 or 3e2.
template <typename T>
bool JsonToNumber(simdjson::ondemand::number& json, T& number) {
  if constexpr (std::is_floating_point_v<T>) {
    number = static_cast<T>(json.as_double());
    return std::isfinite(number);
  } else if (json.is_int64()) {
    number = static_cast<T>(json.get_int64());
    return std::in_range<T>(json.get_int64());
  } else if (json.is_uint64()) {
    number = static_cast<T>(json.get_uint64());
    return std::in_range<T>(json.get_uint64());
  } else {
    const double wide = json.get_double();
    // The upper bound as a double may be one more than T's largest value.
    const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
    const double begin = std::is_signed_v<T> ? -end : 0;
    if (!(wide >= begin && wide < end) || wide != std::trunc(wide))
      return false;
    number = static_cast<T>(wide);
    return true;
  }
}

// A number, or a text with one, since JavaScript has no integers of 64 bits.
// Nothing for another value, and for a number that T does not have.
template <typename T>
std::optional<T> ToNumber(JsonDocument& document, JsonDocument::Value& value) {
  T number = 0;
  if (value.raw_json_token().starts_with('"')) {
    const auto text = document.Text(value);
    if (!text.ok() || !TextToNumber(*text, number)) return {};
    return number;
  }
  simdjson::ondemand::number json;
  if (value.get_number().get(json)) return {};
  if (!JsonToNumber(json, number)) return {};
  return number;
}

}  // namespace semrank

#endif  // SEMRANK_SERVER_API_JSON_NUMBER_H_
