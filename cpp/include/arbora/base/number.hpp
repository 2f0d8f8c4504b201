// The operations that a recursion needs of a number type T: zero, one, a few predicates, and rows
// of it in memory.
//
// A Row<T> is a view on consecutive numbers that is read in steps of `width`: four doubles each,
// dual numbers as two separate rows of their parts, wide numbers one by one. `spread` puts a number
// into every lane of a step, `total` adds the lanes up.
#pragma once

#include <cmath>

#include "arbora/base/dual.hpp"
#include "arbora/base/max_plus.hpp"
#include "arbora/base/pack.hpp"
#include "arbora/base/wide.hpp"
#include "arbora/base/workspace.hpp"

namespace arbora::base {

template <class T>
struct Number;

template <>
struct Number<double> {
  static double zero() { return 0.0; }
  static double one() { return 1.0; }
  static double not_negative(double x) { return x > 0.0 ? x : 0.0; }
  static double to_double(double x) { return x; }
  static bool is_positive(double x) { return x > 0.0; }
};

template <>
struct Number<Wide> {
  static Wide zero() { return Wide(); }
  static Wide one() { return Wide(1.0); }
  static Wide not_negative(Wide x) { return x.is_positive() ? x : Wide(); }
  static double to_double(Wide x) { return x.to_double(); }
  static bool is_positive(Wide x) { return x.is_positive(); }
};

template <>
struct Number<MaxPlus> {
  static MaxPlus zero() { return {kForbidden}; }
  static MaxPlus one() { return {0.0}; }
  static double to_double(MaxPlus x) { return x.score; }
};

template <class B>
struct Number<Dual<B>> {
  static Dual<B> zero() { return {Number<B>::zero(), Number<B>::zero()}; }
  static Dual<B> one() { return {Number<B>::one(), Number<B>::zero()}; }
  // Clips the value only: the clip removes rounding noise, it is not part of the function.
  static Dual<B> not_negative(Dual<B> x) { return {Number<B>::not_negative(x.value), x.tangent}; }
  // Where a kernel reports a number, dual numbers report the derivative.
  static double to_double(Dual<B> x) { return Number<B>::to_double(x.tangent); }
};

template <class T>
class Row {
 public:
  using Vec = T;
  static constexpr Index width = 1;

  static Row carve(Workspace& workspace, Index count) {
    return Row(static_cast<T*>(workspace.bytes(static_cast<std::size_t>(count) * sizeof(T))));
  }
  static Vec spread(T x) { return x; }
  static T total(Vec x) { return x; }
  Row() = default;
  explicit Row(T* first) : first_(first) {}
  Row from(Index offset) const { return Row(first_ + offset); }
  T get(Index i) const { return first_[i]; }
  void set(Index i, T x) const { first_[i] = x; }
  Vec load(Index i) const { return first_[i]; }
  void store(Index i, Vec x) const { first_[i] = x; }

 private:
  T* first_ = nullptr;
};

template <>
class Row<double> {
 public:
  using Vec = Pack;
  static constexpr Index width = kPackWidth;

  static Row carve(Workspace& workspace, Index count) {
    return Row(
        static_cast<double*>(workspace.bytes(static_cast<std::size_t>(count) * sizeof(double))));
  }
  static ARBORA_INLINE Vec spread(double x) { return splat(x); }
  static ARBORA_INLINE double total(Vec x) { return sum_of(x); }
  Row() = default;
  explicit Row(double* first) : first_(first) {}
  ARBORA_INLINE Row from(Index offset) const { return Row(first_ + offset); }
  double* data() const { return first_; }
  ARBORA_INLINE double get(Index i) const { return first_[i]; }
  ARBORA_INLINE void set(Index i, double x) const { first_[i] = x; }
  ARBORA_INLINE Vec load(Index i) const { return load_pack(first_ + i); }
  ARBORA_INLINE void store(Index i, Vec x) const { store_pack(first_ + i, x); }

 private:
  double* first_ = nullptr;
};

template <>
class Row<MaxPlus> {
 public:
  using Vec = MaxPlusOf<Pack>;
  static constexpr Index width = kPackWidth;

  static Row carve(Workspace& workspace, Index count) {
    return Row(Row<double>::carve(workspace, count));
  }
  static ARBORA_INLINE Vec spread(MaxPlus x) { return {splat(x.score)}; }
  static ARBORA_INLINE MaxPlus total(Vec x) {
    return {larger(larger(x.score[0], x.score[1]), larger(x.score[2], x.score[3]))};
  }
  Row() = default;
  explicit Row(Row<double> scores) : scores_(scores) {}
  ARBORA_INLINE Row from(Index offset) const { return Row(scores_.from(offset)); }
  ARBORA_INLINE MaxPlus get(Index i) const { return {scores_.get(i)}; }
  ARBORA_INLINE void set(Index i, MaxPlus x) const { scores_.set(i, x.score); }
  ARBORA_INLINE Vec load(Index i) const { return {scores_.load(i)}; }
  ARBORA_INLINE void store(Index i, Vec x) const { scores_.store(i, x.score); }

 private:
  Row<double> scores_;
};

template <class B>
class Row<Dual<B>> {
 public:
  using Vec = Dual<typename Row<B>::Vec>;
  static constexpr Index width = Row<B>::width;

  static Row carve(Workspace& workspace, Index count) {
    const Row<B> value = Row<B>::carve(workspace, count);
    return Row(value, Row<B>::carve(workspace, count));
  }
  static ARBORA_INLINE Vec spread(Dual<B> x) {
    return {Row<B>::spread(x.value), Row<B>::spread(x.tangent)};
  }
  static ARBORA_INLINE Dual<B> total(Vec x) {
    return {Row<B>::total(x.value), Row<B>::total(x.tangent)};
  }
  Row() = default;
  Row(Row<B> value, Row<B> tangent) : value_(value), tangent_(tangent) {}
  Row<B> value() const { return value_; }
  ARBORA_INLINE Row from(Index offset) const {
    return Row(value_.from(offset), tangent_.from(offset));
  }
  ARBORA_INLINE Dual<B> get(Index i) const { return {value_.get(i), tangent_.get(i)}; }
  ARBORA_INLINE void set(Index i, Dual<B> x) const {
    value_.set(i, x.value);
    tangent_.set(i, x.tangent);
  }
  ARBORA_INLINE Vec load(Index i) const { return {value_.load(i), tangent_.load(i)}; }
  ARBORA_INLINE void store(Index i, Vec x) const {
    value_.store(i, x.value);
    tangent_.store(i, x.tangent);
  }

 private:
  Row<B> value_, tangent_;
};

template <class T>
ARBORA_INLINE typename Row<T>::Vec spread(T x) {
  return Row<T>::spread(x);
}

// row[at + i] = the total of x[i].
template <class T>
ARBORA_INLINE void set_totals(Row<T> row, Index at, const typename Row<T>::Vec (&x)[4]) {
  for (Index i = 0; i < 4; ++i) row.set(at + i, Row<T>::total(x[i]));
}
ARBORA_INLINE void set_totals(Row<double> row, Index at, const Pack (&x)[4]) {
  row.store(at, sums_of(x[0], x[1], x[2], x[3]));
}

// The functions of the first `count` numbers of rows work in steps, and one by one at the end:
// nothing behind is read.
template <class T>
ARBORA_INLINE T sum_of(Row<T> row, Index count) {
  auto steps = spread(Number<T>::zero());
  Index i = 0;
  for (; i + Row<T>::width <= count; i += Row<T>::width) steps = steps + row.load(i);
  T sum = Row<T>::total(steps);
  for (; i < count; ++i) sum = sum + row.get(i);
  return sum;
}

template <class T>
ARBORA_INLINE T dot_of(Row<T> a, Row<T> b, Index count) {
  auto steps = spread(Number<T>::zero());
  Index i = 0;
  for (; i + Row<T>::width <= count; i += Row<T>::width) steps = steps + a.load(i) * b.load(i);
  T sum = Row<T>::total(steps);
  for (; i < count; ++i) sum = sum + a.get(i) * b.get(i);
  return sum;
}

// into += factor * row
template <class T>
ARBORA_INLINE void add_scaled(Row<T> into, T factor, Row<T> row, Index count) {
  const auto all = spread(factor);
  Index i = 0;
  for (; i + Row<T>::width <= count; i += Row<T>::width) {
    into.store(i, into.load(i) + all * row.load(i));
  }
  for (; i < count; ++i) into.set(i, into.get(i) + factor * row.get(i));
}

// The smallest multiple of the row's step that is at least `count`.
template <class T>
constexpr Index whole_steps(Index count) {
  return (count + Row<T>::width - 1) / Row<T>::width * Row<T>::width;
}

// A rectangle of numbers. Rows have slack at the end, so that a step that starts at any column
// inside a row stays within that row's memory.
template <class T>
class Matrix {
 public:
  Matrix() = default;
  // Uninitialised.
  static Matrix carve(Workspace& workspace, Index rows, Index columns) {
    Matrix result;
    result.stride_ = whole_steps<T>(columns) + Row<T>::width;
    result.first_ = Row<T>::carve(workspace, rows * result.stride_);
    return result;
  }
  static Matrix carve(Workspace& workspace, Index rows, Index columns, T fill) {
    const Matrix result = carve(workspace, rows, columns);
    for (Index i = 0; i < rows * result.stride_; i += Row<T>::width) {
      result.first_.store(i, spread(fill));
    }
    return result;
  }
  // Takes over the first `rows` rows of a matrix of the same shape.
  void copy_from(const Matrix& other, Index rows) const {
    for (Index i = 0; i < rows * stride_; i += Row<T>::width) first_.store(i, other.first_.load(i));
  }
  ARBORA_INLINE Row<T> row(Index i) const { return first_.from(i * stride_); }
  ARBORA_INLINE T get(Index i, Index j) const { return row(i).get(j); }
  ARBORA_INLINE void set(Index i, Index j, T x) const { row(i).set(j, x); }

 private:
  Row<T> first_;
  Index stride_ = 0;
};

}  // namespace arbora::base
