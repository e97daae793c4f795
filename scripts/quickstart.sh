#!/usr/bin/env bash
# From a fresh clone to ranked results in one command: installs packages,
# builds, makes a corpus out of the package catalogue that every Debian or
# Ubuntu machine has, trains a model on it, compares it with BM25, serves it and
# ranks a few queries through the gRPC API, by title and by searching its catalog.
#
#   scripts/quickstart.sh                  everything; what exists is reused
#   scripts/quickstart.sh --keep-serving   the same, and leaves the server up, on the
#                                          default ports where they are free
#   scripts/quickstart.sh --general        also builds the general English model, a few
#                                          minutes, and ranks by it without any click
#   scripts/quickstart.sh --clean          removes demo/ and ends
#
# Everything it makes lies in build/release and demo/.
set -euo pipefail
cd "$(dirname "$0")/.."

keep_serving=false general=false
for argument in "$@"; do
  case "$argument" in
    --keep-serving) keep_serving=true ;;
    --general) general=true ;;
    --clean) rm -rf demo; echo "removed demo/"; exit 0 ;;
    -h | --help) sed -n '2,14s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) echo "quickstart.sh: unknown argument '$argument' (see --help)" >&2; exit 2 ;;
  esac
done

bin=build/release/bin
corpus=demo/corpus
model=demo/models/packages
log=demo/server.log
server_pid=

step() { printf '\n== %s\n' "$1"; }
show() {
  local word
  printf '$'
  for word in "$@"; do
    case "$word" in *' '*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
  done
  echo
}
run() { show "$@"; "$@"; }
stop_server() {
  [ -n "$server_pid" ] || return 0
  kill -TERM "$server_pid" 2>/dev/null && wait "$server_pid"
  server_pid=
}
trap 'stop_server || true' EXIT

step "1/8 Packages"
scripts/install_packages.sh build demo
mkdir -p demo

step "2/8 Build (build/release)"
cmake --preset release -DSEMRANK_BUILD_TESTS=OFF >demo/configure.log || { cat demo/configure.log; exit 1; }
cmake --build --preset release
stat --format='%n %s' "$bin"/* | awk '{sub(".*/", "", $1); printf "  %-16s %6.1f MB\n", $1, $2 / 1e6}'

step "3/8 Corpus: package names and synopses as titles, descriptions as queries"
if [ -s "$corpus/test.slices.tsv" ]; then
  echo "reusing $corpus (scripts/quickstart.sh --clean starts over)"
else
  run scripts/corpus/build_package_corpus.py --output="$corpus"
fi
wc -l "$corpus"/docs.tsv "$corpus"/train.tsv "$corpus"/test.queries.tsv | sed '$d'

step "4/8 Train"
if compgen -G "$model/[0-9]*/MANIFEST.json" >/dev/null; then
  echo "reusing $model"
else
  run "$bin/semrank-train" --train="$corpus/train.tsv" --model_dir="$model" \
    --valid_queries="$corpus/dev.queries.tsv" --valid_docs="$corpus/docs.tsv" \
    --valid_qrels="$corpus/dev.qrels.txt" --epochs=4
fi

step "5/8 Evaluate on packages that training never saw: all titles are candidates"
evaluate() {
  run "$bin/semrank-eval" --docs="$corpus/docs.tsv" --queries="$corpus/test.queries.tsv" \
    --qrels="$corpus/test.qrels.txt" --candidates=all --model_dir="$model" "$@"
}
# tower is the model without its lexical part; model+name_match ranks as the catalog search does
evaluate --ranker=bm25,tower,model,model+name_match --slices="$corpus/test.slices.tsv"

if $general; then
  step "The general English model, and a model of the titles alone"
  # semrank-train finds it there by its name.
  general_model=build/release/share/semrank/models/general
  if ! compgen -G "$general_model/[0-9]*/MANIFEST.json" >/dev/null; then
    # Without the packages that the evaluation asks for.
    run scripts/corpus/build_general_corpus.py --output=demo/general --lists="$corpus.apt" --without_held_out=1
    run "$bin/semrank-train" --preset=general --train=demo/general/train.tsv --model_dir="$general_model"
    cp demo/general/NOTICE "$general_model/"
  fi
  run "$bin/semrank-train" --docs="$corpus/docs.tsv" --model_dir=demo/models/titles
  evaluate --model_dir=demo/models/titles --ranker=bm25,letter_tfidf,model
fi

step "6/8 Serve"
ready=demo/server.ready
# The defaults of the programs, which the commands of the README name. Only a server that stays
# needs them.
grpc_port=50051 http_port=8080
free_port() {
  if ! $keep_serving; then
    echo 0
  elif python3 -c "import socket; socket.create_server(('127.0.0.1', $1))" 2>/dev/null; then
    echo "$1"
  else
    echo "port $1 is in use: the server takes another one" >&2
    echo 0
  fi
}
server=("$bin/semrank-server" --model_dir="$model" --listen_address="127.0.0.1:$(free_port $grpc_port)"
  --http_address="127.0.0.1:$(free_port $http_port)" --max_texts_per_request=100000 --max_inflight_texts=200000)
show "${server[@]}"
: >"$ready"
"${server[@]}" >"$ready" 2>"$log" &
server_pid=$!
until grep -q '^semrank-server ready' "$ready"; do
  kill -0 "$server_pid" 2>/dev/null || { cat "$log" >&2; exit 1; }
  sleep 0.1
done
cat "$ready"
address=$(sed -n 's/.* grpc=\([^ ]*\).*/\1/p' "$ready")
http=$(sed -n 's/.* http=\([^ ]*\).*/\1/p' "$ready")

step "7/8 Rank all titles for a few queries, through gRPC"
embedded() {
  curl -sS "http://$http/metrics" | sed -n 's/^semrank_texts_embedded_total{side="document"} /titles embedded so far: /p'
}
embedded
for query in "edit photos" "listen to music" "keep my passwords safe" "watch network traffic"; do
  echo
  run "$bin/semrank" --address="$address" rank --query="$query" --titles="$corpus/docs.tsv" --top_k=5 \
    --output=table --timings
done
echo
embedded

step "8/8 Put all packages into the server's catalog, and search it"
run "$bin/semrank" --address="$address" put --documents="$corpus/docs.tsv"
for query in "edit photos" "keep my passwords safe"; do
  echo
  run "$bin/semrank" --address="$address" search --query="$query" --top_k=5 --output=table --timings
done

if $keep_serving; then
  flags=
  if [ "$address" != "127.0.0.1:$grpc_port" ]; then
    flags=" --address=$address"
    printf '\nThe commands of the README reach the server with%s.\n' "$flags"
  fi
  [ "$http" = "127.0.0.1:$http_port" ] || printf '\nThe URLs of the README reach the server at http://%s.\n' "$http"
  cat <<END

The server stays up (process $server_pid, log $log). Try:
  export PATH="\$PWD/$bin:\$PATH"
  semrank$flags rank --query="draw diagrams" --titles=$corpus/docs.tsv --top_k=10
  semrank$flags search --query="draw diagrams"
  semrank$flags model
  curl http://$http/metrics
and, in a browser, http://$http/ to search as you type.
Stop it with: kill $server_pid
END
  server_pid=
  trap - EXIT
else
  echo
  echo "stopping the server (--keep-serving leaves it up)"
  stop_server
fi
