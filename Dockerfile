# Builds the service with the Swift runtime linked in, on a small Debian with its C libraries: 25 MB in addition to the base, 6 MB of them
# for fleets only, which use PostgreSQL over TLS.
#
#   docker build -t pawl .
#   docker run -p 8080:8080 -e PAWL_TOKEN=… -v pawl-data:/data pawl
#
# Deployment/container/build calls a builder so that the image names its commit, and has its time.
#
# Everything is fetched by digest or by date: the two images as of 19 September 2026, and Debian's packages of that day, whose lists are
# signed.

FROM debian:bookworm-slim@sha256:3783cc01769c7b2b1b83a5c5ad96c815348e28ed7da68e2e3687004faa906251 AS base

FROM swift:6.3-bookworm@sha256:7060a792f4cd9eaa0d00826d941cec00ab8d252d33b8b28bc8e105f51f2dba73 AS build

# The time of a snapshot of Debian's archives. The address of the snapshots is a comment in the image's own sources. With an empty time,
# today's packages come from these sources, or from the mirror DEBIAN.
ARG SNAPSHOT=20260919T060000Z
ARG DEBIAN=
# The suite of the sources, after a slash: the newest one that has them. Not every mirror has the sources of security updates.
ARG SOURCES=

# Debian's libcurl brings LDAP, Kerberos, SSH, RTMP and its own TLS library: 9 MB, and code that should not be reachable. This is
# Debian's source with its patches, for HTTP only, and with the base image's TLS library.
RUN sed -i 's/^Types: deb$/& deb-src\nCheck-Valid-Until: no/' /etc/apt/sources.list.d/debian.sources \
    && if [ -n "$SNAPSHOT$DEBIAN" ]; then \
        sed -i -E "/^URIs:/d; s|^# (http\S+)(/debian\S*/)[0-9]{8}T[0-9]{6}Z$|URIs: ${DEBIAN:-\1}\2$SNAPSHOT|" \
            /etc/apt/sources.list.d/debian.sources; \
    fi \
    && apt-get -o Acquire::Retries=5 update \
    && apt-get -o Acquire::Retries=5 install -y --no-install-recommends ca-certificates dpkg-dev gcc libc6-dev libgnutls28-dev \
        libsqlite3-0 libssl-dev pkg-config zlib1g-dev \
    && mkdir /curl && cd /curl && apt-get -o Acquire::Retries=5 source "curl$SOURCES" && cd curl-*/ \
    && ./configure --quiet --prefix=/curl --disable-static --with-gnutls --with-ca-bundle=/etc/ssl/certs/ca-certificates.crt \
        --without-brotli --without-libgsasl --without-libidn2 --without-libpsl --without-librtmp --without-libssh2 \
        --without-nghttp2 --without-zstd \
        --disable-alt-svc --disable-dict --disable-doh --disable-file --disable-ftp --disable-gopher \
        --disable-hsts --disable-imap --disable-ldap --disable-manual --disable-mqtt --disable-ntlm --disable-pop3 \
        --disable-rtsp --disable-smb --disable-smtp --disable-telnet --disable-tftp --disable-unix-sockets \
    && make -s -C lib -j "$(nproc)" install

# The service loads libcurl for the first transfer, and libpq if a database is configured. Debian's libpq brings LDAP and Kerberos: this is its source without them.
RUN mkdir /libpq && cd /libpq && apt-get -o Acquire::Retries=5 source "postgresql-15$SOURCES" && cd postgresql-15-*/ \
    && ./configure --quiet --prefix=/libpq --sysconfdir=/etc/postgresql-common --disable-rpath --with-ssl=openssl \
        --without-gssapi --without-icu --without-ldap --without-readline --without-zlib \
    && make -s -C src/interfaces/libpq -j "$(nproc)" install

WORKDIR /source
COPY Package.swift openapi.yaml ./
COPY Clients Clients
COPY Sources Sources
COPY Tests Tests
COPY Deployment/compile Deployment/compile
RUN Deployment/compile

# The additions to the base image: the files, their records for scanners, and the licences.
COPY LICENSE Deployment/container/assemble ./
COPY --from=base /var/lib/dpkg/status /base/status
ARG CREATED=2026-09-19T06:00:00Z
RUN ./assemble /out "$CREATED"

FROM base
COPY --from=build /out /
# The first command checks that no linked library is missing.
RUN pawl --version && install -d -o 10001 -g 10001 -m 0700 /data
ARG CREATED=2026-09-19T06:00:00Z
ARG REVISION=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="Pawl" \
    org.opencontainers.image.description="Downloads behind a REST API" \
    org.opencontainers.image.version="0.1.0" \
    org.opencontainers.image.licenses="Apache-2.0 AND Apache-2.0 WITH Swift-exception AND curl AND PostgreSQL AND blessing AND MPL-2.0" \
    org.opencontainers.image.base.name="docker.io/library/debian:bookworm-slim" \
    org.opencontainers.image.created="$CREATED" \
    org.opencontainers.image.revision="$REVISION" \
    org.opencontainers.image.source="$SOURCE"
USER 10001:10001
ENV PAWL_HOST=0.0.0.0 PAWL_PORT=8080 PAWL_DATA_DIR=/data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=3s --start-period=5s CMD ["/usr/bin/pawl", "health"]
ENTRYPOINT ["/usr/bin/pawl"]
CMD ["serve"]
