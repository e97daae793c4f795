#include "server/requests/methods.h"

#include <google/protobuf/descriptor.h>

#include <string>

namespace semrank {

// The .proto files are linked into the program, so methods_test finds any name
// that is in a row alone.
const google::protobuf::Descriptor& RequestTypeOf(const Method& method) {
  const auto* const pool = google::protobuf::DescriptorPool::generated_pool();
  return *pool->FindMethodByName(std::string(method.service) + "." +
                                 method.name)
              ->input_type();
}

std::vector<std::string_view> ServiceNames() {
  std::vector<std::string_view> names;
  for (const Method& method : kMethods) {
    // Rows of one service follow each other.
    if (names.empty() || names.back() != method.service) {
      names.push_back(method.service);
    }
  }
  return names;
}

}  // namespace semrank
