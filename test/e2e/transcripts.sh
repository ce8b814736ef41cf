#!/usr/bin/env bash
# The transcripts, played against a real kube-apiserver and against Mailroom over its socket: the
# same files that the unit tests play in process, so every expectation is proven by the original.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

say "a real kube-apiserver answers as the transcripts say"
start_wec transcripts
python3 "$root/hack/compare" --kubeconfig "$wec_kubeconfig" --peer "$root"/test/transcripts/*.txt ||
  fail "kube-apiserver differs"

say "Mailroom answers the same over HTTPS"
hub_flags+=(--disable-admission-plugins ServiceAccount)  # as the original runs
start_hub
workspace c1 cluster
# Some files count the ConfigMaps of a new namespace: the original runs without its controller
# manager, so only in a cluster here kube-root-ca.crt is among them.
files=() counted=()
for file in "$root"/test/transcripts/*.txt; do
  case ${file##*/} in
    lists.txt | negotiation.txt | watches.txt) counted+=("$file") ;;
    *) files+=("$file") ;;
  esac
done
python3 "$root/hack/compare" --kubeconfig "$dir/hub.admin" --prefix /clusters/c1 "${files[@]}" ||
  fail "Mailroom differs"
python3 "$root/hack/compare" --kubeconfig "$dir/hub.admin" --prefix /clusters/wds1 "${counted[@]}" ||
  fail "Mailroom differs where nothing is furnished"
say "transcripts hold"
