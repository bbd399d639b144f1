// A transform of many rows side by side, in the memory of one core.
//
// Stockham's self-sorting passes (C. Van Loan, "Computational Frameworks for the Fast Fourier
// Transform", SIAM 1992, section 1.7) over real and imaginary parts in planes of their own, [n][lanes]:
// the innermost loop runs over lanes and over what earlier passes have brought together, with one
// twiddle factor, so it is vectorised for every radix. A length with a large prime becomes a convolution
// (L. Bluestein, "A linear filtering approach to the computation of discrete Fourier transform", 1970).
//
// Compiled once per instruction set. A Transform is immutable; its plan's runs share it.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "stoker/kernels/fft/radices.hpp"

namespace stoker::kernels::fft::STOKER_ISA {

/// Primes up to this have passes of their own.
constexpr std::int64_t largest_radix = 13;

/// Real and imaginary parts, n·lanes of each.
template <class T> struct Planes {
  T* re;
  T* im;
};

template <class T> struct Pass {
  std::int64_t radix = 0;
  std::int64_t before = 0;          ///< product of the radices of earlier passes
  std::int64_t rest = 0;            ///< product of the radices of later ones
  std::vector<T> re, im;            ///< twiddle factors: [rest][radix]
  std::vector<T> root_re, root_im;  ///< the radix' own roots of unity
};

template <class T> class Passes {
 public:
  Passes() = default;
  Passes(std::int64_t n, const std::vector<std::int64_t>& radices) {
    std::int64_t before = 1;
    for (const std::int64_t radix : radices) {
      Pass<T> pass{radix, before, n / before / radix, {}, {}, {}, {}};
      const std::int64_t length = radix * pass.rest;
      for (std::int64_t p = 0; p < pass.rest; ++p)
        for (std::int64_t k = 0; k < radix; ++k) add(pass.re, pass.im, root(p * k, length));
      for (std::int64_t k = 0; k < radix; ++k) add(pass.root_re, pass.root_im, root(k, radix));
      all_.push_back(std::move(pass));
      before *= radix;
    }
  }

  /// Transforms `data`; the result is there or in `other`, and returned.
  Planes<T> run(Planes<T> data, Planes<T> other, std::int64_t lanes) const {
    for (const Pass<T>& pass : all_) {
      switch (pass.radix) {
        case 2: two(pass, data, other, pass.before * lanes); break;
        case 3: three(pass, data, other, pass.before * lanes); break;
        case 4: four(pass, data, other, pass.before * lanes); break;
        default: any(pass, data, other, pass.before * lanes);
      }
      std::swap(data, other);
    }
    return data;
  }

 private:
  static void add(std::vector<T>& re, std::vector<T>& im, std::complex<double> number) {
    re.push_back(static_cast<T>(number.real()));
    im.push_back(static_cast<T>(number.imag()));
  }

  static void two(const Pass<T>& pass, Planes<T> x, Planes<T> y, std::int64_t s) {
    for (std::int64_t p = 0; p < pass.rest; ++p) {
      const T wr = pass.re[static_cast<std::size_t>(2 * p + 1)];
      const T wi = pass.im[static_cast<std::size_t>(2 * p + 1)];
      const T* ar = x.re + s * p;
      const T* ai = x.im + s * p;
      const T* br = ar + s * pass.rest;
      const T* bi = ai + s * pass.rest;
      T* yr = y.re + 2 * s * p;
      T* yi = y.im + 2 * s * p;
#pragma GCC ivdep
      for (std::int64_t q = 0; q < s; ++q) {
        const T dr = ar[q] - br[q];
        const T di = ai[q] - bi[q];
        yr[q] = ar[q] + br[q];
        yi[q] = ai[q] + bi[q];
        yr[q + s] = dr * wr - di * wi;
        yi[q + s] = dr * wi + di * wr;
      }
    }
  }

  static void three(const Pass<T>& pass, Planes<T> x, Planes<T> y, std::int64_t s) {
    const T half = static_cast<T>(-0.5);
    const T root = pass.root_im[1];  // -√3/2
    for (std::int64_t p = 0; p < pass.rest; ++p) {
      const T* w_re = pass.re.data() + 3 * p;
      const T* w_im = pass.im.data() + 3 * p;
      const T ur = w_re[1], ui = w_im[1], vr = w_re[2], vi = w_im[2];
      const std::int64_t step = s * pass.rest;
      const T* xr = x.re + s * p;
      const T* xi = x.im + s * p;
      T* yr = y.re + 3 * s * p;
      T* yi = y.im + 3 * s * p;
#pragma GCC ivdep
      for (std::int64_t q = 0; q < s; ++q) {
        const T sr = xr[q + step] + xr[q + 2 * step];
        const T si = xi[q + step] + xi[q + 2 * step];
        const T dr = root * (xr[q + step] - xr[q + 2 * step]);
        const T di = root * (xi[q + step] - xi[q + 2 * step]);
        const T mr = xr[q] + half * sr;
        const T mi = xi[q] + half * si;
        const T br = mr - di, bi = mi + dr;
        const T cr = mr + di, ci = mi - dr;
        yr[q] = xr[q] + sr;
        yi[q] = xi[q] + si;
        yr[q + s] = br * ur - bi * ui;
        yi[q + s] = br * ui + bi * ur;
        yr[q + 2 * s] = cr * vr - ci * vi;
        yi[q + 2 * s] = cr * vi + ci * vr;
      }
    }
  }

  static void four(const Pass<T>& pass, Planes<T> x, Planes<T> y, std::int64_t s) {
    const std::int64_t step = s * pass.rest;
    for (std::int64_t p = 0; p < pass.rest; ++p) {
      const T* w_re = pass.re.data() + 4 * p;
      const T* w_im = pass.im.data() + 4 * p;
      const T ur = w_re[1], ui = w_im[1], vr = w_re[2], vi = w_im[2], tr = w_re[3], ti = w_im[3];
      const T* xr = x.re + s * p;
      const T* xi = x.im + s * p;
      T* yr = y.re + 4 * s * p;
      T* yi = y.im + 4 * s * p;
#pragma GCC ivdep
      for (std::int64_t q = 0; q < s; ++q) {
        const T ar = xr[q] + xr[q + 2 * step], ai = xi[q] + xi[q + 2 * step];
        const T br = xr[q] - xr[q + 2 * step], bi = xi[q] - xi[q + 2 * step];
        const T cr = xr[q + step] + xr[q + 3 * step], ci = xi[q + step] + xi[q + 3 * step];
        const T dr = xr[q + step] - xr[q + 3 * step], di = xi[q + step] - xi[q + 3 * step];
        const T er = br + di, ei = bi - dr;  // b - i·d
        const T fr = ar - cr, fi = ai - ci;
        const T gr = br - di, gi = bi + dr;  // b + i·d
        yr[q] = ar + cr;
        yi[q] = ai + ci;
        yr[q + s] = er * ur - ei * ui;
        yi[q + s] = er * ui + ei * ur;
        yr[q + 2 * s] = fr * vr - fi * vi;
        yi[q + 2 * s] = fr * vi + fi * vr;
        yr[q + 3 * s] = gr * tr - gi * ti;
        yi[q + 3 * s] = gr * ti + gi * tr;
      }
    }
  }

  /// Each result by its sum.
  static void any(const Pass<T>& pass, Planes<T> x, Planes<T> y, std::int64_t s) {
    const std::int64_t r = pass.radix;
    for (std::int64_t p = 0; p < pass.rest; ++p)
      for (std::int64_t k = 0; k < r; ++k) {
        const T wr = pass.re[static_cast<std::size_t>(r * p + k)];
        const T wi = pass.im[static_cast<std::size_t>(r * p + k)];
        T* yr = y.re + s * (r * p + k);
        T* yi = y.im + s * (r * p + k);
        std::array<T, largest_radix> c;
        std::array<T, largest_radix> d;
        for (std::int64_t j = 0; j < r; ++j) {
          const auto at = static_cast<std::size_t>(j * k % r);
          c[static_cast<std::size_t>(j)] = pass.root_re[at] * wr - pass.root_im[at] * wi;
          d[static_cast<std::size_t>(j)] = pass.root_re[at] * wi + pass.root_im[at] * wr;
        }
        const auto sum = [&]<std::size_t R>(std::integral_constant<std::size_t, R>) {
#pragma GCC ivdep
          for (std::int64_t q = 0; q < s; ++q) {
            T re = 0;
            T im = 0;
#pragma GCC unroll 13
            for (std::size_t j = 0; j < R; ++j) {
              const std::int64_t at = q + s * (p + pass.rest * static_cast<std::int64_t>(j));
              re += x.re[at] * c[j] - x.im[at] * d[j];
              im += x.re[at] * d[j] + x.im[at] * c[j];
            }
            yr[q] = re;
            yi[q] = im;
          }
        };
        switch (r) {
          case 5: sum(std::integral_constant<std::size_t, 5>{}); break;
          case 7: sum(std::integral_constant<std::size_t, 7>{}); break;
          case 11: sum(std::integral_constant<std::size_t, 11>{}); break;
          default: sum(std::integral_constant<std::size_t, 13>{});
        }
      }
  }

  std::vector<Pass<T>> all_;
};

/// Transforms of one length, which may have any factors.
template <class T> class Transform {
 public:
  explicit Transform(std::int64_t n) : n_{n}, room_{n} {
    if (const auto radices = radices_of(n, largest_radix)) {
      passes_ = Passes<T>{n, *radices};
      return;
    }
    room_ = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * n - 1)));
    passes_ = Passes<T>{room_, *radices_of(room_, largest_radix)};
    make_chirp();
  }

  /// Elements of each plane, for each lane.
  [[nodiscard]] std::int64_t room() const noexcept { return room_; }
  [[nodiscard]] bool is_convolution() const noexcept { return room_ != n_; }

  /// Transforms the first n elements of `data`; the result is there or in `other`, and returned.
  Planes<T> run(Planes<T> data, Planes<T> other, std::int64_t lanes) const {
    if (!is_convolution()) return passes_.run(data, other, lanes);
    scale(data, chirp_re_, chirp_im_, n_, lanes);
    for (T* plane : {data.re, data.im}) std::fill(plane + n_ * lanes, plane + room_ * lanes, T{0});
    const Planes<T> there = passes_.run(data, other, lanes);
    scale(there, filter_re_, filter_im_, room_, lanes);
    // Back: parts exchanged before and after make it the inverse.
    const Planes<T> rest = there.re == data.re ? other : data;
    const Planes<T> back = passes_.run({there.im, there.re}, {rest.im, rest.re}, lanes);
    const Planes<T> made{back.im, back.re};
    scale(made, chirp_re_, chirp_im_, n_, lanes);
    return made;
  }

 private:
  /// jk = (j² + k² - (j - k)²) / 2: a chirp before, a convolution with its conjugate, a chirp after.
  void make_chirp() {
    std::vector<std::complex<double>> chirp(static_cast<std::size_t>(n_));
    std::int64_t square = 0;  // j² modulo 2n
    for (std::int64_t j = 0; j < n_; ++j) {
      chirp[static_cast<std::size_t>(j)] = root(square, 2 * n_);
      square = (square + 2 * j + 1) % (2 * n_);
    }
    std::vector<double> re(static_cast<std::size_t>(room_), 0.0);
    std::vector<double> im(re);
    for (std::int64_t j = 0; j < n_; ++j) {
      const std::complex<double> one = std::conj(chirp[static_cast<std::size_t>(j)]);
      for (const std::int64_t at : {j, (room_ - j) % room_}) {
        re[static_cast<std::size_t>(at)] = one.real();
        im[static_cast<std::size_t>(at)] = one.imag();
      }
      chirp_re_.push_back(static_cast<T>(one.real()));
      chirp_im_.push_back(static_cast<T>(-one.imag()));
    }
    std::vector<double> other_re(re.size());
    std::vector<double> other_im(re.size());
    const Passes<double> exact{room_, *radices_of(room_, largest_radix)};
    const Planes<double> spectrum =
        exact.run({re.data(), im.data()}, {other_re.data(), other_im.data()}, 1);
    for (std::int64_t k = 0; k < room_; ++k) {
      filter_re_.push_back(static_cast<T>(spectrum.re[k] / static_cast<double>(room_)));
      filter_im_.push_back(static_cast<T>(spectrum.im[k] / static_cast<double>(room_)));
    }
  }

  static void scale(Planes<T> x, const std::vector<T>& by_re, const std::vector<T>& by_im,
                    std::int64_t count, std::int64_t lanes) {
    for (std::int64_t k = 0; k < count; ++k) {
      const T c = by_re[static_cast<std::size_t>(k)];
      const T d = by_im[static_cast<std::size_t>(k)];
      T* re = x.re + k * lanes;
      T* im = x.im + k * lanes;
#pragma GCC ivdep
      for (std::int64_t q = 0; q < lanes; ++q) {
        const T a = re[q];
        re[q] = a * c - im[q] * d;
        im[q] = a * d + im[q] * c;
      }
    }
  }

  std::int64_t n_;
  std::int64_t room_;
  Passes<T> passes_;
  std::vector<T> chirp_re_, chirp_im_;
  std::vector<T> filter_re_, filter_im_;
};

}  // namespace stoker::kernels::fft::STOKER_ISA
