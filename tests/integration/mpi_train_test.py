#!/usr/bin/env python3
"""semrank-train in two processes of Open MPI: the model of one process, on one
machine and across two network namespaces; errors end both processes; killed and
resumed they end with the same bits.

Usage: mpi_train_test.py SEMRANK_TRAIN    exit code 77 = cannot run here
"""
import array
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

TRAIN = sys.argv.pop(1) if len(sys.argv) > 1 else "semrank-train"
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
          "--mca", "mpi_yield_when_idle", "1"]
# The limit is longer than a busy machine needs and shorter than ctest's own.
LIMIT_SECONDS = 200


def write_pairs(path, number=600):
    """Titles are the query's words, reversed; some are shown with another that gets no click."""
    numbers = random.Random(1)
    words = ["".join(numbers.choice("abcdefghij") for _ in range(6)) for _ in range(100)]
    with open(path, "w") as file:
        for _ in range(number):
            query = numbers.sample(words, 3)
            title = [word[::-1] for word in query]
            clicks = numbers.randrange(1, 5)
            file.write(f'{" ".join(query)}\t{" ".join(title)}\t{clicks}\t5\n')
            if clicks == 1:
                file.write(f'{" ".join(query)}\t{title[0]} {title[2]}\t0\t5\n')


def weights(model_dir):
    content = (pathlib.Path(model_dir) / "1" / "weights.safetensors").read_bytes()
    header = struct.unpack("<Q", content[:8])[0]
    values = array.array("f")
    values.frombytes(content[8 + header:])
    return values


class MpiTrainTest(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)
        self.epochs = 2
        # SGD keeps rounding errors small; Adam would turn one near 0 into a whole step.
        self.tower = ["--hidden=24", "--optimizer=sgd", "--learning_rate=0.5"]
        self.pairs = self.file("pairs.tsv")
        write_pairs(self.pairs)

    def file(self, name):
        return os.path.join(self.dir.name, name)

    def flags(self, model):
        return [TRAIN, "--train=" + self.pairs, "--model_dir=" + self.file(model),
                "--embedding_dim=16", f"--epochs={self.epochs}", "--batch_size=64",
                "--threads=1"] + self.tower

    def run_command(self, command):
        result = subprocess.run(command, capture_output=True, text=True,
                                timeout=LIMIT_SECONDS, check=False)
        # On a busy machine mpirun takes a process that has ended for a lost one, with PID 0
        # (open-mpi/ompi, issue 7833); the files show whether the run was complete.
        lost = "with PID 0 on" in result.stderr and "semrank-train: error:" not in result.stderr
        return 0 if lost else result.returncode, result.stdout, result.stderr

    def expect_same_model(self, mpirun, trainings=1):
        for model in ("one", "two"):
            shutil.rmtree(self.file(model), ignore_errors=True)
        code, _, err = self.run_command(self.flags("one"))
        self.assertEqual(code, 0, err)
        code, out, err = self.run_command(mpirun + self.flags("two"))
        self.assertEqual(code, 0, err)
        self.assertEqual(out.count("published"), 1, out)
        self.assertEqual(err.count("epoch 2: loss"), trainings, err)
        one, two = weights(self.file("one")), weights(self.file("two"))
        self.assertEqual(len(one), len(two))
        # The two runs add a few hundred products in single precision in different orders.
        self.assertLess(max(abs(a - b) for a, b in zip(one, two)), 1e-5)
        return err

    def test_two_processes_give_the_model_of_one(self):
        self.expect_same_model(MPIRUN + ["-n", "2"])

    def test_ssi_in_two_processes_is_that_of_one(self):
        ssi = ["--tower=ssi", "--optimizer=sgd", "--learning_rate=0.5"]
        self.tower = ssi + ["--ssi_frequent_words=60", "--ssi_correlated_top_k=2"]
        self.assertEqual(self.run_command(self.flags("begin"))[0], 0)
        for more in (["--clicks=weight", "--hard_negatives=2"],
                     ["--init_from=" + self.file("begin")],
                     ["--ssi=full", "--ssi_pair_hash_buckets=999",
                      "--negative_sampling=uniform", "--negatives=4"]):
            with self.subTest(more=more):
                self.tower = ssi + more
                self.expect_same_model(MPIRUN + ["-n", "2"])

    def test_ssi_of_streamed_pairs_is_that_of_one(self):
        write_pairs(self.pairs, number=2000)
        self.tower = ["--tower=ssi", "--optimizer=sgd", "--learning_rate=0.5",
                      "--ssi_unknown_word_buckets=100", "--memory_limit=1000000"]
        self.assertIn("counting", self.expect_same_model(MPIRUN + ["-n", "2"]))

    def start(self, model, *more):
        """Starts both processes; each writes its process id to a file."""
        numbers = self.file("numbers")
        command = MPIRUN + ["-n", "2", "bash", "-c", f'echo $$ >> {numbers}; exec "$@"', "bash"]
        job = subprocess.Popen(command + self.flags(model) + list(more), text=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(job.stderr.close)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        return job

    def wait_for(self, job, text):
        for line in job.stderr:
            if text in line:
                return
        self.fail("the job ended without: " + text)

    def signal_both(self, number_of_signal):
        with open(self.file("numbers")) as file:
            numbers = [int(line) for line in file]
        os.remove(self.file("numbers"))
        self.assertEqual(len(numbers), 2)
        for number in numbers:
            try:
                os.kill(number, number_of_signal)
            except ProcessLookupError:
                pass  # It has noticed the signal of the other and has ended.

    def kill_all(self, job):
        """Kills mpirun first, so that it cannot stop its processes."""
        job.kill()
        self.signal_both(signal.SIGKILL)
        job.wait()

    def test_killed_and_resumed_it_ends_with_the_same_bits(self):
        # Adam has the most state; separate towers and drawn titles are divided between processes, too.
        self.expect_same_bits_when_killed("--optimizer=adam", "--learning_rate=0.01",
                                          "--noshared_towers", "--negative_sampling=uniform")

    def test_ssi_killed_and_resumed_ends_with_the_same_bits(self):
        self.tower = ["--tower=ssi"]
        self.expect_same_bits_when_killed(kills=1)

    def expect_same_bits_when_killed(self, *more, kills=2):
        self.epochs = 4
        more += ("--checkpoint_batches=1", "--resume")
        whole = MPIRUN + ["-n", "2"] + self.flags("whole") + list(more)
        self.assertEqual(self.run_command(whole)[0], 0)
        checkpoint = pathlib.Path(self.file("killed/checkpoint.safetensors"))
        for epoch in range(1, kills + 1):
            job = self.start("killed", *more)
            self.wait_for(job, f"epoch {epoch}: loss")
            self.kill_all(job)
            self.assertTrue(checkpoint.exists())
        job = self.start("killed", *more)
        self.wait_for(job, "resuming from " + str(checkpoint))
        job.stderr.read()
        self.assertEqual(job.wait(), 0)
        self.assertEqual(weights(self.file("killed")), weights(self.file("whole")))
        self.assertFalse(checkpoint.exists())

    def test_interrupt_publishes_the_best_epoch_and_keeps_a_checkpoint(self):
        # mpirun sends SIGTERM after Ctrl-C; here it has no time limit.
        self.expect_published_after(lambda job: self.signal_both(signal.SIGTERM))

    def test_mpirun_hands_on_the_signal_that_ends_a_run(self):
        self.expect_published_after(lambda job: job.send_signal(signal.SIGUSR1))

    def expect_published_after(self, stop):
        self.epochs = 100000
        job = self.start("stopped", "--patience=0")
        self.wait_for(job, "epoch 2: loss")
        stop(job)
        job.stderr.read()
        self.assertEqual(job.wait(), 0)
        self.assertTrue(pathlib.Path(self.file("stopped/1/MANIFEST.json")).exists())
        self.assertTrue(pathlib.Path(self.file("stopped/checkpoint.safetensors")).exists())

    def test_error_of_one_process_ends_both_with_one_message(self):
        flags = self.flags("none")
        command = ["bash", "-c",
                   'if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then exec "$@" --train=/nowhere.tsv; '
                   'else exec "$@"; fi', "bash"]
        code, _, err = self.run_command(MPIRUN + ["-n", "2"] + command + flags)
        self.assertEqual(code, 1)
        self.assertEqual(err.count("semrank-train: error:"), 1, err)
        self.assertIn("process 2 of 2: open /nowhere.tsv", err)
        self.assertFalse(os.path.exists(self.file("none/1")))

    def test_different_settings_are_found(self):
        command = ["bash", "-c", 'exec "$@" --seed=$OMPI_COMM_WORLD_RANK', "bash"]
        code, _, err = self.run_command(MPIRUN + ["-n", "2"] + command + self.flags("none"))
        self.assertEqual(code, 1)
        self.assertIn("other settings or training files", err)

    def test_two_machines_give_the_model_of_one(self):
        """Each host is a network namespace; mpirun enters it instead of ssh."""
        names = [f"semrank{os.getpid()}{side}" for side in "ab"]
        self.addCleanup(lambda: [subprocess.run(["ip", "netns", "del", name], check=False,
                                                capture_output=True) for name in names])
        links = [f"sr{os.getpid()}{side}" for side in "ab"]
        addresses = ["10.231.77.1", "10.231.77.2"]
        commands = [["netns", "add", name] for name in names]
        commands += [["link", "add", links[0], "type", "veth", "peer", "name", links[1]]]
        for name, link, address in zip(names, links, addresses):
            commands += [["link", "set", link, "netns", name],
                         ["-n", name, "addr", "add", address + "/24", "dev", link],
                         ["-n", name, "link", "set", link, "up"],
                         ["-n", name, "link", "set", "lo", "up"]]
        for command in commands:
            result = subprocess.run(["ip"] + command, capture_output=True, text=True, check=False)
            if result.returncode != 0:
                self.skipTest("no network namespaces here: " + result.stderr.strip())
        agent = self.file("agent.sh")
        with open(agent, "w") as file:
            file.write("#!/bin/bash\n# agent.sh ADDRESS COMMAND...: ssh to a namespace.\n"
                       'host="$1"; shift\n'
                       f'echo "$host" >> {self.file("agent.log")}\n'
                       f'case "$host" in {addresses[0]}) name={names[0]};; *) name={names[1]};; '
                       'esac\nexec ip netns exec "$name" bash -c "$*"\n')
        os.chmod(agent, 0o700)
        mpirun = ["ip", "netns", "exec", names[0]] + MPIRUN + [
            "-n", "2", "--host", ",".join(addresses), "--mca", "plm_rsh_agent", agent,
            "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "10.231.77.0/24",
            "--mca", "oob_tcp_if_include", "10.231.77.0/24"]
        self.expect_same_model(mpirun)
        with open(self.file("agent.log")) as file:
            self.assertEqual(file.read().split(), addresses[1:])


if __name__ == "__main__":
    if not shutil.which("mpirun"):
        print("skipped: no mpirun (package openmpi-bin)")
        sys.exit(77)
    if "with MPI" not in subprocess.run([TRAIN, "--version"], capture_output=True, text=True,
                                        check=True).stdout:
        print("skipped: semrank-train was built without MPI")
        sys.exit(77)
    unittest.main(verbosity=2)
