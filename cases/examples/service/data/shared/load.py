"""Puts and gets values over one connection, and prints how that went, as JSON."""

import json
import sys
import time
from http.client import HTTPConnection

port, requests = map(int, sys.argv[1:])
connection = HTTPConnection("127.0.0.1", port)
latencies = []
wrong = 0
began = time.perf_counter()
for number in range(requests):
    sent = time.perf_counter()
    body = str(number).encode()
    connection.request("PUT", "/" + str(number % 100), body)
    connection.getresponse().read()
    connection.request("GET", "/" + str(number % 100))
    wrong += connection.getresponse().read() != body
    latencies.append(time.perf_counter() - sent)
took = time.perf_counter() - began
latencies.sort()
print(json.dumps({
    "requests": 2 * requests,
    "wrong": wrong,
    "rate": 2 * requests / took,
    "latency": {"p50": latencies[requests // 2], "p99": latencies[requests * 99 // 100]},
}))
sys.exit(wrong != 0)
