#!/usr/bin/env bash
# node.sh uglifyjs|tsc -- PREFIX...: shortens, or checks, the sources of the TypeScript compiler.
set -euo pipefail
program=$1; shift 2
library=/usr/share/nodejs/typescript/lib
case $program in
  uglifyjs) "$@" uglifyjs "$library/typescript.js" -m | sha256sum ;;
  tsc) "$@" tsc --noEmit --listFiles --target es2020 --lib es2020,dom "$library/typescript.d.ts" | sha256sum ;;
esac
