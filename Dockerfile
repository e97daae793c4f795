# Builds semrank, then keeps the server and the client only:
#   docker build -t semrank .
#   docker build --target=test .     builds and runs the unit tests
#   docker build --target=general -t semrank:general .   with the general English model, served
# deploy/README.md says how to run it; scripts/ci/check_image.sh builds and tries it.

FROM debian:bookworm-slim AS build
WORKDIR /src
COPY scripts/install_packages.sh scripts/
RUN scripts/install_packages.sh build

COPY . .
# Compilers at once; empty = one a processor. Each takes up to 1 GB of memory.
ARG JOBS=""
RUN cmake --preset package \
    && cmake --build build/package ${JOBS:+-j "$JOBS"} --target semrank-server semrank \
    && cmake --install build/package --component programs --strip --prefix /opt/semrank
# The packages that own the libraries the two programs load.
RUN ldd /opt/semrank/bin/semrank-server /opt/semrank/bin/semrank \
    | awk '$2 == "=>" {print $3}' | sort -u \
    | while read -r library; do dpkg -S "*$library"; done \
    | cut -d: -f1 | sort -u >/opt/semrank/packages

FROM build AS test
RUN scripts/install_packages.sh test
RUN cmake --preset release \
    && cmake --build --preset release ${JOBS:+-j "$JOBS"} \
    && ctest --preset release --label-regex unit

FROM build AS general_model
RUN scripts/install_packages.sh demo && scripts/corpus/build_general_corpus.py --output=/opt/general \
    && cmake --build build/package ${JOBS:+-j "$JOBS"} --target semrank-train \
    && build/package/bin/semrank-train --preset=general --train=/opt/general/train.tsv --model_dir=/opt/models/general \
    && cp /opt/general/NOTICE /opt/models/general/

FROM debian:bookworm-slim AS server
LABEL org.opencontainers.image.title="semrank" \
      org.opencontainers.image.description="Ranks documents for a query by meaning, over gRPC" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN --mount=type=bind,from=build,source=/opt/semrank,target=/opt/semrank \
    apt-get update \
    && xargs apt-get install -y --no-install-recommends </opt/semrank/packages \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* \
    && useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin semrank
COPY --from=build /opt/semrank/bin/semrank-server /opt/semrank/bin/semrank /usr/local/bin/
# A number, so that Kubernetes sees that it is not root.
USER 10001
# Loopback, the default elsewhere, would not be reached from outside.
ENV SEMRANK_LISTEN_ADDRESS=0.0.0.0:50051 \
    SEMRANK_HTTP_ADDRESS=0.0.0.0:8080
EXPOSE 50051 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
    CMD ["semrank", "health", "--deadline=2s"]
# Without a shell in between, so that SIGTERM reaches the server, which drains.
ENTRYPOINT ["semrank-server"]

FROM server AS general
COPY --from=general_model /opt/models/general /usr/share/semrank/models/general
ENV SEMRANK_MODEL_DIR=/usr/share/semrank/models/general

FROM server
