# One macro a kind of target; each names its DEPS, as CMake target names.

# Flags of our own code. Generated code does not get the warnings. GCC 12 sees
# overlapping copies in `"text" + string` at -O3 (its bug 105651).
add_library(semrank_flags INTERFACE)
target_compile_options(semrank_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  -Werror
  $<$<CXX_COMPILER_ID:GNU>:-Wno-psabi;-Wno-restrict>
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)

# Flags that every file of one build must share.
add_library(semrank_codegen INTERFACE)
target_include_directories(semrank_codegen INTERFACE ${PROJECT_SOURCE_DIR})
# Our headers name each other by their path from the root, so they are installed
# under a root of their own.
set(SEMRANK_INSTALL_INCLUDEDIR ${CMAKE_INSTALL_INCLUDEDIR}/semrank)
if(SEMRANK_SANITIZE)
  target_compile_options(semrank_codegen INTERFACE
    -fsanitize=${SEMRANK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(semrank_codegen INTERFACE -fsanitize=${SEMRANK_SANITIZE})
  # With sanitizers GCC 12 takes the "undefined" values of its own AVX-512 headers
  # for uninitialised variables (its bug 105593); kernels inline them.
  target_compile_options(semrank_flags INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized;-Wno-maybe-uninitialized>)
  # clang's check of vtable pointers reads memory through a pipe, and reports
  # every object as invalid once a test has used up all descriptors.
  if(SEMRANK_SANITIZE MATCHES undefined)
    target_compile_options(semrank_codegen INTERFACE $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=vptr>)
  endif()
endif()
if(SEMRANK_BUILD_FUZZERS)
  # Branch counters in the libraries too: without them libFuzzer works blind.
  target_compile_options(semrank_codegen INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(semrank_codegen INTERFACE -fsanitize=fuzzer-no-link)
endif()
target_link_libraries(semrank_flags INTERFACE semrank_codegen)

# A source takes a third to a half less time when the headers of libraries that
# most sources include are parsed once, and when GCC collects garbage only
# beyond 512 MB instead of 128. nlohmann/json.hpp is missing here because each
# source would take another second to instantiate what the header uses itself.
if(SEMRANK_PRECOMPILE)
  # Precompiled headers want these options in all sources or none: some libraries
  # bring -pthread, and training is compiled with -fno-math-errno, which changes
  # no result.
  target_compile_options(semrank_codegen INTERFACE -pthread -fno-math-errno
    $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>
    # Clang also compares options that change nothing in a header, such as
    # -fno-trapping-math of one source.
    "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-validate-pch>")
  file(WRITE ${CMAKE_BINARY_DIR}/precompiled_headers.cc "// For semrank_headers.\n")
  add_library(semrank_headers OBJECT ${CMAKE_BINARY_DIR}/precompiled_headers.cc)
  target_link_libraries(semrank_headers PRIVATE semrank_flags)
  target_precompile_headers(semrank_headers PRIVATE
    <algorithm> <chrono> <filesystem> <functional> <map> <memory> <optional> <span> <string> <thread> <vector>
    <absl/container/flat_hash_map.h> <absl/status/statusor.h> <absl/strings/str_cat.h>
    <absl/strings/str_format.h> <absl/strings/str_join.h> <absl/strings/str_split.h> <absl/time/time.h>
    <google/protobuf/generated_message_util.h> <google/protobuf/map_field.h> <google/protobuf/message.h>
    <google/protobuf/repeated_field.h> <google/protobuf/util/json_util.h> <grpcpp/grpcpp.h>)
endif()

function(semrank_use_precompiled_headers target)
  if(SEMRANK_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM semrank_headers)
  endif()
endfunction()

# semrank_sources(OUT [EXCEPT a.cc]): the sources of the current folder. A folder
# is one library, so a new file belongs to it without a line here.
function(semrank_sources out)
  cmake_parse_arguments(ARG "" "" "EXCEPT" ${ARGN})
  file(GLOB sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.cc)
  if(ARG_EXCEPT)
    list(REMOVE_ITEM sources ${ARG_EXCEPT})
  endif()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# add_semrank_library(NAME text DEPS semrank_base) makes target semrank_text out
# of the current folder, but for EXCEPT, or out of SRCS. HOT: time is spent in
# its loops, so a release compiles it with -O3 and the rest with -O2.
function(add_semrank_library)
  cmake_parse_arguments(ARG "HOT" "NAME" "SRCS;EXCEPT;DEPS" ${ARGN})
  if(NOT ARG_SRCS)
    semrank_sources(ARG_SRCS EXCEPT ${ARG_EXCEPT})
  endif()
  add_library(semrank_${ARG_NAME} STATIC ${ARG_SRCS})
  if(ARG_HOT)
    target_compile_options(semrank_${ARG_NAME} PRIVATE $<$<CONFIG:Release>:-O3>)
  endif()
  target_link_libraries(semrank_${ARG_NAME} PUBLIC ${ARG_DEPS} PRIVATE $<BUILD_INTERFACE:semrank_flags>)
  target_link_libraries(semrank_${ARG_NAME} PUBLIC $<BUILD_INTERFACE:semrank_codegen>)
  # With a precompiled header GCC optimises a source as the header was, by -O2:
  # kernels would keep their loops, and serving would take twice the time.
  if(NOT ARG_HOT)
    semrank_use_precompiled_headers(semrank_${ARG_NAME})
  endif()
endfunction()

# install_semrank_library(semrank_client client/semrank_client.h): a part of
# find_package(semrank), with its public headers by their path from the root.
function(install_semrank_library name)
  target_include_directories(${name} INTERFACE $<INSTALL_INTERFACE:${SEMRANK_INSTALL_INCLUDEDIR}>)
  # Its headers want what we compile with.
  target_compile_features(${name} INTERFACE cxx_std_20)
  install(TARGETS ${name} EXPORT semrankTargets ARCHIVE COMPONENT client DESTINATION ${CMAKE_INSTALL_LIBDIR})
  foreach(header ${ARGN})
    cmake_path(GET header PARENT_PATH folder)
    install(FILES ${PROJECT_SOURCE_DIR}/${header} COMPONENT client
            DESTINATION ${SEMRANK_INSTALL_INCLUDEDIR}/${folder})
  endforeach()
endfunction()

# add_semrank_program(NAME semrank-train SRCS train_main.cc DEPS semrank_train_run
# COMPONENT training): built into bin/ and installed, with component programs if
# none is given. SRCS as add_semrank_library's.
function(add_semrank_program)
  cmake_parse_arguments(ARG "" "NAME;COMPONENT" "SRCS;DEPS" ${ARGN})
  if(NOT ARG_COMPONENT)
    set(ARG_COMPONENT programs)
  endif()
  if(NOT ARG_SRCS)
    semrank_sources(ARG_SRCS)
  endif()
  add_executable(${ARG_NAME} ${ARG_SRCS})
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_DEPS} semrank_flags)
  semrank_use_precompiled_headers(${ARG_NAME})
  install(TARGETS ${ARG_NAME} RUNTIME COMPONENT ${ARG_COMPONENT} DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# semrank_test_options(TARGET): what every test program is compiled with, which
# the precompiled headers must share.
function(semrank_test_options target)
  # A test runs for less time than it takes to optimise it. Nor does a
  # sanitizer's report need the lines of a test: those of what it calls are there.
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(SEMRANK_SANITIZE)
    target_compile_options(${target} PRIVATE -O0 -g0)
  endif()
  # GCC 12 sees overflows in appending to strings at -O1 (its bug 105329).
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow>)
  # Some libraries bring -pthread; precompiled headers want it for all or none.
  target_compile_options(${target} PRIVATE -pthread)
  target_link_libraries(${target} PRIVATE semrank_flags GTest::gmock GTest::gtest_main)
endfunction()

# add_semrank_test(NAME text_test DEPS semrank_text): one test program out of the
# current folder, but for EXCEPT, or out of SRCS. PROGRAMS are built before it.
# NO_UNITY: its sources give their helpers the same names.
function(add_semrank_test)
  cmake_parse_arguments(ARG "NO_UNITY" "NAME" "SRCS;EXCEPT;DEPS;LABELS;PROGRAMS" ${ARGN})
  if(NOT SEMRANK_BUILD_TESTS)
    return()
  endif()
  if(NOT ARG_SRCS)
    semrank_sources(ARG_SRCS EXCEPT ${ARG_EXCEPT})
  endif()
  add_executable(${ARG_NAME} ${ARG_SRCS})
  if(SEMRANK_PRECOMPILE_TESTS)
    target_precompile_headers(${ARG_NAME} REUSE_FROM semrank_test_headers)
  endif()
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_DEPS})
  semrank_test_options(${ARG_NAME})
  if(ARG_NO_UNITY)
    set_target_properties(${ARG_NAME} PROPERTIES UNITY_BUILD OFF)
  endif()
  target_compile_definitions(${ARG_NAME} PRIVATE
    SEMRANK_TESTDATA_DIR="${PROJECT_SOURCE_DIR}/tests/testdata"
    SEMRANK_BINARY_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  set_target_properties(${ARG_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  if(ARG_PROGRAMS)
    add_dependencies(${ARG_NAME} ${ARG_PROGRAMS})
  endif()
  add_test(NAME ${ARG_NAME} COMMAND ${ARG_NAME})
  set_tests_properties(${ARG_NAME} PROPERTIES LABELS "unit;${ARG_LABELS}" TIMEOUT 300)
  # librdkafka begins threads by thrd_create, which ThreadSanitizer of clang 14
  # does not know: it crashes in them.
  if(SEMRANK_SANITIZE STREQUAL "thread")
    set_property(TEST ${ARG_NAME} APPEND PROPERTY ENVIRONMENT "GTEST_FILTER=-*Kafka*")
  endif()
endfunction()

# add_semrank_bench: a Google Benchmark program; ctest runs each case briefly
# (label bench), which checks that it works and says nothing of speed.
function(add_semrank_bench)
  cmake_parse_arguments(ARG "" "NAME" "SRCS;DEPS" ${ARGN})
  if(NOT SEMRANK_BUILD_TESTS)
    return()
  endif()
  add_executable(${ARG_NAME} ${ARG_SRCS})
  # As HOT: what we compare with is compiled here.
  target_compile_options(${ARG_NAME} PRIVATE $<$<CONFIG:Release>:-O3>)
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_DEPS} semrank_flags
                        benchmark::benchmark_main)
  set_target_properties(${ARG_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  add_test(NAME ${ARG_NAME} COMMAND ${ARG_NAME} --benchmark_min_time=0.001)
  set_tests_properties(${ARG_NAME} PROPERTIES LABELS bench TIMEOUT 300)
endfunction()

# add_semrank_fuzz: LLVMFuzzerTestOneInput in SRCS. With libFuzzer a real
# fuzzer; otherwise a plain program that runs the seeds, so it cannot rot.
function(add_semrank_fuzz)
  cmake_parse_arguments(ARG "" "NAME;SEEDS" "SRCS;DEPS" ${ARGN})
  add_executable(${ARG_NAME} ${ARG_SRCS})
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_DEPS} semrank_flags)
  set_target_properties(${ARG_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
  add_dependencies(fuzzers ${ARG_NAME})
  if(SEMRANK_BUILD_FUZZERS)
    target_compile_options(${ARG_NAME} PRIVATE -fsanitize=fuzzer)
    target_link_options(${ARG_NAME} PRIVATE -fsanitize=fuzzer)
    # libFuzzer adds what it finds to the first folder, not to the seeds.
    set(corpus ${CMAKE_BINARY_DIR}/fuzz/${ARG_NAME}_corpus)
    file(MAKE_DIRECTORY ${corpus})
    add_test(NAME ${ARG_NAME} COMMAND ${ARG_NAME} -max_total_time=5
             -artifact_prefix=${corpus}/ ${corpus} ${ARG_SEEDS})
    set_tests_properties(${ARG_NAME} PROPERTIES LABELS fuzz TIMEOUT 300)
  else()
    target_sources(${ARG_NAME} PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cc)
    add_test(NAME ${ARG_NAME} COMMAND ${ARG_NAME} ${ARG_SEEDS})
    set_tests_properties(${ARG_NAME} PROPERTIES LABELS "unit;fuzz" TIMEOUT 300)
  endif()
endfunction()
