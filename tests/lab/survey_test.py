# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise survey` under real launchers, beside what the guest's kernel reports to each rank itself."""

import json
import re
import unittest

from lines import in_guest
from surveys import CHANCE, MPIEXEC, MPIRUN, RANK, SurveyTest, parts_of, rows



def jobs():
    """The line as people write it, what is wrong with it, and the fixed line."""
    return [(wrong, set(what.split(", ")), fixed) for _, wrong, what, fixed in rows("Launchers") if wrong.endswith("./a")]


class Survey(SurveyTest):
    def surveyed(self, lines, name):
        """The lines with a survey in front of the rank, run, each with its own folder of records."""
        results = in_guest([self.job(line, f"{name}-{number}") for number, line in enumerate(lines)])
        for line, result in zip(lines, results, strict=True):
            self.assertEqual(result.status, 0, result)
            themselves, survey = parts_of(result.out)
            with self.subTest(line):
                self.expect_facts(themselves, survey)
                self.assertEqual((survey["surveyed"], survey["missing"], survey["problems"]),
                                 (len(themselves), [], []))
            yield survey

    def test_what_is_wrong_is_found_and_the_lines_of_survey_fix_it(self):
        table = jobs()
        self.assertEqual(len(table), 5)
        again = []
        for (wrong, what, fixed), survey in zip(table, self.surveyed([row[0] for row in table], "wrong"), strict=True):
            with self.subTest(wrong):
                found = {finding["what"] for finding in survey["findings"]}
                # Where threads first touch their pages is chance if they are not bound.
                self.assertEqual(found - (CHANCE if "threads are not bound" in found else set()), what)
                lines = [fix["line"] for fix in survey["findings"][0]["fixes"] if "line" in fix]
                ranks = re.search(r"-n \d+", wrong)[0]
                launcher, ours = (re.sub(r"\.\.\.", ranks, line).replace("PROGRAM", "./a") for line in lines)
                self.assertEqual(launcher, fixed)
                threads = re.search(r"OMP_NUM_THREADS=\d+ ", wrong)[0]
                again += [threads + fixed, threads + ours]
        for line, survey in zip(again, self.surveyed(again, "fixed"), strict=True):
            with self.subTest(line):
                self.assertEqual(survey["findings"], [])

    def test_memory_of_all_ranks_on_one_node(self):
        # The ranks are bound after their memory was filled on node 0.
        job = f"nodewise survey --json {self.records('one')} -- {RANK} alone"
        done, = in_guest([f"OMP_NUM_THREADS=2 OMP_PLACES=cores OMP_PROC_BIND=close {MPIRUN} "
                          f"--map-by ppr:1:numa:PE=2 --bind-to core -n 4 numactl --membind 0 {job}"])
        self.assertEqual(done.status, 0, done)
        themselves, survey = parts_of(done.out)
        self.expect_facts(themselves, survey)
        away = {each["what"]: each["ranks"] for each in survey["findings"]}
        self.assertEqual(away, {"memory is on other nodes than the threads": [1, 2, 3]})

    def test_records_among_the_output_of_the_job(self):
        out, shown = in_guest([
            f"OMP_NUM_THREADS=2 OMP_PLACES=cores OMP_PROC_BIND=close {MPIEXEC} -bind-to numa -n 4 -prepend-rank nodewise survey --lines -- {RANK} > {self.folder}/out",
            f"nodewise survey --json --strict {self.folder}/out",
        ])
        self.assertEqual((out.status, shown.status), (0, 0), shown)
        self.assertEqual(json.loads(shown.out)["surveyed"], 4)


if __name__ == "__main__":
    unittest.main()
