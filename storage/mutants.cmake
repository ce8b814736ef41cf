# Seeded faults: the engine or the river with one line changed, linked with the ordinary tests,
# which must convict it. The changed object comes before the library and takes its place there.
function(storage_mutant NAME)
  cmake_parse_arguments(ARG "" "SOURCE;FROM;TO;CAUGHT_BY" "" ${ARGN})
  set(MUTATED ${CMAKE_CURRENT_BINARY_DIR}/mutants/${NAME}.cc)
  add_custom_command(OUTPUT ${MUTATED}
    COMMAND ${PROJECT_SOURCE_DIR}/hack/mutate.py ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_SOURCE}
            ${MUTATED} ${ARG_FROM} ${ARG_TO}
    DEPENDS ${ARG_SOURCE} ${PROJECT_SOURCE_DIR}/hack/mutate.py VERBATIM)
  add_executable(storage_mutant_${NAME} ${MUTATED} $<TARGET_OBJECTS:storage_test_cases>)
  target_link_libraries(storage_mutant_${NAME} PRIVATE storage GTest::gtest GTest::gtest_main)
  add_test(NAME storage_mutant.${NAME}
    COMMAND storage_mutant_${NAME} --gtest_filter=${ARG_CAUGHT_BY})
  # Convicted by a test that failed, not by a crash or a program that does not start.
  set_tests_properties(storage_mutant.${NAME} PROPERTIES
    LABELS mutant TIMEOUT 120 PASS_REGULAR_EXPRESSION "\\[  FAILED  \\] [0-9]+ test")
endfunction()

file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/mutants)
storage_mutant(skipped_event SOURCE audience.cc
  FROM "if (!whole_.empty())" TO "if (!whole_.empty() && event->revision().value() % 3 != 0)"
  CAUGHT_BY CachedStoreTest.*)
storage_mutant(reordered_events SOURCE subscription.cc
  FROM "runs_.push_back(Run{std::move(items), 0, taken, bytes})"
  TO "runs_.push_front(Run{std::move(items), 0, taken, bytes})"
  CAUGHT_BY CachedStoreTest.*)
storage_mutant(dropped_on_reconnect SOURCE cached_store.cc
  FROM "store_.Watch(HubPrefix(), applied(), *this)"
  TO "store_.Watch(HubPrefix(), TRY(store_.CurrentRevision()), *this)"
  CAUGHT_BY CachedStoreTest.WatchesResumeAcrossARestart)
storage_mutant(acknowledged_before_sync SOURCE sqlite_log.cc
  FROM "writer.Execute(\"PRAGMA synchronous=FULL\")"
  TO "writer.Execute(\"PRAGMA synchronous=OFF\")"
  CAUGHT_BY PowerLoss.*)
storage_mutant(stale_list SOURCE embedded_store.cc
  FROM "PrefixEnd(options.prefix), selection.revision,"
  TO "PrefixEnd(options.prefix), Revision(std::max<std::uint64_t>(2, selection.revision.value()) - 1),"
  CAUGHT_BY HistoryChecker.AcquitsTheMemoryEngine)
storage_mutant(missing_previous SOURCE live_watches.cc
  FROM "make(previous_values)" TO "make(false && previous_values)"
  CAUGHT_BY HistoryChecker.AcquitsTheMemoryEngine)
storage_mutant(kept_after_failed_flush SOURCE committer.cc
  FROM "      Undo(batch.changes);" TO "      // forgotten"
  CAUGHT_BY GroupCommit.*)
