#include "client/output/enum_words.h"

#include <string_view>

#include "absl/strings/ascii.h"
#include "model/base/strings.h"

namespace semrank {

std::string EnumWord(const google::protobuf::EnumDescriptor& type, int value) {
  const auto* described = type.FindValueByNumber(value);
  if (described == nullptr) return std::to_string(value);
  // The zero value is <ENUM>_UNSPECIFIED, so its length tells the prefix's.
  constexpr std::string_view kUnspecified = "UNSPECIFIED";
  const std::size_t prefix =
      type.FindValueByNumber(0)->name().size() - kUnspecified.size();
  return absl::AsciiStrToLower(
      ToAbsl(std::string_view(described->name()).substr(prefix)));
}

}  // namespace semrank
