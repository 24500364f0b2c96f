# What `cmake --install` installs, and the Debian package that `cpack` builds from it:
#
#   cmake/install-packages.sh package
#   cmake --build --preset release && cpack --preset release     # build/release/dragoman_*.deb
#   cmake --build --preset arm64 && cpack --preset arm64         # build/arm64/dragoman_*_arm64.deb
#
# The package is for the release of Debian that it was built on, whose libraries it depends on.

include(GNUInstallDirs)
# Installing does not build anything, in particular not the tests.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(package ${PROJECT_SOURCE_DIR}/deploy/package)

install(TARGETS dragoman-server dragoman RUNTIME)
# The unit and its settings contain paths, which depend on the prefix: /etc for /usr.
install(CODE "set(package ${package})\nset(work ${PROJECT_BINARY_DIR}/package)")
install(CODE [[
  set(prefix ${CMAKE_INSTALL_PREFIX})
  set(etc ${prefix}/etc)
  if(prefix STREQUAL "/usr")
    set(etc /etc)
  endif()
  foreach(file dragoman.service server.txtpb)
    configure_file(${package}/${file}.in ${work}/${file} @ONLY)
  endforeach()
  file(INSTALL ${work}/dragoman.service ${package}/dragoman-grpc.socket ${package}/dragoman-http.socket
       DESTINATION ${prefix}/lib/systemd/system)
  file(INSTALL ${work}/server.txtpb DESTINATION ${etc}/dragoman)
]])
install(FILES ${package}/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME dragoman)
install(FILES ${package}/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME dragoman-server)
install(DIRECTORY models/en-de-fr-es DESTINATION ${CMAKE_INSTALL_DATADIR}/dragoman/models)
install(FILES ${package}/copyright README.md proto/dragoman/v1/admin.proto
              proto/dragoman/v1/config.proto
              proto/dragoman/v1/translation.proto
        DESTINATION ${CMAKE_INSTALL_DOCDIR})

# dragoman_man_page(target section summary): its manual page, made from its --help.
function(dragoman_man_page target section summary)
  set(page ${PROJECT_BINARY_DIR}/man/${target}.${section})
  dragoman_program(${target} program)
  add_custom_command(
    OUTPUT ${page}.gz
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/man
    COMMAND ${package}/man_page.sh ${program} ${target} ${section} ${PROJECT_VERSION}
            ${summary} > ${page}
    COMMAND gzip --best --no-name --force ${page}
    DEPENDS ${target} ${package}/man_page.sh
    VERBATIM)
  add_custom_target(${target}-man ALL DEPENDS ${page}.gz)
  install(FILES ${page}.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endfunction()
dragoman_man_page(dragoman-server 8 "machine-translation inference server")
dragoman_man_page(dragoman 1 "translate with a Dragoman server")

# "12" or "13": packages for two releases have different names.
file(STRINGS /etc/os-release debian REGEX "^VERSION_ID=")
string(REGEX MATCH "[0-9]+" debian "${debian}")

set(release 1~deb${debian})
set(version ${PROJECT_VERSION}-${release})
configure_file(${package}/changelog.in ${PROJECT_BINARY_DIR}/package/changelog.Debian @ONLY)
set(changelog ${PROJECT_BINARY_DIR}/package/changelog.Debian.gz)
add_custom_command(
  OUTPUT ${changelog}
  COMMAND gzip --best --no-name --force --keep ${PROJECT_BINARY_DIR}/package/changelog.Debian
  DEPENDS ${package}/changelog.in)
add_custom_target(dragoman-changelog ALL DEPENDS ${changelog})
install(FILES ${changelog} DESTINATION ${CMAKE_INSTALL_DOCDIR})

# All that the package is made from.
add_custom_target(package_files)
add_dependencies(package_files dragoman-server dragoman dragoman-server-man dragoman-man dragoman-changelog)

set(CPACK_GENERATOR DEB)
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_CONTACT "Dragoman maintainers <maintainers@dragoman.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "machine-translation inference server")
set(CPACK_PACKAGE_DESCRIPTION
"Serves encoder-decoder Transformers (OPUS-MT, NLLB, M2M100, T5 and others,
as they were downloaded) over gRPC and HTTP on ordinary CPUs, with
continuously batched beam search and metrics for Prometheus.  The package
holds the server with its systemd unit, the dragoman command, and a small
model to try it with: English to and from German, French and Spanish.")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${release})
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_DEPENDS adduser)
if(CMAKE_CROSSCOMPILING)
  # dpkg-shlibdeps would ask this machine's packages.  The programs are there when cpack reads this file.
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
  set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_BINARY_DIR}/package/depends.cmake)
  file(GENERATE OUTPUT ${CPACK_PROJECT_CONFIG_FILE} CONTENT
"execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/arm64-depends.sh ${CMAKE_SYSROOT}
  $<TARGET_FILE:dragoman-server> $<TARGET_FILE:dragoman>
  OUTPUT_VARIABLE libraries OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS \", \${libraries}\")
")
else()
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "ca-certificates")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "bash-completion, prometheus")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
    "${package}/conffiles;${package}/postinst;${package}/prerm;${package}/postrm")
include(CPack)
