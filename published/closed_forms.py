# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Bandwidth of n threads at random memories, in units of one domain's: Hager and Wellein, problem 8.1."""


def configuration_mean(n: int) -> float:
    """All ways in which n threads can be at n memories, each as long as the other."""
    return n * (1 - (1 - 1 / n) ** n)


def closed_network(n: int) -> float:
    """The same weighted by how long each lasts: n customers at n processor-sharing stations."""
    return n * n / (2 * n - 1)


def triangular_efficiency(threads: int) -> float:
    """Of equal blocks of rows: the last block's work against the mean."""
    return threads / (2 * threads - 1)


BY_NAME = {"configuration_mean": configuration_mean, "closed_network": closed_network}
