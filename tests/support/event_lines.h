// Lines for the sink of a test, of no impression.
#ifndef SEMRANK_TESTS_SUPPORT_EVENT_LINES_H_
#define SEMRANK_TESTS_SUPPORT_EVENT_LINES_H_

#include <string_view>

#include "server/events/event_sink.h"

namespace semrank {

// `text` is whole lines.
inline EventLines MakeLines(std::string_view text) {
  EventLines lines;
  while (!text.empty()) {
    const std::size_t size = text.find('\n') + 1;
    lines.Add(text.substr(0, size), {});
    text.remove_prefix(size);
  }
  return lines;
}

}  // namespace semrank

#endif  // SEMRANK_TESTS_SUPPORT_EVENT_LINES_H_
