# The image: the program and the shared libraries that it loads, with their packages' versions and licenses; nothing else: no shell, no
# package manager, not root. scripts/image makes the same where this can't be built; scripts/base-image sets the digest.
FROM debian:trixie-slim@sha256:3a39a0592364683e6bab97937b72cad5a8fa6dcbbee90edb3bb48c7f8e94f258 AS build
RUN apt-get update && apt-get --yes dist-upgrade
WORKDIR /src
COPY . .
RUN scripts/build release && scripts/rootfs /rootfs && mkdir -p /program/usr && mv /rootfs/usr/bin /program/usr/bin

FROM scratch
ARG VERSION
ARG REVISION
ARG CREATED
COPY --from=build /rootfs /
COPY --from=build /program /
USER 65532:65532
ENV PORT=8080
EXPOSE 8080
ENTRYPOINT ["/usr/bin/kro-function"]
CMD ["serve"]
LABEL org.opencontainers.image.title="kro-function" \
      org.opencontainers.image.description="The event-driven service provider of openMCP for kro" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.vendor="openMCP" \
      org.opencontainers.image.source="https://github.com/openmcp-project/kro-function" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}"
