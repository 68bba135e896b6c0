"""The proxies of Tests/Proxies/run: how each is started, and what its kind cannot do."""

import dataclasses
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "Deployment"


@dataclasses.dataclass
class Proxy:
    """A proxy of one of Deployment's examples, or of a file in `configurations`, in whose arguments and files names like `@port@` are
    replaced."""

    version: str
    command: str
    # The files that are written into the proxy's directory, by their sources.
    files: dict
    # Whether clients use TLS.
    has_tls: bool = True
    # The paths of the service. The second is below the other in the examples, without the prefix.
    bases: tuple = ("/pawl",)
    # A proxy of TCP connections adds no fields: the service knows neither the client's address nor the scheme.
    adds_fields: bool = True
    # The fields of clients that it cannot remove.
    passes: tuple = ()


def example(name, **changes):
    """The text of an example of Deployment, with some words replaced."""
    text = (EXAMPLES / name).read_text()
    for old, new in changes.items():
        assert old in text, f"{name} lacks {old}"
        text = text.replace(old, new)
    return text


NGINX = """daemon off;
worker_processes 1;
user @user@;
pid @directory@/pid;
error_log @directory@/errors;
events {}
http {
    access_log off;
    client_body_temp_path @directory@/body;
    proxy_temp_path @directory@/proxy;
    fastcgi_temp_path @directory@/fastcgi;
    uwsgi_temp_path @directory@/uwsgi;
    scgi_temp_path @directory@/scgi;
    # Weakens tags, as the default of many distributions does.
    gzip on;
    gzip_proxied any;
    gzip_types application/json text/javascript text/css application/rss+xml;
    include @directory@/site.conf;
}
"""
CADDY = "{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n"
CADDY_COMMAND = "caddy run --config @directory@/Caddyfile --adapter caddyfile"
TRAFFIC_SERVER = """prefix: @root@/usr
exec_prefix: @root@/usr
bindir: @root@/usr/bin
sbindir: @root@/usr/sbin
libdir: @root@/usr/lib/trafficserver
libexecdir: @root@/usr/lib/trafficserver/modules
sysconfdir: @directory@/etc
datadir: @directory@
localstatedir: @directory@
runtimedir: @directory@
logdir: @directory@
cachedir: @directory@
"""
ALL_CLIENTS = "ip_allow: [{ apply: in, ip_addrs: 0/0, action: allow, methods: ALL }]\n"


def configuration(name):
    return (HERE / "configurations" / name).read_text()


def proxies():
    services = {"/run/pawl/pawl.sock": "@socket@", "10.0.0.5:8080": "127.0.0.1:@service@"}
    site = {
        "listen 443 ssl": "listen 127.0.0.1:@port@ ssl", "/etc/ssl/media.example.pem": "@certificate@",
        "/etc/ssl/media.example.key": "@key@", "/var/log/nginx/pawl.log": "@directory@/access.log",
    }
    # Caddy 2.6.2 would hold events back if it compressed them.
    tls = "\tbind 127.0.0.1\n\ttls @certificate@ @key@\n\tencode zstd gzip {\n\t\tmatch {\n" + "".join(
        f"\t\t\theader Content-Type {kind}\n" for kind in ("application/json*", "text/html*", "text/css*", "text/javascript*")) + "\t\t}\n\t}"
    both = ("/pawl", "/media")
    return {
        "nginx": Proxy(
            "nginx -v", "nginx -e @directory@/errors -p @directory@ -c @directory@/nginx.conf",
            {"nginx.conf": NGINX, "site.conf": example("nginx.conf", **services, **site)}, bases=both),
        "caddy": Proxy(
            "caddy version", CADDY_COMMAND,
            {"Caddyfile": CADDY + example("Caddyfile", **services, **{"media.example {": "media.example:@port@ {\n" + tls})}, bases=both),
        # The version of the example's compose file, or a later one, from PyPI.
        "caddy-fleet": Proxy(
            "@root@/python/bin/caddy version", "@root@/python/bin/" + CADDY_COMMAND,
            {"Caddyfile": CADDY + example("fleet/Caddyfile", **{
                "pawl-1:8080 pawl-2:8080 pawl-3:8080": "127.0.0.1:@service@", ":8080 {": "media.example:@port@ {\n" + tls})}),
        "apache2": Proxy("apache2 -v", "apache2 -X -f @directory@/conf", {"conf": configuration("apache2.conf")}),
        "haproxy": Proxy("haproxy -v", "haproxy -db -f @directory@/conf", {"conf": configuration("haproxy.cfg")}),
        "nghttpx": Proxy(
            "nghttpx --version", "nghttpx --conf=@directory@/conf", {"conf": configuration("nghttpx.conf")},
            passes=("X-Forwarded-Host", "X-Forwarded-Prefix")),
        "h2o": Proxy("h2o --version", "h2o -m worker -c @directory@/conf", {"conf": configuration("h2o.conf")}),
        "lighttpd": Proxy(
            "lighttpd -v", "lighttpd -D -f @directory@/conf -m @root@/usr/lib/lighttpd", {"conf": configuration("lighttpd.conf")}),
        "varnish": Proxy(
            "varnishd -V", "varnishd -F -a 127.0.0.1:@port@ -f @directory@/default.vcl -n @directory@/state -s malloc,16m "
            "-p vmod_path=@root@/usr/lib/x86_64-linux-gnu/varnish/vmods -j none",
            {"default.vcl": configuration("varnish.vcl")}, has_tls=False),
        "squid": Proxy("squid -v", "squid -N -f @directory@/conf", {"conf": configuration("squid.conf")}, has_tls=False),
        "trafficserver": Proxy(
            "traffic_server --version", "traffic_server --run-root=@directory@/runroot.yaml",
            {"runroot.yaml": TRAFFIC_SERVER, **{
                f"etc/{target}": configuration(f"trafficserver-{source}") for target, source in [
                    ("records.config", "records.config"), ("remap.config", "remap.config"), ("fields", "fields.conf")]},
             "etc/storage.config": "", "etc/ip_allow.yaml": ALL_CLIENTS},
            has_tls=False),
        "envoy": Proxy(
            "envoy --version", "envoy -c @directory@/envoy.yaml --base-id-path @directory@/base --use-dynamic-base-id --concurrency 1",
            {"envoy.yaml": configuration("envoy.yaml")}),
        "node-http-proxy": Proxy(
            "node -p require('http-proxy/package.json').version", "node @directory@/proxy.js",
            {"proxy.js": configuration("node-http-proxy.js")}),
        "stunnel": Proxy("stunnel -version", "stunnel @directory@/conf", {"conf": configuration("stunnel.conf")}, adds_fields=False),
        "hitch": Proxy("hitch --version", "hitch --config=@directory@/conf", {"conf": configuration("hitch.conf")}, adds_fields=False),
    }


def version_of(proxy, root, environment):
    """The first number with a dot that the program prints about itself."""
    command = proxy.version.replace("@root@", root).split()
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = re.search(r"(?<![\d.])\d+\.\d+[\w.+-]*", done.stdout)
    return found[0] if found else "of unknown version"
