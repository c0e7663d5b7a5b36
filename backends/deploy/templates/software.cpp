// The kernel as a function of addresses, for run.py --software: whatever the types of its arguments are.

#include "../@TOP@.h"

#include <cstddef>
#include <utility>

namespace {

template <class P> struct at {
  static P address(void *place) { return *static_cast<P *>(place); }
};
template <class E> struct at<E *> {
  static E *address(void *place) { return static_cast<E *>(place); }
};

template <class... P, std::size_t... N>
void call(void (*function)(P...), void *const *places, std::index_sequence<N...>) {
  function(at<P>::address(places[N])...);
}
template <class... P> void call(void (*function)(P...), void *const *places) {
  call(function, places, std::index_sequence_for<P...>());
}

} // namespace

extern "C" void weft_call(void *const *places) { call(&::@TOP@, places); }
