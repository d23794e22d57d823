// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "symbols/unwind.hpp"

#include <utility>

#include "symbols/cfi.hpp"
#include "symbols/elf_file.hpp"
#include "symbols/frame_step.hpp"

namespace nodewise::symbols {

namespace {

std::optional<processor> processor_of(Elf* elf) {
  GElf_Ehdr header;
  if (!is_mapped_program(elf) || ::gelf_getehdr(elf, &header) == nullptr) {
    return std::nullopt;
  }
  return header.e_machine == EM_X86_64    ? std::optional(processor::x86_64)
         : header.e_machine == EM_AARCH64 ? std::optional(processor::aarch64)
                                          : std::nullopt;
}

} // namespace

struct unwinder::code_file {
  explicit code_file(const std::string& name)
      : elf(name), separate(debug_file_of(elf.get())), runs_on(processor_of(elf.get())),
        addresses(elf.get()), table(elf.get(), separate.get()) {}
  elf_file elf;
  elf_file separate;
  std::optional<processor> runs_on;
  segment_addresses addresses;
  frame_table table;
};

unwinder::unwinder() : files_(std::make_shared<files>()) {}

unwound unwinder::chain(const code_map& code, const registers& at, const stack_copy& stack,
                        std::size_t longest) {
  std::vector<std::uint64_t> addresses = {at.pc()};
  const auto ended = [&](chain_end why) { return unwound{std::move(addresses), why}; };
  registers now = at;
  bool interrupted = true; // the pc is an instruction, not a return
  while (true) {
    const std::uint64_t inside = now.pc() - (interrupted ? 0 : 1);
    const code_mapping* const where = code.at(inside);
    if (where == nullptr || !where->file.starts_with('/')) {
      return ended(chain_end::no_module);
    }
    code_file& file = files_->try_emplace(where->file, where->file).first->second;
    const auto address = file.addresses.at(inside - where->start + where->file_offset);
    const frame_row* const row =
        address && file.runs_on == now.kind() ? file.table.row_at(*address) : nullptr;
    if (row == nullptr) {
      return ended(chain_end::no_cfi);
    }
    const caller up = caller_of(now, *row, stack);
    if (!up.at) {
      return ended(up.why);
    }
    // The stack shrinks with each return. Only the interrupted function may have no frame there,
    // and signal handlers may have their own stacks.
    const std::uint64_t below = now.get(now.stack_pointer_number()).value_or(0);
    const std::uint64_t above = up.at->get(now.stack_pointer_number()).value_or(0);
    if (!row->signal && (interrupted ? above < below : above <= below)) {
      return ended(chain_end::nonsense);
    }
    if (addresses.size() == longest) {
      return ended(chain_end::too_long);
    }
    interrupted = row->signal;
    now = *up.at;
    addresses.push_back(now.pc() + (interrupted ? 1 : 0));
  }
}

} // namespace nodewise::symbols
