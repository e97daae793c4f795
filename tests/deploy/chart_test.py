#!/usr/bin/env python3
"""The Helm chart, rendered by Go's template engine: its objects are what
Kubernetes knows, and its flags, ports and probes are what the programs have.

usage: chart_test.py PROJECT_DIR BINARY_DIR

Exit code 77 (skipped) without go (package golang-go) or build/node_deploy
(scripts/install_node_modules.sh).
"""
import copy
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

PROJECT, BINARIES = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
CHART = PROJECT / "deploy/helm/semrank"
MODULES = PROJECT / "build/node_deploy"
MODEL = PROJECT / "tests/testdata/reference_model/dssm"

# These few sets of values cover what the chart can do.
PLAIN = {"model": {"claim": "models"}}
FULL = {
    "model": {"init": {"image": "models:7", "command": ["cp", "-r", "/model/default", "/models/"]}},
    "apiKeys": {"lines": ["read " + "0" * 64]},
    "tls": {"existingSecret": "certificate", "clientCa": True},
    "store": {"existingSecret": "store", "port": 6380},
    "flags": {"enable_admin_rpcs": True, "max_connections": 1000, "cache_bytes": 268435456, "max_share_per_caller": 0.5},
    "autoscaling": {"enabled": True, "inflightTexts": 20000},
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "embedJob": {"enabled": True, "parts": 2, "claim": "data"},
}
EVENTS = {"model": {"claim": "models"}, "replicas": 1, "events": {"claim": "clicks"}}
TRAINING = {"model": {"claim": "models"}, "trainJob": {"enabled": True, "image": "train:7", "claim": "clicks", "streamSecret": "stream"}}
STREAM = {"model": {"claim": "models"}, "events": {"streamSecret": "stream"},
          "flags": {"events_kafka_config": "/secrets/events/kafka.conf"}}


def merge(base: dict, over: dict) -> dict:
    """Merges values over those of the chart, like Helm."""
    merged = copy.deepcopy(base)
    for name, value in over.items():
        both = isinstance(value, dict) and isinstance(merged.get(name), dict)
        merged[name] = merge(merged[name], value) if both else value
    return merged


class ChartTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.renderer = cls.folder / "render_chart"
        subprocess.run(["go", "build", "-o", cls.renderer, PROJECT / "tests/deploy/render_chart.go"], check=True,
                       env={**os.environ, "GO111MODULE": "off", "GOFLAGS": "", "GOCACHE": os.environ.get("GOCACHE", f"{cls.folder}/cache")})
        shutil.copytree(MODEL, cls.folder / "models/default")
        subprocess.run(["openssl", "req", "-x509", "-days", "2", "-subj", "/CN=localhost", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-keyout", cls.folder / "tls.key", "-out", cls.folder / "tls.crt"],
                       check=True, capture_output=True)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def render(self, values: dict) -> subprocess.CompletedProcess:
        chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
        context = {"Values": merge(yaml.safe_load((CHART / "values.yaml").read_text()), values),
                   "Release": {"Name": "shop", "Service": "Helm"},
                   "Chart": {"Name": chart["name"], "Version": chart["version"], "AppVersion": chart["appVersion"]}}
        return subprocess.run([self.renderer, CHART], input=json.dumps(context), capture_output=True, text=True)

    def objects(self, values: dict) -> dict[tuple[str, str], dict]:
        """The objects by kind and name."""
        done = self.render(values)
        self.assertEqual(done.returncode, 0, done.stderr)
        documents = [document for document in yaml.safe_load_all(done.stdout) if document]
        return {(document["kind"], document["metadata"]["name"]): document for document in documents}

    def here(self, argument: str) -> str:
        """An argument of a container, with this test's paths instead of mounts."""
        for there, path in (("/models", "models"), ("/secrets/tls/tls.crt", "tls.crt"), ("/secrets/tls/tls.key", "tls.key"),
                            ("/secrets/tls/ca.crt", "tls.crt"), ("/secrets/keys/keys", "keys"), ("/data", "data"),
                            ("/secrets/events", "stream"), ("/secrets/stream", "stream"), ("/events", "events")):
            argument = argument.replace(there, f"{self.folder}/{path}")
        return argument

    def test_kubernetes_knows_every_field(self):
        objects = [thing for values in (PLAIN, FULL, EVENTS, STREAM, TRAINING) for thing in self.objects(values).values()]
        kinds = {thing["kind"] for thing in objects}
        self.assertEqual(kinds, {"Deployment", "Service", "PodDisruptionBudget", "NetworkPolicy", "HorizontalPodAutoscaler",
                                 "ServiceMonitor", "Secret", "Job", "CronJob", "Pod"})
        work = self.folder / "node"
        work.mkdir(exist_ok=True)
        if not (work / "node_modules").exists():
            (work / "node_modules").symlink_to(MODULES / "node_modules")
            shutil.copy(MODULES / "package.json", work)
        (work / "objects.json").write_text(json.dumps(objects))
        check = subprocess.run(["node", PROJECT / "tests/deploy/kubernetes/check_objects.mjs"], cwd=work,
                               capture_output=True, text=True)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        # The check itself must find a misspelt field.
        service = next(thing for thing in objects if thing["kind"] == "Service")
        service["metadata"]["lables"] = {}
        (work / "objects.json").write_text(json.dumps([service]))
        self.assertEqual(subprocess.run(["node", PROJECT / "tests/deploy/kubernetes/check_objects.mjs"], cwd=work,
                                        capture_output=True).returncode, 1)

    def test_a_chart_without_a_model_says_what_to_set(self):
        done = self.render({})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("set model.claim or model.init", done.stderr)

    def test_a_claim_of_events_is_the_folder_of_one_server(self):
        deployment = self.objects(EVENTS)["Deployment", "shop-semrank"]["spec"]
        self.assertEqual((deployment["replicas"], deployment["strategy"]), (1, {"type": "Recreate"}))
        pod = deployment["template"]["spec"]
        self.assertIn("--events=/events", pod["containers"][0]["args"])
        self.assertIn({"name": "events", "mountPath": "/events"}, pod["containers"][0]["volumeMounts"])
        self.assertIn({"name": "events", "persistentVolumeClaim": {"claimName": "clicks"}}, pod["volumes"])
        for values in ({"replicas": 2}, {"autoscaling": {"enabled": True}}):
            self.assertIn("events.claim needs replicas=1 without autoscaling", self.render(merge(EVENTS, values)).stderr)
        plain = self.objects(PLAIN)["Deployment", "shop-semrank"]["spec"]
        self.assertNotIn("events", str(plain))
        self.assertEqual(plain["strategy"], {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}})

    def test_a_stream_of_events_is_a_secret_of_all_replicas(self):
        objects = self.objects(STREAM)
        deployment = objects["Deployment", "shop-semrank"]["spec"]
        self.assertEqual(deployment["replicas"], 2)
        pod = deployment["template"]["spec"]
        server = pod["containers"][0]
        self.assertEqual(server["env"], [{"name": "SEMRANK_EVENTS", "valueFrom": {"secretKeyRef": {"name": "stream", "key": "stream"}}}])
        self.assertIn("--events_key=/secrets/events/key", server["args"])
        self.assertIn({"name": "stream", "mountPath": "/secrets/events", "readOnly": True}, server["volumeMounts"])
        checked = subprocess.run([BINARIES / "semrank-server", *map(self.here, server["args"]), "--check_config"],
                                 env={**os.environ, "SEMRANK_EVENTS": "kafka:127.0.0.1:1/shop"}, capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertIn({"ports": [{"port": 9092}]}, objects["NetworkPolicy", "shop-semrank"]["spec"]["egress"])
        self.assertIn("events.claim excludes events.streamSecret", self.render(merge(EVENTS, {"events": {"streamSecret": "stream"}})).stderr)

    def test_a_night_imports_the_stream_before_it_trains(self):
        pod = self.objects(TRAINING)["CronJob", "shop-semrank-train"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        self.assertIn("--events=/events", pod["containers"][0]["args"])
        importer = pod["initContainers"][0]
        self.assertIn({"name": "events", "mountPath": "/events"}, importer["volumeMounts"])
        self.assertEqual(importer["env"], [{"name": "SEMRANK_STREAM", "valueFrom": {"secretKeyRef": {"name": "stream", "key": "stream"}}}])
        done = self.run_import(importer, "redis://127.0.0.1:1/shop")
        self.assertEqual(done.returncode, 1)
        self.assertIn("redis://127.0.0.1:1", done.stderr)
        alone = self.objects(merge(TRAINING, {"trainJob": {"streamSecret": ""}}))["CronJob", "shop-semrank-train"]
        self.assertNotIn("initContainers", str(alone))
        self.assertEqual(alone["spec"]["jobTemplate"]["spec"]["backoffLimit"], 0)

    def run_import(self, importer: dict, stream: str) -> subprocess.CompletedProcess:
        program, *arguments = [self.here(argument) for argument in importer["command"] + importer["args"]]
        return subprocess.run([BINARIES / program, *arguments], env={**os.environ, "SEMRANK_STREAM": stream}, capture_output=True, text=True)

    def test_an_import_that_fails_is_repeated_and_training_is_not(self):
        job = self.objects(TRAINING)["CronJob", "shop-semrank-train"]["spec"]["jobTemplate"]["spec"]
        pause = sum(min(10 * 2**attempt, 360) for attempt in range(job["backoffLimit"]))  # as Kubernetes does
        self.assertTrue(20 * 60 < pause < 40 * 60, pause)
        self.assertEqual(job["template"]["spec"]["restartPolicy"], "Never")  # podFailurePolicy needs it
        codes = {rule["onExitCodes"]["containerName"]: rule for rule in job["podFailurePolicy"]["rules"]}
        self.assertEqual({rule["action"] for rule in codes.values()}, {"FailJob"})
        self.assertEqual((codes["train"]["onExitCodes"]["operator"], codes["train"]["onExitCodes"]["values"]), ("NotIn", [0]))
        importer = job["template"]["spec"]["initContainers"][0]
        self.assertEqual(codes["import"]["onExitCodes"]["values"], [self.run_import(importer, "no address").returncode])

    def test_the_import_has_the_files_and_flags_that_its_stream_needs(self):
        (self.folder / "stream").mkdir(exist_ok=True)
        (self.folder / "stream/kafka.conf").write_text("security.protocol=ssl\nno.such.property=1\n")
        for flag, file, stream, error in (("kafka_config", "kafka.conf", "kafka:127.0.0.1:1/shop", "no.such.property"),
                                          ("tls_ca", "ca.crt", "rediss://127.0.0.1:1/shop", "stream/ca.crt")):
            values = merge(TRAINING, {"trainJob": {"importFlags": {flag: f"/secrets/stream/{file}", "max_bad_lines": "7"}}})
            pod = self.objects(values)["CronJob", "shop-semrank-train"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]
            self.assertIn({"name": "stream", "secret": {"secretName": "stream", "defaultMode": 0o440}}, pod["volumes"])
            importer = pod["initContainers"][0]
            self.assertIn({"name": "stream", "mountPath": "/secrets/stream", "readOnly": True}, importer["volumeMounts"])
            self.assertIn("--max_bad_lines=7", importer["args"])
            self.assertIn(error, self.run_import(importer, stream).stderr)

    def test_the_server_takes_the_flags_and_listens_where_ports_and_probes_say(self):
        (self.folder / "keys").write_text(FULL["apiKeys"]["lines"][0] + "\n")
        for values in (PLAIN, FULL, EVENTS):
            pod = self.objects(values)["Deployment", "shop-semrank"]["spec"]["template"]["spec"]
            server = pod["containers"][0]
            arguments = [self.here(argument) for argument in server["args"]]
            printed = subprocess.run([BINARIES / "semrank-server", *arguments, "--check_config"], capture_output=True, text=True)
            self.assertEqual(printed.returncode, 0, printed.stderr)
            self.assertLessEqual({f"--{name}={json.dumps(value)}" for name, value in values.get("flags", {}).items()}, set(arguments))
            config = dict(line.split("=", 1) for line in printed.stdout.splitlines())
            ports = {port["name"]: port["containerPort"] for port in server["ports"]}
            for flag, name in (("listen_address", "grpc"), ("http_address", "http"), ("health_address", "health")):
                self.assertEqual(config[flag], f"0.0.0.0:{ports[name]}")
            for probe in ("startupProbe", "readinessProbe"):
                self.assertEqual(server[probe]["grpc"]["port"], ports["health"])
            self.assertEqual(server["livenessProbe"]["httpGet"]["port"], "http")
            self.assertEqual(server["livenessProbe"]["httpGet"]["scheme"] == "HTTPS", config["tls_cert"] != '""')
            seconds = sum(int(config[flag].rstrip("s")) for flag in ("drain_delay", "drain_timeout"))
            # The server's own watchdogs end a stop 15 s after drain_timeout.
            self.assertGreaterEqual(pod["terminationGracePeriodSeconds"], seconds + 15)

    def test_every_mount_has_its_volume_and_every_service_finds_the_pods(self):
        for values in (PLAIN, FULL, EVENTS, STREAM, TRAINING):
            objects = self.objects(values)
            pods = [thing["spec"]["template"] for (kind, _), thing in objects.items() if kind in ("Deployment", "Job")]
            pods += [thing["spec"]["jobTemplate"]["spec"]["template"] for (kind, _), thing in objects.items() if kind == "CronJob"]
            for pod in pods:
                volumes = {volume["name"] for volume in pod["spec"]["volumes"]}
                for container in pod["spec"]["containers"] + pod["spec"].get("initContainers", []):
                    self.assertLessEqual({mount["name"] for mount in container["volumeMounts"]}, volumes)
                    self.assertTrue(container["securityContext"]["readOnlyRootFilesystem"])
            labels = objects["Deployment", "shop-semrank"]["spec"]["template"]["metadata"]["labels"].items()
            for (kind, name), thing in objects.items():
                selector = {"Service": lambda: thing["spec"]["selector"],
                            "PodDisruptionBudget": lambda: thing["spec"]["selector"]["matchLabels"],
                            "NetworkPolicy": lambda: thing["spec"]["podSelector"]["matchLabels"]}.get(kind)
                if selector:
                    self.assertLessEqual(selector().items(), labels, name)

    def test_all_pods_are_scheduled_alike_and_may_pull_the_image(self):
        fields = {"nodeSelector": {"disk": "ssd"}, "tolerations": [{"key": "search"}], "affinity": {"nodeAffinity": {}},
                  "imagePullSecrets": [{"name": "registry"}]}
        for (kind, _), thing in self.objects(merge(merge(FULL, TRAINING), {**fields, "tls": {"clientCa": False}})).items():
            pod = {"Deployment": lambda: thing["spec"]["template"]["spec"], "Job": lambda: thing["spec"]["template"]["spec"],
                   "CronJob": lambda: thing["spec"]["jobTemplate"]["spec"]["template"]["spec"], "Pod": lambda: thing["spec"]}.get(kind)
            if pod:
                with self.subTest(kind):
                    self.assertEqual({name: pod().get(name) for name in fields}, fields)

    def test_other_values_make_another_job_since_pods_of_a_job_cannot_change(self):
        def job(values: dict) -> str:
            return next(name for kind, name in self.objects(merge(FULL, values)) if kind == "Job")
        self.assertEqual(job({}), job({"replicas": 3}))
        changed = [{}, {"image": {"tag": "0.2.0"}}, {"embedJob": {"parts": 3}}, {"tolerations": [{"key": "search"}]}]
        self.assertEqual(len({job(values) for values in changed}), len(changed))

    def test_the_network_policy_has_the_port_of_the_store(self):
        self.assertIn({"ports": [{"port": 6380}]}, self.objects(FULL)["NetworkPolicy", "shop-semrank"]["spec"]["egress"])

    def test_helm_test_has_a_pod_unless_callers_need_a_certificate(self):
        self.assertIn(("Pod", "shop-semrank-test"), self.objects(PLAIN))
        self.assertIn(("Pod", "shop-semrank-test"), self.objects({**FULL, "tls": {"existingSecret": "certificate"}}))
        self.assertNotIn(("Pod", "shop-semrank-test"), self.objects(FULL))

    def test_the_pods_of_the_job_embed_all_lines_between_them(self):
        (self.folder / "data").mkdir(exist_ok=True)
        # The server would refuse the third title.
        lines = "".join(f"{i}\ttitle {'of many words ' * 500 * (i == 3)}{i}\n" for i in range(1, 6))
        (self.folder / "data/docs.tsv.gz").write_bytes(gzip.compress(lines.encode()))
        job = next(thing["spec"] for (kind, _), thing in self.objects(FULL).items() if kind == "Job")
        self.assertEqual((job["completionMode"], job["completions"]), ("Indexed", 2))
        embed = job["template"]["spec"]["containers"][0]
        for index in range(job["completions"]):
            subprocess.run([*embed["command"], *map(self.here, embed["args"])], check=True, capture_output=True,
                           env={"PATH": f"{BINARIES}:{os.environ['PATH']}", "JOB_COMPLETION_INDEX": str(index)})
        ids = sorted(line for path in self.folder.glob("data/*.ids") for line in path.read_text().split())
        self.assertEqual(ids, ["1", "2", "3", "4", "5"])


if __name__ == "__main__":
    if not shutil.which("go") or not shutil.which("node") or not (MODULES / "node_modules").is_dir():
        print("skipped: needs go (package golang-go) and scripts/install_node_modules.sh")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
