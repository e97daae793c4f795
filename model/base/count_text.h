// Numbers for people, with separators.
#ifndef SEMRANK_MODEL_BASE_COUNT_TEXT_H_
#define SEMRANK_MODEL_BASE_COUNT_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace semrank {

// "1,234,567".
std::string GroupDigits(std::int64_t number);

// "1 document", "2,501 documents". Without `plural` that is `singular` + "s".
std::string CountText(std::int64_t count, std::string_view singular,
                      std::string_view plural = "");

}  // namespace semrank

#endif  // SEMRANK_MODEL_BASE_COUNT_TEXT_H_
