#ifndef SEMRANK_CLIENT_OUTPUT_ENUM_WORDS_H_
#define SEMRANK_CLIENT_OUTPUT_ENUM_WORDS_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/generated_enum_reflection.h>

#include <string>

namespace semrank {

// The value's name without the enum's: "letters_and_words" for
// FEATURE_KIND_LETTERS_AND_WORDS; the number if it is of a newer release.
std::string EnumWord(const google::protobuf::EnumDescriptor& type, int value);

template <typename Enum>
std::string EnumWord(Enum value) {
  return EnumWord(*google::protobuf::GetEnumDescriptor<Enum>(), value);
}

}  // namespace semrank

#endif  // SEMRANK_CLIENT_OUTPUT_ENUM_WORDS_H_
