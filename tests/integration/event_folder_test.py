"""Events of a real server: on disk after kill -9, one server a folder, a full disk, a restart.

  event_folder_test.py PROJECT BINARIES
"""
import json
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

MODEL = pathlib.Path(sys.argv.pop(1)) / "tests/testdata/reference_model/dssm"
BINARIES = pathlib.Path(sys.argv.pop(1))


class EventsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.events = pathlib.Path(self.folder.name) / "events"

    def start(self, *flags: str, **options) -> subprocess.Popen:
        server = subprocess.Popen([BINARIES / "semrank-server", f"--model_dir={MODEL}", f"--events={self.events}",
                                   "--listen_address=127.0.0.1:0", "--http_address=127.0.0.1:0", *flags],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        self.addCleanup(self.stop, server)
        ready = re.search(r" http=(\S+)", server.stdout.readline())
        self.assertTrue(ready, "the server did not start")
        self.url = f"http://{ready[1]}"
        return server

    def stop(self, server: subprocess.Popen) -> None:
        server.terminate()
        server.wait()
        server.stdout.close()
        server.stderr.close()

    def call(self, path: str, request: dict) -> dict:
        body = json.dumps(request).encode()
        try:
            answer = urllib.request.urlopen(urllib.request.Request(self.url + path, data=body))
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            return json.load(answer)

    def rank(self) -> str:
        return self.call("/v1/rank", {"query": "photo", "titles": ["photo editor", "mail reader"], "impression": {}})["impression_id"]

    def click(self, impression: str) -> dict:
        return self.call("/v1/events", {"events": [{"impression_id": impression, "kind": "click", "position": 1}]})

    def records(self) -> list[dict]:
        files = sorted(self.events.glob("events-*.jsonl.zst"))
        text = subprocess.run(["zstd", "-dc", *files], check=True, capture_output=True, text=True).stdout
        return [json.loads(line) for line in text.splitlines()]

    def test_what_is_acknowledged_survives_kill_9(self):
        server = self.start()
        for number in range(20):
            impression = self.rank()
            self.assertEqual(self.click(impression), {"accepted": 1})
        status = urllib.request.urlopen(self.url + "/statusz").read().decode()
        self.assertRegex(status, r"clicks at 1 to 10, and others</th><td>20 0 ")
        server.send_signal(signal.SIGKILL)
        server.wait()
        records = self.records()
        self.assertEqual([record["type"] for record in records], ["impression", "event"] * 20)
        self.assertEqual(records[-1]["impression"], records[-2]["id"])
        self.assertEqual(records[-2]["results"][0]["title"], "photo editor")
        # The lock went with the process, and the next server begins a file of its own.
        self.start()
        self.click(impression)
        self.assertEqual(len(list(self.events.glob("*.zst"))), 2)

    def test_a_stop_writes_what_is_queued(self):
        server = self.start()
        impression = self.rank()
        server.terminate()
        server.wait()
        self.assertEqual([record["id"] for record in self.records()], [impression])

    def test_a_second_server_on_the_folder_is_refused(self):
        self.start()
        second = subprocess.run([BINARIES / "semrank-server", f"--model_dir={MODEL}", f"--events={self.events}",
                                 "--listen_address=127.0.0.1:0", "--http_address=127.0.0.1:0"], capture_output=True, text=True, timeout=60)
        self.assertEqual(second.returncode, 1)
        self.assertIn("another program writes there", second.stderr)

    def test_a_full_disk_stops_reports_and_no_ranking(self):
        def limit() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))

        server = self.start(preexec_fn=limit)
        answer = self.click(self.rank())
        self.assertEqual(answer["details"][0]["reason"], "EVENTS_UNAVAILABLE")
        metrics = urllib.request.urlopen(self.url + "/metrics").read().decode()
        self.assertIn("\nsemrank_events_failing 1\n", metrics)
        self.assertIn('\nsemrank_impressions_total{result="dropped"} 1\n', metrics)
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        self.assertEqual(self.click(self.rank()), {"accepted": 1})


if __name__ == "__main__":
    unittest.main()
