# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""From a case to its answers: what the lab counted, priced by the model under each reading."""

from dataclasses import dataclass

import closed_forms
from cases import Case, Input, Number, Reading
from lab import Count, Lab
from model import Model


@dataclass
class Answer:
    number: Number
    predicted: float | None = None
    seconds: float | None = None  # of the lab's traffic, where that was priced
    local: float | None = None  # the share that the lab counted, 0..1
    inputs: tuple[Input, ...] = ()
    fitted_on: bool = False  # a parameter was set so that this number is met, or one that is in it

    @property
    def is_prediction(self) -> bool:
        return self.predicted is not None and not (self.number.is_input or self.fitted_on)

    @property
    def error(self) -> float | None:
        """Of the prediction, in parts of what was published."""
        if not self.is_prediction or self.number.published is None:
            return None
        return self.predicted / self.number.published - 1

    @property
    def shape_holds(self) -> bool | None:
        least, most = self.number.at_least, self.number.at_most
        if self.predicted is None or (least is None and most is None):
            return None
        rounding = 5e-3  # lines that are not of the arrays
        return (least is None or self.predicted >= least * (1 - rounding)) and (
            most is None or self.predicted <= most * (1 + rounding)
        )


@dataclass
class Told:
    """All answers under one reading."""

    reading: Reading
    answers: list[Answer]
    fitted: float | None = None


class Answers:
    def __init__(self, lab: Lab, model: Model):
        self._lab, self._model = lab, model

    def of(self, case: Case) -> list[Told]:
        return [self._under(case, reading) for reading in case.readings]

    def _under(self, case: Case, reading: Reading) -> Told:
        if reading.fit is None:
            return Told(reading, self._all(case, reading, []))
        fit = reading.fit
        target = next(n for n in reading.numbers if n.name == fit.on)

        def predicted(value: float) -> float:
            return self._answer(case, reading, target, [f"{fit.set}={value}"]).predicted

        value = bisect(predicted, target.published, fit.least, fit.most)
        return Told(reading, self._all(case, reading, [f"{fit.set}={value}"]), value)

    def _all(self, case: Case, reading: Reading, sets: list[str]) -> list[Answer]:
        fitted = reading.fit.on if reading.fit else None
        by_name: dict[str, Answer] = {}
        for number in reading.numbers:
            if number.of:
                above, below = (by_name[name] for name in number.of)
                answer = Answer(number, ratio(above, below), inputs=above.inputs)
                answer.fitted_on = fitted in number.of
            else:
                answer = self._answer(case, reading, number, sets)
                answer.fitted_on = number.name == fitted
            by_name[number.name] = answer
        return list(by_name.values())

    def _answer(self, case: Case, reading: Reading, number: Number, sets: list[str]) -> Answer:
        if number.closed_form:
            return Answer(number, closed_forms.BY_NAME[number.closed_form](number.domains))
        if number.loop:
            return Answer(number, self._model.moved(*number.loop))
        if not number.run:
            return Answer(number)
        count = self._lab.count(case.machine, case.runs[number.run], reading.options)
        if number.unit == "local:remote":
            local, remote = count.lines(number.region)
            return Answer(number, local / remote, local=count.local_share(number.region))
        inputs = case.inputs + number.inputs
        sets = [each.word for each in inputs] + sets
        seconds = self._model.traffic_seconds(
            count.path, number.region, reading.limit, reading.schedule, sets
        )
        local = count.local_share(number.region)
        return Answer(number, value(number, count, seconds), seconds, local, inputs)


def value(number: Number, count: Count, seconds: float) -> float:
    """In the number's unit; seconds are scaled from the lab's bytes to the published ones."""
    moved = count.stream_bytes[number.region]
    return seconds * number.published_bytes / moved if number.unit == "s" else moved / seconds / 1e9


def ratio(above: Answer, below: Answer) -> float | None:
    """Of what is predicted; what was only published cannot be divided."""
    if above.predicted is None or below.predicted is None:
        return None
    return above.predicted / below.predicted


def bisect(of, target: float, least: float, most: float) -> float:
    """Where a rising function has this value; the nearer end if it has it nowhere between."""
    for _ in range(20):
        middle = (least + most) / 2
        if of(middle) < target:
            least = middle
        else:
            most = middle
    return (least + most) / 2
