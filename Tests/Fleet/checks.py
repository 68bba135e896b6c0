"""The invariants of a fleet after the faults: each is a function of the observations."""

import collections
import concurrent.futures
import datetime
import http.client
import json
import os
import sys
import time
import urllib.parse

from servers import BUCKET, HERE, check, wait

sys.path.insert(0, str(HERE.parent / "Support"))
import origin  # noqa: E402

LIVE = {"queued", "downloading", "retrying"}
ENDS = {"completed", "failed", "cancelled"}
#: The indices of columns in a change.
URL, STATE, LABELS, TRACK, UPDATED, REVISION = 1, 2, 18, 20, 24, 26
#: The maximum difference of two clocks of one machine, in seconds.
SLACK = 0.5


def milliseconds(text):
    return round(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)


def board(client, seat):
    """All downloads of a replica's list, by id."""
    found, cursor = {}, ""
    while True:
        status, page = client.insist("GET", "/downloads?limit=200" + cursor, seat=seat)
        check(status == 200, f"the list is answered with {status}: {page}")
        found.update((item["id"], item) for item in page["items"])
        if page["nextCursor"] is None:
            return found
        cursor = "&cursor=" + urllib.parse.quote(page["nextCursor"])


def histories(scene, of_subscriptions=False):
    """The changes of each download: number and columns; of the downloads that clients have added, or of subscriptions' downloads."""
    found = collections.defaultdict(list)
    for number, _, id, columns in scene.changes:
        found[id].append((number, columns))
    return {id: history for id, history in found.items() if (subscription(history[0][1]) is not None) == of_subscriptions}


def subscription(columns):
    """The subscription that has made the download; None: a client has added it."""
    return next((text for text in labels(columns) if text.startswith("subscription:")), None) if columns else None


def label(columns):
    """The request that added the download."""
    return next((text for text in labels(columns) if text.startswith("k")), None)


def labels(columns):
    found = columns[LABELS] or []
    return json.loads(found) if isinstance(found, str) else found


# MARK: Until the end of all downloads

def settle(scene, client):
    """7, first half: within 30 seconds all replicas return the same, and everything ends."""

    def boards():
        return [board(client, seat) for seat in scene.seats]

    def shape(found):
        return {id: (item["state"], item["updatedAt"], tuple(item["labels"])) for id, item in found.items()}

    def differences():
        one, two, three = map(shape, boards())
        return [(id, one.get(id), two.get(id), three.get(id)) for id in sorted({*one, *two, *three})
                if not one.get(id) == two.get(id) == three.get(id)]

    wait(lambda: not differences(), lambda: f"boards differ: {differences()[:4]}", 30)
    # Downloads that are not paused have to end without a request.
    wait_for_ends(scene, client, lambda item: item["state"] in LIVE, 90)
    found = board(client, scene.seats[0])
    for entry in scene.entries.values():
        if entry.id:
            state = found[entry.id]["state"] if entry.id in found else None
            check(state in entry.possible(), f"1: {entry} is {state}, and may be {entry.possible()}: {list(entry.history)}")
            if state and not entry.unsure_patches:
                check(found[entry.id]["labels"] == entry.labels(),
                      f"1: {entry} has the labels {found[entry.id]['labels']}, not {entry.labels()}: {list(entry.history)}")
    # Then all others.
    for entry in scene.entries.values():
        if entry.id in found and found[entry.id]["state"] in ("paused", "failed"):
            entry.sent["resume"] += 1
            status, _ = client.insist("POST", f"/downloads/{entry.id}/resume")
            check(status in (200, 404, 409), f"resuming {entry} is answered with {status}")
    wait_for_ends(scene, client, lambda item: item["state"] in LIVE, 90)
    wait(lambda: not differences(), lambda: f"boards differ: {differences()[:4]}", 30)
    scene.board = board(client, scene.seats[0])
    stuck = [item for item in scene.board.values() if item["state"] not in ("completed", "cancelled")]
    check(not stuck, lambda: f"7: these do not complete: {stuck[:3]}")


def wait_for_ends(scene, client, is_open, limit):
    """Waits until no download is live, as long as their number falls."""
    fewest, deadline = None, time.monotonic() + limit
    while True:
        left = [item for item in board(client, client.dice.choice(scene.seats)).values() if is_open(item)]
        if not left:
            return
        if fewest is None or len(left) < fewest:
            fewest, deadline = len(left), time.monotonic() + limit
        check(time.monotonic() < deadline,
              lambda: f"7: these are stuck: {[(item['id'], item['state'], item['labels'], item['error']) for item in left[:5]]}")
        time.sleep(0.2)


# MARK: The invariants

def promises(scene):
    """1: every acknowledged download exists, every acknowledged command is in the log, and nothing was applied twice."""
    changes = histories(scene)
    known = {}
    for id, history in changes.items():
        check(history[0][1] is not None, f"1: the first change of {id} is its removal")
        name = label(history[0][1])
        check(name in scene.entries, f"1: no client has added {id}, {name}")
        check(name not in known, f"1: {name} was added twice, as {known.get(name)} and {id}")
        known[name] = id
    for entry in scene.entries.values():
        if not entry.id:
            check(entry.label not in known or not entry.is_hot, f"1: {entry.label} was answered with another one, and exists")
            continue
        check(known.get(entry.label) == entry.id, f"1: {entry} was acknowledged, and is not in the log")
        history = changes[entry.id]
        check((entry.id in scene.board) == (history[-1][1] is not None), f"1: {entry} is shown, or is not, against the log")
        seen = {(columns[STATE], columns[UPDATED]) for _, columns in history if columns}
        for verb, state, updated in entry.acknowledged:
            check((state, milliseconds(updated)) in seen,
                  f"1: {verb} of {entry} was answered with {state} at {updated}, which is not in the log: {list(entry.history)}")
        check(None not in [columns for _, columns in history[:-1]], f"1: {entry} comes back after its removal: {history}")
        steps = collections.Counter()
        before, patch = None, None
        for _, columns in history:
            state = columns[STATE] if columns else None
            if state != before:
                steps[state] += 1
                # Resumes and retries, once for each request.
                steps["again"] += before in ("paused", "failed", "cancelled") and state in LIVE
            before = state
            now = next((text for text in labels(columns) if text.startswith("p")), None) if columns else patch
            if now != patch:
                steps[now] += 1
                patch = now
        story = [(number, columns and columns[STATE]) for number, columns in history]
        for state, verb in (("paused", "pause"), ("cancelled", "cancel")):
            check(steps[state] <= entry.sent[verb], f"1: {entry} was {state} {steps[state]} times, by {entry.sent[verb]} requests: {story}")
        most = entry.sent["resume"] + entry.sent["retry"]
        check(steps["again"] <= most, f"1: {entry} went on {steps['again']} times, by {most} requests: {story}")
        for name, count in steps.items():
            if name and name.startswith("p") and name[1:].isdigit():
                check(count <= entry.sent[name], f"1: the change {name} of {entry} happened {count} times, by {entry.sent[name]} requests")


def duplicates(scene):
    """2: at no time has a URL two live or completed downloads, unless a client requested another."""
    current, counts = {}, collections.Counter()
    added = histories(scene)
    for number, _, id, columns in scene.changes:
        if id not in added:
            continue
        entry = scene.entries[label(columns)] if columns else None
        is_first = columns is not None and columns[STATE] in LIVE | {"paused", "completed"} and not entry.is_new
        url = columns[URL] if columns else None
        if current.get(id) != (url if is_first else None):
            counts[current.get(id)] -= 1
            current[id] = url if is_first else None
            counts[current[id]] += 1
            check(not is_first or counts[url] == 1,
                  lambda: f"2: from change {number} on, {url} has {[other for other, its in current.items() if its == url]}")


def keys(scene, client):
    """2: each key gets the same response from any replica."""
    for key in client.dice.sample(list(scene.keys), min(len(scene.keys), 60)):
        for seat in scene.seats:
            scene.check_key(client, key, seat)


def order(scene):
    """3: the numbers of changes have no gap, the revisions of a download rise, and an instance changes nothing after its end."""
    last, revisions = 0, {}
    deaths = {row["instance"]: row["sequence"] for row in scene.postgres.ask("SELECT instance, sequence FROM notes.deaths")}
    for number, instance, id, columns in scene.changes:
        check(number == last + 1, f"3: change {last} is followed by {number}")
        last = number
        check(instance not in deaths or number <= deaths[instance],
              f"3: change {number} is by instance {instance}, which was dead since {deaths.get(instance)}")
        if columns:
            check(columns[REVISION] > revisions.get(id, -1),
                  f"3: in change {number}, {id} goes from revision {revisions.get(id)} to {columns[REVISION]}")
            revisions[id] = columns[REVISION]
    kept = scene.postgres.ask("SELECT sequence FROM pawl.feed_end")[0]["sequence"]
    check(kept == last, f"3: the feed ends at {kept}, the last change is {last}")
    scene.figures["deaths"] = len(deaths)


def files(scene):
    """4: every file, from every replica, whole and by range, equals the origin's."""

    def fetch(seat, path, fields):
        connection = http.client.HTTPConnection("127.0.0.1", seat.port, timeout=30)
        try:
            connection.request("GET", path, headers=fields)
            response = connection.getresponse()
            response.read()
            check(response.status == 302, f"4: {path} is answered with {response.status} by replica {seat.number}")
            target = urllib.parse.urlsplit(response.headers["Location"])
        finally:
            connection.close()
        connection = http.client.HTTPConnection(target.netloc, timeout=60)
        try:
            connection.request("GET", target.path + "?" + target.query, headers=fields)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def look(entry):
        content = origin.content(entry.name, entry.size)
        for seat in scene.seats:
            path = f"/downloads/{entry.id}/file"
            status, body = fetch(seat, path, {})
            check(status == 200 and body == content,
                  f"4: the file of {entry}, by replica {seat.number}, is not the origin's ({status}, {len(body)} bytes)")
            first = entry.size // 3
            last = max(first, entry.size // 2)
            status, body = fetch(seat, path, {"Range": f"bytes={first}-{last}"})
            check(status == 206 and body == content[first:last + 1],
                  f"4: bytes {first}-{last} of {entry}, by replica {seat.number}, are not the origin's ({status})")

    done = [entry for entry in scene.entries.values() if entry.id in scene.board and scene.board[entry.id]["state"] == "completed"]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(look, done))
    scene.figures["files"] = len(done)


def fetching(scene):
    """5: a download is fetched by its owner, and again only if its bytes were lost with a replica; limits hold."""
    fetches, _ = scene.network.noted()
    lives = {life.name: (seat, life) for seat in scene.seats for life in seat.lives}
    instances = scene.postgres.ask("SELECT instance, node, extract(epoch FROM at)::float8 AS at FROM notes.births ORDER BY at")
    deaths = {row["instance"]: row["at"] for row in scene.postgres.ask("SELECT instance, extract(epoch FROM at)::float8 AS at FROM notes.deaths")}
    records = collections.defaultdict(list)
    slots, used = {}, collections.Counter()
    for row in scene.postgres.ask(
            "SELECT id, gone, state, owner, slot_holder, host, segments, url, is_provable, extract(epoch FROM at)::float8 AS at"
            " FROM notes.records ORDER BY n"):
        records[row["id"]].append(row)
        # Slots in the database.
        used[slots.pop(row["id"], None)] -= 1
        if row["slot_holder"] and not row["gone"]:
            slots[row["id"]] = row["host"]
            used[row["host"]] += 1
            check(used[row["host"]] <= scene.options.per_host, f"5: {used[row['host']]} slots for {row['host']}: {slots}")
    life_of = {}
    for instance in instances:
        for name, (_, life) in lives.items():
            if life.node == instance["node"] and life.began <= instance["at"] <= (life.ended or float("inf")):
                life_of[instance["instance"]] = name

    # Recorded bytes are discarded only when their owner has ended, on request, or if nothing proves them to a new URL.
    for id, history in records.items():
        first_url = None
        for before, after in zip(history, history[1:]):
            first_url = (first_url or before["url"]) if before["segments"] else None
            if before["segments"] and not after["segments"] and after["state"] in LIVE and not after["gone"]:
                asked = before["state"] in ("failed", "cancelled")
                died = before["owner"] in deaths and deaths[before["owner"]] <= after["at"] + SLACK
                unproven = first_url != after["url"] and not before["is_provable"]
                check(asked or died or unproven, f"5: {id} lost its bytes, though instance {before['owner']} lives: {before} {after}")

    by_name = collections.defaultdict(list)
    for entry in scene.entries.values():
        if entry.id:
            by_name[entry.name].append(entry.id)

    def at(id, time):
        """The record of a download at a time."""
        found = None
        for row in records[id]:
            if row["at"] > time:
                break
            found = row
        return found

    def is_cut_off(life_name, begin, end):
        """Whether the replica may have been declared ended without knowing it, at some time in the span."""
        seat, life = lives[life_name]
        return seat.was_away(begin - scene.options.lease - 2, end)

    for fetch in fetches:
        ids = by_name.get(fetch.name, [])
        if len(ids) != 1:
            continue
        id = ids[0]
        owners = {row["owner"] for row in records[id] if fetch.began - SLACK <= row["at"] <= fetch.began + SLACK}
        now = at(id, fetch.began - SLACK)
        owners |= {now["owner"]} if now else set()
        if fetch.life not in {life_of.get(owner) for owner in owners}:
            check(is_cut_off(fetch.life, fetch.began - SLACK, fetch.began + SLACK),
                  lambda: f"5: {fetch}, and {id} belongs to {[life_of.get(owner) for owner in owners]}: {records[id]}")
        # Bytes that were on a disk for a while, and still are, are not requested again.
        meanwhile = [row for row in records[id] if fetch.began - SLACK < row["at"] <= fetch.began + SLACK]
        if now and all(life_of.get(row["owner"]) == fetch.life for row in [now, *meanwhile]):
            spans = [{(start, synced) for start, _, synced in json.loads(row["segments"] or "[]")} for row in [now, *meanwhile]]
            for first, end in set.intersection(*spans):
                check(not first <= fetch.first < end - origin.OVERLAP, f"5: {fetch} asks for bytes of {first}..<{end}, which {id} had")

    # Replicas that were not cut off keep the limits, whatever the others fetch.
    for host in {fetch.host for fetch in fetches}:
        marks = []
        for fetch in fetches:
            end = (fetch.ended or fetch.began) - SLACK
            if fetch.host == host and end > fetch.began and not is_cut_off(fetch.life, fetch.began, end):
                marks += [(fetch.began, 1, fetch), (end, -1, fetch)]
        under_way = collections.Counter()
        for _, step, fetch in sorted(marks, key=lambda mark: mark[:2]):
            under_way[fetch.name] += step
            names = [name for name, count in under_way.items() if count > 0]
            check(len(names) <= scene.options.per_host, f"5: {len(names)} transfers from {host}: {names} at {fetch}")
    scene.figures["fetches"] = len(fetches)


def events(scene):
    """6: readers that change replicas received each transition once, in order, or a snapshot instead."""
    told = {number: (id, columns) for number, _, id, columns in scene.changes}
    live, states = {}, {}
    #: The live downloads after each change.
    lives = [{}]
    for _, _, id, columns in scene.changes:
        live = dict(live)
        live.pop(id, None)
        if columns and columns[STATE] in LIVE | {"paused"}:
            live[id] = columns[STATE]
        lives.append(live)
    for reader in scene.readers:
        last, hop, epochs = None, None, set()
        for name, kind, data in reader.events:
            if name is None:
                hop = (kind, data)
                continue
            epoch, number = name.rsplit("-", 1)
            epochs.add(epoch)
            check(len(epochs) == 1, f"6: event ids of several epochs: {epochs}")
            number = int(number)
            if kind == "snapshot":
                found = {item["id"]: item["state"] for item in data}
                check(found == lives[number],
                      lambda: f"6: the snapshot {name} (replica, after: {hop}) shows {differing(found, lives[number])}")
                scene.figures["snapshots"] += 1
            elif number == last and kind == "download":
                check(data["state"] == "downloading", f"6: {name} came twice (replica, after: {hop}): {data}")
                scene.figures["events of progress"] += 1
            else:
                check(last is not None and number > last, f"6: {name} comes after {last} (replica, after: {hop})")
                check(number == last + 1,
                      lambda: f"6: between {last} and {name}, transitions are missing (replica, after: {hop}): {told[last + 1]}")
                id, columns = told[number]
                check(data["id"] == id and (kind == "removed") == (columns is None), f"6: {name} tells of {data['id']}, the log of {id}")
                check(columns is None or (data["state"], milliseconds(data["updatedAt"])) == (columns[STATE], columns[UPDATED]),
                      f"6: {name} tells of {data}, the log of {columns}")
                scene.figures["events"] += 1
            last = number
    check(scene.figures["events"] > 0, "6: there were no events")


def differing(found, expected):
    return [(id, found.get(id), expected.get(id)) for id in sorted({*found, *expected}) if found.get(id) != expected.get(id)]


def subscriptions(scene):
    """8: each episode of each subscription has exactly one download, and no two replicas list a feed at a time."""
    taken = collections.Counter()
    for id, history in histories(scene, of_subscriptions=True).items():
        taken[subscription(history[0][1]), json.loads(history[0][1][TRACK])["name"]] += 1
        check(all(columns for _, columns in history), f"8: {id} of a subscription was removed")
    for (label, name), count in taken.items():
        check(count == 1, f"8: {name} of {label} was taken {count} times")
    for entry in scene.subscriber.entries:
        names = {name for label, name in taken if label == f"subscription:{entry['id']}"}
        expected = {f"{entry['name']}-{number}" for number in range(1, entry["count"] + 1)}
        check(names == expected, f"8: of {entry['name']}, {sorted(expected - names)[:5]} were not taken, and {sorted(names - expected)[:5]} were")
    lives = {life.name: seat for seat in scene.seats for life in seat.lives}
    listings = sorted(scene.network.listings(), key=lambda listing: listing[2])
    for number, (name, life, began, ended) in enumerate(listings):
        for other, its, at, _ in listings[number + 1:]:
            if at > ended:
                break
            if name != other or life == its or at < began:
                continue
            # A request takes the claim from a check. A replica that is cut off does not know that its claim has ended.
            excused = any(first - SLACK <= at and began <= last + SLACK for first, last in scene.subscriber.claims[name])
            away = lives[life].was_away(began - scene.options.lease - 2, ended)
            check(excused or away, f"8: {name} is listed by {life} from {began:.2f} to {ended:.2f}, and by {its} at {at:.2f}")
    scene.figures["episodes"] = len(taken)
    scene.figures["listings"] = len(listings)


def webhooks(scene):
    """7: every end was delivered to its webhook."""
    changes = histories(scene)
    expected = collections.defaultdict(list)
    for entry in scene.entries.values():
        if not entry.id or not entry.webhook:
            continue
        before = None
        for _, columns in changes[entry.id]:
            state = columns[STATE] if columns else None
            if state != before and state in ENDS:
                expected[entry].append((state, columns[UPDATED]))
            if state is None and before in LIVE | {"paused"}:
                expected[entry].append(("cancelled", None))
            before = state

    def missing():
        got = collections.defaultdict(set)
        for name, _, data in scene.network.noted()[1]:
            got[name] |= {(data["state"], milliseconds(data["updatedAt"])), (data["state"], None)}
        return [(entry, end) for entry, ends in expected.items() for end in ends if end not in got[entry.label]]

    wait(lambda: not missing(), lambda: f"7: webhooks were not told: {missing()[:3]}; {list(missing()[0][0].history)}", 60)
    names = collections.defaultdict(set)
    _, messages = scene.network.noted()
    for name, delivery, data in messages:
        names[name, data["state"], data["updatedAt"]].add(delivery)
    for what, deliveries in names.items():
        check(len(deliveries) == 1, f"7: there were several messages of one end: {what}, {deliveries}")
    for name, _, data in messages:
        entry = scene.entries[name]
        check((data["state"], milliseconds(data["updatedAt"])) in expected[entry] or ("cancelled", None) in expected[entry],
              f"7: the webhook of {entry} was told of {data['state']}, which is not in the log: {expected[entry]}")
    scene.figures["messages"] = len(messages)


def objects(scene):
    """7: the storage has exactly the objects that records name, except those stored when a replica or the connection to the storage failed."""
    # Objects that could not be removed are tried again after a minute.
    wait(lambda: not scene.postgres.ask("SELECT key FROM pawl.discarded_objects"), "7: discarded objects are not removed", 90)
    named = {row["key"]: row["size"] for row in scene.postgres.ask(
        "SELECT id || '/' || split_part(file_identity, ':', 2) AS key, bytes_total AS size FROM pawl.downloads WHERE state = 'completed'")}
    stored = scene.storage.objects(BUCKET)
    for key, size in named.items():
        check(key in stored and stored[key][0] == size, f"7: the object {key} of {size} bytes is not there: {stored.get(key)}")
    done = sum(1 for item in scene.board.values() if item["state"] == "completed")
    check(len(named) == done, f"7: of {done} completed downloads, {len(named)} have an object")
    faults = scene.storage_faults + [tuple(absence) for seat in scene.seats for absence in seat.absences]
    for key, (_, at) in stored.items():
        if key not in named:
            check(any(first - 2 <= at <= last + 15 for first, last in faults), f"7: no record names the object {key}, stored at {at}")
            scene.figures["stray objects"] += 1
            print(f"stray {key} at {at:.2f}", file=scene.story, flush=True)


def directories(scene):
    """7: no replica that has ended in order keeps part files."""
    for seat in scene.seats:
        left = os.listdir(os.path.join(seat.data, "incomplete"))
        check(not left, f"7: replica {seat.number} keeps {left[:5]} in {seat.data}")


ALL = [promises, duplicates, order, files, fetching, events, subscriptions, webhooks, objects]
