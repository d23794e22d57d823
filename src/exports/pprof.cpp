// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "exports/pprof.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>

#include <protozero/pbf_writer.hpp>

#include <nodewise/error.hpp>
#include <nodewise/version.hpp>

#include "base/text.hpp"
#include "exports/gzip.hpp"
#include "exports/pprof_fields.hpp"
#include "exports/pprof_tables.hpp"
#include "exports/remote_uses.hpp"

namespace nodewise::exports {

namespace {

using profile::use_source;

enum class sample_kind { remote_lines, remote_samples, predicted_wait, first_touched_pages };

struct sample_type {
  sample_kind what;
  const char* name;
  const char* unit;
  const char* meaning; ///< a comment in the file
};

constexpr std::array sample_types = {
    sample_type{sample_kind::remote_lines, "remote_lines", "count",
                "remote_lines: cache lines that a thread fetched from the memory of another node, "
                "counted in a virtual machine"},
    sample_type{sample_kind::remote_samples, "remote_samples", "count",
                "remote_samples: sampled accesses of a thread to the memory of another node"},
    sample_type{sample_kind::predicted_wait, "predicted_wait", "nanoseconds",
                "predicted_wait: predicted by a model, not measured: how much longer the program "
                "takes than if each thread had its data on its own node; divided in proportion to "
                "the remote uses"},
    sample_type{sample_kind::first_touched_pages, "first_touched_pages", "count",
                "first_touched_pages: pages that this code touched first"},
};

/// How it is known which code made a remote use.
constexpr const char* one_place = "counted";
constexpr const char* several_places = "divided by use";
constexpr const char* no_place = "unknown";

bool has_samples(const profile::profile& of, sample_kind what, const pprof_facts& more) {
  const auto uses = [&](use_source from) {
    return std::ranges::find(of.programs, from, &profile::program::use_from) != of.programs.end();
  };
  switch (what) {
  case sample_kind::remote_lines:
    return uses(use_source::traffic_count);
  case sample_kind::remote_samples:
    return uses(use_source::hinting_faults);
  case sample_kind::predicted_wait:
    return std::ranges::any_of(more.predicted_wait_s, &std::optional<double>::has_value);
  case sample_kind::first_touched_pages:
    break;
  }
  return std::ranges::any_of(of.programs, [](const profile::program& each) {
    return std::ranges::any_of(each.objects,
                               [](const profile::object& one) { return !one.touches.empty(); });
  });
}

/// Code that used an object, and its share.
struct using_place {
  const profile::frame* where = nullptr; ///< null: not known
  double share = 1;                      ///< 0..1
};

/// A part of the remote uses: a sample.
struct remote_part {
  std::size_t object = 0;
  remote_use use;
  using_place at;
  const char* how = no_place;
  std::int64_t amount = 0;
};

/// The recorded places, and what they leave of the uses.
std::vector<using_place> places_using(const profile::object& what) {
  constexpr std::size_t most = 64; // a recorded profile has fewer
  constexpr double rounding = 1e-3;
  double used = 0;
  for (const profile::use_run& run : what.uses) {
    for (const profile::use& each : run.by) {
      used += each.amount;
    }
  }
  const auto recorded = std::views::take(what.used_at, most);
  double known = 0;
  for (const profile::using_code& each : recorded) {
    known += each.amount;
  }
  const double all = std::max(used, known);
  std::vector<using_place> places;
  for (const profile::using_code& each : recorded) {
    if (each.amount > 0 && std::isfinite(all)) {
      places.push_back({&each.where, each.amount / all});
    }
  }
  if (places.empty()) {
    return {{}};
  }
  if (used - known > rounding * used) {
    places.push_back({nullptr, (used - known) / all});
  }
  return places;
}

class pprof_writer {
 public:
  pprof_writer(const profile::profile& of, const pprof_facts& more) : of_(of), more_(more) {
    for (const sample_type& each : sample_types) {
      if (has_samples(of, each.what, more)) {
        types_.push_back(&each);
      }
    }
    if (types_.empty()) {
      throw error(error_kind::input, "a file for pprof",
                  "the profile has neither first touches nor uses of memory",
                  "`nodewise doctor` shows what prevents them; --on lab:NAME counts them");
    }
  }

  std::string run() {
    for (const sample_type* const each : types_) {
      write_type(*each);
    }
    for (std::size_t p = 0; p < of_.programs.size(); ++p) {
      program_ = &of_.programs[p];
      threads_.emplace(*program_);
      tables_.enter(*program_);
      names_ = profile::names_of(*program_);
      if (program_->use_from != use_source::none) {
        write_remote_uses(p < more_.predicted_wait_s.size() ? more_.predicted_wait_s[p]
                                                            : std::nullopt);
      }
      write_first_touches();
    }
    write_facts();
    return out_ + tables_.encoded();
  }

 private:
  void write_type(const sample_type& which) {
    protozero::pbf_writer one(all_, profile_field::sample_type);
    one.add_int64(value_type_field::type, tables_.text(which.name));
    one.add_int64(value_type_field::unit, tables_.text(which.unit));
  }

  void write_facts() {
    constexpr double nanoseconds = 1e9;
    constexpr double longest_s = 1e9;
    if (of_.cost.wall_s > 0 && of_.cost.wall_s < longest_s) {
      all_.add_int64(profile_field::duration_nanos, std::llround(of_.cost.wall_s * nanoseconds));
    }
    all_.add_int64(profile_field::default_sample_type, tables_.text(types_.front()->name));
    comment(fmt::format("Nodewise {} on {}: {}", NODEWISE_VERSION, more_.machine,
                        joined(of_.command, " ", shell_word)));
    for (const sample_type* const each : types_) {
      comment(each->meaning);
    }
    comment(fmt::format("If several places in the code use an array, its remote uses are divided "
                        "among them by their use of it (label code: {})",
                        several_places));
    if (has_samples(of_, sample_kind::predicted_wait, more_)) {
      comment("predicted with the figures of " + more_.priced_on);
    }
    for (const std::string& each : of_.seen.missing) {
      comment("not seen: " + each);
    }
  }

  void comment(std::string_view text) {
    all_.add_int64(profile_field::comment, tables_.text(text));
  }

  /// The remote uses of the object, divided among the places that use it.
  void add_remote_parts(std::size_t object, std::vector<remote_part>& into) const {
    const profile::object& what = program_->objects[object];
    const std::vector<using_place> places = places_using(what);
    const char* const how = places.size() > 1                 ? several_places
                            : places.front().where != nullptr ? one_place
                                                              : no_place;
    std::vector<remote_part> parts;
    std::vector<double> amounts;
    for (const remote_use& use : remote_uses_of(what, *threads_)) {
      for (const using_place& at : places) {
        parts.push_back({object, use, at, how});
        amounts.push_back(use.amount * at.share);
      }
    }
    const std::vector<std::int64_t> whole = whole_parts(amounts);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (whole[i] > 0) {
        parts[i].amount = whole[i];
        into.push_back(parts[i]);
      }
    }
  }

  /// The wait in proportion to the amounts, in nanoseconds.
  static std::vector<std::int64_t> divided_wait(double seconds,
                                                const std::vector<remote_part>& parts) {
    double sum = 0;
    for (const remote_part& each : parts) {
      sum += static_cast<double>(each.amount);
    }
    std::vector<double> waits;
    waits.reserve(parts.size());
    for (const remote_part& each : parts) {
      waits.push_back(seconds * 1e9 * static_cast<double>(each.amount) / sum);
    }
    return whole_parts(waits);
  }

  void write_remote_uses(std::optional<double> wait_s) {
    std::vector<remote_part> parts;
    for (std::size_t i = 0; i < program_->objects.size(); ++i) {
      add_remote_parts(i, parts);
    }
    const std::vector<std::int64_t> waits =
        wait_s ? divided_wait(*wait_s, parts) : std::vector<std::int64_t>(parts.size(), 0);
    const sample_kind kind = program_->use_from == use_source::traffic_count
                                 ? sample_kind::remote_lines
                                 : sample_kind::remote_samples;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const remote_part& each = parts[i];
      std::vector<table_number> stack;
      if (each.at.where != nullptr) {
        stack = tables_.places(std::span(each.at.where, 1));
      }
      stack.push_back(array_place(each.object));
      std::ranges::copy(tables_.places(program_->objects[each.object].made_at),
                        std::back_inserter(stack));
      protozero::pbf_writer sample = begun(stack, [&](sample_kind asked) {
        return asked == kind ? each.amount : asked == sample_kind::predicted_wait ? waits[i] : 0;
      });
      label_array(sample, each.object);
      label_thread(sample, each.use.by, program_->threads[each.use.by].home());
      label(sample, "memory_node", std::to_string(to_int(each.use.from)));
      label(sample, "code", each.how);
    }
  }

  void write_first_touches() {
    for (std::size_t i = 0; i < program_->objects.size(); ++i) {
      for (const profile::first_touch& touch : program_->objects[i].touches) {
        std::vector<table_number> stack = {array_place(i)};
        std::ranges::copy(tables_.places(touch.where), std::back_inserter(stack));
        constexpr std::uint64_t most = std::uint64_t{1} << 53; // as in whole_parts
        const auto pages = static_cast<std::int64_t>(std::min(touch.pages, most));
        protozero::pbf_writer sample = begun(stack, [&](sample_kind asked) {
          return asked == sample_kind::first_touched_pages ? pages : 0;
        });
        label_array(sample, i);
        if (touch.by) {
          label_thread(sample, *touch.by, touch.from);
        }
        label(sample, "touched_by", profile::to_string(touch.how));
      }
    }
  }

  /// A sample with its stack and values; the caller adds labels.
  template <class ValueOf>
  protozero::pbf_writer begun(const std::vector<table_number>& stack, ValueOf value_of) {
    std::vector<std::int64_t> values;
    values.reserve(types_.size());
    for (const sample_type* const each : types_) {
      values.push_back(value_of(each->what));
    }
    protozero::pbf_writer sample(all_, profile_field::sample);
    sample.add_packed_uint64(sample_field::location_id, stack.begin(), stack.end());
    sample.add_packed_int64(sample_field::value, values.begin(), values.end());
    return sample;
  }

  table_number array_place(std::size_t object) {
    return tables_.named_place("array " + names_[object],
                               profile::own_frame(program_->objects[object].made_at));
  }

  void label(protozero::pbf_writer& of, std::string_view key, std::string_view value) {
    protozero::pbf_writer one(of, sample_field::label);
    one.add_int64(label_field::key, tables_.text(key));
    one.add_int64(label_field::str, tables_.text(value));
  }

  void label_array(protozero::pbf_writer& of, std::size_t object) {
    label(of, "program", program_->name);
    if (program_->rank) {
      label(of, "rank", std::to_string(*program_->rank));
    }
    label(of, "array", names_[object]);
  }

  void label_thread(protozero::pbf_writer& of, profile::thread_index by, node_id node) {
    const profile::thread& who = program_->threads[by];
    label(of, "thread", fmt::format("{} {}", who.tid, who.name));
    if (node != unknown_node) {
      label(of, "thread_node", std::to_string(to_int(node)));
    }
  }

  const profile::profile& of_;
  const pprof_facts& more_;
  std::vector<const sample_type*> types_;
  std::string out_;
  protozero::pbf_writer all_{out_};
  pprof_tables tables_;
  const profile::program* program_ = nullptr;     ///< that is being written
  std::optional<profile::thread_places> threads_; ///< its threads
  std::vector<std::string> names_;                ///< of its objects
};

} // namespace

std::string pprof_message(const profile::profile& of, const pprof_facts& more) {
  return pprof_writer(of, more).run();
}

std::string pprof(const profile::profile& of, const pprof_facts& more) {
  return gzip(pprof_message(of, more));
}

} // namespace nodewise::exports
