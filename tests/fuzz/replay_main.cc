// main of the fuzz targets where libFuzzer is not linked: runs the target once
// on a few fixed inputs and on each file in the files and folders named on the
// command line. Crashes found by fuzzing are replayed in the same way.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size);

namespace {

void Run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()),
                         input.size());
}

void RunFixedInputs() {
  for (const std::size_t size : {0, 1, 7, 8, 9, 4096}) {
    for (const char byte : {'\0', 'a', '{', '\x7F', '\x80', '\xFF'}) {
      Run(std::string(size, byte));
    }
  }
}

// False when the file cannot be read.
bool RunFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string input{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    return false;
  }
  std::printf("%s: %zu bytes\n", path.c_str(), input.size());
  std::fflush(stdout);  // names the culprit when the next line never comes
  Run(input);
  return true;
}

std::vector<std::filesystem::path> Files(const std::filesystem::path& path) {
  namespace fs = std::filesystem;
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  RunFixedInputs();
  bool all_read = true;
  for (int i = 1; i < argc; ++i) {
    for (const auto& path : Files(argv[i])) all_read &= RunFile(path);
  }
  return all_read ? 0 : 1;
}
