// Conversion of NumPy arrays to views: of the very type that a loop takes, in C order, and never by a silent copy; and of
// arrays that are made here to NumPy's.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <array>
#include <memory>
#include <type_traits>
#include <utility>

#include "counting/columns.h"
#include "counting/packed_groups.h"
#include "support/memory.h"

namespace deadheat {

/// An array of `N` dimensions to be filled by a loop, and then given to NumPy.
template <class T, std::size_t N = 1>
struct Fresh {
    explicit Fresh(std::array<Index, N> lengths)
        : shape(lengths),
          size(static_cast<std::size_t>(N == 1 ? lengths[0] : lengths[0] * lengths[N - 1])),
          data(std::make_unique_for_overwrite<T[]>(size)) {}
    operator Span<T>() const { return {data.get(), size}; }
    operator Matrix<T>() const { return {data.get(), shape[0], shape[N - 1], shape[N - 1]}; }

    std::array<Index, N> shape;
    std::size_t size;
    std::unique_ptr<T[]> data;
};

}  // namespace deadheat

namespace nanobind::detail {

template <class T, std::size_t N>
struct type_caster<deadheat::Fresh<T, N>> {
    using Value = deadheat::Fresh<T, N>;
    static constexpr auto Name = make_caster<ndarray<numpy, T>>::Name;
    template <class>
    using Cast = Value;

    static handle from_cpp(Value &&made, rv_policy, cleanup_list *cleanup) noexcept {
        using Array = ndarray<numpy, T>;
        T *data = made.data.release();
        std::array<std::size_t, N> shape;
        std::copy(made.shape.begin(), made.shape.end(), shape.begin());
        const capsule owner(data, [](void *array) noexcept { delete[] static_cast<T *>(array); });
        return make_caster<Array>::from_cpp(Array(data, N, shape.data(), owner), rv_policy::reference, cleanup);
    }
};

/// The parts of a caster of values that are made from those of another caster, whose arrays are never converted.
template <class Made, class Inner, bool converts = false>
struct caster_by {
    using Value = Made;
    static constexpr auto Name = Inner::Name;
    template <class>
    using Cast = Value;
    template <class>
    static constexpr bool can_cast() {
        return true;
    }

    bool from_python(handle source, std::uint8_t flags, cleanup_list *cleanup) noexcept {
        constexpr auto convert = static_cast<std::uint8_t>(cast_flags::convert);
        return inner.from_python(source, converts ? flags : flags & ~convert, cleanup);
    }

    Inner inner;
};

template <class T>
struct type_caster<std::span<T>> : caster_by<std::span<T>, make_caster<ndarray<T, ndim<1>, c_contig, device::cpu>>> {
    using Value = std::span<T>;

    /// A view of the numbers, as long as the object lives that they belong to.
    static handle from_cpp(Value numbers, rv_policy policy, cleanup_list *cleanup) noexcept {
        using View = ndarray<numpy, T, ndim<1>>;
        const std::size_t shape[] = {numbers.size()};
        static std::remove_const_t<T> none[1] = {};
        return make_caster<View>::from_cpp(View(numbers.empty() ? none : numbers.data(), 1, shape), policy, cleanup);
    }
    operator Value() { return {this->inner.value.data(), this->inner.value.size()}; }
};

template <class T>
struct type_caster<deadheat::Matrix<T>> : caster_by<deadheat::Matrix<T>, make_caster<ndarray<T, ndim<2>, device::cpu>>> {
    using Base = caster_by<deadheat::Matrix<T>, make_caster<ndarray<T, ndim<2>, device::cpu>>>;

    bool from_python(handle source, std::uint8_t flags, cleanup_list *cleanup) noexcept {
        if (!Base::from_python(source, flags, cleanup)) return false;
        const auto &array = this->inner.value;
        if (array.size() == 0) return true;  // whatever NumPy says of its strides
        // numbers of a row lie side by side, and rows forward, unless there is but one of them
        return (array.stride(1) == 1 || array.shape(1) <= 1) &&
               (array.stride(0) >= static_cast<std::int64_t>(array.shape(1)) || array.shape(0) <= 1);
    }
    operator deadheat::Matrix<T>() {
        const auto &array = this->inner.value;
        if (!array.is_valid()) return {};  // of an argument that may be None
        return {array.data(), static_cast<deadheat::Index>(array.shape(0)), static_cast<deadheat::Index>(array.shape(1)),
                static_cast<deadheat::Index>(array.stride(0))};
    }
};

/// Matrices with memory of their own: copies of arrays, which Python sees, and may change, as long as their object lives.
template <class T>
struct type_caster<deadheat::Table<T>> : caster_by<deadheat::Table<T>, make_caster<deadheat::Matrix<const T>>> {
    using Value = deadheat::Table<T>;
    using View = ndarray<numpy, T, ndim<2>>;
    static constexpr auto Name = make_caster<View>::Name;

    static handle from_cpp(const Value &table, rv_policy policy, cleanup_list *cleanup) noexcept {
        const std::size_t shape[] = {static_cast<std::size_t>(table.rows), static_cast<std::size_t>(table.columns)};
        return make_caster<View>::from_cpp(View(const_cast<T *>(table.memory.data()), 2, shape), policy, cleanup);
    }
    operator Value() {
        const deadheat::Matrix<const T> from = this->inner.operator deadheat::Matrix<const T>();
        Value table(from.rows, from.columns);
        for (deadheat::Index i = 0; i < from.rows; ++i) std::copy_n(from.row(i), from.columns, table.row(i));
        return table;
    }
};

/// Numbers with memory of their own: copies of arrays, both ways.
template <>
struct type_caster<deadheat::Numbers64> : caster_by<deadheat::Numbers64, make_caster<std::span<const std::int64_t>>> {
    static handle from_cpp(const Value &numbers, rv_policy, cleanup_list *cleanup) noexcept try {
        deadheat::Fresh<std::int64_t> copy({static_cast<deadheat::Index>(numbers.size())});
        std::copy(numbers.begin(), numbers.end(), copy.data.get());
        return make_caster<deadheat::Fresh<std::int64_t>>::from_cpp(std::move(copy), rv_policy::move, cleanup);
    } catch (const std::bad_alloc &) {
        return PyErr_NoMemory();
    }
    operator Value() {
        const std::span<const std::int64_t> from = inner.operator std::span<const std::int64_t>();
        return {from.begin(), from.end()};
    }
};

/// Makes a value from an object by a function, where the value is taken: an exception in `from_python` would end the
/// process.
template <class Made, auto made>
struct made_caster {
    using Value = Made;
    static constexpr auto Name = const_name("object");
    template <class>
    using Cast = Value;
    template <class>
    static constexpr bool can_cast() {
        return true;
    }

    bool from_python(handle given, std::uint8_t, cleanup_list *) noexcept {
        source = borrow(given);
        return true;
    }
    operator Value() { return made(source); }

    object source;
};

template <class T>
std::vector<T> vector_of(handle from) {
    std::vector<T> all;
    for (const handle each : borrow(from)) all.push_back(cast<T>(each));
    return all;
}
template <class T>
struct type_caster<std::vector<T>> : made_caster<std::vector<T>, vector_of<T>> {
    static constexpr auto Name = const_name("collections.abc.Sequence[") + make_caster<T>::Name + const_name("]");
};

/// A struct of views from a tuple of arrays: the fields in their order, of these types.
template <class Struct, class... Fields>
struct fields_caster : caster_by<Struct, make_caster<std::tuple<Fields...>>, true> {
    operator Struct() {
        return std::apply([](auto... field) { return Struct{field...}; }, this->inner.operator std::tuple<Fields...>());
    }
};

template <>
struct type_caster<deadheat::ItemLists> : fields_caster<deadheat::ItemLists, deadheat::Int64s, deadheat::Int64s> {};

template <>
struct type_caster<deadheat::PackedGroups>
    : fields_caster<deadheat::PackedGroups, deadheat::Int64s, std::span<std::uint8_t>, std::span<std::int64_t>,
                    std::span<std::int64_t>, std::span<std::int64_t>, std::span<std::int64_t>, int> {
    static constexpr auto Name = const_name("tuple");
};

}  // namespace nanobind::detail

namespace deadheat {

template <class>
struct FieldType;
template <class Struct, class Field>
struct FieldType<Field Struct::*> {
    using type = Field;
};

/// Give a class a constructor by keyword from some fields of its struct, which declares them. The object keeps alive the
/// arrays that its views are of.
template <auto... fields, class Struct, class... Names>
void by_keyword(nanobind::class_<Struct> made, const Names &...names) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        made.def(
            "__init__",
            [](Struct *self, typename FieldType<decltype(fields)>::type... values) {
                new (self) Struct{};
                ((self->*fields = std::move(values)), ...);
            },
            nanobind::kw_only(), names..., nanobind::keep_alive<1, I + 2>()...);
    }(std::index_sequence_for<Names...>());
}

/// The same, with the fields as properties.
template <auto... fields, class Struct, class... Names>
void with_fields(nanobind::class_<Struct> made, const Names &...names) {
    by_keyword<fields...>(made, names...);
    (made.def_ro(names.name_, fields), ...);
}

/// An argument that may be left out, or None.
inline auto optional(const char *name) { return nanobind::arg(name).none() = nanobind::none(); }

}  // namespace deadheat
