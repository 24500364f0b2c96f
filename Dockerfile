# The Dragoman server and its client with the built-in model.  The second stage contains only the
# two programs, the shared libraries that they load, and the model; it has no shell.  deploy/README.md says how to build it.

FROM debian:trixie-slim AS build
WORKDIR /src
# The packages come first: their layer stays cached when only the sources change.
COPY cmake/debian-packages.txt cmake/install-packages.sh cmake/
RUN cmake/install-packages.sh build image
COPY . .
RUN cmake --preset release -DBUILD_TESTING=OFF && \
    cmake --build --preset release --target dragoman-server dragoman
RUN deploy/image-root.sh build/release /image

FROM scratch
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="dragoman" \
      org.opencontainers.image.description="Machine-translation inference server on CPUs, with a gRPC API" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.base.name="debian:trixie-slim"
COPY --from=build /image /
ENV PATH=/usr/bin
USER 65532:65532
# What principals keep; /image has it, and it belongs to that user.
VOLUME /var/lib/dragoman
ENV DRAGOMAN_STORE=sqlite:/var/lib/dragoman/store.db
EXPOSE 50051 9464
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["/usr/bin/dragoman", "health", "--server", "127.0.0.1:50051", "--deadline", "4"]
ENTRYPOINT ["/usr/bin/dragoman-server"]
CMD ["--model", "en-de-fr-es=/models/en-de-fr-es", "--pivot", "en", \
     "--grpc-address", "0.0.0.0:50051", "--http-address", "0.0.0.0:9464"]
