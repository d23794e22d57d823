// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The protocol between the runner on the host and init in the guest, over one virtio-serial port.
// nodewise_lab/protocol.py holds the same numbers; a test compares the two files.
//
// A frame is a type (1 byte), the payload's length (4 bytes, little endian) and the payload. Every
// integer inside a payload is 4 bytes, little endian, too.
//
//   guest                                host
//   READY  ----------------------------> (makes the snapshot here)
//          <---------------------------- JOB       once; from here on the guest belongs to this job
//   STARTED ---------------------------> the command's first instruction is next
//   STDOUT, STDERR --------------------> data of the command
//          <---------------------------- STDIN, STDIN_END, SIGNAL, WINDOW
//          <---------------------------- OUTPUT_CLOSED: that stream has no reader any more
//   CREDIT <---------------------------> "I have consumed this many bytes of that stream"
//   STDIN_CLOSED ----------------------> the command will read no more; nothing more is to be sent
//   NOTE ------------------------------> a text for the user; the job goes on
//   EXIT or FAILURE -------------------> the last frame; the host ends the machine
//
// Flow control: a sender may have up to STREAM_WINDOW bytes of a stream in flight that the other
// side has not returned as CREDIT. So a stalled stream never delays another stream or a signal.
#pragma once

enum frame_type {
  FRAME_READY = 1,     // payload: empty
  FRAME_JOB = 2,       // payload: "key=value" strings, each ended by a NUL (job.h lists the keys)
  FRAME_STARTED = 3,   // payload: empty
  FRAME_STDIN = 4,     // payload: data
  FRAME_STDIN_END = 5, // payload: empty
  FRAME_STDOUT = 6,    // payload: data
  FRAME_STDERR = 7,    // payload: data
  FRAME_CREDIT = 8,    // payload: stream, bytes
  FRAME_SIGNAL = 9,    // payload: signal number
  FRAME_WINDOW = 10,   // payload: rows, columns
  FRAME_STDIN_CLOSED = 11,  // payload: empty
  FRAME_NOTE = 12,          // payload: text
  FRAME_FAILURE = 13,       // payload: exit status, then asked NUL answered NUL hint NUL
  FRAME_EXIT = 14,          // payload: the status as waitpid gives it
  FRAME_OUTPUT_CLOSED = 15, // payload: stream
};

enum stream {
  STREAM_STDIN = 0,
  STREAM_STDOUT = 1,
  STREAM_STDERR = 2,
};

enum {
  FRAME_HEADER_BYTES = 5,
  // virtio-serial moves at most 32 KiB per request: a full data frame is exactly one.
  FRAME_DATA_BYTES = 32768 - 5,
  // A job carries the caller's environment, which Linux lets grow to several MiB.
  FRAME_PAYLOAD_MAX = 16777216,
  STREAM_WINDOW = 262144,
};

// Names that both sides must agree on.
#define PORT_NAME "nodewise"
#define HOST_ROOT_TAG "hostroot"
#define WORK_TAG "work"
