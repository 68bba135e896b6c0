"""The job with libraries of Python."""
import asyncio
import http.client
import json
import sys
import time
import urllib.parse
import urllib.request

name, base, body, text, out = sys.argv[1:]
fields = {"Content-Type": "application/json"}


def job(post, get, follow=None):
    """`follow` gives the lines of a stream; without it, the list is polled."""
    made = json.loads(post(base + "/downloads", body.encode()))
    if follow:
        for line in follow(f"{base}/downloads/{made['id']}/events"):
            if b'"state":"completed"' in (line.encode() if isinstance(line, str) else line):
                break
    else:
        while json.loads(get(f"{base}/downloads?q={text}"))["items"][0]["state"] != "completed":
            time.sleep(0.1)
    with open(out, "wb") as file:
        file.write(get(f"{base}/downloads/{made['id']}/file/{text}"))


if name == "urllib":
    def read(url, data=None):
        with urllib.request.urlopen(urllib.request.Request(url, data, fields if data else {}), timeout=60) as response:
            return response.read()
    job(read, read, lambda url: urllib.request.urlopen(url, timeout=60))
elif name == "http.client":
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(base).netloc, timeout=60)

    def read(url, data=None):
        connection.request("POST" if data else "GET", url[len(base):], data, fields if data else {})
        return connection.getresponse().read()
    job(read, read)
elif name == "requests":
    import requests
    job(lambda url, data: requests.post(url, data, headers=fields, timeout=60).content, lambda url: requests.get(url, timeout=60).content,
        lambda url: requests.get(url, stream=True, timeout=60).iter_lines())
elif name == "urllib3":
    import urllib3
    job(lambda url, data: urllib3.request("POST", url, body=data, headers=fields).data, lambda url: urllib3.request("GET", url).data,
        lambda url: urllib3.request("GET", url, preload_content=False))
elif name == "httpx":
    import httpx

    def lines(url):
        with httpx.stream("GET", url, timeout=60) as response:
            yield from response.iter_lines()
    job(lambda url, data: httpx.post(url, content=data, headers=fields).content, lambda url: httpx.get(url).content, lines)
elif name == "httplib2":
    import httplib2
    client = httplib2.Http(timeout=60)
    job(lambda url, data: client.request(url, "POST", data, fields)[1], lambda url: client.request(url)[1])
elif name == "aiohttp":
    import aiohttp

    async def read(url, data=None):
        async with aiohttp.ClientSession() as session, session.request("POST" if data else "GET", url, data=data, headers=fields) as response:
            return await response.read()
    job(lambda *request: asyncio.run(read(*request)), lambda url: asyncio.run(read(url)))
elif name == "tornado":
    from tornado.httpclient import AsyncHTTPClient

    async def read(url, data=None):
        response = await AsyncHTTPClient().fetch(url, method="POST" if data else "GET", body=data, headers=fields if data else None)
        return response.body
    job(lambda *request: asyncio.run(read(*request)), lambda url: asyncio.run(read(url)))
