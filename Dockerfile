# Builds the service with the Swift runtime linked in, and puts it on a small Debian with the two C libraries it calls.
#
#   docker build -t pawl .
#   docker run -p 8080:8080 -e PAWL_TOKEN=… -v pawl-data:/data pawl

FROM swift:6.3-bookworm AS build
WORKDIR /source
COPY Package.swift ./
COPY Sources Sources
COPY Tests Tests
RUN swift build -c release --static-swift-stdlib --product pawl \
    && install -D -s "$(swift build -c release --static-swift-stdlib --show-bin-path)/pawl" /out/pawl

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates libcurl4 libsqlite3-0 \
    && rm -rf /var/lib/apt/lists/* /var/cache/* /var/log/* \
    && install -d -o 10001 -g 10001 -m 0700 /data
COPY --from=build /out/pawl /usr/bin/pawl
USER 10001:10001
ENV PAWL_HOST=0.0.0.0 PAWL_PORT=8080 PAWL_DATA_DIR=/data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=3s --start-period=5s CMD ["/usr/bin/pawl", "health"]
ENTRYPOINT ["/usr/bin/pawl"]
CMD ["serve"]
