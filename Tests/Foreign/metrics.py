#!/usr/bin/env python3
"""Reads metrics from standard input with the OpenMetrics parser of the Prometheus client, and prints
a line for each sample: its name, its labels without the store or the socket, and its value."""
import sys

from prometheus_client.openmetrics.parser import text_string_to_metric_families

for family in text_string_to_metric_families(sys.stdin.read()):
    for sample in family.samples:
        labels = ",".join(f"{k}={v}" for k, v in sorted(sample.labels.items()) if k not in ("store", "socket"))
        print(f"{sample.name}{{{labels}}} {sample.value:g}")
