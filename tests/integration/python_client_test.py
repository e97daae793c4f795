#!/usr/bin/env python3
"""grpcio against a real server, over TLS and with a key: what protoc and
grpc_python_plugin make of our .proto files is used as it is.

usage: python_client_test.py PROJECT_DIR BINARY_DIR
"""
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

import grpc

from secure_server import KEY, SecureServer

PROJECT = pathlib.Path(sys.argv[1]).resolve()
BINARIES = pathlib.Path(sys.argv[2]).resolve()
TITLES = ["photo editor", "mail reader", "disk usage viewer"]


def make_stubs(folder: pathlib.Path) -> None:
    protos = sorted(path.relative_to(PROJECT / "proto") for path in PROJECT.glob("proto/semrank/v1/*.proto"))
    subprocess.run(["protoc", f"-I{PROJECT}/proto", f"--python_out={folder}", f"--grpc_python_out={folder}",
                    "--plugin=protoc-gen-grpc_python=/usr/bin/grpc_python_plugin", "google/rpc/status.proto",
                    "google/rpc/error_details.proto", *protos], check=True)
    sys.path.insert(0, str(folder))


class PythonClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.temporary.name)
        make_stubs(folder)
        from semrank.v1 import common_pb2, embedding_service_pb2, embedding_service_pb2_grpc
        from semrank.v1 import ranking_service_pb2, ranking_service_pb2_grpc
        cls.common, cls.embedding_pb, cls.ranking_pb = common_pb2, embedding_service_pb2, ranking_service_pb2
        cls.server = SecureServer(PROJECT, BINARIES, folder)
        cls.tls = grpc.ssl_channel_credentials(cls.server.certificate.read_bytes())
        cls.channel = cls.connect(KEY)
        cls.ranking = ranking_service_pb2_grpc.RankingServiceStub(cls.channel)
        cls.embedding = embedding_service_pb2_grpc.EmbeddingServiceStub(cls.channel)
        cls.ranking_stub = ranking_service_pb2_grpc.RankingServiceStub

    @classmethod
    def tearDownClass(cls):
        cls.channel.close()
        cls.server.stop()
        cls.temporary.cleanup()

    @classmethod
    def connect(cls, key: str) -> grpc.Channel:
        credentials = grpc.composite_channel_credentials(cls.tls, grpc.access_token_call_credentials(key))
        return grpc.secure_channel(cls.server.address, credentials)

    def rank_request(self, query: str):
        return self.ranking_pb.RankRequest(query=query, titles=TITLES, with_titles=True)

    def test_rank_orders_the_titles(self):
        response = self.ranking.Rank(self.rank_request("edit photos"), timeout=30)
        self.assertEqual(sorted(response.indices), [0, 1, 2])
        self.assertEqual(list(response.scores), sorted(response.scores, reverse=True))
        self.assertEqual(list(response.titles), [TITLES[i] for i in response.indices])

    def test_a_stream_of_queries_is_answered_as_each_alone(self):
        queries = [f"photo number {i}" for i in range(50)]
        requests = (self.ranking_pb.RankStreamRequest(request_number=i, request=self.rank_request(query))
                    for i, query in enumerate(queries))
        answers = {answer.request_number: answer.response for answer in self.ranking.RankStream(requests, timeout=30)}
        self.assertEqual(sorted(answers), list(range(50)))
        for i in (0, 17, 49):
            alone = self.ranking.Rank(self.rank_request(queries[i]), timeout=30)
            self.assertEqual(list(answers[i].indices), list(alone.indices))
            self.assertEqual(list(answers[i].scores), list(alone.scores))

    def vectors(self, side: int, texts: list[str]) -> list[tuple[float, ...]]:
        """Over a stream, one text a message."""
        requests = (self.embedding_pb.EmbedTextsStreamRequest(side=side, texts=[text]) for text in texts)
        answers = list(self.embedding.EmbedTextsStream(requests, timeout=30))
        self.assertEqual([answer.first_text for answer in answers], list(range(len(texts))))
        return [struct.unpack(f"<{answer.embedding_dim}f", answer.vectors) for answer in answers]

    def test_streamed_vectors_give_the_scores_of_rank(self):
        query, = self.vectors(self.common.SIDE_QUERY, ["edit photos"])
        titles = self.vectors(self.common.SIDE_DOCUMENT, TITLES)
        response = self.ranking.Rank(self.rank_request("edit photos"), timeout=30)
        for index, score in zip(response.indices, response.scores):
            self.assertAlmostEqual(sum(a * b for a, b in zip(query, titles[index])), score, places=5)

    def test_a_wrong_key_is_unauthenticated(self):
        with self.connect("stolen") as channel, self.assertRaises(grpc.RpcError) as failed:
            self.ranking_stub(channel).Rank(self.rank_request("q"), timeout=30)
        self.assertEqual(failed.exception.code(), grpc.StatusCode.UNAUTHENTICATED)

    def test_a_caller_without_a_key_cannot_fill_the_memory(self):
        size = 1_200_000_000
        options = [("grpc.max_send_message_length", -1)]
        with grpc.secure_channel(self.server.address, self.tls, options) as channel:
            rank = channel.unary_unary("/semrank.v1.RankingService/Rank")
            with self.assertRaises(grpc.RpcError):
                rank(bytes(size), timeout=60)
        self.assertLess(self.server.peak_memory(), 0.8 * size)
        self.ranking.Rank(self.rank_request("edit photos"), timeout=30)

    def test_an_error_carries_its_reason(self):
        from google.rpc import error_details_pb2, status_pb2
        request = self.ranking_pb.RankRequest(query="q", titles=["title"] * 101)
        with self.assertRaises(grpc.RpcError) as failed:
            self.ranking.Rank(request, timeout=30)
        self.assertEqual(failed.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        details = dict(failed.exception.trailing_metadata())["grpc-status-details-bin"]
        info = error_details_pb2.ErrorInfo()
        self.assertTrue(status_pb2.Status.FromString(details).details[0].Unpack(info))
        self.assertEqual((info.domain, info.reason), ("semrank", "TOO_MANY_TEXTS"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
