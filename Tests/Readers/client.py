"""Reads an event stream with one client, as its documentation shows, and prints each event as a line of JSON.

usage: client.py NAME URL
"""
import asyncio
import json
import sys


def tell(name, data, identity):
    # A client that gives the end of chunked framing out as an event does so without a name.
    if name == "message" and not data:
        print(json.dumps({"name": "empty"}), flush=True)
        return
    value = json.loads(data)
    print(json.dumps({"name": name, "value": value, "id": identity}), flush=True)


def httpx_sse(url):
    import httpx
    import httpx_sse

    # With the default time limit of 5 s for each read.
    with httpx.Client() as client, httpx_sse.connect_sse(client, "GET", url) as source:
        for event in source.iter_sse():
            tell(event.event, event.data, event.id)


async def httpx_sse_async(url):
    import httpx
    import httpx_sse

    async with httpx.AsyncClient() as client, httpx_sse.aconnect_sse(client, "GET", url) as source:
        async for event in source.aiter_sse():
            tell(event.event, event.data, event.id)


def sseclient(url):
    import sseclient

    for event in sseclient.SSEClient(url):
        tell(event.event, event.data, event.id)


def sseclient_py(url):
    import requests
    import sseclient

    for event in sseclient.SSEClient(requests.get(url, stream=True, headers={"Accept": "text/event-stream"})).events():
        tell(event.event, event.data, event.id)


async def aiohttp_sse_client(url):
    from aiohttp_sse_client.client import EventSource

    async with EventSource(url) as source:
        async for event in source:
            tell(event.type, event.data, event.last_event_id)


async def aiosseclient(url):
    from aiosseclient import aiosseclient as connect

    async for event in connect(url):
        tell(event.event, event.data, event.id)


def by_lines(lines):
    fields = {}
    for line in lines:
        line = line.decode() if isinstance(line, bytes) else line
        name, _, value = line.rstrip("\n").partition(":")
        if line.strip():
            fields[name] = fields[name] + "\n" + value[1:] if name == "data" and name in fields else value[1:]
        elif "data" in fields:
            tell(fields.get("event", "message"), fields["data"], fields.get("id"))
            fields = {}


def requests_lines(url):
    import requests

    by_lines(requests.get(url, stream=True, timeout=5).iter_lines(chunk_size=1))


def urllib_lines(url):
    """Asks for the end of the connection."""
    import urllib.request

    by_lines(urllib.request.urlopen(url, timeout=5))


if __name__ == "__main__":
    client = globals()[sys.argv[1]]
    try:
        if asyncio.iscoroutinefunction(client):
            asyncio.run(client(sys.argv[2]))
        else:
            client(sys.argv[2])
    except KeyboardInterrupt:
        pass
    print(json.dumps({"name": "end"}), flush=True)
