#!/usr/bin/env bash
# Compiles the kernels and their tests for arm64 and runs them under qemu: the
# NEON level, which no x86 machine has. Takes two to four minutes on two cores.
#
#   scripts/install_packages.sh arm64 && scripts/ci/check_arm64.sh [folder]
#
# The libraries of arm64 are unpacked into the folder (default build/arm64); the
# system's package database stays as it is.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$(mkdir -p "${1:-build/arm64}" && cd "${1:-build/arm64}" && pwd)
packages=(libabsl-dev libabsl20220623 libgmock-dev libgtest-dev libhwy-dev libhwy1 libprotobuf-dev libprotobuf32
  libutf8proc-dev libutf8proc2 libxxhash-dev libxxhash0 libzstd-dev libzstd1 zlib1g-dev zlib1g)

if [ ! -e "$root/sysroot/unpacked" ]; then
  mkdir -p "$root"/{sysroot,packages,state/lists/partial,cache/archives/partial}
  : >"$root/status"
  cat >"$root/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "root";
Dir::State "$root/state";
Dir::State::status "$root/status";
Dir::Cache "$root/cache";
END
  export APT_CONFIG=$root/apt.conf
  apt-get -qq update
  (cd "$root/packages" && apt-get -qq download "${packages[@]}")
  unset APT_CONFIG
  for package in "$root"/packages/*.deb; do dpkg -x "$package" "$root/sysroot"; done
  : >"$root/sysroot/unpacked"
fi

protoc --proto_path=proto --cpp_out="$root" proto/semrank/v1/model_config.proto
include=$root/sysroot/usr/include
library=$root/sysroot/usr/lib/aarch64-linux-gnu
flags="-std=c++20 -O2 -Wall -Wextra -Werror -ffp-contract=off -DHWY_DISABLED_TARGETS=(HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128)
  -I. -isystem $root -isystem $include -isystem $include/aarch64-linux-gnu"
# nn_test needs these units of model/base, and all of model/text and model/nn.
sources=(model/text/*.cc model/nn/*.cc tests/model/nn/*.cc tests/support/simd_of_environment.cc
  model/base/fingerprint.cc model/base/file_descriptor.cc model/base/file_io.cc model/base/interrupt.cc
  model/base/simd_level.cc
  "$root/semrank/v1/model_config.pb.cc")
rm -rf "$root/objects"
mkdir "$root/objects"
# shellcheck disable=SC2016  # The inner shell expands it.
printf '%s\n' "${sources[@]}" | root="$root" flags="$flags" xargs -P "$(nproc)" -I{} bash -c \
  'aarch64-linux-gnu-g++ $flags -c {} -o "$root/objects/$(tr / _ <<<{}).o"'
absl=("$library"/libabsl_*.so)
absl=("${absl[@]##*/}")
aarch64-linux-gnu-g++ "$root"/objects/*.o -o "$root/nn_test" -L"$library" -Wl,-rpath-link,"$library" \
  -lgmock -lgtest -lgtest_main -lprotobuf -lhwy -lhwy_contrib -lutf8proc -lxxhash -lzstd -lz \
  "${absl[@]/#/-l:}" -pthread
qemu-aarch64 -L /usr/aarch64-linux-gnu -E SEMRANK_SIMD=neon \
  -E LD_LIBRARY_PATH="$library:$root/sysroot/lib/aarch64-linux-gnu" "$root/nn_test" --gtest_brief=1
