# Everything that turns a patch or an applied configuration into an object, and field ownership.
hub_library(patching
  SRCS
    apply.cc
    apply_last_applied.cc
    apply_ownership.cc
    apply_shape.cc
    apply_track.cc
    apply_typecheck.cc
    field_compare.cc
    field_set.cc
    json_patch.cc
    managed_fields.cc
    strategic_merge.cc
    typed_merge.cc
  DEPS openapi object)
hub_test(patching_test
  SRCS
    apply_last_applied_test.cc
    apply_random_test.cc
    apply_test.cc
    apply_track_test.cc
    field_compare_test.cc
    field_set_test.cc
    json_patch_test.cc
    managed_fields_test.cc
    strategic_merge_test.cc
    typed_merge_test.cc
  DEPS patching)
