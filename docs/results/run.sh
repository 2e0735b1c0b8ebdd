#!/usr/bin/env bash
# Repeats the runs of this folder: real servers and processes, the same faults
# simulated, and promotions by real Sentinels. It takes some 20 minutes, and wants a
# machine that does nothing else meanwhile. Needs Go and redis-server or valkey-server.
#
# usage: docs/results/run.sh [FOLDER]      default: this folder
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:-docs/results}
seed=${SEED:-1}

faults=resign,crash,pause,pause-write,partition
faults=$faults,restart-empty,restart-old,restart-aof,hung-master,master-crash,failover,failover-twice,read-only
faults=$faults,client-kill,client-pause,out-of-memory,no-replicas,script-flush,evict,del,flushall,slow-link,lossy-link,lost-reply,calm
many=resign=40,crash=100,pause=50,pause-write=50,partition=70,restart-empty=8,restart-old=8,restart-aof=8

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/incumbent" ./cmd/incumbent
mkdir "$work/tmp"
export TMPDIR=$work/tmp

echo '== local: real servers and processes'
"$work/incumbent" compare --lab local --ttl 1s --faults "$faults" --guards on --runs 3 --runs-of "$many" \
  --seed "$seed" --workers "${WORKERS:-3}" --events none --out "$out/local"

echo '== virtual: the same, simulated'
"$work/incumbent" compare --ttl 1s --faults "$faults" --guards on --runs 200 --seed "$seed" --events none --out "$out/virtual"

echo '== sentinel: promotions by real Sentinels, guards on and off, with and without acknowledgements'
"$work/incumbent" compare --lab sentinel --ttl 1s --guards on,off --runs 4 --seed "$seed" --workers "${WORKERS:-3}" --events none --out "$out/sentinel"

echo '== what is left behind'
files=$(find "$TMPDIR" -mindepth 1 | wc -l)
left=TMPDIR=$TMPDIR
unset TMPDIR # what looks for it must not have it
processes=$(grep -lzs "^$left\$" /proc/[0-9]*/environ | wc -l)
echo "$files files, $processes processes"
[ "$files" = 0 ] && [ "$processes" = 0 ]

"$work/incumbent" report --columns file --ignore lab,seed,candidates --units overshoot-sec,failover-sec,leaderless-sec --format markdown \
  "$out/virtual/results.txt" "$out/local/results.txt" >"$out/side-by-side.md" || [ $? = 4 ]
