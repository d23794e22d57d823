#!/usr/bin/env bash
# java.sh COLLECTOR -- PREFIX...: compiles the JDK's own concurrency and streams, and prints the digest of the classes.
set -euo pipefail
collector=$1; shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
sources=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")/lib/src.zip
parts=(java.base/java/util/concurrent java.base/java/util/stream)
jar xf "$sources" "${parts[@]}"
find "${parts[@]}" -name '*.java' > list
"$@" javac "-J-XX:+Use${collector}GC" -J-Xmx700m -nowarn -XDignore.symbol.file --patch-module java.base=java.base \
  -d out @list 2> errors || { tail -5 errors; exit 1; }
find out -name '*.class' | sort | xargs cat | sha256sum
