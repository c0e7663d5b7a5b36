// Calls kernels on data from files (their format: weft_tb.h). Made to compile fast, for many kernels
// in one program: what is instantiated for each kernel is one call, and for each element type one
// pair of copies. The types are taken from the kernel's declaration.

#ifndef WEFT_HARNESS_H
#define WEFT_HARNESS_H

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <unistd.h>
#include <utility>

namespace weft_harness {

typedef std::size_t size;

// How elements of a type get from and into a file.
struct element {
  size in_memory, in_file;
  void (*load)(const char *from, void *to, size count); // null: the same bytes
  void (*store)(const void *from, char *to, size count);
};

template <class T> auto width_of(int) -> decltype(T::width, std::true_type());
template <class T> std::false_type width_of(...);

// Numbers of C++, and ap_(u)int and ap_(u)fixed: their headers keep the extended raw integer in the
// fewest bytes, or in 8-byte words from the lowest, as the files do.
template <class T, bool Same> struct copies {
  static_assert(!std::is_class<T>::value || sizeof(T) <= 8 || sizeof(T) % 8 == 0, "layout");
  static element get() { return element{sizeof(T), sizeof(T), nullptr, nullptr}; }
};
// Small floats, by way of float.
template <class T> struct copies<T, false> {
  static void load(const char *from, void *to, size count) {
    for (size n = 0; n < count; ++n) {
      float value;
      std::memcpy(&value, from + n * sizeof value, sizeof value);
      static_cast<T *>(to)[n] = static_cast<T>(value);
    }
  }
  static void store(const void *from, char *to, size count) {
    for (size n = 0; n < count; ++n) {
      const float value = static_cast<float>(static_cast<const T *>(from)[n]);
      std::memcpy(to + n * sizeof value, &value, sizeof value);
    }
  }
  static element get() { return element{sizeof(T), sizeof(float), load, store}; }
};
template <class T> element element_of() {
  return copies<T, std::is_arithmetic<T>::value || decltype(width_of<T>(0))::value>::get();
}

// A parameter: a scalar, or a pointer to the first row of an array.
template <class P> struct parameter {
  typedef typename std::remove_cv<P>::type type;
  static P pass(void *memory) { return *static_cast<type *>(memory); }
};
template <class R> struct parameter<R *> {
  typedef typename std::remove_cv<typename std::remove_all_extents<R>::type>::type type;
  static R *pass(void *memory) { return static_cast<R *>(memory); }
};

struct argument {
  element kind;
  size count;
  bool array;
};

struct job {
  const argument *arguments;
  size count;
  void (*function)();
  void (*invoke)(void (*)(), void *const *);
};

template <class... P, size... N>
void invoke(void (*f)(), void *const *memory, std::index_sequence<N...>) {
  reinterpret_cast<void (*)(P...)>(f)(parameter<P>::pass(memory[N])...);
}
template <class... P> void invoke_all(void (*f)(), void *const *memory) {
  invoke<P...>(f, memory, std::make_index_sequence<sizeof...(P)>());
}

// `counts`: for each argument its number of elements, 0 for a scalar. `bytes`: of an element in a
// file, to be sure that the kernel's types are those that the data were made for.
template <size K, class... P>
job kernel(void (*f)(P...), const size (&counts)[K], const size (&bytes)[K]) {
  constexpr size n = sizeof...(P);
  static_assert(K == n + 1, "another number of arguments than the program's");
  argument *all = new argument[n + 1];
  const element kinds[] = {element_of<typename parameter<P>::type>()..., element()};
  const bool arrays[] = {std::is_pointer<P>::value..., false};
  for (size i = 0; i < n; ++i) {
    if (arrays[i] != (counts[i] != 0) || kinds[i].in_file != bytes[i]) {
      std::fprintf(stderr, "ERROR: argument %d has another type than its data\n", int(i));
      std::exit(4);
    }
    all[i] = argument{kinds[i], counts[i] ? counts[i] : 1, arrays[i]};
  }
  return job{all, n, reinterpret_cast<void (*)()>(f), invoke_all<P...>};
}

inline bool run_job(const job &what, std::FILE *in, std::FILE *out) {
  void **memory = new void *[what.count + 1];
  bool ok = true;
  for (size i = 0; i < what.count; ++i) {
    const argument &a = what.arguments[i];
    memory[i] = std::calloc(a.count, a.kind.in_memory);
    if (!a.kind.load) {
      ok = ok && std::fread(memory[i], a.kind.in_file, a.count, in) == a.count;
      continue;
    }
    char *buffer = static_cast<char *>(std::malloc(a.count * a.kind.in_file));
    ok = ok && std::fread(buffer, a.kind.in_file, a.count, in) == a.count;
    a.kind.load(buffer, memory[i], a.count);
    std::free(buffer);
  }
  if (ok) {
    what.invoke(what.function, memory);
  }
  for (size i = 0; i < what.count; ++i) {
    const argument &a = what.arguments[i];
    if (ok && a.array && !a.kind.store) {
      ok = std::fwrite(memory[i], a.kind.in_file, a.count, out) == a.count;
    } else if (ok && a.array) {
      char *buffer = static_cast<char *>(std::malloc(a.count * a.kind.in_file));
      a.kind.store(memory[i], buffer, a.count);
      ok = std::fwrite(buffer, a.kind.in_file, a.count, out) == a.count;
      std::free(buffer);
    }
    std::free(memory[i]);
  }
  delete[] memory;
  return ok;
}

// Arguments: the folder of the data, seconds for each job, the number of data sets of each kernel,
// the first job. Job j is data set j % sets of kernel j / sets; its files are <j>.in and <j>.out. A
// result appears under its name when it is complete.
inline int run_jobs(int argc, char **argv, const job *kernels, long count) {
  if (argc != 5) {
    return 2;
  }
  const unsigned seconds = static_cast<unsigned>(std::atol(argv[2]));
  const long sets = std::atol(argv[3]);
  for (long j = std::atol(argv[4]); j < count * sets; ++j) {
    char paths[3][4096];
    const char *const ends[] = {"in", "part", "out"};
    for (int n = 0; n < 3; ++n) {
      std::snprintf(paths[n], sizeof paths[n], "%s/%ld.%s", argv[1], j, ends[n]);
    }
    std::FILE *in = std::fopen(paths[0], "rb");
    std::FILE *out = std::fopen(paths[1], "wb");
    if (!in || !out) {
      return 3;
    }
    alarm(seconds);
    const bool ok = run_job(kernels[j / sets], in, out);
    alarm(0);
    std::fclose(in);
    if (std::fclose(out) != 0 || !ok) {
      return 3;
    }
    std::rename(paths[1], paths[2]);
  }
  return 0;
}

} // namespace weft_harness

#endif
