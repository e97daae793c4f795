#include "server/base/log_stream.h"

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <streambuf>

#include "model/base/file_descriptor.h"

namespace semrank {
namespace {

std::atomic<std::int64_t> num_dropped_lines = 0;

// spdlog's own sink for standard error hides errors.
class LineBuffer : public std::streambuf {
 public:
  LineBuffer() : file_(FileDescriptor::Own(STDERR_FILENO, "standard error")) {}

 private:
  std::streamsize xsputn(const char* text, std::streamsize size) override {
    if (!file_.Write({text, static_cast<std::size_t>(size)}).ok()) {
      ++num_dropped_lines;
    }
    // The stream would write no more lines after an error.
    return size;
  }

  const FileDescriptor file_;
};

}  // namespace

std::ostream& LogStream() {
  // Never destroyed: threads may log until the process ends.
  static auto* const stream = new std::ostream(new LineBuffer);
  return *stream;
}

std::int64_t NumDroppedLogLines() { return num_dropped_lines; }

}  // namespace semrank
