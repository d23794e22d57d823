# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Reads files of pprof: the messages of its profile.proto (github.com/google/pprof) for Python's protobuf."""

import gzip

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

FIELD = descriptor_pb2.FieldDescriptorProto
PACKAGE = "perftools.profiles"
# By message: number, name, type, repeated.
MESSAGES = {
    "Profile": [(1, "sample_type", "ValueType", True), (2, "sample", "Sample", True), (3, "mapping", "Mapping", True),
                (4, "location", "Location", True), (5, "function", "Function", True), (6, "string_table", "string", True),
                (7, "drop_frames", "int64", False), (8, "keep_frames", "int64", False), (9, "time_nanos", "int64", False),
                (10, "duration_nanos", "int64", False), (11, "period_type", "ValueType", False),
                (12, "period", "int64", False), (13, "comment", "int64", True), (14, "default_sample_type", "int64", False)],
    "ValueType": [(1, "type", "int64", False), (2, "unit", "int64", False)],
    "Sample": [(1, "location_id", "uint64", True), (2, "value", "int64", True), (3, "label", "Label", True)],
    "Label": [(1, "key", "int64", False), (2, "str", "int64", False), (3, "num", "int64", False),
              (4, "num_unit", "int64", False)],
    "Mapping": [(1, "id", "uint64", False), (2, "memory_start", "uint64", False), (3, "memory_limit", "uint64", False),
                (4, "file_offset", "uint64", False), (5, "filename", "int64", False), (6, "build_id", "int64", False),
                (7, "has_functions", "bool", False), (8, "has_filenames", "bool", False),
                (9, "has_line_numbers", "bool", False), (10, "has_inline_frames", "bool", False)],
    "Location": [(1, "id", "uint64", False), (2, "mapping_id", "uint64", False), (3, "address", "uint64", False),
                 (4, "line", "Line", True), (5, "is_folded", "bool", False)],
    "Line": [(1, "function_id", "uint64", False), (2, "line", "int64", False)],
    "Function": [(1, "id", "uint64", False), (2, "name", "int64", False), (3, "system_name", "int64", False),
                 (4, "filename", "int64", False), (5, "start_line", "int64", False)],
}


def _profile_class():
    file = descriptor_pb2.FileDescriptorProto(name="profile.proto", package=PACKAGE, syntax="proto3")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for number, field, kind, repeated in fields:
            one = message.field.add(name=field, number=number)
            one.label = FIELD.LABEL_REPEATED if repeated else FIELD.LABEL_OPTIONAL
            if kind in MESSAGES:
                one.type, one.type_name = FIELD.TYPE_MESSAGE, f".{PACKAGE}.{kind}"
            else:
                one.type = getattr(FIELD, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    descriptor = pool.FindMessageTypeByName(f"{PACKAGE}.Profile")
    if hasattr(message_factory, "GetMessageClass"):  # from 4.22 on
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(pool).GetPrototype(descriptor)


Profile = _profile_class()


class Decoded:
    """A file of pprof with its references resolved. Raises where one leads nowhere."""

    def __init__(self, data):
        self.message = Profile()
        self.message.ParseFromString(gzip.decompress(data))
        text = list(self.message.string_table)
        assert text[0] == "" and len(set(text)) == len(text)
        self.types = [(text[each.type], text[each.unit]) for each in self.message.sample_type]
        self.standard = text[self.message.default_sample_type]
        self.comments = [text[each] for each in self.message.comment]
        self.mappings = {each.id: (text[each.filename], text[each.build_id]) for each in self.message.mapping}
        functions = {each.id: (text[each.name], text[each.filename]) for each in self.message.function}
        locations = {
            each.id: [(*functions[line.function_id], line.line) for line in each.line] for each in self.message.location
        }
        assert 0 not in functions and 0 not in locations and 0 not in self.mappings
        self.addresses = [(self.mappings[each.mapping_id][0] if each.mapping_id else "", each.address)
                          for each in self.message.location]
        # Leaf first, as in the file: function, file, line; the values by type; the labels.
        self.samples = []
        for each in self.message.sample:
            assert len(each.value) == len(self.types)
            self.samples.append((
                [line for location in each.location_id for line in locations[location]],
                dict(zip((name for name, _ in self.types), each.value)),
                {text[label.key]: text[label.str] for label in each.label},
            ))

    def sums(self, kind, label):
        sums = {}
        for _, values, labels in self.samples:
            if values.get(kind, 0):
                sums[labels[label]] = sums.get(labels[label], 0) + values[kind]
        return sums
