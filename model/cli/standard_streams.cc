#include "model/cli/standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

namespace semrank {

void ReserveStandardStreams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) != -1 || errno != EBADF) continue;
    // open returns the lowest free number, which is `fd`: those below it are
    // open by now. Standard input is opened write-only and the outputs
    // read-only, as glibc does for setuid programs, so that using a closed
    // stream remains an error.
    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

// gRPC opens a descriptor before main, when the dynamic linker initializes its
// library; functions of this section run earlier still. Under a sanitizer the
// code may not run before the sanitizer is ready, so main's call has to do.
#if defined(__has_feature)
#define SEMRANK_HAS_FEATURE(feature) __has_feature(feature)
#else
#define SEMRANK_HAS_FEATURE(feature) 0
#endif
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !SEMRANK_HAS_FEATURE(address_sanitizer) &&                         \
    !SEMRANK_HAS_FEATURE(thread_sanitizer)
[[gnu::section(".preinit_array"), gnu::used]] static void (
    *reserve_before_libraries)() = &ReserveStandardStreams;
#endif

void IgnoreBrokenPipes() { signal(SIGPIPE, SIG_IGN); }

}  // namespace semrank
