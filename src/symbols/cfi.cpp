// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "symbols/cfi.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include <dwarf.h>

#include "symbols/cfi_program.hpp"

namespace nodewise::symbols {

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

} // namespace

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
    const auto first = encoded_address(in, c.encoding, address_ + offset_of(fde.start));
    const auto length = encoded_address(in, c.encoding & 0x0fU, 0);
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
    c.code_unit = cie.code_alignment_factor;
    c.data_unit = cie.data_alignment_factor;
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
        c.encoding = in.fixed<std::uint8_t>();
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
  frame_program program({c.code_unit, c.data_unit, c.encoding});
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
