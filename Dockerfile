# The image: the program and the shared libraries that it loads, nothing else: no shell, no package manager, not root.
FROM debian:trixie-slim AS build
WORKDIR /src
COPY . .
RUN scripts/build release && scripts/rootfs /rootfs

FROM scratch
COPY --from=build /rootfs /
USER 65532:65532
ENV PORT=8080
EXPOSE 8080
ENTRYPOINT ["/usr/bin/kro-function"]
LABEL org.opencontainers.image.title="kro-function" \
      org.opencontainers.image.description="The event-driven service provider of openMCP for kro" \
      org.opencontainers.image.licenses="Apache-2.0"
