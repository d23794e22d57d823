# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise run --numa-balancing` against the guest's own file: while the program runs, after its end,
after signals, after kill -9, and without permission."""

import subprocess
import unittest

from lab import BUILD, FOUR_NODES, PYTHON, LabTest

# Only root may change the settings of a guest.
PRIVILEGED_LAB = BUILD / "tests/privileged_lab/nodewise_lab"
NODEWISE = BUILD / "bin/nodewise"

# Waits for events: the program has written "began" when it runs under the switched value.
SCRIPT = f"""
mkdir /run/test
nodewise={NODEWISE}
setting=/proc/sys/kernel/numa_balancing
look() {{ echo "$1 $(cat $setting)"; }}
begin() {{
  mkfifo /run/test/began /run/test/end
  "$@" sh -c 'echo "$PPID" > /run/test/began; read _ < /run/test/end' &
  read running < /run/test/began
}}
finish() {{ wait $!; echo "status $?"; echo > /run/test/end; rm /run/test/*; }}

look before
$nodewise run --numa-balancing on -- cat $setting
look after
$nodewise run --numa-balancing on -- sh -c 'exit 7'; echo "status $?"
look failed
$nodewise run --numa-balancing on -- ./missing 2> missing.txt; echo "status $?"
look missing
echo 1 > $setting
$nodewise run --numa-balancing off --bind close --threads 2 -- cat $setting
look was_on
echo 0 > $setting

for signal in INT TERM HUP; do
  mkfifo /run/test/began /run/test/end
  env --default-signal=INT $nodewise run --numa-balancing on -- sh -c 'echo > /run/test/began; exec sleep 1000' & process=$!
  read _ < /run/test/began
  look "before_$signal"
  kill -s $signal $process
  wait $process; echo "status $?"
  look "after_$signal"
  rm /run/test/*
done

begin $nodewise run --numa-balancing on --
$nodewise run --numa-balancing off -- echo started 2> busy.txt; echo "status $?"
$nodewise run -- true
look second
kill -9 $running
finish
look killed
$nodewise run -- true 2> restored.txt
look restored
wc -c < /run/nodewise/numa_balancing

echo 1 > $setting
$nodewise tune --over balancing --dry-run -- true
echo 0 > $setting
$nodewise tune --over balancing --dry-run -- true
look dry
as_user="env HOME=$PWD setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps=-all --bounding-set=-all"
$as_user $nodewise run --numa-balancing on -- echo started 2> user.txt; echo "status $?"
$as_user $nodewise tune --over balancing -- echo started 2> user_tune.txt; echo "status $?"
$as_user $nodewise run --numa-balancing off -- cat $setting
look end
"""
EXPECTED = """\
before 0
1
after 0
status 7
failed 0
status 127
missing 0
0
was_on 1
before_INT 1
status 130
after_INT 0
before_TERM 1
status 143
after_TERM 0
before_HUP 1
status 129
after_HUP 0
status 4
second 1
status 137
killed 1
restored 0
0
as it is
--numa-balancing off
as it is
--numa-balancing on
dry 0
status 4
status 4
0
end 0
"""


class NumaBalancing(LabTest):
    def test_the_setting_is_switched_for_the_program_and_always_restored(self):
        (self.directory / "script.sh").write_text(SCRIPT)
        command = [PYTHON, "-B", PRIVILEGED_LAB, "run", "--machine", FOUR_NODES, "--", "sh", "script.sh"]
        done = subprocess.run(command, cwd=self.directory, capture_output=True, stdin=subprocess.DEVNULL, timeout=900)
        self.assert_output(done, EXPECTED)
        for name, said in (
            ("busy", r"(?s)--numa-balancing off: .*already switched by another nodewise, process \d+.*hint: wait"),
            ("restored", r"kernel\.numa_balancing is restored to 0: a nodewise that was killed had set it to 1"),
            ("user", r"(?s)--numa-balancing on: .*EACCES.*hint: run as root"),
            ("user_tune", r"(?s)--over balancing: .*EACCES.*hint: run as root"),
        ):
            with self.subTest(name):
                self.assertRegex((self.directory / f"{name}.txt").read_text(), said)


if __name__ == "__main__":
    unittest.main()
