// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "symbols/cfi.hpp"

#include <algorithm>
#include <string_view>

#include <dwarf.h>

namespace nodewise::symbols {

using rule_place = frame_rule::place;

namespace {

/// Limits the cache: rows are requested repeatedly, but a program has many instructions.
constexpr std::size_t rows_kept = 1U << 16U;

Elf_Data* section(Elf* elf, std::string_view name, std::uint64_t& address) {
  std::size_t names = 0;
  if (elf == nullptr || ::elf_getshdrstrndx(elf, &names) != 0) {
    return nullptr;
  }
  GElf_Shdr header;
  Elf_Scn* const found = find_section(elf, header, [&](const GElf_Shdr& each) {
    const char* const is =
        each.sh_type == SHT_NOBITS ? nullptr : ::elf_strptr(elf, names, each.sh_name);
    return is != nullptr && name == is;
  });
  if (found == nullptr ||
      ((header.sh_flags & SHF_COMPRESSED) != 0 && ::elf_compress(found, 0, 0) < 0)) {
    return nullptr;
  }
  address = header.sh_addr;
  Elf_Data* const data = ::elf_rawdata(found, nullptr);
  return data != nullptr && data->d_buf != nullptr ? data : nullptr;
}

bool is_little_elf64(Elf* elf) {
  const char* const ident = elf == nullptr ? nullptr : ::elf_getident(elf, nullptr);
  return ident != nullptr && ident[EI_CLASS] == ELFCLASS64 && ident[EI_DATA] == ELFDATA2LSB;
}

std::optional<std::uint64_t> encoded_value(byte_reader& in, std::uint8_t encoding) {
  const bool with_sign = (encoding & DW_EH_PE_signed) != 0;
  const unsigned size = encoding & 0x07U;
  switch (size) {
  case DW_EH_PE_absptr:
    return with_sign ? std::nullopt : std::optional(in.fixed<std::uint64_t>());
  case DW_EH_PE_uleb128:
    return with_sign ? static_cast<std::uint64_t>(in.sleb()) : in.uleb();
  case DW_EH_PE_udata2:
  case DW_EH_PE_udata4:
  case DW_EH_PE_udata8:
    return in.number(1U << (size - 1), with_sign);
  default:
    return std::nullopt;
  }
}

} // namespace

std::optional<std::uint64_t> encoded_address(byte_reader& in, std::uint8_t encoding,
                                             std::uint64_t position) {
  const std::uint64_t here = position + in.position();
  const auto value = encoded_value(in, encoding);
  const unsigned relative_to = encoding & 0xf0U;
  if (!value || in.failed() || (relative_to != DW_EH_PE_absptr && relative_to != DW_EH_PE_pcrel)) {
    return std::nullopt;
  }
  return relative_to == DW_EH_PE_pcrel ? *value + here : *value;
}

bool frame_program::run(byte_span instructions, std::uint64_t begin, std::uint64_t address) {
  byte_reader in(instructions);
  location_ = begin;
  while (!in.at_end() && !in.failed()) {
    // Nearly always one or two bytes, rarely more than a hundred in all.
    if (!step(in, in.fixed<std::uint8_t>())) {
      return false;
    }
    if (location_ > address) {
      return !in.failed();
    }
  }
  return !in.failed();
}

bool frame_program::step(byte_reader& in, std::uint8_t code) {
  const std::uint8_t operand = code & 0x3fU;
  switch (code & 0xc0U) {
  case DW_CFA_advance_loc:
    return advance(operand);
  case DW_CFA_offset:
    return set(operand, rule_place::memory, scaled(static_cast<std::int64_t>(in.uleb())));
  case DW_CFA_restore:
    return restore(operand);
  default:
    break;
  }
  switch (code) {
  case DW_CFA_nop:
  case DW_CFA_GNU_window_save: // AArch64: toggles signing of return addresses
    return true;
  case DW_CFA_GNU_args_size:
    (void)in.uleb();
    return true;
  case DW_CFA_set_loc:
    // Its own position is not known here, so only absolute addresses work.
    if (const auto to = encoded_address(in, units_.encoding, 0);
        to && (units_.encoding & 0xf0U) == DW_EH_PE_absptr && *to >= location_) {
      location_ = *to;
      return true;
    }
    return false;
  case DW_CFA_advance_loc1:
  case DW_CFA_advance_loc2:
  case DW_CFA_advance_loc4:
    return advance(in.number(1U << (code - DW_CFA_advance_loc1), false));
  case DW_CFA_remember_state:
    remembered_.push_back(now_);
    return remembered_.size() <= deepest;
  case DW_CFA_restore_state:
    if (remembered_.empty()) {
      return false;
    }
    now_ = remembered_.back();
    remembered_.pop_back();
    return true;
  default:
    return step_of_cfa(in, code) || step_of_register(in, code);
  }
}

bool frame_program::step_of_cfa(byte_reader& in, std::uint8_t code) {
  switch (code) {
  case DW_CFA_def_cfa:
    now_.cfa = {rule_place::register_sum, in.uleb(), static_cast<std::int64_t>(in.uleb()), {}};
    return true;
  case DW_CFA_def_cfa_sf:
    now_.cfa = {rule_place::register_sum, in.uleb(), scaled(in.sleb()), {}};
    return true;
  case DW_CFA_def_cfa_register:
    now_.cfa.from = in.uleb();
    return now_.cfa.where == rule_place::register_sum;
  case DW_CFA_def_cfa_offset:
    now_.cfa.offset = static_cast<std::int64_t>(in.uleb());
    return now_.cfa.where == rule_place::register_sum;
  case DW_CFA_def_cfa_offset_sf:
    now_.cfa.offset = scaled(in.sleb());
    return now_.cfa.where == rule_place::register_sum;
  case DW_CFA_def_cfa_expression:
    now_.cfa = {rule_place::computed, 0, 0, in.block(in.uleb())};
    return true;
  default:
    return false;
  }
}

bool frame_program::step_of_register(byte_reader& in, std::uint8_t code) {
  const std::uint64_t number = in.uleb(); // all other instructions begin with a register
  switch (code) {
  case DW_CFA_offset_extended:
    return set(number, rule_place::memory, scaled(static_cast<std::int64_t>(in.uleb())));
  case DW_CFA_offset_extended_sf:
    return set(number, rule_place::memory, scaled(in.sleb()));
  case DW_CFA_GNU_negative_offset_extended:
    return set(number, rule_place::memory, scaled(static_cast<std::int64_t>(0 - in.uleb())));
  case DW_CFA_val_offset:
    return set(number, rule_place::cfa_sum, scaled(static_cast<std::int64_t>(in.uleb())));
  case DW_CFA_val_offset_sf:
    return set(number, rule_place::cfa_sum, scaled(in.sleb()));
  case DW_CFA_restore_extended:
    return restore(number);
  case DW_CFA_undefined:
    return set(number, rule_place::lost);
  case DW_CFA_same_value:
    return set(number, rule_place::kept);
  case DW_CFA_register:
    return set(number, rule_place::register_sum, 0, in.uleb());
  case DW_CFA_expression:
    return set(number, rule_place::memory_at, 0, 0, in.block(in.uleb()));
  case DW_CFA_val_expression:
    return set(number, rule_place::computed, 0, 0, in.block(in.uleb()));
  default:
    return false;
  }
}

bool frame_program::set(std::uint64_t number, rule_place where, std::int64_t offset,
                        std::uint64_t from, byte_span expression) {
  if (number < registers) {
    now_.saved[number] = {where, from, offset, expression};
  }
  return true;
}

bool frame_program::restore(std::uint64_t number) {
  if (number < registers) {
    now_.saved[number] = initial_.saved[number];
  }
  return true;
}

std::int64_t frame_program::scaled(std::int64_t offset) const {
  // Unsigned, since the product may overflow.
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) *
                                   static_cast<std::uint64_t>(units_.data));
}

frame_row frame_program::row() const {
  frame_row row;
  row.cfa = now_.cfa;
  for (std::size_t i = 0; i < registers; ++i) {
    if (now_.saved[i].where != rule_place::no_rule) {
      row.saved.emplace_back(i, now_.saved[i]);
    }
  }
  return row;
}

/// Reads one section.
class frame_table::reader {
 public:
  reader(frame_table& into, Elf* elf, Elf_Data* data, bool eh_frame, std::uint64_t address)
      : into_(into), data_(data), eh_frame_(eh_frame), address_(address),
        ident_(reinterpret_cast<const unsigned char*>(::elf_getident(elf, nullptr))) {}

  void read() {
    Dwarf_Off next = 0;
    for (Dwarf_Off at = 0;; at = next) {
      Dwarf_CFI_Entry found{};
      const int answer = ::dwarf_next_cfi(ident_, data_, eh_frame_, at, &next, &found);
      if (answer > 0 || next <= at) {
        return;
      }
      if (answer == 0 && !dwarf_cfi_cie_p(&found)) {
        add(found.fde);
      }
    }
  }

 private:
  [[nodiscard]] std::uint64_t offset_of(const std::uint8_t* at) const {
    return static_cast<std::uint64_t>(at - static_cast<const std::uint8_t*>(data_->d_buf));
  }

  void add(const Dwarf_FDE& fde) {
    const std::optional<std::uint32_t> shared = common_at(fde.CIE_pointer);
    if (!shared || fde.start > fde.end) {
      return;
    }
    const common& c = into_.commons_[*shared];
    byte_reader in({fde.start, fde.end});
    const auto first = encoded_address(in, c.units.encoding, address_ + offset_of(fde.start));
    const auto length = encoded_address(in, c.units.encoding & 0x0fU, 0);
    if (c.sized) {
      (void)in.block(in.uleb());
    }
    // Code that the linker left out keeps its entry, at address 0.
    if (!first || !length || in.failed() || *first == 0 || *length == 0 ||
        *first + *length < *first) {
      return;
    }
    into_.entries_.push_back(
        {*first, *first + *length, *shared, byte_span(fde.start, fde.end).subspan(in.position())});
  }

  std::optional<std::uint32_t> common_at(Dwarf_Off offset) {
    const auto [known, is_new] = known_.try_emplace(offset);
    if (!is_new) {
      return known->second;
    }
    Dwarf_Off next = 0;
    Dwarf_CFI_Entry found{};
    if (::dwarf_next_cfi(ident_, data_, eh_frame_, offset, &next, &found) != 0 ||
        !dwarf_cfi_cie_p(&found)) {
      return std::nullopt;
    }
    if (std::optional<common> read = common_of(found.cie)) {
      into_.commons_.push_back(*read);
      known->second = static_cast<std::uint32_t>(into_.commons_.size() - 1);
    }
    return known->second;
  }

  [[nodiscard]] static std::optional<common> common_of(const Dwarf_CIE& cie) {
    common c;
    if (cie.initial_instructions > cie.initial_instructions_end) {
      return std::nullopt;
    }
    c.program = {cie.initial_instructions, cie.initial_instructions_end};
    c.units = {cie.code_alignment_factor, cie.data_alignment_factor, 0};
    c.return_register = cie.return_address_register;
    std::string_view augmentation = cie.augmentation;
    if (augmentation.empty()) {
      return c;
    }
    if (!augmentation.starts_with('z')) {
      return std::nullopt; // of unknown length
    }
    c.sized = true;
    byte_reader in({cie.augmentation_data, cie.augmentation_data_size});
    augmentation.remove_prefix(1);
    for (const char letter : augmentation) {
      switch (letter) {
      case 'R':
        c.units.encoding = in.fixed<std::uint8_t>();
        break;
      case 'P': // the function that handles exceptions
        (void)encoded_address(in, in.fixed<std::uint8_t>() & 0x0fU, 0);
        break;
      case 'L':
        (void)in.fixed<std::uint8_t>();
        break;
      case 'S':
        c.signal = true;
        break;
      case 'B': // return addresses are signed by key B
        break;
      default:
        return std::nullopt;
      }
    }
    return in.failed() ? std::nullopt : std::optional(c);
  }

  frame_table& into_;
  Elf_Data* data_;
  bool eh_frame_;
  std::uint64_t address_;
  const unsigned char* ident_;
  std::unordered_map<Dwarf_Off, std::optional<std::uint32_t>> known_;
};

frame_table::frame_table(Elf* of, Elf* separate) {
  const auto take = [&](Elf* elf, std::string_view name) {
    std::uint64_t address = 0;
    Elf_Data* const data = is_little_elf64(elf) ? section(elf, name, address) : nullptr;
    if (data != nullptr) {
      reader(*this, elf, data, name == ".eh_frame", address).read();
    }
  };
  take(of, ".eh_frame");
  take(of, ".debug_frame");
  take(separate, ".debug_frame");
  // For the same code, the entry read first counts.
  std::ranges::sort(entries_, {}, [](const entry& e) { return std::pair(e.first, e.shared); });
  const auto same = std::ranges::unique(entries_, {}, &entry::first);
  entries_.erase(same.begin(), same.end());
}

const frame_row* frame_table::row_at(std::uint64_t address) {
  if (const auto known = rows_.find(address); known != rows_.end()) {
    return known->second.cfa.where == frame_rule::place::no_rule ? nullptr : &known->second;
  }
  if (rows_.size() >= rows_kept) {
    rows_.clear();
  }
  frame_row& row = rows_[address];
  const auto after = std::ranges::upper_bound(entries_, address, {}, &entry::first);
  if (after != entries_.begin() && address < std::prev(after)->last) {
    row = make_row(*std::prev(after), address);
  }
  return row.cfa.where == frame_rule::place::no_rule ? nullptr : &row;
}

frame_row frame_table::make_row(const entry& of, std::uint64_t address) const {
  const common& c = commons_[of.shared];
  frame_program program(c.units);
  if (!program.run(c.program, 0, ~std::uint64_t{0})) {
    return {};
  }
  program.keep_as_initial();
  if (!program.run(of.program, of.first, address)) {
    return {};
  }
  frame_row row = program.row();
  row.return_register = c.return_register;
  row.signal = c.signal;
  return row;
}

} // namespace nodewise::symbols
