# The controllers that keep workspaces in order, and what moves a workspace as a whole.
target_sources(apiserver PRIVATE
  cluster_objects.cc collector.cc definition_apis.cc expiry.cc front_proxy.cc furnisher.cc garbage_collector.cc garbage_step.cc hub_watch.cc
  kubernetes_service.cc lifecycle.cc namespace_cleanup.cc owner_index.cc self_write.cc workspace_archive.cc)
target_sources(mailroom PRIVATE workspace_command.cc)

hub_test(lifecycle_test
  SRCS cluster_objects_test.cc expiry_test.cc local_apis_test.cc garbage_collector_test.cc informer_equality_test.cc join_token_test.cc leader_test.cc lifecycle_test.cc workspace_archive_test.cc
  DEPS test_support apiserver)
