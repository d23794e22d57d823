#!/usr/bin/env bash
# go.sh -- PREFIX...: builds a program and all that it needs from nothing: the same bytes each time.
set -euo pipefail
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
GOCACHE="$folder/cache" "$@" go build -a -trimpath -o "$folder/gofmt" cmd/gofmt
sha256sum < "$folder/gofmt"
