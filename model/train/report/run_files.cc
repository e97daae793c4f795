#include "model/train/report/run_files.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "model/base/file_io.h"
#include "model/base/status_macros.h"
#include "model/format/version_directory.h"

namespace semrank {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kProbeBytes = 4096;

std::string DescribeThisProcess() {
  char host[256] = "";
  if (gethostname(host, sizeof(host) - 1) != 0) return "";
  return absl::StrFormat("process %d on %s", getpid(), host);
}

// What the holder wrote, " (process 12 on host)"; "" before it has.
std::string DescribeHolder(const FileDescriptor& file) {
  char text[256];
  const auto size = file.Read(text, sizeof(text));
  // The holder may be between its lock and its write.
  if (!size.ok() || *size == 0) return "";
  std::string holder(text, *size);
  for (char& c : holder) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = '?';
  }
  return absl::StrFormat(" (%s)", holder);
}

// False when the file was removed, by a run that ended, after it was opened.
bool IsStillNamed(const FileDescriptor& file) {
  struct stat open_file, named_file;
  return fstat(file.get(), &open_file) == 0 &&
         stat(file.path().c_str(), &named_file) == 0 &&
         open_file.st_dev == named_file.st_dev &&
         open_file.st_ino == named_file.st_ino;
}

// Returns 0 or an errno.
int Lock(const FileDescriptor& file) {
  while (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

// The process in "checkpoint.safetensors.tmp-12-0" or "3.tmp-12"; nothing for
// names that the trainer does not give.
std::optional<pid_t> WriterOf(std::string_view name) {
  constexpr std::string_view kTemporary = ".tmp-";
  const std::size_t at = name.rfind(kTemporary);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view of = name.substr(0, at);
  // Other temporary files in the folder are not ours to remove.
  if (of != kCheckpointFile && of != kReportFile && !ParseVersionName(of)) {
    return std::nullopt;
  }
  const std::string_view number = name.substr(at + kTemporary.size());
  pid_t pid = 0;
  const auto parsed =
      std::from_chars(number.data(), number.data() + number.size(), pid);
  if (parsed.ec != std::errc() || pid <= 0) return std::nullopt;
  return pid;
}

// A file of this process is of an earlier one with the same number, as is usual
// in containers: this process has begun nothing yet.
bool IsGone(pid_t pid) {
  return pid == getpid() || (kill(pid, 0) != 0 && errno == ESRCH);
}

// Removes temporary files and folders of processes that are no more; what
// others are writing stays. What cannot be removed does no harm.
void RemoveLeftovers(const fs::path& folder) {
  std::vector<fs::path> leftovers;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const auto writer = WriterOf(entry->path().filename().string());
    if (writer && IsGone(*writer)) leftovers.push_back(entry->path());
  }
  for (const fs::path& path : leftovers) fs::remove_all(path, error);
}

}  // namespace

// Publishing makes a folder of files in `model_dir`, so try just that.
absl::Status CheckWritable(const std::string& model_dir) {
  std::error_code error;
  fs::create_directories(model_dir, error);
  if (error) {
    return ErrnoStatus(error.value(), "create folder", model_dir);
  }
  std::string probe = model_dir + "/.probe-XXXXXX";
  if (mkdtemp(probe.data()) == nullptr) {
    return ErrnoStatus(errno, "create a folder in", model_dir);
  }
  // A full disk may still have room for names.
  const absl::Status written =
      WriteFile(probe + "/probe", std::string(kProbeBytes, '0'));
  fs::remove_all(probe, error);
  return written;
}

absl::StatusOr<std::unique_ptr<RunLock>> RunLock::Acquire(
    const std::string& model_dir) {
  // The file is removed at the end of a run. Between our open and our lock
  // another run may have removed it and a third may have created a new one; a
  // lock on the old file would exclude no other run, so try again.
  for (;;) {
    SEMRANK_ASSIGN_OR_RETURN(
        FileDescriptor file,
        FileDescriptor::Open(model_dir + "/" + kLockFile,
                             O_RDWR | O_CREAT | O_NOFOLLOW));
    const int error = Lock(file);
    // The system releases the lock when the process ends, however it ends; so a
    // file that is left behind by a killed run does no harm.
    if (error == EWOULDBLOCK) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "another training run%s writes to %s. Wait for its end, or give "
          "this one another --model_dir",
          DescribeHolder(file), model_dir));
    }
    if (error == 0 && !IsStillNamed(file)) continue;
    if (error != 0) {
      absl::FPrintF(
          stderr, "%s; another run in this folder would not be noticed\n",
          std::string(ErrnoStatus(error, "lock", file.path()).message()));
    } else if (ftruncate(file.get(), 0) == 0) {
      // The name of the process only helps people; a full disk may not have it.
      (void)file.Write(DescribeThisProcess());
    }
    RemoveLeftovers(model_dir);
    // make_unique cannot reach the private constructor.
    return std::unique_ptr<RunLock>(new RunLock(std::move(file), error == 0));
  }
}

// The lock is still held: later, the name may be another run's. It is so even
// here if the file was removed together with its folder.
RunLock::~RunLock() {
  if (is_held_ && IsStillNamed(file_)) unlink(file_.path().c_str());
}

}  // namespace semrank
