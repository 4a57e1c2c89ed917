"""The ready-made manifests: valid by their schemas, and they fit together."""

import re
from pathlib import Path

import jsonschema
import kubernetes_validate
import pytest
import yaml

from harness.command import seconds, settings_of

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "deploy" / "kubernetes"
MANIFESTS = ["deployment.yaml", "hpa.yaml", "pdb.yaml", "service.yaml"]

LABELS = {"type": "object", "additionalProperties": {"type": "string"}}
SELECTOR = {
    "type": "object",
    "required": ["matchLabels"],
    "properties": {"matchLabels": LABELS},
    "additionalProperties": False,
}

# The part of monitoring.coreos.com/v1 that is used.
SERVICE_MONITOR = {
    "type": "object",
    "required": ["apiVersion", "kind", "metadata", "spec"],
    "additionalProperties": False,
    "properties": {
        "apiVersion": {"const": "monitoring.coreos.com/v1"},
        "kind": {"const": "ServiceMonitor"},
        "metadata": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string"}, "labels": LABELS},
            "additionalProperties": False,
        },
        "spec": {
            "type": "object",
            "required": ["selector", "endpoints"],
            "additionalProperties": False,
            "properties": {
                "selector": SELECTOR,
                "endpoints": {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "type": "object",
                        "required": ["port"],
                        "additionalProperties": False,
                        "properties": {
                            "port": {"type": "string"},
                            "path": {"type": "string", "pattern": "^/"},
                            "interval": {"type": "string", "pattern": "^[0-9]+(ms|s|m|h)$"},
                        },
                    },
                },
            },
        },
    },
}

# The part of the values of the chart prometheus-adapter that is used.
ADAPTER_VALUES = {
    "type": "object",
    "required": ["rules"],
    "additionalProperties": False,
    "properties": {
        "rules": {
            "type": "object",
            "required": ["custom"],
            "additionalProperties": False,
            "properties": {
                "custom": {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "type": "object",
                        "required": ["seriesQuery", "resources", "name", "metricsQuery"],
                        "additionalProperties": False,
                        "properties": {
                            "seriesQuery": {"type": "string"},
                            "metricsQuery": {
                                "type": "string",
                                "pattern": "<<.Series>>.*<<.LabelMatchers>>.*<<.GroupBy>>",
                            },
                            "name": {
                                "type": "object",
                                "properties": {"matches": {"type": "string"}, "as": {"type": "string"}},
                                "additionalProperties": False,
                            },
                            "resources": {
                                "type": "object",
                                "required": ["overrides"],
                                "additionalProperties": False,
                                "properties": {
                                    "overrides": {
                                        "type": "object",
                                        "additionalProperties": {
                                            "type": "object",
                                            "required": ["resource"],
                                            "additionalProperties": False,
                                            "properties": {"resource": {"type": "string"}},
                                        },
                                    }
                                },
                            },
                        },
                    },
                }
            },
        }
    },
}

SCHEMAS = {"servicemonitor.yaml": SERVICE_MONITOR, "prometheus-adapter/values.yaml": ADAPTER_VALUES}


def read(name):
    """The one document of a file."""
    return yaml.safe_load((FOLDER / name).read_text())


@pytest.fixture
def pod():
    """What the deployment says of its pods."""
    return read("deployment.yaml")["spec"]["template"]


@pytest.fixture
def container(pod):
    """The one container."""
    (container,) = pod["spec"]["containers"]
    return container


@pytest.fixture
def settings(container, tmp_path):
    """The settings of the server in the container; its image gives some, as the Dockerfile says."""
    image = ["--bind", "0.0.0.0:8000", "--health", "/-/health"]
    return settings_of([*image, *container["args"]], tmp_path)


def test_there_are_no_others():
    files = [path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file()]
    assert sorted(files) == sorted([*MANIFESTS, *SCHEMAS])


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_is_valid(name):
    kubernetes_validate.validate(read(name), kubernetes_validate.latest_version(), strict=True)


def test_the_validator_finds_a_misspelt_field():
    manifest = read("deployment.yaml")
    manifest["spec"]["template"]["spec"]["containers"][0]["livenesProbe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(manifest, kubernetes_validate.latest_version(), strict=True)


@pytest.mark.parametrize("name", SCHEMAS)
def test_what_is_not_of_kubernetes_itself_is_valid(name):
    jsonschema.validate(read(name), SCHEMAS[name])


def test_the_image_gives_the_flags_that_the_fixture_says(settings):
    dockerfile = (ROOT / "deploy" / "docker" / "Dockerfile").read_text()
    assert 'ENTRYPOINT ["pronghorn", "--bind", "0.0.0.0:8000", "--health", "/-/health"]' in dockerfile
    assert settings["app"] == "wiki:application"


def test_all_select_the_same_pods(pod):
    labels = pod["metadata"]["labels"]
    assert read("deployment.yaml")["spec"]["selector"]["matchLabels"] == labels
    assert read("service.yaml")["spec"]["selector"] == labels
    assert read("pdb.yaml")["spec"]["selector"]["matchLabels"] == labels
    assert read("servicemonitor.yaml")["spec"]["selector"]["matchLabels"] == read("service.yaml")["metadata"]["labels"]
    assert read("hpa.yaml")["spec"]["scaleTargetRef"]["name"] == read("deployment.yaml")["metadata"]["name"]


def test_ports_are_those_of_the_server(container, settings):
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert settings["bind"] == f'["0.0.0.0:{ports["http"]}"]'
    assert settings["metrics"] == f"0.0.0.0:{ports['metrics']}"
    assert {port["targetPort"] for port in read("service.yaml")["spec"]["ports"]} == ports.keys()
    (endpoint,) = read("servicemonitor.yaml")["spec"]["endpoints"]
    assert endpoint["port"] in [port["name"] for port in read("service.yaml")["spec"]["ports"]]


@pytest.mark.parametrize("probe", ["startupProbe", "readinessProbe", "livenessProbe"])
def test_probes_ask_the_server_itself(container, settings, probe):
    assert container[probe]["httpGet"] == {"path": settings["health"], "port": "http"}


def test_a_pod_that_ends_is_out_of_the_balancers_before_it_stops(pod, container, settings):
    probe = container["readinessProbe"]
    assert (
        seconds(settings["drain-delay"]) > probe["periodSeconds"] * probe["failureThreshold"] + probe["timeoutSeconds"]
    )
    drained = seconds(settings["drain-delay"]) + seconds(settings["graceful-timeout"])
    assert pod["spec"]["terminationGracePeriodSeconds"] > drained


def test_kubernetes_waits_as_long_for_a_start_as_the_server(container, settings):
    probe = container["startupProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] >= seconds(settings["start-timeout"])


def test_a_worker_is_replaced_before_the_pod_has_too_much_memory(container, settings):
    most = int(settings["max-memory"].removesuffix("MiB")) * int(settings["workers"])
    assert most < int(container["resources"]["limits"]["memory"].removesuffix("Mi"))


def test_the_pod_has_no_rights(pod, container):
    assert pod["spec"]["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert str(pod["spec"]["securityContext"]["runAsUser"]) in (ROOT / "deploy/docker/Dockerfile").read_text()


def test_what_scales_is_a_metric_of_each_pod_that_the_adapter_knows(settings):
    pods, _ = read("hpa.yaml")["spec"]["metrics"]
    name = pods["pods"]["metric"]["name"]
    (rule,) = read("prometheus-adapter/values.yaml")["rules"]["custom"]
    assert rule["seriesQuery"].startswith(name + "{")
    assert rule["name"] == {"matches": f"^({name})$", "as": "$1"}
    assert int(pods["pods"]["target"]["averageValue"]) < int(settings["threads"]) * int(settings["workers"])


def test_every_metric_that_is_named_is_one_of_the_server(serve):
    server = serve("hello:app", "--metrics", "/metrics")
    served = set(re.findall(r"^# TYPE (\S+) ", server.get("/metrics").body.decode(), re.MULTILINE))
    files = [*FOLDER.rglob("*.yaml"), ROOT / "docs" / "operations.md"]
    named = {name for file in files for name in re.findall(r"\bpronghorn_[a-z_]+[a-z]", file.read_text())}
    assert named, "no metric is named"
    assert {re.sub("_(bucket|sum|count)$", "", name) for name in named} <= served
