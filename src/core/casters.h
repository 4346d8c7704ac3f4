// How NumPy arrays become views: of the very type that a loop takes, in C order, and never by a silent copy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "support/views.h"

namespace nanobind::detail {

template <class T>
struct type_caster<std::span<T>> {
    using Array = ndarray<T, ndim<1>, c_contig, device::cpu>;
    using Value = std::span<T>;
    static constexpr auto Name = make_caster<Array>::Name;
    template <class>
    using Cast = Value;
    template <class>
    static constexpr bool can_cast() {
        return true;
    }

    bool from_python(handle source, std::uint8_t flags, cleanup_list *cleanup) noexcept {
        return array.from_python(source, flags & ~static_cast<std::uint8_t>(cast_flags::convert), cleanup);
    }
    operator Value() { return {array.value.data(), array.value.size()}; }

    make_caster<Array> array;
};

template <class T>
struct type_caster<deadheat::Matrix<T>> {
    using Array = ndarray<T, ndim<2>, device::cpu>;
    using Value = deadheat::Matrix<T>;
    static constexpr auto Name = make_caster<Array>::Name;
    template <class>
    using Cast = Value;
    template <class>
    static constexpr bool can_cast() {
        return true;
    }

    bool from_python(handle source, std::uint8_t flags, cleanup_list *cleanup) noexcept {
        if (!array.from_python(source, flags & ~static_cast<std::uint8_t>(cast_flags::convert), cleanup)) return false;
        if (array.value.size() == 0) return true;  // strides mean nothing
        // numbers of a row lie side by side, and rows forward, unless there is but one of them
        return (array.value.stride(1) == 1 || array.value.shape(1) <= 1) &&
               (array.value.stride(0) >= static_cast<std::int64_t>(array.value.shape(1)) || array.value.shape(0) <= 1);
    }
    operator Value() {
        const auto rows = static_cast<deadheat::Index>(array.value.shape(0));
        const auto columns = static_cast<deadheat::Index>(array.value.shape(1));
        return {array.value.data(), rows, columns, static_cast<deadheat::Index>(array.value.stride(0))};
    }

    make_caster<Array> array;
};

}  // namespace nanobind::detail
