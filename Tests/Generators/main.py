"""Generates clients from openapi.yaml, looks for the method of each operation, and uses some of the clients; see `run`."""

import contextlib
import hashlib
import http.server
import importlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time

import ruamel.yaml

from service import PATIENCE, Service, wait

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent

# Warnings of openapi-generator that lose nothing.
HARMLESS = [
    r"OpenAPI 3\.1 support is still in beta",
    # The address of the service is relative: a program names it.
    r"'scheme' not defined in the spec",
    # For each `additionalProperties: false`.
    r"Failed to get the schema name: null",
    # Objects whose members are free, such as `track`.
    r"Codegen property is null \(e\.g\. map/dict of undefined type\)",
    # Such as `type` in Swift.
    r"\(reserved word\) cannot be used as (model|parameter) name",
]
# One of the three media types of a list of feeds is enough.
HARMLESS_IN_PYTHON = r"Unsupported content type (application|text)/xml"


def document():
    return ruamel.yaml.YAML(typ="safe").load((ROOT / "openapi.yaml").read_text())


def operations():
    """The tag of each operation, by its id."""
    found = {}
    for path in document()["paths"].values():
        for method, operation in path.items():
            if method in ("get", "put", "post", "patch", "delete"):
                name = operation["operationId"]
                assert name not in found, f"two operations have the id {name}"
                assert len(operation["tags"]) == 1, f"{name} has {len(operation['tags'])} tags"
                found[name] = operation["tags"][0]
    assert found
    return found


def snake(name):
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def pascal(name):
    return name[0].upper() + name[1:]


def generate(generator, target, *options):
    """Runs openapi-generator, which must have nothing to warn of."""
    command = ["openapi-generator-cli", "generate", "-g", generator, "-i", str(ROOT / "openapi.yaml"), "-o", str(target), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=4 * PATIENCE)
    assert done.returncode == 0, f"{generator} ended with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    complaints = [line for line in (done.stdout + done.stderr).splitlines()
                  if re.search(r"\b(WARN|ERROR)\b|Exception", line) and not any(re.search(each, line) for each in HARMLESS)]
    assert not complaints, "\n".join(complaints)


def compare(methods, form, language):
    """Compares the methods of a client, by tag, with the operations: `form` makes a method's name of an id."""
    expected = {}
    for name, tag in operations().items():
        expected.setdefault(tag, set()).add(form(name))
    assert methods == expected, {tag: methods.get(tag, set()) ^ expected.get(tag, set()) for tag in {*methods, *expected}}
    print(f"        {language}: {sum(map(len, methods.values()))} operations")


def written(target, files, pattern, form, language):
    """Finds methods in source text. `files` has one place for the tag, and `pattern` one group for the name."""
    methods = {}
    for tag in {*operations().values(), "webhooks", "default"}:
        path = target / files.replace("TAG", tag).replace("Tag", pascal(tag))
        if path.exists():
            methods[tag] = set(re.findall(pattern, path.read_text(), re.MULTILINE))
    compare(methods, form, language)


# MARK: - A service with an origin

BODY = os.urandom(200_000)
FEED = b"""<rss version="2.0"><channel><title>Show</title>
<item><title>One</title><guid>1</guid><enclosure url="ADDRESS/one" length="200000" type="audio/mpeg"/></item>
<item><title>Two</title><guid>2</guid><enclosure url="ADDRESS/two" length="200000" type="audio/mpeg"/></item>
</channel></rss>"""


class Origin(http.server.BaseHTTPRequestHandler):
    """Sends the same file for each path, and notes the header fields. `/slow` sends its first half, and then waits."""

    protocol_version = "HTTP/1.1"
    received = {}
    closing = threading.Event()

    def do_GET(self):
        self.received[self.path] = {name.lower(): value for name, value in self.headers.items()}
        host = self.headers["Host"].encode()
        body = FEED.replace(b"ADDRESS", b"http://" + host) if self.path == "/feed.xml" else BODY
        self.send_response(200)
        self.send_header("Content-Type", "application/rss+xml" if self.path == "/feed.xml" else "audio/mpeg")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", '"one"')
        self.end_headers()
        with contextlib.suppress(OSError):
            half = len(body) // 2
            self.wfile.write(body[:half])
            if self.path == "/slow":
                self.closing.wait(PATIENCE)
            self.wfile.write(body[half:])

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Says nothing of connections that the service ends."""


@contextlib.contextmanager
def running():
    """A service with a token, and the address of an origin."""
    Origin.received.clear()
    Origin.closing.clear()
    server = Server(("127.0.0.1", 0), Origin)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    service = Service("--allow-destination", "127.0.0.1", token="a-token-for-the-clients")
    try:
        yield service, f"http://127.0.0.1:{server.server_port}"
    finally:
        Origin.closing.set()
        service.close()
        server.shutdown()
        server.server_close()


def package(name, directory):
    """Imports a generated package."""
    sys.path.insert(0, str(directory))
    importlib.invalidate_caches()
    return importlib.import_module(name)


# MARK: - The clients

def test_python(directory):
    """openapi-generator's client in Python: its methods and members, and its use."""
    generate("python", directory, "--additional-properties", "packageName=pawl_client")
    pawl = package("pawl_client", directory)
    methods = {}
    for path in (directory / "pawl_client/api").glob("*_api.py"):
        tag = path.stem.removesuffix("_api")
        names = {name for name in vars(getattr(pawl, pascal(tag) + "Api")) if not name.startswith("_")}
        methods[tag] = {name for name in names if not name.endswith(("_with_http_info", "_without_preload_content"))}
    compare(methods, snake, "Python")
    members = 0
    for name, schema in document()["components"]["schemas"].items():
        if properties := schema.get("properties"):
            model = getattr(pawl, name)
            found = {field.alias or key for key, field in model.model_fields.items()} - {"additional_properties"}
            assert found == set(properties), f"{name}: {found ^ set(properties)}"
            members += len(found)
    print(f"        Python: {members} members")
    with running() as (service, origin):
        use_python(pawl, service, origin)


def use_python(pawl, service, origin):
    with pawl.ApiClient(pawl.Configuration(host=service.url, access_token=service.token)) as client:
        downloads, search, general = pawl.DownloadsApi(client), pawl.SearchApi(client), pawl.ServiceApi(client)
        subscriptions, events = pawl.SubscriptionsApi(client), pawl.EventsApi(client)

        made = downloads.add_download(pawl.DownloadRequest(
            url=origin + "/file", labels=["one", "two"], headers={"X-Example": "arrives"}, filename="a.mp3", folder="b/c", priority=3,
            speed_limit=5_000_000_000, timeouts=pawl.RequestedTimeouts(stall=60), track={"name": "A track"},
            checksum="sha-256:" + hashlib.sha256(BODY).hexdigest()))
        assert (made.labels, made.filename, made.folder, made.priority) == (["one", "two"], "a.mp3", "b/c", 3), made
        assert (made.speed_limit, made.timeouts.stall, made.track["name"]) == (5_000_000_000, 60, "A track"), made
        done = follow(pawl, downloads, made.id)
        assert (done.state, done.bytes_received, done.error) == (pawl.State.COMPLETED, len(BODY), None), done
        assert Origin.received["/file"]["x-example"] == "arrives", Origin.received["/file"]
        assert bytes(downloads.get_file(made.id)) == BODY

        slow = downloads.add_download(pawl.DownloadRequest(url=origin + "/slow", on_duplicate=pawl.DuplicatePolicy.REJECT))
        wait(lambda: downloads.get_download(slow.id).bytes_received > 0, "the first half arrives")
        # A stream never ends: it is read in pieces.
        stream = events.follow_downloads_without_preload_content(interval=60, _request_timeout=float(PATIENCE))
        told = b""
        while b"\n\n" not in told:
            told += stream.read1(4096)
        stream.close()
        assert b"event: snapshot" in told and slow.id.encode() in told, told
        assert downloads.pause_download(slow.id).state == pawl.State.PAUSED
        changed = downloads.change_download(slow.id, pawl.DownloadChange(labels=["three"]))
        assert changed.labels == ["three"] and changed.position == 0, changed
        page = downloads.list_downloads(state=[pawl.State.PAUSED, pawl.State.FAILED], label="three")
        assert [item.id for item in page.items] == [slow.id] and page.total == 1 and page.next_cursor is None, page
        assert downloads.resume_downloads(label="three").changed == 1
        assert downloads.cancel_download(slow.id).state == pawl.State.CANCELLED
        problem = refused(pawl, 409, lambda: downloads.pause_download(slow.id))
        assert (problem.code, problem.state) == (pawl.ProblemCode.ILLEGAL_MINUS_TRANSITION, pawl.State.CANCELLED), problem
        problem = refused(pawl, 400, lambda: downloads.add_download(pawl.DownloadRequest(labels=["neither"])))
        assert "trackId" in problem.detail, problem

        assert {source.id for source in search.list_sources().sources} == {"itunes", "posts", "archive", "feed"}
        entity = next(each for each in search.list_sources().sources[0].parameters if each.name == "entity")
        assert "song" in entity.values and "song" in entity.values_by_media["music"], entity
        found = search.search(term="prelude", limit=1).results[0]
        assert search.look_up(found.id).results[0] == found
        assert downloads.add_download(pawl.DownloadRequest(track_id=found.id, paused=True)).track["id"] == found.id
        work = search.search(term="soundings", source="archive", limit=1).results[0]
        formats = [each.name for each in search.list_parts(work.id).formats]
        parts = downloads.add_downloads(pawl.BatchRequest(pawl.WorkRequest(parts_of=work.id, paused=True, formats=formats[:1])))
        assert parts.items and parts.label == work.id and all(item.status == 201 for item in parts.items), parts
        several = pawl.DownloadsRequest(downloads=[pawl.DownloadRequest(url=f"{origin}/{name}") for name in "ab"])
        assert [item.status for item in downloads.add_downloads(pawl.BatchRequest(several)).items] == [201, 201]

        assert general.get_settings().max_concurrent != 2
        settings = general.change_settings(pawl.SettingsChange(max_concurrent=2, speed_schedule=["mon-fri 08:00-18:00 1M"]))
        assert (settings.max_concurrent, settings.speed_schedule) == (2, ["mon-fri 08:00-18:00 1M"]), settings
        assert general.get_statistics().downloads.cancelled == 1
        assert general.get_document().startswith(b"openapi: 3.1") and "pawl_" in general.get_metrics()
        assert general.get_problem("not-found").status == 404

        latest = pawl.BacklogChoice(pawl.LatestItems(latest=1))
        show = subscriptions.subscribe(pawl.SubscriptionRequest(feed_url=origin + "/feed.xml", take=latest, labels=["show"]))
        assert show.take.actual_instance.latest == 1 and show.source.parts_of == f"feed:{origin}/feed.xml", show
        assert subscriptions.refresh_subscription(show.id).error is None
        wait(lambda: subscriptions.get_subscription(show.id).items.taken == 1, "the newest episode is taken")
        reasons = {item.reason for item in subscriptions.list_items(show.id).items}
        assert reasons == {pawl.SkipReason.BACKLOG, None}, reasons
        outlines = bytes(subscriptions.export_subscriptions())
        assert origin.encode() in outlines and b"<rss" in subscriptions.get_feed(show.id), outlines
        listed = subscriptions.import_subscriptions(outlines)
        assert [(item.status, item.subscription.take.actual_instance.latest) for item in listed.items] == [(200, 1)], listed
        subscriptions.change_subscription(show.id, pawl.SubscriptionChange(take=pawl.BacklogChoice("new"), keep=3))
        assert subscriptions.change_subscription(show.id, pawl.SubscriptionChange(keep=None)).keep is None
        assert subscriptions.get_subscription(show.id).take.actual_instance == "new"
        subscriptions.unsubscribe(show.id)

        downloads.remove_download(made.id, delete_file=True)
        assert refused(pawl, 404, lambda: downloads.get_download(made.id)).code == pawl.ProblemCode.NOT_MINUS_FOUND
        assert downloads.remove_downloads(state=[pawl.State.CANCELLED]).removed == 1


def follow(pawl, downloads, name):
    """Waits for the end of a download, by its ETag."""
    tag = None
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            answer = downloads.get_download_with_http_info(name, wait=5, if_none_match=tag)
        except pawl.ApiException as error:
            assert error.status == 304, error
            continue
        tag = answer.headers["ETag"]
        if answer.data.completed_at or answer.data.error:
            return answer.data
    raise AssertionError("the download does not end")


def refused(pawl, status, request):
    """The problem of a request that must be refused."""
    try:
        done = request()
    except pawl.ApiException as error:
        assert error.status == status, error
        return pawl.Problem.from_json(error.body)
    raise AssertionError(f"{done} instead of the status {status}")


def test_openapi_python_client(directory):
    """openapi-python-client's, with the configuration of docs/clients.md."""
    page = (ROOT / "docs/clients.md").read_text()
    shown = re.search(r"^    content_type_overrides:\n(?:     .*\n)+", page, re.MULTILINE)
    assert shown, "docs/clients.md has no content_type_overrides"
    configuration = directory / "config.yaml"
    configuration.write_text(textwrap.dedent(shown[0]))
    target = directory / "another_pawl_client"
    done = subprocess.run(
        ["openapi-python-client", "generate", "--path", str(ROOT / "openapi.yaml"), "--config", str(configuration), "--meta", "none",
         "--output-path", str(target)], capture_output=True, text=True, timeout=2 * PATIENCE)
    told = done.stdout + done.stderr
    # A warning is the paragraph after a line with the operation.
    warnings = re.findall(r"^WARNING (.*)\n\n(.*)", told, re.MULTILINE)
    bad = [(place, text) for place, text in warnings if not re.search(HARMLESS_IN_PYTHON, text)]
    assert done.returncode == 0 and not bad and not re.search(r"\bERROR\b", told), f"{bad}\n{told[:4000]}"
    package("another_pawl_client", directory)
    methods = {}
    for path in (target / "api").glob("*/*.py"):
        if path.stem != "__init__":
            module = importlib.import_module(f"another_pawl_client.api.{path.parent.name}.{path.stem}")
            assert callable(module.sync_detailed) and callable(module.asyncio_detailed), path
            methods.setdefault(path.parent.name, set()).add(path.stem)
    compare(methods, snake, "openapi-python-client")
    with running() as (service, origin):
        use_openapi_python_client(service, origin)


def use_openapi_python_client(service, origin):
    root = importlib.import_module("another_pawl_client")
    models = importlib.import_module("another_pawl_client.models")
    tags = set(operations().values())
    names = {name: importlib.import_module(f"another_pawl_client.api.{tag}.{snake(name)}") for name, tag in operations().items()}
    assert tags == {"search", "downloads", "subscriptions", "events", "service"}, tags
    client = root.AuthenticatedClient(service.url, token=service.token, timeout=PATIENCE)

    def call(name, *arguments, **members):
        answer = names[name].sync_detailed(*arguments, client=client, **members)
        assert answer.status_code < 300, (name, answer.content)
        return answer.parsed

    with client:
        fields = models.DownloadRequestHeadersType0.from_dict({"X-Example": "arrives"})
        made = call("addDownload", body=models.DownloadRequest(url=origin + "/file", labels=["one"], headers=fields))
        assert made.labels == ["one"] and made.error is None, made
        ended = wait(lambda: next((item for item in call("listDownloads", label="one").items if item.completed_at), None),
                     "the download ends")
        assert ended.state is models.State.COMPLETED and Origin.received["/file"]["x-example"] == "arrives", ended
        assert call("getFile", made.id).payload.read() == BODY
        slow = call("addDownload", body=models.DownloadRequest(url=origin + "/slow"))
        assert call("pauseDownload", slow.id).state is models.State.PAUSED
        assert [source.id for source in call("listSources").sources if source.is_default] == ["itunes"]
        values = next(each for each in call("listSources").sources[0].parameters if each.name == "entity").values
        assert "song" in values, values
        assert call("changeSettings", body=models.SettingsChange(max_concurrent=2)).max_concurrent == 2
        show = call("subscribe", body=models.SubscriptionRequest(feed_url=origin + "/feed.xml", take=models.LatestItems(latest=1)))
        assert show.take.latest == 1, show
        outlines = call("exportSubscriptions")
        assert [item.status for item in call("importSubscriptions", body=outlines).items] == [200]
        assert call("getDocument").payload.read().startswith(b"openapi: 3.1")
        assert b"<rss" in call("getFeed", show.id).payload.read()
        call("removeDownload", made.id, delete_file=True)
        assert names["getDownload"].sync(made.id, client=client).code is models.ProblemCode.NOT_FOUND


def test_typescript(directory):
    """openapi-generator's client in TypeScript: its methods, strict types, and its use in Deno."""
    generate("typescript-fetch", directory)
    written(directory, "apis/TagApi.ts", r"^    async (\w+)(?<!Raw)(?<!RequestOpts)\(", lambda name: name, "TypeScript")
    (directory / "main.ts").write_text((HERE / "client.ts").read_text())
    # As `tsc --strict` checks: Deno alone would also ask for the word `override`.
    (directory / "deno.json").write_text(
        '{"compilerOptions": {"strict": true, "noImplicitOverride": false, "lib": ["es2022", "dom", "dom.iterable", "deno.ns"]},'
        ' "unstable": ["sloppy-imports"]}')
    environment = {**os.environ, "DENO_DIR": str(directory / "cache"), "DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1"}

    def deno(*command):
        done = subprocess.run(["deno", *command], cwd=directory, env=environment, capture_output=True, text=True, timeout=2 * PATIENCE)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    deno("check", "index.ts", "main.ts")
    with running() as (service, origin):
        told = deno("run", "--no-check", "--allow-net=127.0.0.1", "main.ts", service.url, service.token, origin)
        assert told == "done\n" and Origin.received["/file"]["x-example"] == "arrives", (told, Origin.received)


def test_go(directory):
    """openapi-generator's client in Go: its methods."""
    generate("go", directory)
    written(directory, "api_TAG.go", r"^func \(a \*\w+Service\) (\w+)(?<!Execute)\(", pascal, "Go")


def test_swift(directory):
    """openapi-generator's client in Swift: its methods and types."""
    generate("swift6", directory)
    written(directory, "Sources/OpenAPIClient/APIs/TagAPI.swift", r"^    open class func (\w+)(?<!WithRequestBuilder)\(",
            lambda name: name, "Swift")
    done = subprocess.run(["swiftc", "-swift-version", "6", "-typecheck", *map(str, directory.glob("Sources/**/*.swift"))],
                          capture_output=True, text=True, timeout=4 * PATIENCE)
    assert done.returncode == 0, done.stderr[:4000]


def test_kotlin(directory):
    """openapi-generator's client in Kotlin, with the options of docs/clients.md: its methods and choices."""
    shown = re.search(r"serializationLibrary=gson,\w+=true", (ROOT / "docs/clients.md").read_text())
    assert shown, "docs/clients.md has no options for Kotlin"
    generate("kotlin", directory, "--additional-properties", shown[0])
    written(directory, "src/main/kotlin/org/openapitools/client/apis/TagApi.kt",
            r"^    fun (\w+)(?<!WithHttpInfo)(?<!RequestConfig)\(", lambda name: name, "Kotlin")
    # Otherwise a choice of types would be one class with the members of all.
    models = directory / "src/main/kotlin/org/openapitools/client/models"
    for name in ("BacklogChoice", "BatchRequest"):
        assert f"class {name}(var actualInstance: Any?" in (models / f"{name}.kt").read_text(), name


TESTS = {"python": test_python, "openapi-python-client": test_openapi_python_client, "typescript": test_typescript,
         "go": test_go, "swift": test_swift, "kotlin": test_kotlin}


def expire(*_):
    raise TimeoutError("the whole takes too long")


def main(names):
    signal.signal(signal.SIGALRM, expire)
    failed = 0
    for name in names or TESTS:
        begun = time.monotonic()
        signal.alarm(6 * PATIENCE)
        try:
            with tempfile.TemporaryDirectory(prefix="pawl-generators-") as directory:
                TESTS[name.lower()](pathlib.Path(directory))
            print(f"ok      {name} ({time.monotonic() - begun:.1f} s)", flush=True)
        except Exception as error:  # the others run despite any failure
            failed += 1
            print(f"FAILED  {name}: {type(error).__name__}: {error}", flush=True)
        finally:
            signal.alarm(0)
    print(f"{len(names or TESTS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
