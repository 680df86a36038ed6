#!/bin/sh
# Installs the Debian packages of debian-12.txt that are missing; says which, and uses sudo only then. On any other
# system it installs nothing and names the programs that are missing.
set -eu
list=$(dirname "$0")/debian-12.txt

. /etc/os-release 2>/dev/null || ID=unknown
if [ "${ID:-}" != debian ] || [ "${VERSION_ID:-}" != 12 ]; then
  missing=
  for program in cmake ninja flatc verilator git python3; do
    command -v "$program" >/dev/null || missing="$missing $program"
  done
  [ -z "$missing" ] && exit 0
  echo "This is not Debian 12: please install$missing yourself (what each Debian package brings: setup/debian-12.txt)," >&2
  echo "and point at an LLVM 22 built with MLIR: make MLIR_DIR=<prefix>/lib/cmake/mlir" >&2
  exit 1
fi

missing=
for package in $(grep -v '^#' "$list"); do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q ' installed$' || missing="$missing $package"
done
[ -z "$missing" ] && exit 0

echo "Installing Debian packages:$missing"
sudo=
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || { echo "That needs root, and there is no sudo: install them and run make again." >&2; exit 1; }
  sudo=sudo
fi
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq
# shellcheck disable=SC2086
$sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
