#!/usr/bin/env python3
"""The real server's metrics before the tools that operators use: promtool's
linter, and a Prometheus that scrapes with deploy/prometheus/prometheus.yml.

usage: metrics_test.py PROJECT_DIR BINARY_DIR
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

PROJECT = pathlib.Path(sys.argv[1]).resolve()
BINARIES = pathlib.Path(sys.argv[2]).resolve()
MODEL = PROJECT / "tests/testdata/reference_model/dssm"
MAX_WAIT_SECONDS = 60


def fetch(url: str, body: bytes | None = None) -> str:
    with urllib.request.urlopen(urllib.request.Request(url, data=body)) as answer:
        return answer.read().decode()


def wait_for_line(stream, pattern: str) -> str:
    """Returns the first group of the first line that matches; the stream must not end before it."""
    for line in stream:
        match = re.search(pattern, line)
        if match:
            return match[1]
    raise AssertionError(f"the program ended without a line like {pattern}")


class MetricsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.server = subprocess.Popen(
            [BINARIES / "semrank-server", f"--model_dir={MODEL}", f"--store=rocksdb:{cls.folder.name}/store",
             f"--events={cls.folder.name}/events", "--listen_address=127.0.0.1:0", "--http_address=127.0.0.1:0"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        cls.http = wait_for_line(cls.server.stdout, r" http=(\S+)")
        fetch(f"http://{cls.http}/v1/rank", b'{"query": "photo", "titles": ["photo editor", "mail reader"]}')

    @classmethod
    def tearDownClass(cls):
        cls.server.terminate()
        cls.server.wait()
        cls.server.stdout.close()
        cls.folder.cleanup()

    def test_promtool_has_no_complaint(self):
        text = fetch(f"http://{self.http}/metrics")
        check = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
        self.assertEqual((check.returncode, check.stdout, check.stderr), (0, "", ""))

    def test_names_that_dashboards_read_are_there(self):
        text = fetch(f"http://{self.http}/metrics")
        for name in ("grpc_server_started_total", "grpc_server_handled_total", "grpc_server_handling_seconds_bucket",
                     "semrank_stage_duration_seconds_bucket", "semrank_requests_rejected_total", "semrank_cache_requests_total",
                     "semrank_catalog_documents", "semrank_catalog_bytes", "semrank_catalog_documents_put_total",
                     "semrank_catalog_documents_deleted_total", "semrank_catalog_searches_total", "semrank_catalog_documents_searched_total",
                     "semrank_catalog_reembedding_documents", "semrank_catalog_reembedded_documents",
                     "semrank_cache_entries", "semrank_cache_bytes", "semrank_cache_evictions_total", "semrank_inflight_texts_max",
                     "semrank_batch_texts_bucket", "semrank_queue_texts", "semrank_queue_texts_max",
                     "semrank_open_connections", "semrank_connections_limit", "semrank_connections_refused_total",
                     "semrank_accept_failures_total", "semrank_unread_response_bytes",
                     "semrank_unread_responses_ended_total", "semrank_log_lines_dropped_total",
                     "semrank_model_info", "semrank_model_load_total", "semrank_model_loaded_timestamp_seconds",
                     "semrank_model_created_timestamp_seconds", "semrank_model_rejected_versions", "semrank_queries_total",
                     "semrank_queries_unknown_total", "semrank_queries_named_total", "semrank_top_score_bucket",
                     "semrank_store_requests_total", "semrank_store_calls_total", "semrank_store_call_duration_seconds_bucket",
                     "semrank_store_dropped_vectors_total", "semrank_store_written_vectors_total", "semrank_store_bypassed",
                     "semrank_store_bypasses_total", "semrank_store_queue_vectors", "semrank_store_queue_bytes",
                     "semrank_impressions_total", "semrank_events_total", "semrank_event_clicks_total", "semrank_event_orphans_total",
                     "semrank_event_duplicates_total", "semrank_event_reports_failed_total", "semrank_event_queue_bytes",
                     "semrank_event_disk_bytes", "semrank_event_commit_seconds", "semrank_event_records_too_large_total",
                     "semrank_events_failing",
                     "semrank_build_info", "process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds",
                     "process_start_time_seconds"):
            self.assertRegex(text, rf"(?m)^{name}[ {{]")

    def test_prometheus_scrapes_with_the_delivered_configuration(self):
        with tempfile.TemporaryDirectory() as folder:
            config = (PROJECT / "deploy/prometheus/prometheus.yml").read_text()
            config = config.replace("127.0.0.1:8080", self.http).replace("15s", "1s")
            path = pathlib.Path(folder) / "prometheus.yml"
            path.write_text(config)
            shutil.copy(PROJECT / "deploy/prometheus/rules.yml", folder)
            subprocess.run(["promtool", "check", "config", path], check=True, stdout=subprocess.DEVNULL)
            prometheus = subprocess.Popen(
                ["prometheus", f"--config.file={path}", f"--storage.tsdb.path={folder}/data", "--web.listen-address=127.0.0.1:0"],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            try:
                address = wait_for_line(prometheus.stderr, r"Listening on.* address=(127\.0\.0\.1:[1-9]\d*)")
                self.wait_for_value(address, 'up{job="semrank"}', "1")
                self.wait_for_value(address, 'grpc_server_handled_total{grpc_type="http",grpc_method="Rank",grpc_code="OK"}', "1")
                self.wait_for_value(address, "job:semrank_calls:rate5m >= bool 0", "1")
            finally:
                prometheus.terminate()
                prometheus.wait()
                prometheus.stderr.close()

    def wait_for_value(self, address: str, query: str, value: str):
        url = f"http://{address}/api/v1/query?" + urllib.parse.urlencode({"query": query})
        limit = time.monotonic() + MAX_WAIT_SECONDS
        while time.monotonic() < limit:
            try:
                result = json.loads(fetch(url))["data"]["result"]
            except urllib.error.HTTPError:  # Prometheus listens before it can answer
                continue
            if result and result[0]["value"][1] == value:
                return
        self.fail(f"{query} was not {value} within {MAX_WAIT_SECONDS} s")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
