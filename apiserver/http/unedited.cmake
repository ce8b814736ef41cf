# The hostile cases against Drogon without our edits, when `hack/setup --unedited` has built it.
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/hack/setup --print-prefix --unedited
  OUTPUT_VARIABLE UNEDITED OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT EXISTS ${UNEDITED}/.built OR MAILROOM_ASAN OR MAILROOM_TSAN)
  return()
endif()
add_executable(http_unedited_server unedited_server.cc)
target_include_directories(http_unedited_server SYSTEM PRIVATE ${UNEDITED}/include)
target_link_libraries(http_unedited_server PRIVATE ${UNEDITED}/lib/libdrogon.a
  ${UNEDITED}/lib/libtrantor.a Jsoncpp_lib UUID_lib OpenSSL::SSL ZLIB::ZLIB Threads::Threads)
hub_test(http_unedited_test SRCS hostile_cases.cc unedited_test.cc DEPS object)
if(TARGET http_unedited_test)
  target_compile_definitions(http_unedited_test PRIVATE
    MAILROOM_UNEDITED_SERVER="$<TARGET_FILE:http_unedited_server>")
  add_dependencies(http_unedited_test http_unedited_server)
endif()
