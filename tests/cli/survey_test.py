# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise survey`: records of this machine, and jobs made of them. The lab's test has real launchers and several nodes."""

import json
import os
import re
import tempfile
import unittest
from pathlib import Path

from command import CommandTest, conforms, nodewise
from job_records import HARDWARE, machine_of, record_of

ALONE = {name: value for name, value in os.environ.items()
         if not name.startswith(("OMPI_", "PMI", "SLURM_", "FLUX_", "PALS_", "MPI_"))}
WORK = ["sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"]


class Survey(CommandTest):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(dir=os.getcwd())))

    def write(self, *records, name="out"):
        file = self.folder / name
        # As the command writes it, without blanks.
        file.write_text("".join(json.dumps(each, separators=(",", ":")) + "\n" for each in records))
        return file

    def test_a_program_alone_is_a_job_of_one_rank(self):
        done = self.expect(0, "survey", "--", *WORK, env=ALONE, cwd=self.folder)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"^job: 1 rank on 1 host, 1 thread of each work\n")
        shown = self.expect_json(0, "survey", "--json", "nodewise-survey", cwd=self.folder)
        self.assertIsNone(conforms(shown, "survey-1"))
        record = shown["hosts"][0]["ranks"][0]
        self.assertEqual(record["allowed"], self.own_mask())
        self.assertIn(record["host"], os.uname().nodename)
        self.assertEqual(record["settings"]["kernel"], os.uname().release)

    def test_other_counts_than_expected(self):
        file = self.write(record_of(0, 2, "a", "0"), record_of(1, 2, "a", "1"))
        self.expect(0, "survey", "--expect", "hosts=1,ranks=2,threads=1", str(file))
        other = self.expect(1, "survey", "--expect", "hosts=2,ranks-per-host=1", str(file))
        self.assertIn("1. the job is not as expected: 1 host, 2 expected; on a\n", other.stdout)
        self.assertIn("2. the job is not as expected: 2 ranks on a host, 1 expected; on a\n", other.stdout)
        self.assertIn("--nodes, --ntasks-per-node", other.stdout)
        as_json = self.expect_json(1, "survey", "--json", "--expect", "hosts=2", str(file))
        self.assertIsNone(conforms(as_json, "survey-1"))
        self.assertEqual(as_json["findings"][0]["what"], "the job is not as expected")
        before = self.expect(2, "survey", "--expect", "host=2", "--", "touch", str(self.folder / "ran"), env=ALONE, cwd=self.folder)
        self.assertIn("--expect: the expected shape 'host=2': it is not hosts=N", before.stderr)
        self.assertFalse((self.folder / "ran").exists())
        self.expect(1, "survey", "-q", "--expect", "hosts=2", "--", *WORK, env=ALONE, cwd=self.folder)
        self.expect(5, "survey", "-q", "--expect", "hosts=2", "--", "sh", "-c", "exit 5", env=ALONE, cwd=self.folder)

    def own_mask(self):
        text = Path("/proc/self/status").read_text()
        return re.search(r"Cpus_allowed_list:\s*(\S+)", text)[1]

    def test_the_exit_status_is_that_of_the_program(self):
        self.expect(5, "survey", "-q", "--", "sh", "-c", "exit 5", env=ALONE, cwd=self.folder)
        killed = nodewise("survey", "-q", "--", "sh", "-c", "kill -9 $$", env=ALONE, cwd=self.folder)
        self.assertEqual(killed.returncode, -9)
        shown = self.expect_json(1, "survey", "--json", "--strict", "nodewise-survey", cwd=self.folder)
        self.assertEqual(shown["findings"][0]["evidence"], "ended by signal 9")
        missing = self.expect(127, "survey", "--", "./no-such-program", env=ALONE, cwd=self.folder)
        self.assertIn("no-such-program", missing.stderr)

    def test_the_rank_that_ends_last_shows_the_job(self):
        env = ALONE | {"PMI_SIZE": "2", "MPI_LOCALNRANKS": "2"}
        first = nodewise("survey", "--", *WORK, env=env | {"PMI_RANK": "1", "MPI_LOCALRANKID": "1"}, cwd=self.folder)
        second = nodewise("survey", "--", *WORK, env=env | {"PMI_RANK": "0", "MPI_LOCALRANKID": "0"}, cwd=self.folder)
        self.assertEqual((first.returncode, first.stderr), (0, ""))
        self.assertIn("job under MPICH's mpiexec: 2 ranks on 1 host", second.stderr)
        self.assertEqual(sorted(os.listdir(self.folder / "nodewise-survey")), ["rank-0.jsonl", "rank-1.jsonl", "shown"])

    def test_records_in_the_output_are_found_wherever_they_are(self):
        env = ALONE | {"SLURM_STEP_NUM_TASKS": "3", "SLURM_JOB_ID": "9"}
        out = ""
        for rank in range(3):
            done = self.expect(0, "survey", "--lines", "--", "sh", "-c", "printf 'residual 0.1 '",
                               env=env | {"SLURM_PROCID": str(rank), "SLURM_LOCALID": str(rank)})
            self.assertTrue(all(len(line) < 512 for line in done.stdout.splitlines()))
            out += done.stdout
        shown = self.expect_json(0, "survey", "--json", "-", input=out)
        self.assertEqual((shown["job"], shown["surveyed"], shown["missing"]), ("9", 3, []))
        lines = out.splitlines()
        cut = [line for line in lines if not re.match(r".*nodewise-survey/1 9 0 2/", line)]
        shown = self.expect_json(0, "survey", "--json", "-", input="\n".join(cut))
        self.assertEqual(shown["missing"], [0])
        self.assertRegex(shown["problems"][0], r"standard input:\d+: 1 of \d+ lines of the record are missing")

    def test_what_is_wrong_comes_first_with_the_line_that_fixes_it(self):
        ranks = [record_of(0, 4, "n1", "0-3"), record_of(1, 4, "n1", "0-3"),
                 record_of(2, 4, "n2", "0"), record_of(3, 4, "n2", "2")]
        identity = machine_of(HARDWARE)
        for each in ranks:
            each["machine"] = identity
            each["hardware"] = HARDWARE
        file = self.write(*ranks)
        done = self.expect(0, "survey", str(file))
        head, _, rest = done.stdout.partition("\n\n")
        self.assertEqual(head, "job 77 under Slurm: 4 ranks on 2 hosts, 1 thread of each work\n./solver")
        self.assertIn("1. threads are not bound: threads may run on any of the nodes 0-1; ranks 0, 1 on n1", rest)
        self.assertIn("      srun --cpus-per-task=1 --cpu-bind=cores", rest)
        self.assertRegex(rest, r"(?m)^ +1  --     0, 1 ")
        self.assertRegex(rest, r"(?m)^ +0  #\.     2 ")
        strict = self.expect_json(1, "survey", "--json", "--strict", str(file))
        self.assertIsNone(conforms(strict, "survey-1"))

    def test_odd_names_and_contradictions_are_said(self):
        odd = record_of(0, 2, "n\u001b[31m1 \u2603", "0")
        file = self.write(odd, record_of(1, 2, "n2", "0"), record_of(1, 2, "n3", "0"))
        done = self.expect(0, "survey", str(file))
        self.assertNotIn("\x1b", done.stdout)
        self.assertIn("rank 1 has another record", done.stdout)
        whole = json.dumps(record_of(0, 2, "n1", "0"), separators=(",", ":"))
        (self.folder / "cut").write_text(whole[: len(whole) // 2] + "\n" + whole + "\n")
        done = self.expect(0, "survey", str(self.folder / "cut"))
        self.assertIn("cut:1: the record of a rank: not JSON: parse error at line 1", done.stdout)
        self.assertIn("1 of 2 ranks", done.stdout)

    def test_errors_say_what_to_do(self):
        self.assertIn("nodewise survey -- PROGRAM", self.expect(3, "survey", str(self.write())).stderr)
        self.assertIn("cannot be read", self.expect(3, "survey", str(self.folder / "nothing")).stderr)
        self.assertIn("missing", self.expect(2, "survey").stderr)
        two = self.write(record_of(0, 1, "n1", "0"), record_of(0, 1, "n1", "0", job="78"))
        self.assertIn("--job", self.expect(3, "survey", str(two)).stderr)
        self.assertEqual(self.expect_json(0, "survey", "--json", "--job", "78", str(two))["job"], "78")
        (self.folder / "file").write_text("")
        refused = self.expect(4, "survey", "--records", str(self.folder / "file/x"), "--", "true", env=ALONE)
        self.assertIn("--lines", refused.stderr)


if __name__ == "__main__":
    unittest.main()
