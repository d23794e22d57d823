# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#
# For scripts that unpack Debian's packages into a folder: an apt of their own, which knows no package as installed and
# changes nothing in this system. NODEWISE_DEBIAN_MIRROR names another mirror.

# Runs a command without its output, which is printed if it fails. $folder: where the output goes.
quietly() {
  if ! "$@" >"$folder/log" 2>&1 </dev/null; then
    tail -n 20 "$folder/log" >&2
    echo "$(basename "$0"): '$*' failed; its last lines stand above" >&2
    exit 1
  fi
}

# own_apt ARCHITECTURE RELEASE...: makes $folder/apt and sets its_apt to the command. Debian's name of the architecture.
own_apt() {
  local architecture=$1 release
  local keys=/usr/share/keyrings/debian-archive-keyring.gpg mirror=${NODEWISE_DEBIAN_MIRROR:-http://deb.debian.org/debian}
  shift
  mkdir -p "$folder"/apt/{lists/partial,cache/archives/partial}
  for release; do
    echo "deb [signed-by=$keys] $mirror $release main"
  done >"$folder/apt/sources.list"
  echo "deb-src [signed-by=$keys] $mirror bookworm main" >>"$folder/apt/sources.list"
  : >"$folder/apt/status"
  its_apt=(apt-get -q -o APT::Architecture="$architecture" -o APT::Architectures="$architecture"
    -o Dir::Etc::sourcelist="$folder/apt/sources.list" -o Dir::Etc::sourceparts=-
    -o Dir::State::lists="$folder/apt/lists" -o Dir::State::status="$folder/apt/status" -o Dir::Cache="$folder/apt/cache"
    -o APT::Sandbox::User="$(id -un)" -o Acquire::Languages=none -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false)
  quietly "${its_apt[@]}" update
}

# unpack ROOT PACKAGE...: absolute links would lead out of the root.
unpack() {
  local root=$1 package link target
  shift
  for package; do
    dpkg-deb -x "$package" "$root"
  done
  find "$root" -type l -lname '/*' -printf '%P\t%l\n' | while IFS=$'\t' read -r link target; do
    ln -sfrn "$root$target" "$root/$link"
  done
}
