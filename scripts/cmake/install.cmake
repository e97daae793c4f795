# find_package(semrank): the client library, its protos, and how they are found.
# `cmake --install` has three components: client, programs and training.
include(CMakePackageConfigHelpers)

install_semrank_library(semrank_base_files model/base/mutex.h)
install_semrank_library(semrank_client
  client/lib/catalog_client.h client/lib/client_options.h client/lib/client_status.h client/lib/connection.h
  client/lib/request_chunks.h client/lib/retry.h client/lib/semrank_client.h client/lib/server_limits.h)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/semrank)
install(EXPORT semrankTargets NAMESPACE semrank:: COMPONENT client DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/semrankConfig.cmake.in
  ${PROJECT_BINARY_DIR}/semrankConfig.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change what callers compile against.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/semrankConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/semrankConfig.cmake ${PROJECT_BINARY_DIR}/semrankConfigVersion.cmake
  COMPONENT client DESTINATION ${package_dir})
