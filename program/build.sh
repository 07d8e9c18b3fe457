#!/bin/sh
# Builds escrow.so from escrow.c, the same bytes every time. Needs clang 19 (Debian: apt-get install clang-19) and
# Node. With a directory as its argument it builds there instead of beside the source.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
clang=${CLANG:-clang-19}
object=$(mktemp)
trap 'rm -f "$object"' EXIT
cd "$here"
"$clang" --target=bpfel -mcpu=v2 -std=c17 -O2 -fno-builtin -fno-stack-protector -fno-ident \
  -Wall -Wextra -Werror -c escrow.c -o "$object"
node link.mjs "$object" "$out/escrow.so"
