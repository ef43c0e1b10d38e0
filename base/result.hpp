#pragma once

#include <concepts>
#include <functional>
#include <utility>
#include <variant>

namespace base {

/// A failure on its way into a Result. Plays the part of std::unexpected.
template <class E>
struct Failure {
    E error;
};
template <class E>
Failure(E) -> Failure<E>;

/// A value or the reason why there is none. The names are std::expected's, so that a later standard costs an alias.
/// A dropped Result is a compiler warning; value() of a failure and error() of a value throw, which is a fault of ours.
template <class T, class E>
class [[nodiscard]] Result {
  public:
    using value_type = T;
    using error_type = E;

    Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
    template <std::convertible_to<E> F>
    Result(Failure<F> failure) : held_(std::in_place_index<1>, std::move(failure.error)) {}

    bool has_value() const { return held_.index() == 0; }
    explicit operator bool() const { return has_value(); }

    T const& value() const& { return std::get<0>(held_); }
    T& value() & { return std::get<0>(held_); }
    T value() && { return std::get<0>(std::move(held_)); }
    E const& error() const& { return std::get<1>(held_); }
    E error() && { return std::get<1>(std::move(held_)); }

    T const& operator*() const& { return value(); }
    T& operator*() & { return value(); }
    T const* operator->() const { return &value(); }
    T* operator->() { return &value(); }

  private:
    std::variant<T, E> held_;
};

/// Success without a value, or a failure.
template <class E>
class [[nodiscard]] Result<void, E> {
  public:
    using value_type = void;
    using error_type = E;

    Result() : held_(std::in_place_index<0>) {}
    template <std::convertible_to<E> F>
    Result(Failure<F> failure) : held_(std::in_place_index<1>, std::move(failure.error)) {}

    bool has_value() const { return held_.index() == 0; }
    explicit operator bool() const { return has_value(); }

    void value() const { static_cast<void>(std::get<0>(held_)); }
    E const& error() const& { return std::get<1>(held_); }
    E error() && { return std::get<1>(std::move(held_)); }

  private:
    std::variant<std::monostate, E> held_;
};

}  // namespace base

/// The value of `expression`, or a return from the enclosing function with its failure. The only macro of this project.
#define TRY(expression)                                                                   \
    __extension__({                                                                       \
        auto try_result = (expression);                                                   \
        if (!try_result.has_value()) return base::Failure{std::move(try_result).error()}; \
        std::move(try_result).value();                                                    \
    })
