"""Reads Kubernetes manifests as a cluster would.

    manifests.py check FILE…            checks that named objects exist and fit; FILE… are one application
    manifests.py standard FILE…         prints the objects of Kubernetes' own kinds as YAML
    manifests.py environment FILE…      prints the container's variables, one on a line, as in the namespace `media`
"""

import re
import sys

import yaml

#: Created by hand, as in docs/operations.md and docs/fleet.md.
SECRETS = {
    "pawl": {"tokens"}, "pawl-metrics": {"token"}, "pawl-tls": {"tls.crt", "tls.key"},
    "pawl-store": {"url", "ca.crt"}, "pawl-files": {"access-key-id", "secret-access-key"},
}


def environment(container, namespace="media"):
    """The variables in order: $(NAME) means an earlier one."""
    variables = {}
    for variable in container["env"]:
        if "secretKeyRef" in variable.get("valueFrom", {}):
            value = variable["valueFrom"]["secretKeyRef"]["key"]
            assert value in SECRETS[variable["valueFrom"]["secretKeyRef"]["name"]], variable
        elif "valueFrom" in variable:
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
    workload, = found.get("Deployment", []) + found.get("StatefulSet", [])
    pod = workload["spec"]["template"]
    labels = pod["metadata"]["labels"]
    container, = pod["spec"]["containers"]
    service, = found["Service"]
    ports = {port["name"] for port in container["ports"]}
    namespace = workload["metadata"].get("namespace", "media")

    def selects(selector, labels):
        return bool(selector) and selector.items() <= labels.items()

    assert selects(workload["spec"]["selector"]["matchLabels"], labels)
    assert selects(service["spec"]["selector"], labels)
    served = {port["name"] for port in service["spec"]["ports"]}
    assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["port"] in ports

    # An image that was loaded onto the nodes is used unchanged: it has its own tag, since `latest` is always pulled.
    assert container["imagePullPolicy"] == "IfNotPresent" and re.fullmatch(r"pawl:\d+\.\d+\.\d+", container["image"]), container["image"]
    assert container["resources"]["limits"]["memory"]

    for budget in found["PodDisruptionBudget"]:
        assert selects(budget["spec"]["selector"]["matchLabels"], labels)
    directions, outward = set(), []
    for policy in found["NetworkPolicy"]:
        assert selects(policy["spec"]["podSelector"]["matchLabels"], labels)
        directions.update(policy["spec"]["policyTypes"])
        for rule in policy["spec"].get("ingress", []):
            assert rule["from"] and {port["port"] for port in rule["ports"]} <= ports
        for rule in policy["spec"].get("egress", []):
            assert rule["to"] and rule["ports"]
            outward += [port["port"] for port in rule["ports"]]
    assert directions == {"Ingress", "Egress"}

    claims = {part["metadata"]["name"] for part in found.get("PersistentVolumeClaim", [])}
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    files = set()
    for volume in pod["spec"]["volumes"]:
        if "secret" in volume:
            keys = SECRETS[volume["secret"]["secretName"]]
            for item in volume["secret"].get("items", [{"key": key, "path": key} for key in keys]):
                assert item["key"] in keys, item
                files.add(mounts[volume["name"]] + "/" + item["path"])
        else:
            claims.remove(volume["persistentVolumeClaim"]["claimName"])
    assert not claims
    variables = environment(container, namespace)
    assert variables["PAWL_TOKENS_FILE"] in files
    # The drain and the orderly end, which takes at most ten seconds.
    assert pod["spec"]["terminationGracePeriodSeconds"] > int(variables["PAWL_DRAIN_DELAY"]) + 10
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
        assert part["kind"] == "Namespace" or part["metadata"].get("namespace") == workload["metadata"].get("namespace"), part
    if workload["kind"] == "StatefulSet":
        check_fleet(workload["spec"], found, variables, files, outward)
    print("   " + ", ".join(sorted(f"{kind} ({len(some)})" if len(some) > 1 else kind for kind, some in found.items())))


def check_fleet(spec, found, variables, files, outward):
    """Further rules for several replicas."""
    assert spec["replicas"] == 3 and spec["updateStrategy"] == {"type": "RollingUpdate"}
    assert spec["serviceName"] in {service["metadata"]["name"] for service in found["Service"]}
    budget, = found["PodDisruptionBudget"]
    assert budget["spec"]["maxUnavailable"] < spec["replicas"]
    spread, = spec["template"]["spec"]["topologySpreadConstraints"]
    assert spread["labelSelector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()
    # Each has its own data directory, which waits for it.
    template, = spec["volumeClaimTemplates"]
    mounts = {mount["name"]: mount["mountPath"] for mount in spec["template"]["spec"]["containers"][0]["volumeMounts"]}
    assert mounts[template["metadata"]["name"]] == "/data"
    # Only a replica that is not started again leaves.
    assert "PAWL_LEAVE" not in variables
    assert variables["PAWL_STORE_FILE"] in files and 5432 in outward
    assert variables["PAWL_FILES"].startswith("s3://") and {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} <= variables.keys()


def main():
    command, *paths = sys.argv[1:]
    parts = [part for path in paths for part in yaml.safe_load_all(open(path)) if part]
    match command:
        case "check":
            check(parts)
        case "standard":
            yaml.safe_dump_all([part for part in parts if part["apiVersion"] != "monitoring.coreos.com/v1"], sys.stdout)
        case "environment":
            workload, = (part for part in parts if part["kind"] in ("Deployment", "StatefulSet"))
            for name, value in environment(workload["spec"]["template"]["spec"]["containers"][0]).items():
                print(f"{name}={value}")


main()
