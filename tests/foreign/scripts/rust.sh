#!/usr/bin/env bash
# rust.sh -- PREFIX...: the tests of the rayon crate, built without the prefix and run with it.
set -euo pipefail
shift
kept=${XDG_CACHE_HOME:-$HOME/.cache}/nodewise-foreign/rayon
if [ ! -e "$kept/built" ]; then
  rm -rf "$kept"; mkdir -p "$kept"; cd "$kept"
  cargo init --quiet --name fetch fetch > /dev/null 2>&1
  (cd fetch && cargo add --quiet rayon@1.8 && cargo vendor --quiet > /dev/null)
  cp -r fetch/vendor/rayon own
  rm -f own/.cargo-checksum.json
  (cd own && cargo test --quiet --release --no-run > "$kept/log" 2>&1) || { tail -20 "$kept/log"; exit 1; }
  touch built
fi
cd "$kept/own"
"$@" cargo test --quiet --release --offline --lib --tests 2> /dev/null | sed -n 's/^test result: \(.*\); finished.*/\1/p'
