"""Reads the compose file of a fleet, and the Caddyfile beside it, as Docker and Caddy would.

    compose.py check FOLDER          checks that named files and services exist and fit
    compose.py environment FOLDER    prints a replica's variables, one on a line, with this process's environment filled in
"""

import os
import re
import sys
import urllib.parse

import yaml


def seconds(time):
    return int(re.fullmatch(r"(\d+)s", time)[1])


def check(folder):
    document = yaml.safe_load(open(folder + "/compose.yaml"))
    services = document["services"]
    replicas = {name: service for name, service in services.items() if service["image"].startswith("pawl:")}
    assert len(replicas) == 3

    # Replicas are equal except for their data directories, which are not shared.
    volumes = []
    for service in replicas.values():
        volume, = service["volumes"]
        name, path = volume.split(":")
        assert path == "/data" and name in document["volumes"], volume
        volumes.append(name)
    assert len(set(volumes)) == len(volumes)
    alike = [{key: value for key, value in service.items() if key != "volumes"} for service in replicas.values()]
    assert all(service == alike[0] for service in alike)
    replica = alike[0]
    assert os.path.exists(os.path.join(folder, replica["build"], "Dockerfile"))
    variables = replica["environment"]
    # The drain and the orderly end, which takes at most ten seconds.
    assert seconds(replica["stop_grace_period"]) > int(variables["PAWL_DRAIN_DELAY"]) + 10

    # The database and the storage exist, are waited for, and have the replicas' credentials.
    def shared(value, other):
        """Checks that two variables have the same required value."""
        names = [re.search(r"\$\{(\w+):\?", text)[1] for text in (value, other)]
        assert names[0] == names[1], names

    store = urllib.parse.urlsplit(re.sub(r"\$\{[^}]*\}", "", variables["PAWL_STORE"]))
    database = services[store.hostname]
    assert store.scheme == "postgres" and database["image"].startswith("postgres:")
    assert store.username == store.path[1:] == database["environment"]["POSTGRES_USER"]
    shared(variables["PAWL_STORE"], database["environment"]["POSTGRES_PASSWORD"])
    files = urllib.parse.urlsplit(variables["PAWL_FILES"])
    addresses = {name: urllib.parse.urlsplit(values[0]) for name, values in urllib.parse.parse_qs(files.query).items()}
    storage = services[addresses["endpoint"].hostname]
    assert f"{addresses['public'].netloc}:{addresses['endpoint'].port}" in storage["ports"]
    assert f"mkdir -p /data/{files.netloc} &&" in storage["entrypoint"][-1]
    assert variables["AWS_ACCESS_KEY_ID"] == storage["environment"]["ROOT_ACCESS_KEY"]
    shared(variables["AWS_SECRET_ACCESS_KEY"], storage["environment"]["ROOT_SECRET_KEY"])
    for service in (database, storage):
        assert service["healthcheck"]["test"][0] == "CMD"
        name, = (name for name in services if services[name] is service)
        assert replica["depends_on"][name] == {"condition": "service_healthy"}

    # The proxy leads to exactly the replicas.
    path = next(volume.split(":")[0] for volume in services["caddy"]["volumes"] if volume.endswith(":/etc/caddy/Caddyfile:ro"))
    caddyfile = open(os.path.join(folder, path)).read()
    upstreams = re.search(r"^\treverse_proxy (.*) \{$", caddyfile, re.MULTILINE)[1].split()
    assert upstreams == [f"{name}:8080" for name in replicas]
    assert variables["PAWL_ALLOWED_HOST"].split(",") == list(replicas)
    assert "health_uri /readyz" in caddyfile

    # No port is open to other machines, and a name stays one image.
    for name, service in services.items():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", [])), name
        assert name in replicas or re.search(r":[\w.-]+@sha256:[0-9a-f]{64}$", service["image"]), service["image"]
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            assert source in document["volumes"] or os.path.isfile(os.path.join(folder, source)), source
    print("   " + ", ".join(services))


def environment(folder):
    services = yaml.safe_load(open(folder + "/compose.yaml"))["services"]
    replica = next(service for service in services.values() if service["image"].startswith("pawl:"))
    for name, value in replica["environment"].items():
        print(name + "=" + re.sub(r"\$\{(\w+)[^}]*\}", lambda variable: os.environ[variable[1]], value))


{"check": check, "environment": environment}[sys.argv[1]](sys.argv[2])
