# Shared by the scripts in this directory; source it, do not run it.
# shellcheck shell=bash

MAILROOM_CACHE=${MAILROOM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/mailroom}

say() { printf '[%s] %s\n' "${0##*/}" "$*" >&2; }
die() { say "error: $*"; exit 1; }

# as_root CMD...: runs CMD as root, by sudo where that is needed.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo -n "$@"
  else
    die "must install packages: run as root, or install sudo"
  fi
}

# quietly LOG CMD...: sends CMD's output to LOG, and shows its end only on failure. CMD may be
# a function; it runs in a shell of its own and stops at its first failing command.
quietly() {
  local log=$1 failed
  shift
  set +e
  (
    set -e
    "$@"
  ) >"$log" 2>&1 </dev/null
  failed=$?
  set -e
  if [ $failed != 0 ]; then
    tail -n 40 "$log" >&2
    die "'$*' failed; full log: $log"
  fi
}

missing_packages() {
  comm -23 <(printf '%s\n' "$@" | sort -u) \
    <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
      sed -n 's/^installed //p' | sort -u)
}

# install_packages NAME...: calls apt only when one of them is missing.
install_packages() {
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing ${#missing[@]} packages: ${missing[*]}"
  mkdir -p "$MAILROOM_CACHE"
  quietly "$MAILROOM_CACHE/apt.log" as_root apt-get -qq update
  quietly "$MAILROOM_CACHE/apt.log" as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -y --no-install-recommends install "${missing[@]}"
}

# The Debian archive this machine's apt is configured for, without a final slash.
debian_mirror() {
  local found
  # shellcheck disable=SC2016
  found=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' |
    awk '$1 == "Debian" { print $2; exit }')
  [ -n "$found" ] || die "apt has no Debian archive configured (or needs 'apt-get update')"
  echo "${found%/}"
}

# with_lock NAME: holds the named lock until this script ends.
with_lock() {
  mkdir -p "$MAILROOM_CACHE"
  exec 9>"$MAILROOM_CACHE/$1.lock"
  if ! flock -n 9; then
    say "waiting for another '$1' to finish"
    flock 9
  fi
}
