"""Sends the same requests to a real aria2c and to Pawl, and compares the responses. Each difference must be listed in docs/aria2.md under
the name given here, and each listed difference must occur."""
import html
import json
import os
import re
import sys
import time

import peers

DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "aria2.md")
TABLE = open(DOCUMENT).read().split("| difference | what, and why |")[1].split("\n\n")[0]
known = set(re.findall(r"^\| ([a-z][a-z-]+) \|", TABLE, re.M))

used = set()
failures = []
count = 0


def normal(value, peer, origin):
    """The value without expected differences: directories and gids of a run."""
    if isinstance(value, str):
        value = value.replace(peer.files, "FILES").replace(origin.url, "ORIGIN")
        return re.sub(r"\b[0-9a-f]{40}\b", "SESSION", re.sub(r"\b(?!0{8})[0-9a-f]{16}\b", "GID", value))
    if isinstance(value, list):
        return [normal(item, peer, origin) for item in value]
    if isinstance(value, dict):
        return {key: normal(item, peer, origin) for key, item in value.items()}
    return value


def compare(title, theirs, ours, difference=None):
    global count
    count += 1
    if difference is not None and difference not in known:
        failures.append(f"{title}: the difference {difference} is not listed")
        return
    if theirs == ours:
        if difference is not None:
            failures.append(f"{title}: does not differ, but has {difference}\n  {theirs}")
        return
    if difference is None:
        failures.append(f"{title}\n  aria2c: {theirs}\n  pawl:   {ours}")
    else:
        used.add(difference)


class Pair:
    def __init__(self, origin):
        self.origin = origin
        self.aria2 = peers.Aria2()
        self.pawl = peers.Pawl()

    def stop(self):
        self.aria2.stop()
        self.pawl.stop()

    def raw(self, title, body, difference=None, **more):
        """Compares status, type and body of a request."""
        told = []
        for peer in (self.aria2, self.pawl):
            status, fields, text = peer.send(body, **more)
            if fields.get("content-type") == "text/xml":
                # An apostrophe or line feed may be a reference or not.
                text = html.unescape(text)
            with_json = text
            try:
                with_json = json.loads(text)
            except ValueError:
                pass
            told.append((status, fields.get("content-type"), normal(with_json, peer, self.origin)))
        compare(title, *told, difference)

    def call(self, method, *parameters, difference=None, only=None):
        """Compares the results of a call; for a status, only the named members if there are any. Returns both results."""
        results = [peer.call(method, *parameters) for peer in (self.aria2, self.pawl)]
        told = [normal(result, peer, self.origin) for result, peer in zip(results, (self.aria2, self.pawl))]
        if only and all(isinstance(item, dict) for item in told):
            told = [{key: item.get(key) for key in only} for item in told]
        compare(f"{method}{json.dumps(parameters)}", *told, difference)
        return results

    def both(self, method, gids, *parameters, difference=None, only=None):
        """The same for one download at each server."""
        results = [peer.call(method, gid, *parameters) for peer, gid in zip((self.aria2, self.pawl), gids)]
        told = []
        for result, peer, gid in zip(results, (self.aria2, self.pawl), gids):
            told.append(json.loads(json.dumps(normal(result, peer, self.origin)).replace(gid, "GID")))
        if only and all(isinstance(item, dict) for item in told):
            told = [{key: item.get(key) for key in only} for item in told]
        if only and all(isinstance(item, list) for item in told):
            told = [[{key: entry.get(key) for key in only} for entry in item] for item in told]
        compare(f"{method}(gid, {json.dumps(parameters)[1:]}", *told, difference)
        return results

    def until(self, gids, *statuses):
        for peer, gid in zip((self.aria2, self.pawl), gids):
            peer.until(gid, *statuses)


def wire(pair):
    token = json.dumps(f"token:{peers.SECRET}")

    def call(method, parameters="", identity="1"):
        return '{"jsonrpc":"2.0","id":%s,"method":"%s","params":[%s]}' % (identity, method, parameters)

    for identity in ["0", "null", '""', '"x"', "true", '"q\\u00e9"', '{"a":[1,2]}', "1732350000000000001", "9007199254740993", "-5"]:
        pair.raw(f"id {identity}", call("system.multicall", "[]", identity))
    for identity in ["1.5", "123456789012345678901234567890"]:
        pair.raw(f"id {identity}", call("system.multicall", "[]", identity), difference="ids")
    for text in [
        "garbage", '"x"', "null", "{}", "[]", '{"method":"aria2.pauseAll"}', '{"id":1,"params":[]}',
        '{"id":1,"method":5}', '{"id":1,"method":"aria2.getVersion","params":{"a":1}}',
        '{"id":1,"method":"aria2.getVersion","params":null}', '{"id":1,"method":"aria2.getVersion"}',
        '{"id":1,"method":"aria2.nope","params":[]}', '{"id":1,"method":"system.nope"}', "[{}]", "true",
        call("aria2.nope", token), call("aria2.getGlobalStat", token), call("aria2.getGlobalStat", '"token:wrong"'),
        call("aria2.getGlobalStat", token + ',[],{},"more"'), '{"json-rpc":2,"id":1,"method":"system.multicall","params":[[]]}',
        call("system.multicall", '[{"methodName":"aria2.getGlobalStat","params":[%s]},{"methodName":"aria2.nope","params":[%s]},'
             '{"methodName":"system.multicall","params":[]},{"methodName":"aria2.getGlobalStat","params":["token:bad"]},'
             '{"params":[]},4,{"methodName":5},{"methodName":"aria2.getVersion","params":{}},{"methodName":"aria2.pauseAll"}]'
             % (token, token)),
        call("system.multicall"), call("system.multicall", '"x"'), call("system.multicall", "[]"), "[" + call("aria2.getGlobalStat", token) + "]",
    ]:  # fmt: skip
        pair.raw(text[:100], text)
    pair.raw("empty", "")
    pair.raw("a number", "5", difference="numbers")
    pair.raw("no object in a batch", "[5,{}]", difference="batch-entries")
    pair.raw("bytes behind", call("system.multicall", "[]") + " x", difference="trailing-bytes")
    pair.raw("a member twice", '{"id":1,"id":2,"method":"system.multicall","params":[[]]}', difference="duplicate-members")
    pair.raw("a secret before calls", call("system.multicall", token + ",[]"), difference="multicall-secret")
    pair.raw("listMethods", call("system.listMethods"), difference="methods")
    pair.raw("listNotifications", call("system.listNotifications", '"token:bad"'), difference="methods")
    pair.raw("getVersion", call("aria2.getVersion", token), difference="version")
    for kind in [None, "text/plain", "application/json", "application/x-www-form-urlencoded"]:
        pair.raw(f"type {kind}", call("aria2.getGlobalStat", token), fields={"Content-Type": kind} if kind else {})

    secret = peers.encoded([f"token:{peers.SECRET}"])
    single = peers.encoded({"id": 1, "method": "aria2.getGlobalStat", "params": [f"token:{peers.SECRET}"]})
    batch = peers.encoded([{"id": 1, "method": "aria2.getGlobalStat", "params": [f"token:{peers.SECRET}"]}])
    for query in [
        f"?method=aria2.getGlobalStat&id=foo&params={secret}", f"?method=aria2.getGlobalStat&params={secret}",
        f"?id=foo&params={secret}", "", f"?method=aria2.nope&id=foo&params={secret}", "?method=aria2.getGlobalStat&id=foo&params=%21",
        f"?params={single}", f"?params={batch}", f"?method=aria2.getGlobalStat&id=foo&params={secret}&jsoncallback=cb.x",
        f"?method=aria2.nope&id=foo&params={secret}&jsoncallback=cb", f"?params={peers.encoded([])}&jsoncallback=f",
    ]:  # fmt: skip
        pair.raw(f"GET {query[:60]}", None, method="GET", query=query)
    pair.raw("GET a script", None, method="GET", query="?method=a&id=1&jsoncallback=f%28%29", difference="callback")


def document(method, *values):
    """A call in XML."""
    parameters = "".join(f"<param><value>{value}</value></param>" for value in values)
    return f"<?xml version='1.0'?><methodCall><methodName>{method}</methodName><params>{parameters}</params></methodCall>"


def in_xml(pair):
    """The same methods at /rpc: documents, types, and responses byte by byte."""
    token, url = f"<string>token:{peers.SECRET}</string>", pair.origin.url + "/slow/1000000/a"
    uris = f"<array><data><value>{url}</value></data></array>"

    def struct(**members):
        return "<struct>" + "".join(f"<member><name>{name.replace('_', '-')}</name><value>{value}</value></member>" for name, value in members.items()) + "</struct>"

    def raw(title, body, difference=None, **more):
        pair.raw("XML: " + title, body, difference, path="/rpc", **more)

    def call(method, *values, difference=None):
        raw(f"{method}{values}"[:200], document(method, token, *values), difference)

    def paused(number, **members):
        return struct(pause="true", gid=f"{number:016x}", **members)

    for number, options in enumerate([
        {"split": "<double>3</double>"}, {"split": "<double>x</double>"}, {"split": "<int>5</int>"}, {"split": "<string>x</string>"},
        {"out": ""}, {"out": "<nil/>"}, {"out": "./x.bin"}, {"out": "a/./b/c.bin"}, {"dir": "<nil/>"}, {"header": "<array><data><value>A: 1</value><value><int>5</int></value></data></array>"},
        {"max_download_limit": "<base64>MU0=</base64>"}, {"nope": "<string>&lt;&amp;</string>"},
    ]):  # fmt: skip
        call("aria2.addUri", uris, paused(0xC0 + number, **options))
    call("aria2.addUri", "<array><data><value><nil/></value><value><string>" + url + "</string></value></data></array>", paused(0xD0), "<int>0</int>")
    for values in [
        [], ["x"], ["<array/>"], ["<array><data/></array>"], ["<array><value>http://h/x</value></array>"], [uris, "x"], [uris, "<nil/>", "<int>0</int>"],
        [uris, paused(0xD1), "x"], [uris, paused(0xD1), "<int>-1</int>"], [uris, paused(0xD1), "<double>0</double>"], [uris, paused(0xD1), "<int> +1 </int>"],
        [uris, paused(0xD2), "<int>x</int>"], [uris, paused(0xD3), "<i4>0</i4>"],
    ]:  # fmt: skip
        call("aria2.addUri", *values)
    for values in [["<int>0</int>", "<int>100</int>", "<array><data><value>gid</value></data></array>"], ["<int>-1</int>", "<int>2</int>"], ["<int>0</int>"], ["<int/>", "<int>1</int>"], ["<int>0</int>", "<string>1</string>"]]:
        call("aria2.tellWaiting", *values)
    gid = f"{0xC0:016x}"
    for value in [gid, f"<string>{gid}</string>", f"\n<string>{gid}</string>\n", f"<string><![CDATA[{gid}]]></string>", "<base64>MDAwMDAwMDAwMDAwMDBjMA==</base64>", "zz", "<base64>!</base64>", "<int>1</int>", "<struct/>", f"\n{gid}"]:
        call("aria2.tellStatus", value, "<array><data><value>gid</value><value>status</value><value>files</value><value>dir</value></data></array>")
    call("aria2.tellStatus", gid)
    call("aria2.getUris", gid)
    call("aria2.getFiles", gid)
    call("aria2.getServers", gid)
    call("aria2.changePosition", gid, "<int>2</int>", "POS_SET")
    call("aria2.changeUri", gid, "<int>1</int>", "<array><data/></array>", "<array><data><value>http://h/&amp;</value></data></array>")
    call("aria2.changeOption", gid, struct(max_download_limit="1M"))
    call("aria2.changeGlobalOption", struct(max_concurrent_downloads="<boolean>1</boolean>"))
    call("aria2.changeGlobalOption", struct(max_concurrent_downloads="x"))
    for method in ["aria2.getGlobalStat", "aria2.getSessionInfo", "aria2.nope", "aria2.pauseAll", ""]:
        call(method)
    call("aria2.addTorrent", "<base64>YWJj</base64>", difference="torrents")
    call("aria2.getVersion", difference="version")
    raw("listMethods", document("system.listMethods"), "methods")
    # Values that aria2 leaves out, so that later ones take their place.
    call("aria2.tellWaiting", "<i8>0</i8>", "<int>1</int>", difference="xml-types")
    call("aria2.tellWaiting", "<boolean>0</boolean>", "<int>1</int>", "<array/>", difference="xml-types")

    def entry(method, *values):
        data = "".join(f"<value>{value}</value>" for value in values)
        return f"<value>{struct(methodName=method, params=f'<array><data>{data}</data></array>')}</value>"

    entries = [
        entry("aria2.getGlobalStat", token), entry("aria2.nope", token), entry("aria2.getGlobalStat", "token:bad"), entry("system.multicall"),
        "<value><int>4</int></value>", "<value><struct/></value>", entry("aria2.addUri", token, uris, paused(0xE0), "<int>0</int>"),
        entry("aria2.addUri", token, uris, paused(0xE1), "<int>0</int>"), entry("aria2.addUri", token, uris, paused(0xE2), "<int>1</int>"),
    ]  # fmt: skip
    raw("multicall", document("system.multicall", "<array><data>" + "".join(entries) + "</data></array>"))
    call("aria2.tellWaiting", "<int>0</int>", "<int>100</int>", "<array><data><value>gid</value></data></array>")
    for values in [[], ["x"], ["<array/>"], ["<array><data></data></array>"]]:
        raw(f"multicall {values}", document("system.multicall", *values))

    inner = f"<methodName>aria2.getGlobalStat</methodName><params><param><value>{token}</value></param></params>"
    for text in [
        f"<methodCall>{inner}</methodCall>", f"<methodCall>\n {inner}\n</methodCall>\n", f"<!-- x --><methodCall>{inner}</methodCall>",
        f"<x:methodCall xmlns:x='y'>{inner}</x:methodCall>", f"<methodCall>{inner}<other>3</other></methodCall>", f"<a>{inner}</a>", "<a/>",
        "<methodCall/>", "<methodCall><methodName/></methodCall>", f"<methodCall><params><param><value>{token}</value></param></params></methodCall>",
        f"<methodCall><methodName>aria2.nope</methodName>{inner}</methodCall>", "<methodCall><methodName> aria2.getGlobalStat</methodName></methodCall>",
        "<methodCall><methodName>aria2.getGlobalStat</methodName></methodCall>",
        f"<methodCall><methodName>aria2.getGlobalStat</methodName><params><param>token:{peers.SECRET}</param></params></methodCall>",
        f"<methodCall><methodName>aria2.getGlobalStat</methodName><params><param><value>a{token}b</value></param></params></methodCall>",
        f"<methodCall><methodName>aria2.getGlobalStat</methodName><params><param><value><foo>{token}</foo></value></param></params></methodCall>",
    ]:  # fmt: skip
        raw(text[:100], text)
    raw("UTF-16", f"<?xml version='1.0' encoding='utf-16'?><methodCall>{inner}</methodCall>".encode("utf-16"))
    for text in ["", "garbage", "<methodCall>", f"<methodCall>{inner}</methodCall> x", '{"id":1,"method":"system.listNotifications"}']:
        raw(text, text, "xml-faults")
    raw("a declaration", f"<!DOCTYPE a><methodCall>{inner}</methodCall>", "xml-declarations")
    raw("GET", None, "xml-get", method="GET")
    pair.raw("XML at /jsonrpc", document("aria2.getGlobalStat", token), "xml-media-type", fields={"Content-Type": "text/xml"})
    for kind in [None, "text/plain", "application/json"]:
        raw(f"type {kind}", document("aria2.getGlobalStat", token), fields={"Content-Type": kind} if kind else {})
    clear(pair)


def positions(pair):
    """Several additions with positions in one message."""
    url = pair.origin.url + "/slow/1000000/"
    for first, order in [(0x100, [0, 0, 0]), (0x200, [0, 1, 0, 1]), (0x300, [None, 0, 2, None, 0, 100]), (0x400, [1, 1, 1, 0, 0, 3, 3])]:
        calls = [
            ["aria2.addUri", [[url + str(number)], {"pause": "true", "gid": f"{first + number:016x}"}] + ([] if position is None else [position])]
            for number, position in enumerate(order)
        ]  # fmt: skip
        pair.call("system.multicall", [{"methodName": method, "params": [f"token:{peers.SECRET}"] + parameters} for method, parameters in calls])
        pair.call("aria2.tellWaiting", 0, 100, ["gid"])
        batch = [{"id": number, "method": method, "params": [f"token:{peers.SECRET}"] + [parameters[0], {"pause": "true", "gid": f"{first + 0x80 + number:016x}"}] + parameters[2:]} for number, (method, parameters) in enumerate(calls)]
        pair.raw("a batch of additions", json.dumps(batch))
        pair.call("aria2.tellWaiting", 0, 100, ["gid"])
    clear(pair)


def clear(pair):
    for peer in (pair.aria2, pair.pawl):
        for told in peer.call("aria2.tellWaiting", 0, 1000, ["gid"]):
            peer.call("aria2.forceRemove", told["gid"])
        peer.call("aria2.purgeDownloadResult")


def adding(pair):
    url = pair.origin.url + "/slow/1000000/a"
    paused = {"pause": "true"}
    for parameters in [
        [], [5], [[]], ["x"], [[5]], [["nope"]], [[""]], [[url], 5], [[url], None], [[url], {}, -1], [[url], {}, "x"],
        [[url], paused, None], [[url], {"split": "0"}], [[url], {"split": "x"}], [[url], {"pause": "maybe"}],
        [[url], {"max-download-limit": "1X"}], [[url], {"max-download-limit": "-1"}], [[url], {"max-download-limit": "1.5M"}],
        [[url], {"max-connection-per-server": "17"}], [[url], {"allow-overwrite": "bogus"}], [[url], {"checksum": "sha-256=zz"}],
        [[url], {"checksum": "nope=zz"}], [[url], {"timeout": "0"}], [[url], {"min-split-size": "1K"}],
        [[url], {"continue": "1"}], [[url], {"max-tries": "-1"}],
    ]:  # fmt: skip
        pair.call("aria2.addUri", *parameters)
    for options in [
        {"split": 5}, {"nope": "x"}, {"split": "1000"}, {"header": 5}, {"header": ["A: 1", 5]}, {"header": "A: 1\nB: 2"}, {"dir": 5},
        {"out": ""}, {"dir": ""}, {"checksum": "sha-256=" + "0" * 64}, {"max-download-limit": "1M"}, {"referer": "*"},
        {"user-agent": "x"}, {"continue": "true", "allow-overwrite": "false"}, {"follow-torrent": "mem"},
    ]:  # fmt: skip
        pair.call("aria2.addUri", [url], paused | options)
    for uris in [[5, url], ["bad", url], [pair.origin.url + "/fast/10/a b c/\u00fc?x=1|2"], [url, url + "?mirror"]]:
        pair.call("aria2.addUri", uris, paused)
    pair.call("aria2.addUri", [url], paused, 1.5)
    pair.call("aria2.addUri", [url], paused, 0)
    pair.call("aria2.addUri", [url], paused, 100000)
    for uri in ["magnet:?xt=urn:btih:" + "0" * 40, "ftp://127.0.0.1/x", "http://"]:
        pair.call("aria2.addUri", [uri], paused, difference="foreign-schemes")
    for gid in ["zz", "12", "", "0" * 16]:
        pair.call("aria2.addUri", [url], paused | {"gid": gid}, difference="gid-option")
    pair.call("aria2.addUri", [url], paused | {"header": "no colon"}, difference="header-option")
    for name in ["a/b", "./b", "././b", "a/./b"]:
        pair.call("aria2.addUri", [url], paused | {"out": name})
    for name in ["../x", "/abs/x", "a//b"]:
        pair.call("aria2.addUri", [url], paused | {"out": name}, difference="out-option")
    for path in ["/tmp/elsewhere", "../x"]:
        pair.call("aria2.addUri", [url], paused | {"dir": path}, difference="dir-option")
    pair.call("aria2.addTorrent")
    pair.call("aria2.addTorrent", 5)
    pair.call("aria2.addMetalink")
    pair.call("aria2.addTorrent", "YWJj", difference="torrents")
    pair.call("aria2.addMetalink", "YWJj", difference="torrents")
    clear(pair)


def lists(pair):
    url = pair.origin.url + "/slow/1000000/"
    gids = [f"{number:016x}" for number in range(0xA0, 0xA8)]
    for gid in gids:
        pair.call("aria2.addUri", [url + gid], {"pause": "true", "gid": gid})
    pair.call("aria2.addUri", [url + gid], {"pause": "true", "gid": gids[0]}, difference="gid-option")
    first = gids[0]
    for parameters in [
        [0, 100], [0, 2], [3, 2], [7, 5], [8, 1], [100, 2], [0, 0], [-1, 2], [-3, 100], [-8, 1], [-9, 1], [-100, 2], [0.5, 2],
        [0], [], ["0", 1], [0, "1"], [0, -1], [0, 2, "gid"], [0, 2, None], [0, 1, []], [0, 1, ["nope"]], [0, 1, [5, "gid"]],
    ]:  # fmt: skip
        keys = [["gid", "status", "files", "dir"]] if len(parameters) == 2 else []
        pair.call("aria2.tellWaiting", *parameters, *keys)
        if len(parameters) < 3:
            pair.call("aria2.tellStopped", *parameters)
    for parameters in [[], [["gid"]], [5], [[]]]:
        pair.call("aria2.tellActive", *parameters)
    for gid in ["00000000000000A0", "a0", "", "zz", "000000000000000", "00000000000000a0c", "f" * 16, "f", "0" * 15 + "a", 5, None]:
        for method in [
            "tellStatus", "getUris", "getFiles", "getPeers", "getServers", "remove", "forceRemove", "pause", "unpause",
            "removeDownloadResult",
        ]:  # fmt: skip
            if gid != "00000000000000A0" or method.startswith("get"):
                pair.call(f"aria2.{method}", gid)
        pair.call("aria2.changePosition", gid, 0, "X")
        pair.call("aria2.changeUri", gid, 1, [], [])
        pair.call("aria2.changeOption", gid, {})
    for method in ["tellStatus", "getOption", "pause", "remove", "getServers", "changeOption", "changeUri", "changePosition"]:
        pair.call(f"aria2.{method}")
    for keys in [[5], [None], [[]], [["nope"]], [["gid", "gid"]], [[5, "gid"]], [["status", "dir", "bitfield", "errorCode"]]]:
        pair.call("aria2.tellStatus", first, *keys)
    pair.call("aria2.tellStatus", first)
    pair.call("aria2.getOption", first, difference="options-told")
    for number, how in [(0, "POS_SET"), (100, "POS_SET"), (-2, "POS_CUR"), (1, "POS_CUR"), (-1, "POS_END"), (0, "POS_END"), (-5, "POS_SET"),
                        (-100, "POS_CUR"), (100, "POS_END"), (3, "POS_SET")]:  # fmt: skip
        pair.call("aria2.changePosition", first, number, how)
        pair.call("aria2.tellWaiting", 0, 100, ["gid"])
    for parameters in [[0], ["0", "POS_SET"], [0, "X"], [0, 5], [None, "POS_SET"]]:
        pair.call("aria2.changePosition", first, *parameters)
    for parameters in [
        [1, [], [url + "b"]], [1, [url + "b"], [url + "c", url + "d"], 0], [0, [], []], [2, [], []], [1, [], ["junk"]], [1, 5, []],
        [1], [1, []], [1, [], [], -1], [1, [5], [6]], [1, [url + "nope"], []], [1, [url + "c", url + "d"], []], ["1", [], []],
    ]:  # fmt: skip
        pair.call("aria2.changeUri", first, *parameters)
        pair.call("aria2.getUris", first)
    for options in [{"split": "3", "max-download-limit": "1M", "nope": "y"}, {"split": "x"}, 5, {}, None, {"max-download-limit": "0"}]:
        pair.call("aria2.changeOption", first, options)
    pair.call("aria2.changeOption", first, {"dir": "/tmp"}, difference="dir-option")
    pair.call("aria2.getGlobalStat")
    pair.call("aria2.getSessionInfo")
    pair.call("aria2.saveSession", difference="session")
    pair.call("aria2.getGlobalOption", difference="options-told")
    for options in [
        {"max-concurrent-downloads": "3", "max-overall-download-limit": "0", "nope": "x"}, {"max-concurrent-downloads": "0"},
        {"max-concurrent-downloads": "x"}, 5, {}, {"max-overall-download-limit": "1.5M"}, {"max-concurrent-downloads": "5"},
    ]:  # fmt: skip
        pair.call("aria2.changeGlobalOption", options)
    pair.call("aria2.changeGlobalOption")
    pair.call("aria2.changeGlobalOption", {"dir": "/tmp"}, difference="dir-option")
    pair.aria2.call("aria2.changeGlobalOption", {"dir": pair.aria2.files})
    for gid in gids[:4]:
        pair.call("aria2.remove", gid)
    for gid in gids[4:]:
        pair.call("aria2.forceRemove", gid)
    pair.call("aria2.tellStopped", 0, 100, ["gid", "status", "errorCode"], difference="never-begun")
    pair.call("aria2.removeDownloadResult", gids[0], difference="never-begun")
    pair.call("aria2.removeDownloadResult", gids[0])
    pair.call("aria2.purgeDownloadResult", 5)
    pair.call("aria2.tellStopped", 0, 100)


LASTING = ["gid", "status", "dir", "totalLength", "numPieces", "pieceLength", "uploadLength", "uploadSpeed", "bitfield"]
STOPPED = LASTING + ["completedLength", "errorCode", "connections", "downloadSpeed"]


def lives(pair):
    def add(path, options={}):
        return pair.call("aria2.addUri", [pair.origin.url + path], options)

    gids = add("/fast/3000000/whole.bin")
    pair.until(gids, "complete")
    pair.both("aria2.tellStatus", gids, only=STOPPED + ["errorMessage"])
    pair.both("aria2.getFiles", gids, only=["index", "path", "length", "completedLength", "selected"])
    pair.both("aria2.getFiles", gids, difference="uris")
    for method in ["getUris", "getPeers", "getServers", "pause", "unpause", "remove", "changeOption", "changePosition", "changeUri"]:
        more = {"changeOption": [{}], "changePosition": [0, "POS_SET"], "changeUri": [1, [], []]}.get(method, [])
        pair.both(f"aria2.{method}", gids, *more)

    for code in [404, 401, 403]:
        gids = add(f"/status/{code}/x")
        pair.until(gids, "error")
        pair.both("aria2.tellStatus", gids, only=STOPPED)
        pair.both("aria2.tellStatus", gids, ["errorMessage"], difference="messages")

    gids = add("/status/503/x", {"max-tries": "1"})
    pair.until(gids, "error")
    pair.both("aria2.tellStatus", gids, only=STOPPED)

    gids = add("/status/503/y")
    pair.aria2.until(gids[0], "error")
    pair.both("aria2.tellStatus", gids, ["status"], difference="retries")
    pair.both("aria2.remove", gids, difference="retries")

    gids = add("/slow/3000000/slow.bin", {"out": "slow.bin"})
    for peer, gid in zip((pair.aria2, pair.pawl), gids):
        while int(peer.call("aria2.tellStatus", gid)["completedLength"]) == 0:
            time.sleep(0.05)
    pair.both("aria2.tellStatus", gids, only=LASTING)
    pair.both("aria2.tellStatus", gids, ["files"], difference="completed-bytes")
    pair.both("aria2.getServers", gids, only=["index"])
    pair.both("aria2.getPeers", gids)
    for method, more in [("unpause", []), ("removeDownloadResult", []), ("changePosition", [0, "POS_SET"])]:
        pair.both(f"aria2.{method}", gids, *more)
    pair.both("aria2.changeOption", gids, {"max-download-limit": "20K"})
    pair.call("aria2.tellWaiting", 0, 10)
    pair.both("aria2.forcePause", gids)
    pair.until(gids, "paused")
    pair.both("aria2.tellStatus", gids, only=LASTING + ["connections"])
    pair.both("aria2.pause", gids)
    pair.both("aria2.getServers", gids)
    pair.call("aria2.tellActive")
    # A waiting download that was added before one that is paused during its transfer.
    waiting = pair.call("aria2.addUri", [pair.origin.url + "/slow/900000/w.bin"], {"pause": "true", "gid": "00000000000000e1"})
    later = pair.call("aria2.addUri", [pair.origin.url + "/slow/900000/l.bin"], {"gid": "00000000000000e2"})
    pair.until(later, "active")
    pair.both("aria2.forcePause", later)
    pair.until(later, "paused")
    pair.call("aria2.tellWaiting", 0, 1, ["gid"], difference="queue-order")
    pair.both("aria2.forceRemove", waiting)
    pair.both("aria2.forceRemove", later)
    pair.both("aria2.unpause", gids)
    pair.until(gids, "active")
    pair.both("aria2.forceRemove", gids)
    pair.until(gids, "removed")
    pair.both("aria2.tellStatus", gids, only=["gid", "status", "errorCode", "connections"])
    pair.both("aria2.tellStatus", gids, ["completedLength"], difference="removed-bytes")
    for method in ["pause", "unpause", "remove", "getUris", "getPeers", "getServers"]:
        pair.both(f"aria2.{method}", gids)
    pair.both("aria2.removeDownloadResult", gids)
    pair.both("aria2.tellStatus", gids)
    pair.call("aria2.pauseAll", 5)
    pair.call("aria2.forcePauseAll")
    pair.call("aria2.unpauseAll")
    pair.call("aria2.purgeDownloadResult")
    results = [peer.call("aria2.shutdown") if peer is pair.pawl else "OK" for peer in (pair.aria2, pair.pawl)]
    compare("aria2.shutdown", *results, "shutdown")


def main():
    origin = peers.Origin()
    pair = Pair(origin)
    try:
        wire(pair)
        adding(pair)
        in_xml(pair)
        positions(pair)
        lists(pair)
        lives(pair)
    finally:
        pair.stop()
    for name in sorted(known - used):
        failures.append(f"the list has {name}, which nothing here shows")
    for failure in failures:
        print(failure)
    if failures:
        sys.exit(f"{len(failures)} of {count} comparisons differ")
    print(f"{count} comparisons; {len(used)} differences, all of them listed")


main()
