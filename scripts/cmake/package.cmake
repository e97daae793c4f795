# Two Debian packages by CPack: semrank (server, client, systemd unit) and
# semrank-train (trainer and evaluation, which bring Open MPI).
#
#   cmake --preset package && cmake --build --preset package --target deb
#
# deploy/debian/check_deb.sh builds and tries them.
set(debian ${PROJECT_SOURCE_DIR}/deploy/debian)
set(package_files ${PROJECT_BINARY_DIR}/package_files)
set(server_programs semrank-server semrank)
set(training_programs semrank-train semrank-eval)

# Man pages and completions of `programs`, what their --help-all says.
function(package_program_docs component)
  install(DIRECTORY ${package_files}/${component}/man/ DESTINATION share/man/man1
          COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(DIRECTORY ${package_files}/${component}/bash/ DESTINATION share/bash-completion/completions
          COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(DIRECTORY ${package_files}/${component}/zsh/ DESTINATION share/zsh/vendor-completions
          COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

function(package_doc component package)
  install(FILES ${debian}/copyright ${package_files}/changelog.Debian.gz ${package_files}/changelog.gz
          DESTINATION share/doc/${package} COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

package_program_docs(server_files)
package_program_docs(training_files)
package_doc(server_files semrank)
package_doc(training_files semrank-train)
install(FILES ${package_files}/README.md.gz ${package_files}/CONFIGURE.md.gz ${package_files}/SECURITY.md.gz
        DESTINATION share/doc/semrank COMPONENT server_files EXCLUDE_FROM_ALL)
install(FILES ${debian}/semrank-server.service DESTINATION /lib/systemd/system
        COMPONENT server_files EXCLUDE_FROM_ALL)
install(FILES ${debian}/server.toml DESTINATION /etc/semrank COMPONENT server_files EXCLUDE_FROM_ALL)
install(FILES ${debian}/semrank-import.service ${debian}/semrank-train.service ${debian}/semrank-train.timer
        DESTINATION /lib/systemd/system COMPONENT training_files EXCLUDE_FROM_ALL)
install(FILES ${debian}/train.toml DESTINATION /etc/semrank COMPONENT training_files EXCLUDE_FROM_ALL)
install(DIRECTORY DESTINATION /var/lib/semrank/models COMPONENT server_files EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME semrank)
set(CPACK_PACKAGE_CONTACT "The semrank authors <maintainers@semrank.example>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL programs server_files training training_files)
set(CPACK_COMPONENT_PROGRAMS_GROUP server)
set(CPACK_COMPONENT_SERVER_FILES_GROUP server)
set(CPACK_COMPONENT_TRAINING_GROUP training)
set(CPACK_COMPONENT_TRAINING_FILES_GROUP training)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_SERVER_PACKAGE_NAME semrank)
set(CPACK_DEBIAN_SERVER_PACKAGE_SECTION net)
set(CPACK_DEBIAN_SERVER_PACKAGE_DEPENDS adduser)
set(CPACK_DEBIAN_SERVER_PACKAGE_SUGGESTS "semrank-train, redis-server, prometheus")
set(CPACK_DEBIAN_SERVER_DESCRIPTION "ranks documents for queries by meaning, over gRPC and HTTP
 A server that orders titles for a query by meaning, with two towers that
 turn both into vectors, a client for the command line and a systemd unit.")
set(CPACK_DEBIAN_SERVER_PACKAGE_CONTROL_EXTRA
    ${debian}/postinst ${debian}/prerm ${debian}/postrm ${debian}/conffiles)

set(CPACK_DEBIAN_TRAINING_PACKAGE_NAME semrank-train)
set(CPACK_DEBIAN_TRAINING_PACKAGE_SECTION science)
# semrank-import.service runs its client.
set(CPACK_DEBIAN_TRAINING_PACKAGE_SUGGESTS semrank)
set(CPACK_DEBIAN_TRAINING_DESCRIPTION "trains and evaluates ranking models for semrank
 Learns the two towers that semrank serves from pairs of queries and clicked
 titles, and compares them with BM25 on judged queries. A timer, which is off,
 trains by night on the clicks that the server has recorded.")
set(CPACK_DEBIAN_TRAINING_PACKAGE_CONTROL_EXTRA
    ${debian}/train/prerm ${debian}/train/postrm ${debian}/train/conffiles)
set(CPACK_OUTPUT_FILE_PREFIX ${PROJECT_BINARY_DIR}/packages)
include(CPack)

# Who only compiles needs no Python.
find_package(Python3 COMPONENTS Interpreter)
if(NOT Python3_FOUND)
  return()
endif()
set(guides ${PROJECT_SOURCE_DIR}/deploy/README.md ${PROJECT_SOURCE_DIR}/deploy/CONFIGURE.md
           ${PROJECT_SOURCE_DIR}/deploy/SECURITY.md ${PROJECT_SOURCE_DIR}/deploy/CHANGELOG.md)
add_custom_target(deb
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${package_files} ${PROJECT_BINARY_DIR}/packages
  COMMAND ${Python3_EXECUTABLE} ${debian}/program_docs.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
          ${package_files}/server_files ${server_programs}
  COMMAND ${Python3_EXECUTABLE} ${debian}/program_docs.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
          ${package_files}/training_files ${training_programs}
  COMMAND ${CMAKE_COMMAND} -E copy ${guides} ${package_files}
  COMMAND ${CMAKE_COMMAND} -E rename ${package_files}/CHANGELOG.md ${package_files}/changelog
  COMMAND ${CMAKE_COMMAND} -E copy ${debian}/changelog ${package_files}/changelog.Debian
  COMMAND gzip -9n ${package_files}/changelog.Debian ${package_files}/README.md
          ${package_files}/CONFIGURE.md ${package_files}/SECURITY.md ${package_files}/changelog
  COMMAND ${CMAKE_CPACK_COMMAND} --config ${PROJECT_BINARY_DIR}/CPackConfig.cmake
  DEPENDS ${server_programs} ${training_programs}
  VERBATIM)
