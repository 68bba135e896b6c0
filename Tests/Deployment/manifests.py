"""Reads Kubernetes manifests as a cluster would.

    manifests.py check FILE…            whether what they name is there, and fits; FILE… are one application
    manifests.py standard FILE…         those of them that Kubernetes itself defines, as YAML
    manifests.py environment FILE…      the container's variables, a line each, filled in as in the namespace `media`
"""

import re
import sys

import yaml

#: Made by hand, as docs/operations.md tells.
SECRETS = {"pawl": {"tokens"}, "pawl-metrics": {"token"}, "pawl-tls": {"tls.crt", "tls.key"}}


def environment(container, namespace="media"):
    """The variables in order: $(NAME) stands for one that came before."""
    variables = {}
    for variable in container["env"]:
        if "valueFrom" in variable:
            assert variable["valueFrom"] == {"fieldRef": {"fieldPath": "metadata.namespace"}}, variable
            value = namespace
        else:
            value = re.sub(r"\$\((\w+)\)", lambda name: variables.get(name[1], name[0]), variable["value"])
        variables[variable["name"]] = value
    return variables


def check(parts):
    found = {}
    for part in parts:
        found.setdefault(part["kind"], []).append(part)
    deployment, = found["Deployment"]
    pod = deployment["spec"]["template"]
    labels = pod["metadata"]["labels"]
    container, = pod["spec"]["containers"]
    service, = found["Service"]
    ports = {port["name"] for port in container["ports"]}
    namespace = deployment["metadata"].get("namespace", "media")

    def selects(selector, labels):
        return bool(selector) and selector.items() <= labels.items()

    assert selects(deployment["spec"]["selector"]["matchLabels"], labels)
    assert selects(service["spec"]["selector"], labels)
    served = {port["name"] for port in service["spec"]["ports"]}
    assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["port"] in ports

    # An image that was loaded onto the nodes is used as it is: a tag of its own, since `latest` is always pulled.
    assert container["imagePullPolicy"] == "IfNotPresent" and re.fullmatch(r"pawl:\d+\.\d+\.\d+", container["image"]), container["image"]
    assert container["resources"]["limits"]["memory"]

    for budget in found["PodDisruptionBudget"]:
        assert selects(budget["spec"]["selector"]["matchLabels"], labels)
    directions = set()
    for policy in found["NetworkPolicy"]:
        assert selects(policy["spec"]["podSelector"]["matchLabels"], labels)
        directions.update(policy["spec"]["policyTypes"])
        for rule in policy["spec"].get("ingress", []):
            assert rule["from"] and {port["port"] for port in rule["ports"]} <= ports
        for rule in policy["spec"].get("egress", []):
            assert rule["to"] and rule["ports"]
    assert directions == {"Ingress", "Egress"}

    claims = {part["metadata"]["name"] for part in found["PersistentVolumeClaim"]}
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    files = set()
    for volume in pod["spec"]["volumes"]:
        if "secret" in volume:
            for item in volume["secret"]["items"]:
                assert item["key"] in SECRETS[volume["secret"]["secretName"]], item
                files.add(mounts[volume["name"]] + "/" + item["path"])
        else:
            assert volume["persistentVolumeClaim"]["claimName"] in claims
    variables = environment(container, namespace)
    assert variables["PAWL_TOKENS_FILE"] in files
    hosts = variables["PAWL_ALLOWED_HOST"].split(",")
    name = service["metadata"]["name"]
    for host in (name, f"{name}.{namespace}", f"{name}.{namespace}.svc", f"{name}.{namespace}.svc.cluster.local"):
        assert host in hosts, f"{host} is not allowed"

    for ingress in found.get("Ingress", []):
        secured = {host for tls in ingress["spec"]["tls"] for host in tls["hosts"]}
        for rule in ingress["spec"]["rules"]:
            assert rule["host"] in hosts and rule["host"] in secured
            for path in rule["http"]["paths"]:
                backend = path["backend"]["service"]
                assert backend["name"] == name and backend["port"]["name"] in served
    for monitor in found.get("ServiceMonitor", []):
        assert monitor["apiVersion"] == "monitoring.coreos.com/v1"
        assert selects(monitor["spec"]["selector"]["matchLabels"], service["metadata"]["labels"])
        endpoint, = monitor["spec"]["endpoints"]
        credentials = endpoint["authorization"]["credentials"]
        assert endpoint["port"] in served and endpoint["path"] == "/metrics"
        assert credentials["key"] in SECRETS[credentials["name"]]
    for part in parts:
        assert part["kind"] == "Namespace" or part["metadata"].get("namespace") == deployment["metadata"].get("namespace"), part
    print("   " + ", ".join(sorted(f"{kind} ({len(some)})" if len(some) > 1 else kind for kind, some in found.items())))


def main():
    command, *paths = sys.argv[1:]
    parts = [part for path in paths for part in yaml.safe_load_all(open(path)) if part]
    match command:
        case "check":
            check(parts)
        case "standard":
            yaml.safe_dump_all([part for part in parts if part["apiVersion"] != "monitoring.coreos.com/v1"], sys.stdout)
        case "environment":
            deployment, = (part for part in parts if part["kind"] == "Deployment")
            for name, value in environment(deployment["spec"]["template"]["spec"]["containers"][0]).items():
                print(f"{name}={value}")


main()
