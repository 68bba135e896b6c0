# Builds the service with the Swift runtime linked in, and puts it on a small Debian with the two C libraries it calls: 14 MB on
# top of the base.
#
#   docker build -t pawl .
#   docker run -p 8080:8080 -e PAWL_TOKEN=… -v pawl-data:/data pawl

FROM swift:6.3-bookworm AS build

# Debian's libcurl brings LDAP, Kerberos, SSH, RTMP and a TLS library of its own: 9 MB, and code that nobody should be able to reach.
# This is Debian's source with its patches, for HTTP alone, and with the TLS library that the base image has.
RUN sed -i 's/^Types: deb$/Types: deb deb-src/' /etc/apt/sources.list.d/debian.sources \
    && apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates dpkg-dev gcc libc6-dev libgnutls28-dev libsqlite3-0 pkg-config \
        zlib1g-dev \
    && mkdir /curl && cd /curl && apt-get source curl && cd curl-*/ \
    && ./configure --quiet --prefix=/curl --disable-static --with-gnutls --with-ca-bundle=/etc/ssl/certs/ca-certificates.crt \
        --without-brotli --without-libgsasl --without-libidn2 --without-libpsl --without-librtmp --without-libssh2 \
        --without-nghttp2 --without-zstd \
        --disable-alt-svc --disable-cookies --disable-dict --disable-doh --disable-file --disable-ftp --disable-gopher \
        --disable-hsts --disable-imap --disable-ldap --disable-manual --disable-mqtt --disable-ntlm --disable-pop3 \
        --disable-rtsp --disable-smb --disable-smtp --disable-telnet --disable-tftp --disable-unix-sockets \
    && make -s -C lib -j "$(nproc)" install

WORKDIR /source
COPY Package.swift ./
COPY Sources Sources
COPY Tests Tests
# Packed relocations, which every glibc since 2.36 reads, are a twentieth of the others.
RUN swift build -c release --static-swift-stdlib --product pawl -Xswiftc -L/curl/lib \
        -Xswiftc -use-ld=lld -Xlinker -z -Xlinker pack-relative-relocs

# What goes onto the base image.
RUN libraries="usr/lib/$(gcc -print-multiarch)" \
    && install -D -s .build/release/pawl /out/usr/bin/pawl \
    && install -D -s -m 0644 /curl/lib/libcurl.so.4 "/out/$libraries/libcurl.so.4" \
    && install -D -m 0644 "/$libraries/libsqlite3.so.0" "/out/$libraries/libsqlite3.so.0" \
    && install -D -m 0644 /etc/ssl/certs/ca-certificates.crt /out/etc/ssl/certs/ca-certificates.crt

FROM debian:bookworm-slim
COPY --from=build /out /
# The first command sees that no library is missing.
RUN pawl --version && install -d -o 10001 -g 10001 -m 0700 /data
USER 10001:10001
ENV PAWL_HOST=0.0.0.0 PAWL_PORT=8080 PAWL_DATA_DIR=/data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=3s --start-period=5s CMD ["/usr/bin/pawl", "health"]
ENTRYPOINT ["/usr/bin/pawl"]
CMD ["serve"]
