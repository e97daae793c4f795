# Everything comes from Debian 12 (or Ubuntu 24.04) packages; nothing is
# downloaded. scripts/install_packages.sh holds the list.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(Protobuf MODULE REQUIRED)  # Debian ships no CONFIG file for it.
foreach(package absl gRPC CLI11 Eigen3 prometheus-cpp spdlog nlohmann_json simdjson mimalloc)
  find_package(${package} CONFIG REQUIRED)
endforeach()
find_package(Boost 1.74 REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(RDKAFKA REQUIRED IMPORTED_TARGET rdkafka)
pkg_check_modules(ROCKSDB REQUIRED IMPORTED_TARGET rocksdb)
pkg_check_modules(HIGHWAY REQUIRED IMPORTED_TARGET libhwy libhwy-contrib)
# sd_notify and the watchdog of systemd.
pkg_check_modules(SYSTEMD REQUIRED IMPORTED_TARGET libsystemd)
# Its pkg-config file sets a macro for all that includes it.
find_library(HIREDIS_LIBRARY hiredis REQUIRED)
# Optional: semrank-train in several processes.
option(SEMRANK_MPI "Build semrank-train with MPI, if it is installed" ON)
if(SEMRANK_MPI)
  find_package(MPI COMPONENTS C)
endif()
if(SEMRANK_BUILD_TESTS OR SEMRANK_BUILD_FUZZERS)
  find_package(GTest CONFIG REQUIRED)
  find_package(benchmark CONFIG REQUIRED)
endif()
