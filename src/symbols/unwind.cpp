// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "symbols/unwind.hpp"

#include <bit>
#include <cstring>
#include <string>
#include <unordered_map>

#include "symbols/cfi.hpp"
#include "symbols/elf_file.hpp"
#include "symbols/frame_step.hpp"

namespace nodewise::symbols {

namespace {

/// DWARF's numbers of the registers 0, 1, ... of perf. x86-64: ax, bx, cx, dx, si, di, bp, sp, ip,
/// then flags and segments, r8 from 16 on (arch/x86/include/uapi/asm/perf_regs.h).
constexpr std::array<std::uint8_t, 8> x86_64_of_perf{0, 3, 2, 1, 4, 5, 6, 7};

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

registers::registers(processor of, std::uint64_t pc, std::uint64_t stack_pointer) noexcept
    : kind_(of) {
  set(pc_number(), pc);
  set(stack_pointer_number(), stack_pointer);
}

std::optional<registers> registers::of_perf(processor of, std::uint64_t mask,
                                            std::span<const std::uint64_t> values) noexcept {
  const bool x86 = of == processor::x86_64;
  const unsigned pc_bit = x86 ? 8 : 32;
  const unsigned stack_bit = x86 ? 7 : 31;
  if (values.size() < static_cast<std::size_t>(std::popcount(mask)) ||
      ((mask >> pc_bit) & (mask >> stack_bit) & 1U) == 0) {
    return std::nullopt;
  }
  registers all(of, 0, 0);
  std::size_t at = 0;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if (((mask >> bit) & 1U) == 0) {
      continue;
    }
    const std::uint64_t value = values[at++];
    if (bit == pc_bit) {
      all.set_pc(value);
    } else if (!x86) {
      all.set(bit, value);
    } else if (bit < x86_64_of_perf.size()) {
      all.set(x86_64_of_perf[bit], value);
    } else if (bit >= 16 && bit < 24) {
      all.set(bit - 8, value);
    }
  }
  return all;
}

std::optional<std::uint64_t> registers::get(std::uint64_t number) const noexcept {
  return number < count && ((known_ >> number) & 1U) != 0 ? std::optional(values_[number])
                                                          : std::nullopt;
}

void registers::set(std::uint64_t number, std::uint64_t value) noexcept {
  if (number < count) {
    values_[number] = value;
    known_ |= std::uint64_t{1} << number;
  }
}

void registers::forget(std::uint64_t number) noexcept {
  if (number < count) {
    known_ &= ~(std::uint64_t{1} << number);
  }
}

std::optional<std::uint64_t> stack_copy::word(std::uint64_t address) const noexcept {
  const std::uint64_t offset = address - start;
  if (address < start || bytes.size() < sizeof offset || offset > bytes.size() - sizeof offset) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view to_string(chain_end why) noexcept {
  constexpr std::array<std::string_view, 6> words = {
      "outermost", "copy ends", "no module", "no call frame information", "invalid", "too long"};
  return words[static_cast<std::size_t>(why)];
}

/// What was opened so far, by path.
class unwinder::files {
 public:
  struct code_file {
    explicit code_file(const std::string& name)
        : elf(name), separate(debug_file_of(elf.get())), runs_on(processor_of(elf.get())),
          addresses(elf.get()), table(elf.get(), separate.get()) {}
    elf_file elf;
    elf_file separate;
    std::optional<processor> runs_on;
    segment_addresses addresses;
    frame_table table;
  };

  code_file& of(const std::string& name) { return by_name_.try_emplace(name, name).first->second; }

 private:
  std::unordered_map<std::string, code_file> by_name_;
};

unwinder::unwinder() : files_(std::make_unique<files>()) {}
unwinder::unwinder(unwinder&&) noexcept = default;
unwinder& unwinder::operator=(unwinder&&) noexcept = default;
unwinder::~unwinder() = default;

unwound unwinder::chain(const code_map& code, const registers& at, const stack_copy& stack,
                        std::size_t longest) {
  unwound all;
  registers now = at;
  bool interrupted = true; // the pc is an instruction, not a return
  all.addresses.push_back(now.pc());
  while (true) {
    const std::uint64_t inside = now.pc() - (interrupted ? 0 : 1);
    const code_mapping* const where = code.at(inside);
    if (where == nullptr || !where->file.starts_with('/')) {
      all.why = chain_end::no_module;
      return all;
    }
    files::code_file& file = files_->of(where->file);
    const auto address = file.addresses.at(inside - where->start + where->file_offset);
    const frame_row* const row =
        address && file.runs_on == now.kind() ? file.table.row_at(*address) : nullptr;
    if (row == nullptr) {
      all.why = chain_end::no_cfi;
      return all;
    }
    const caller up = caller_of(now, *row, stack);
    if (!up.at) {
      all.why = up.why;
      return all;
    }
    // The stack shrinks with each return. Only the interrupted function may have no frame there,
    // and signal handlers may have their own stacks.
    const std::uint64_t below = now.get(now.stack_pointer_number()).value_or(0);
    const std::uint64_t above = up.at->get(now.stack_pointer_number()).value_or(0);
    if (!row->signal && (interrupted ? above < below : above <= below)) {
      all.why = chain_end::nonsense;
      return all;
    }
    if (all.addresses.size() == longest) {
      all.why = chain_end::too_long;
      return all;
    }
    interrupted = row->signal;
    now = *up.at;
    all.addresses.push_back(now.pc() + (interrupted ? 1 : 0));
  }
}

} // namespace nodewise::symbols
