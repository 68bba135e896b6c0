"""Runs the same scripts with aria2p, aioaria2, pyaria2, Python's xmlrpc.client and Ruby's xmlrpc against a real aria2c and against Pawl,
and compares the results. Then sends the requests of other clients in their forms, and compares the members of the responses that
they use."""
import asyncio
import json
import os
import subprocess
import sys
import threading
import time
import xmlrpc.client

import aioaria2
import aria2p
import peers
import pyaria2
import websocket


def wait(condition, what):
    deadline = time.monotonic() + 30
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"waited in vain: {what}")
        time.sleep(0.05)


def listen(peer, events):
    """Collects notifications on a WebSocket that has sent the secret."""
    connection = websocket.create_connection(peer.socket_url, timeout=300)
    connection.send(json.dumps({"jsonrpc": "2.0", "id": "l", "method": "aria2.getVersion", "params": [f"token:{peer.secret}"]}))
    assert "result" in json.loads(connection.recv())

    def read():
        try:
            while text := connection.recv():
                message = json.loads(text)
                events.append((message["method"].removeprefix("aria2.onDownload").lower(), message["params"][0]["gid"]))
        except (OSError, websocket.WebSocketException):
            # The test is over.
            return

    threading.Thread(target=read, daemon=True).start()
    return connection


def with_aria2p(peer, origin):
    """Adds, lists, pauses, resumes, moves, changes, removes and purges."""
    seen = []
    api = aria2p.API(aria2p.Client(host="http://127.0.0.1", port=peer.port, secret=peer.secret))
    events = []
    listener = listen(peer, events)
    told = []

    def heard(download):
        wait(lambda: any(gid == download.gid for _, gid in events), f"a notification of {download.gid}")
        time.sleep(0.3)
        told.append([kind for kind, gid in events if gid == download.gid])

    whole = api.add_uris([origin.url + "/fast/3000000/whole.bin"])
    wait(lambda: api.get_download(whole.gid).is_complete, "the download to complete")
    whole = api.get_download(whole.gid)
    seen.append([whole.name, whole.total_length, whole.completed_length, whole.progress, whole.error_code, whole.num_pieces])
    seen.append([str(path.relative_to(peer.files)) for path in whole.root_files_paths] + [whole.files[0].path.stat().st_size])
    heard(whole)
    missing = api.add_uris([origin.url + "/status/404/x"])
    wait(lambda: api.get_download(missing.gid).has_failed, "the download to fail")
    seen.append([api.get_download(missing.gid).error_code])
    heard(missing)

    slow = api.add_uris([origin.url + "/slow/3000000/slow.bin"], options={"out": "slow.bin"})
    wait(lambda: api.get_download(slow.gid).completed_length > 0, "the first bytes")
    slow = api.get_download(slow.gid)
    seen.append([slow.is_active, slow.name, slow.connections > 0, slow.dir == type(slow.dir)(peer.files)])
    seen.append(slow.pause(force=True))
    wait(lambda: api.get_download(slow.gid).is_paused, "the pause")
    seen.append(slow.resume())
    wait(lambda: api.get_download(slow.gid).is_active, "the download to go on")
    options = slow.options
    seen.append([options.get("out"), options.max_download_limit, str(options.dir) == peer.files])
    options.max_download_limit = 10240
    seen.append(api.get_options([slow])[0].max_download_limit)

    queued = [api.add_uris([f"{origin.url}/slow/900000/q{number}"], options={"pause": "true"}) for number in range(3)]
    names = {download.gid: number for number, download in enumerate(queued)}
    queued[2].move_to_top()
    seen.append([names.get(item["gid"]) for item in api.client.tell_waiting(0, 10, ["gid"])])
    queued[2].move_down()
    queued[0].move_to_bottom()
    seen.append([names.get(item["gid"]) for item in api.client.tell_waiting(0, 10, ["gid"])])
    seen.append(sorted((download.status, download.is_waiting) for download in api.get_downloads()))
    stats = api.get_stats()
    seen.append([stats.num_active, stats.num_waiting, stats.num_stopped])
    glob = api.get_global_options()
    glob.max_concurrent_downloads = 4
    seen.append(api.get_global_options().max_concurrent_downloads)
    seen.append(api.client.multicall2([(aria2p.Client.GET_GLOBAL_STAT, []), (aria2p.Client.TELL_ACTIVE, [["gid", "status"]])])[1][0][0]["status"])
    seen.append([{item["uri"] for item in api.client.get_uris(queued[0].gid)} == {origin.url + "/slow/900000/q0"}, [item["index"] for item in api.client.get_servers(slow.gid)]])
    for bad in [lambda: api.get_download("f" * 16), lambda: api.client.pause(queued[0].gid), lambda: api.client.unpause(slow.gid)]:
        try:
            bad()
            seen.append("no error")
        except aria2p.ClientException as error:
            seen.append([error.code, str(error).replace(queued[0].gid, "GID").replace(slow.gid, "GID")])

    seen.append(api.remove([slow], force=True, clean=False))
    heard(slow)
    seen.append(api.remove(queued, force=True))
    seen.append(api.pause_all())
    seen.append(api.resume_all())
    seen.append(api.purge())
    seen.append(len(api.get_downloads()))
    listener.shutdown()
    seen.append(told)
    return json.loads(json.dumps(seen).replace(origin.url, "ORIGIN"))


async def with_aioaria2(peer, origin):
    """A shorter script over HTTP and over a WebSocket."""
    seen = []
    events = []
    trigger = await aioaria2.Aria2WebsocketClient.new(peer.socket_url, token=peer.secret)

    async def note(_trigger, message):
        events.append((message["method"], message["params"][0]["gid"]))

    # With a secret, Pawl sends notifications only after a call with it.
    await trigger.getVersion()
    trigger.onDownloadStart(note)
    trigger.onDownloadComplete(note)
    trigger.onDownloadStop(note)
    async with aioaria2.Aria2HttpClient(peer.url, token=peer.secret) as client:

        async def until(gid, status):
            for _ in range(600):
                if (await client.tellStatus(gid, ["status"]))["status"] == status:
                    return
                await asyncio.sleep(0.05)
            raise SystemExit(f"{peer.name}: {gid} is not {status}")

        gid = await client.addUri([origin.url + "/fast/1000/aio.bin"])
        await until(gid, "complete")
        seen.append((await client.getFiles(gid))[0]["length"])
        slow = await client.addUri([origin.url + "/slow/900000/aio2.bin"], {"out": "aio2.bin"})
        await until(slow, "active")
        seen.append(await client.forcePause(slow) == slow)
        await until(slow, "paused")
        seen.append(await client.unpause(slow) == slow)
        seen.append(await client.changeOption(slow, {"max-download-limit": "10K"}))
        seen.append(sorted(await client.getGlobalStat()))
        seen.append(len(await client.tellWaiting(0, 100)))
        seen.append(len(await client.multicall([{"methodName": "aria2.getGlobalStat", "params": []}, {"methodName": "aria2.tellActive"}])))
        seen.append("aria2.addUri" in await client.listMethods())
        await until(slow, "active")
        seen.append(await client.forceRemove(slow) == slow)
        await until(slow, "removed")
        seen.append(await client.removeDownloadResult(slow))
        seen.append(await client.purgeDownloadResult())
        await asyncio.sleep(0.5)
        names = {gid: "quick", slow: "slow"}
        seen.append([(method, names.get(which)) for method, which in events if which == gid])
    await trigger.close()
    return seen


def fault(call):
    """The fault of a call."""
    try:
        return ["no fault", call()]
    except xmlrpc.client.Fault as error:
        return [error.faultCode, error.faultString]


def with_xmlrpc(peer, origin):
    """Python's xmlrpc.client, as in aria2's manual, with a MultiCall and values of all types."""
    server = xmlrpc.client.ServerProxy(peer.url.replace("/jsonrpc", "/rpc"), allow_none=True)
    token, uri, seen = f"token:{peer.secret}", origin.url + "/fast/1000/xml.bin", []
    gid = server.aria2.addUri(token, [None, uri], {"out": "./\u00e9 & 1.bin", "dir": None, "split": "2"}, 0)
    told = peer.until(gid, "complete")
    seen.append(told["files"][0]["path"].removeprefix(peer.files).replace("/./", "/"))
    status = server.aria2.tellStatus(token, gid, ["gid", "status", "totalLength", "files"])
    seen.append([status["status"], status["totalLength"], status["files"][0]["selected"], status["gid"] == gid])
    slow = [server.aria2.addUri(token, [f"{origin.url}/slow/900000/{number}"], {"pause": "true"}, 0) for number in range(3)]
    seen.append([slow.index(item["gid"]) for item in server.aria2.tellWaiting(token, 0, 10, ["gid"])])
    seen.append(server.aria2.changePosition(token, slow[0], 0, "POS_SET"))
    seen.append(server.aria2.changeUri(token, slow[0], 1, [], [uri]))
    seen.append(server.aria2.changeOption(token, slow[0], {"max-download-limit": "10K"}))
    seen.append(server.aria2.getOption(token, slow[0])["max-download-limit"])
    seen.append(sorted(server.aria2.getGlobalStat(token)))
    seen.append(len(server.aria2.getSessionInfo(token)["sessionId"]))
    seen.append(["aria2.addUri" in server.system.listMethods(), "aria2.onDownloadStart" in server.system.listNotifications()])
    calls = xmlrpc.client.MultiCall(server)
    for number in range(3):
        calls.aria2.addUri(token, [f"{origin.url}/slow/900000/m{number}"], {"pause": "true", "gid": f"{0x50 + number:016x}"}, 0)
    calls.aria2.getGlobalStat(token)
    calls.aria2.nope(token)
    results = calls()
    seen.append([results[0], results[2], results[3]["numWaiting"], fault(lambda: results[4])])
    seen.append([item["gid"] for item in server.aria2.tellWaiting(token, 0, 3, ["gid"])])
    for call in [
        lambda: server.aria2.tellStatus(token, "f" * 16), lambda: server.aria2.addUri(token), lambda: server.aria2.nope(token),
        lambda: server.aria2.getVersion("token:wrong"), lambda: server.aria2.addUri(token, [uri], {"split": 1.5}),
        lambda: server.aria2.tellStatus(token, xmlrpc.client.Binary(b"zz")),
    ]:  # fmt: skip
        seen.append(fault(call))
    seen.append([server.aria2.forceRemove(token, gid) == gid for gid in slow])
    seen.append(server.aria2.purgeDownloadResult(token))
    return json.loads(json.dumps(seen).replace(origin.url, "ORIGIN"))


def with_pyaria2(peer, origin):
    server, seen = pyaria2.Aria2RPC(peer.url.replace("/jsonrpc", "/rpc"), token=peer.secret), []
    gid = server.addUri([origin.url + "/fast/1000/py.bin"], {"out": "py.bin"})
    peer.until(gid, "complete")
    seen.append([server.tellStatus(gid)["status"], server.getFiles(gid)[0]["length"], len(server.tellStopped(0, 10))])
    seen.append([len(server.tellActive()), server.getGlobalStat()["numStopped"], server.removeDownloadResult(gid)])
    slow = server.addUri([origin.url + "/slow/900000/py2.bin"], {})
    peer.until(slow, "active")
    seen.append([server.forcePause(slow) == slow, server.unpauseAll()])
    peer.until(slow, "active")
    seen.append([server.forceRemove(slow) == slow, server.purgeDownloadResult()])
    return seen


RUBY = """
require "xmlrpc/client"
require "json"
url, secret, uri = ARGV
server = XMLRPC::Client.new2(url)
token = "token:" + secret
gid = server.call("aria2.addUri", token, [uri], {"pause" => "true", "out" => "r\u00e9 & 1.bin", "gid" => "0000000000000c0d"}, 0)
status = server.call("aria2.tellStatus", token, gid, ["gid", "status", "files"])
seen = [gid, status["status"], status["files"][0]["uris"].map { |entry| entry["uri"].sub(uri, "URI") }.uniq]
seen << server.call("aria2.getOption", token, gid)["out"].force_encoding("UTF-8")
seen << server.multicall(["aria2.getGlobalStat", token], ["aria2.changePosition", token, gid, 0, "POS_SET"])[1]
ok, error = server.call2("aria2.tellStatus", token, "ffffffffffffffff")
seen << [ok, error.faultCode, error.faultString]
seen << server.call("aria2.forceRemove", token, gid)
puts JSON.generate(seen)
"""


def with_ruby(peer, origin):
    """Ruby's xmlrpc, as in aria2's manual."""
    url = peer.url.replace("/jsonrpc", "/rpc")
    environment = dict(os.environ, LANG="C.UTF-8")
    return json.loads(subprocess.run(["ruby", "-e", RUBY, url, peer.secret, origin.url + "/slow/9000/ruby"], check=True, capture_output=True, timeout=30, env=environment).stdout)


def with_listeners(peer, origin):
    """Listeners that never send a call: aria2p's own, and a handshake with the token. At Pawl they need the token's key."""
    seen = []
    host, headers = "http://127.0.0.1", []
    if isinstance(peer, peers.Pawl):
        addresses = subprocess.run(
            [os.environ["PAWL_BINARY"], "aria2", "--json", "--server", peer.url.removesuffix("/jsonrpc"), "--token", peer.secret],
            check=True, capture_output=True, timeout=30)  # fmt: skip
        host = "http" + json.loads(addresses.stdout)["notifications"].removeprefix("ws")
        headers = [f"Authorization: Bearer {peer.secret}"]
    client = aria2p.Client(host=host, port=peer.port, secret=peer.secret)
    heard, told = [], []
    ended = []

    def listen_with_aria2p():
        names = ["start", "pause", "stop", "complete", "error"]
        callbacks = {f"on_download_{name}": lambda gid, name=name: heard.append((name, gid)) for name in names}
        client.listen_to_notifications(**callbacks, timeout=1, handle_signals=False)
        ended.append(True)

    thread = threading.Thread(target=listen_with_aria2p, daemon=True)
    thread.start()
    connection = websocket.create_connection(peer.socket_url, timeout=30, header=headers)
    # The listener of aria2p has connected once it hears something.
    first = []

    def hears():
        first.append(peer.call("aria2.addUri", [f"{origin.url}/fast/10/first{len(first)}"]))
        return heard

    wait(hears, "the listener's first notification")
    wait(lambda: heard[-1] == ("complete", first[-1]), "the first notifications")
    del heard[:]
    quick = client.add_uri([origin.url + "/fast/1000/listened.bin"])
    peer.until(quick, "complete")
    slow = client.add_uri([origin.url + "/slow/900000/listened.bin"])
    peer.until(slow, "active")
    client.force_remove(slow)
    wait(lambda: ("stop", slow) in heard, "the last notification")
    seen.append([(name, [quick, slow].index(gid)) for name, gid in heard])
    while ("stop", slow) not in told:
        message = json.loads(connection.recv())
        told.append((message["method"].removeprefix("aria2.onDownload").lower(), message["params"][0]["gid"]))
    seen.append([(name, [quick, slow].index(gid)) for name, gid in told if gid in (quick, slow)])
    connection.close()
    client.stop_listening()
    thread.join(10)
    seen.append(ended)
    return json.loads(json.dumps(seen))


def replays(peer, origin):
    """Requests of other clients in their forms, and the members that they read."""
    seen = []
    secret = f"token:{peer.secret}"
    uri = origin.url + "/fast/1000/replayed.bin"

    def post(body, **fields):
        status, answered, text = peer.send(json.dumps(body), fields={name.replace("_", "-"): value for name, value in fields.items()})
        assert status == 200 or "error" in text, text
        return json.loads(text)

    # AriaNg: two requests per second, with keys; a retry of a stopped download is an addUri with every reported option.
    keys = ["gid", "totalLength", "completedLength", "uploadSpeed", "downloadSpeed", "connections", "numSeeders", "seeder", "status",
            "errorCode", "verifiedLength", "verifyIntegrityPending", "files", "bittorrent", "infoHash"]  # fmt: skip
    gid = post({"jsonrpc": "2.0", "method": "aria2.addUri", "id": "QXJpYU5n_1", "params": [secret, [uri], {}]}, Content_Type="application/json")["result"]
    told = peer.until(gid, "complete")
    for method, parameters in [("tellActive", [keys]), ("tellWaiting", [0, 1000, keys]), ("tellStopped", [-1, 1000, keys]), ("getGlobalStat", [])]:
        answer = post({"jsonrpc": "2.0", "method": f"aria2.{method}", "id": "QXJpYU5n_2", "params": [secret] + parameters})
        seen.append([answer["id"], answer["jsonrpc"], sorted(answer["result"][0] if isinstance(answer["result"], list) and answer["result"] else answer["result"])])
    calls = [{"methodName": f"aria2.{name}", "params": [secret, gid]} for name in ("tellStatus", "getOption")]
    status, options = (item[0] for item in post({"jsonrpc": "2.0", "method": "system.multicall", "id": "3", "params": [calls]})["result"])
    uris = [entry["uri"] for entry in status["files"][0]["uris"]]
    again = post({"jsonrpc": "2.0", "method": "aria2.addUri", "id": "4", "params": [secret, uris, options]})["result"]
    seen.append(peer.until(again, "complete")["totalLength"])
    seen.append(post({"jsonrpc": "2.0", "method": "aria2.getVersion", "id": "5", "params": ["token:wrong"]})["error"]["message"])

    # webui-aria2: jsonrpc is a number, and a multicall's entries may lack params.
    calls = [{"methodName": f"aria2.{name}", "params": [secret] + more} for name, more in
             [("tellActive", []), ("tellWaiting", [0, 1000]), ("tellStopped", [0, 1000]), ("getGlobalStat", [])]]  # fmt: skip
    answer = post({"jsonrpc": 2, "id": "webui", "method": "system.multicall", "params": [calls + [{"methodName": "system.listMethods"}]]})
    seen.append([len(answer["result"]), [len(item[0]) for item in answer["result"][:3]]])

    # Aria2 Explorer: ids are numbers from 0, the origin is an extension's, and the header fields are the browser's.
    header = ["Cookie: a=1; b=2", "User-Agent: Mozilla/5.0", "Accept-Encoding: gzip", "Range: bytes=0-"]
    body = {"jsonrpc": "2.0", "id": 0, "method": "aria2.addUri", "params": [secret, [uri], {"header": header, "referer": origin.url, "out": "ext.bin", "dir": peer.files}]}
    answer = post(body, Origin="chrome-extension://mpkodccbngfoacfalldjimigbofkhgjn", Content_Type="text/plain;charset=UTF-8")
    seen.append([answer["id"], len(answer["result"])])
    told = peer.until(answer["result"], "complete")
    seen.append(told["files"][0]["path"].removeprefix(peer.files))
    answer = post({"jsonrpc": "2.0", "id": 1, "method": "aria2.changeGlobalOption", "params": [secret, {"max-concurrent-downloads": "5", "bt-tracker": "udp://x", "user-agent": "y"}]})
    seen.append(answer["result"])

    # aria2.js: another member in place of jsonrpc, surplus parameters, and the number of stopped downloads as the limit.
    stat = post({"json-rpc": "2.0", "id": "8", "method": "aria2.getGlobalStat", "params": [secret, [], {}]})["result"]
    calls = [{"methodName": "aria2.tellActive", "params": [secret]}, {"methodName": "aria2.tellWaiting", "params": [secret, 0, int(stat["numWaiting"])]},
             {"methodName": "aria2.tellStopped", "params": [secret, 0, int(stat["numStopped"])]}]  # fmt: skip
    answer = post({"json-rpc": "2.0", "id": "9", "method": "system.multicall", "params": [calls]})
    seen.append([len(answer["result"][2][0]) == int(stat["numStopped"]), [len(item[0]) for item in answer["result"][:2]]])

    # Download with Aria2: changeUri and changePosition of a paused download.
    gid = peer.call("aria2.addUri", [origin.url + "/slow/900000/dwa"], {"pause": "true"})
    seen.append(peer.call("aria2.changeUri", gid, 1, [], [uri]))
    seen.append(peer.call("aria2.changePosition", gid, 0, "POS_SET"))
    seen.append(peer.call("aria2.forceRemove", gid) == gid)

    # alist and Cloudreve: ids of 64 bits, and their own directory.
    folder = f"{peer.files}/cloud/1732350000000000001"
    answer = post({"jsonrpc": "2.0", "id": 1732350000000000001, "method": "aria2.addUri", "params": [secret, [uri], {"dir": folder}]})
    told = peer.until(answer["result"], "complete")
    seen.append([answer["id"], told["dir"].removeprefix(peer.files), told["files"][0]["path"].removeprefix(peer.files)])

    # Aria2App: a batch, and figures as strings.
    answer = post([{"jsonrpc": "2.0", "id": number, "method": f"aria2.{name}", "params": [secret]} for number, name in enumerate(["getGlobalStat", "getSessionInfo"])])
    seen.append([all(isinstance(value, str) for value in answer[0]["result"].values()), len(answer[1]["result"]["sessionId"])])

    # A page at the same port as the WebSocket: calls, batches and events on one connection.
    connection = websocket.create_connection(peer.socket_url, timeout=20)
    connection.send(json.dumps({"jsonrpc": "2.0", "id": "w", "method": "aria2.addUri", "params": [secret, [uri], {"out": "ws.bin"}]}))
    messages = []
    while sum("method" in message for message in messages) < 2 or not any("id" in message for message in messages):
        messages.append(json.loads(connection.recv()))
    gid = next(message["result"] for message in messages if "id" in message)
    seen.append([message["method"] for message in messages if message.get("params") == [{"gid": gid}]])
    connection.close()
    for name in ["purgeDownloadResult"]:
        peer.call(f"aria2.{name}")
    return seen


def main():
    origin = peers.Origin()
    failures = 0
    for title, script in [
        ("aria2p", with_aria2p), ("aioaria2", lambda peer, origin: asyncio.run(with_aioaria2(peer, origin))), ("other clients", replays),
        ("xmlrpc.client", with_xmlrpc), ("pyaria2", with_pyaria2), ("Ruby's xmlrpc", with_ruby), ("listeners", with_listeners),
    ]:  # fmt: skip
        told = []
        for kind in (peers.Aria2, peers.Pawl):
            peer = kind()
            try:
                told.append(script(peer, origin))
            finally:
                peer.stop()
        if len(told[0]) != len(told[1]):
            sys.exit(f"{title}: {told}")
        differing = [(theirs, ours) for theirs, ours in zip(*told) if theirs != ours]
        for theirs, ours in differing:
            print(f"{title}\n  aria2c: {theirs}\n  pawl:   {ours}")
        failures += len(differing)
        print(f"{title}: {len(told[0])} observations, {len(differing)} differ")
    if failures:
        sys.exit(1)


main()
