#!/usr/bin/env python3
"""Alerts, dashboard and compose file against a real server: every metric, label
and value that they name exists, every alert has a case in rules_test.yml.

usage: monitoring_test.py PROJECT_DIR BINARY_DIR
"""
import json
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import yaml

PROJECT, BINARIES = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
PROMETHEUS, COMPOSE = PROJECT / "deploy/prometheus", PROJECT / "deploy/compose"
MODEL = PROJECT / "tests/testdata/reference_model/dssm"
METRIC = re.compile(r"\b(?:semrank|grpc_server|process)_\w+(?:\{[^}]*\})?")
MATCHER = re.compile(r'(\w+)\s*(!?=~?)\s*"([^"]*)"')
MODULES = PROJECT / "build/node_deploy"
MAX_WAIT_SECONDS = 60
# Prometheus or Grafana adds these labels.
OF_PROMETHEUS = {"job", "instance"}


def expressions() -> list[str]:
    rules = yaml.safe_load((PROMETHEUS / "rules.yml").read_text())
    found = [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    dashboard = json.loads((PROJECT / "deploy/grafana/semrank.json").read_text())
    found += [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    found += [note["expr"] for note in dashboard["annotations"]["list"]]
    found += [variable["query"] for variable in dashboard["templating"]["list"] if variable["type"] == "query"]
    # The server does not export the results of recording rules.
    return [re.sub(r"\bjob\w*:[\w:]+", "", expression) for expression in found]


class MonitoringTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        subprocess.run(["openssl", "req", "-x509", "-days", "20", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", cls.folder / "key.pem",
                        "-out", cls.folder / "cert.pem"], check=True, capture_output=True)
        # A server on Redis also has the metrics of the catalog's replicas.
        with socket.create_server(("127.0.0.1", 0)) as probe:
            port = probe.getsockname()[1]
        cls.redis = subprocess.Popen(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", cls.folder],
                                     stdout=subprocess.PIPE, text=True)
        while "Ready to accept connections" not in cls.redis.stdout.readline():
            assert cls.redis.poll() is None, "redis-server does not start"
        cls.server = subprocess.Popen(
            [BINARIES / "semrank-server", f"--model_dir={MODEL}", f"--store=redis://127.0.0.1:{port}",
             f"--tls_cert={cls.folder}/cert.pem", f"--tls_key={cls.folder}/key.pem", f"--events={cls.folder}/events",
             "--shadow=dssm", "--listen_address=127.0.0.1:0",
             "--http_address=127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        cls.http = re.search(r" http=(\S+)", cls.server.stdout.readline())[1]
        trust = ssl.create_default_context(cafile=cls.folder / "cert.pem")
        with urllib.request.urlopen(f"https://{cls.http}/metrics", context=trust) as answer:
            cls.metrics = answer.read().decode()

    @classmethod
    def tearDownClass(cls):
        for process in (cls.server, cls.redis):
            process.terminate()
            process.wait()
            process.stdout.close()
        cls.temporary.cleanup()

    def samples(self, name: str) -> list[dict[str, str]]:
        """The labels of each sample of a metric."""
        lines = re.findall(rf"(?m)^{name}(?:\{{(.*)\}})? [^ ]+$", self.metrics)
        return [dict(re.findall(r'(\w+)="([^"]*)"', labels)) for labels in lines]

    def test_every_metric_label_and_value_exists(self):
        checked = set()
        for selector in (found for expression in expressions() for found in METRIC.findall(expression)):
            name = selector.split("{")[0]
            samples = self.samples(name)
            self.assertTrue(samples, f"no metric {name}")
            checked.add(name)
            for label, operator, value in MATCHER.findall(selector):
                if label in OF_PROMETHEUS:
                    continue
                for word in value.split("|") if "~" in operator else [value]:
                    self.assertIn(word, {sample.get(label) for sample in samples}, f"{name}{{{label}}}")
        self.assertGreater(len(checked), 25)

    def test_the_certificates_end_is_a_metric(self):
        end = subprocess.run(["openssl", "x509", "-in", self.folder / "cert.pem", "-noout", "-enddate", "-dateopt", "iso_8601"],
                             check=True, capture_output=True, text=True).stdout.strip().removeprefix("notAfter=")
        seconds = subprocess.run(["date", "-d", end, "+%s"], check=True, capture_output=True, text=True).stdout.strip()
        value = re.search(r"(?m)^semrank_tls_certificate_expiry_timestamp_seconds (\S+)$", self.metrics)[1]
        self.assertEqual(float(value), float(seconds))

    def test_every_alert_has_a_case_and_all_cases_pass(self):
        rules = yaml.safe_load((PROMETHEUS / "rules.yml").read_text())
        cases = yaml.safe_load((PROMETHEUS / "rules_test.yml").read_text())
        fired = {case["alertname"] for test in cases["tests"] for case in test.get("alert_rule_test", []) if case["exp_alerts"]}
        self.assertEqual({rule["alert"] for group in rules["groups"] for rule in group["rules"] if "alert" in rule}, fired)
        if shutil.which("promtool"):
            done = subprocess.run(["promtool", "test", "rules", PROMETHEUS / "rules_test.yml"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(shutil.which("prometheus"), "needs the package prometheus")
    def test_prometheus_scrapes_the_server_and_evaluates_every_rule(self):
        folder = self.folder / "prometheus"
        folder.mkdir()
        shutil.copy(PROMETHEUS / "rules.yml", folder)
        config = yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text())
        config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        config["scrape_configs"][0].update({"scheme": "https", "tls_config": {"ca_file": str(self.folder / "cert.pem")},
                                            "static_configs": [{"targets": [self.http]}]})
        (folder / "prometheus.yml").write_text(yaml.dump(config))
        with socket.create_server(("127.0.0.1", 0)) as probe:
            address = f"127.0.0.1:{probe.getsockname()[1]}"
        prometheus = subprocess.Popen(["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                                       f"--web.listen-address={address}"], stderr=subprocess.DEVNULL)
        self.addCleanup(prometheus.wait)
        self.addCleanup(prometheus.terminate)

        def ask(path: str) -> dict:
            try:
                return json.load(urllib.request.urlopen(f"http://{address}/api/v1/{path}"))["data"]
            except OSError:  # Prometheus does not listen yet
                return {}

        def wait_for(what: str, done) -> None:
            end = time.monotonic() + MAX_WAIT_SECONDS
            while not done():
                self.assertLess(time.monotonic(), end, what)

        wait_for("target up", lambda: [target["health"] for target in ask("targets").get("activeTargets", [])] == ["up"])
        rules = lambda: [rule for group in ask("rules").get("groups", []) for rule in group["rules"]]
        wait_for("all rules evaluated", lambda: rules() and all(rule["health"] == "ok" for rule in rules()))
        wait_for("calls recorded", lambda: ask("query?query=job:semrank_calls:rate5m").get("result"))
        # This test's certificate has 20 days, and nothing else is wrong.
        self.assertEqual({rule["name"] for rule in rules() if rule.get("state") in ("pending", "firing")}, set())

    def test_the_dashboard_can_be_provisioned(self):
        dashboard = json.loads((PROJECT / "deploy/grafana/semrank.json").read_text())
        panels = dashboard["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        cells = set()
        for panel in panels:
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            covered = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
            self.assertFalse(covered & cells, f"{panel['title']} covers another panel")
            cells |= covered
        sources = [thing.get("datasource", {}).get("uid") for thing in panels + dashboard["annotations"]["list"]]
        self.assertEqual(set(sources), {"${datasource}"})
        self.assertEqual(dashboard["templating"]["list"][0]["query"],
                         yaml.safe_load((COMPOSE / "grafana/datasource.yml").read_text())["datasources"][0]["type"])
        provider = yaml.safe_load((COMPOSE / "grafana/dashboards.yml").read_text())["providers"][0]
        mounts = dict(volume.split(":")[:2] for volume in yaml.safe_load((COMPOSE / "compose.yaml").read_text())["services"]["grafana"]["volumes"])
        self.assertEqual(mounts["../grafana/semrank.json"], provider["options"]["path"] + "/semrank.json")

    @unittest.skipUnless((MODULES / "node_modules").is_dir(), "needs scripts/install_node_modules.sh")
    def test_the_compose_file_is_what_the_specification_allows(self):
        folder = self.folder / "compose"
        folder.mkdir()
        (folder / "node_modules").symlink_to(MODULES / "node_modules")
        compose = yaml.safe_load((COMPOSE / "compose.yaml").read_text())
        compose.pop("name")  # newer than the schema of the package
        check = ["node", PROJECT / "tests/deploy/kubernetes/check_compose.mjs"]
        (folder / "compose.json").write_text(json.dumps(compose))
        done = subprocess.run(check, cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        # The check itself must find a misspelt key.
        compose["services"]["redis"]["imagee"] = "redis"
        (folder / "compose.json").write_text(json.dumps(compose))
        self.assertEqual(subprocess.run(check, cwd=folder, capture_output=True).returncode, 1)

    def test_alerts_are_explained_to_operators(self):
        rules = yaml.safe_load((PROMETHEUS / "rules.yml").read_text())
        guide = (PROJECT / "deploy/README.md").read_text()
        for rule in (rule for group in rules["groups"] for rule in group["rules"] if "alert" in rule):
            self.assertTrue(f"`{rule['alert']}`" in guide, rule["alert"])

    def test_compose_mounts_what_exists_and_the_server_takes_its_flags(self):
        compose = yaml.safe_load((COMPOSE / "compose.yaml").read_text())
        services = compose["services"]
        for service in services.values():
            for volume in service.get("volumes", []):
                source = volume.split(":")[0]
                if source.startswith("."):
                    self.assertTrue((COMPOSE / source).exists(), source)
                elif not source.startswith("$"):
                    self.assertIn(source, compose["volumes"])
        server = services["semrank"]
        flags = [flag.replace("/models/${SEMRANK_MODEL:-default}", str(MODEL)) for flag in server["command"]]
        subprocess.run([BINARIES / "semrank-server", *flags, "--check_config"], check=True, capture_output=True)
        dockerfile = (PROJECT / "Dockerfile").read_text()
        published = {port.split(":")[-1] for port in server["ports"]}
        self.assertEqual(published, set(re.search(r"(?m)^EXPOSE (.*)$", dockerfile)[1].split()))
        scraped = yaml.safe_load((COMPOSE / "prometheus.yml").read_text())["scrape_configs"][0]["static_configs"][0]["targets"]
        self.assertEqual(scraped, ["semrank:8080"])
        source = yaml.safe_load((COMPOSE / "grafana/datasource.yml").read_text())["datasources"][0]
        self.assertEqual(source["url"], "http://prometheus:9090")
        if shutil.which("promtool"):
            shutil.copy(COMPOSE / "prometheus.yml", self.folder)
            shutil.copy(PROMETHEUS / "rules.yml", self.folder)
            subprocess.run(["promtool", "check", "config", self.folder / "prometheus.yml"], check=True, capture_output=True)

    def test_a_stage_of_the_image_that_runs_a_script_has_its_interpreter(self):
        packages = dict(re.findall(r"(?m)^(\w+)=\(([^)]*)\)", (PROJECT / "scripts/install_packages.sh").read_text()))
        stage = next(text for text in (PROJECT / "Dockerfile").read_text().split("\nFROM ") if "scripts/corpus/" in text)
        interpreter = (PROJECT / re.search(r"scripts/corpus/\S+", stage)[0]).read_text().split()[1]
        installed = re.findall(r"install_packages.sh (\w+)", stage)
        self.assertIn(interpreter, " ".join(packages[group] for group in installed).split())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
