// A device that is this computer: what the host program asks of XRT, with the kernel's own C++ behind it.
//
// `make software` builds the host with it: data is packed, passed and checked as with a card, no card is needed. The
// kernel is WEFT_KERNEL.

#ifndef WEFT_SOFTWARE_DEVICE_H
#define WEFT_SOFTWARE_DEVICE_H

#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

enum xclBOSyncDirection { XCL_BO_SYNC_BO_TO_DEVICE, XCL_BO_SYNC_BO_FROM_DEVICE };

namespace xrt {

struct uuid {};

struct device {
  explicit device(unsigned index) {
    if (index != 0) {
      throw std::runtime_error("there is one software device, 0");
    }
  }
  uuid load_xclbin(const std::string &) { return {}; }
};

// What the kernel sees is another memory than what the host writes, until it is synchronised.
class bo {
public:
  bo(const device &, std::size_t bytes, int)
      : bytes_(bytes), host_(allocated(bytes)), device_(allocated(bytes)) {}
  ~bo() {
    std::free(host_);
    std::free(device_);
  }
  bo(const bo &) = delete;
  bo &operator=(const bo &) = delete;

  void write(const void *from) { std::memcpy(host_, from, bytes_); }
  void read(void *to) { std::memcpy(to, host_, bytes_); }
  void sync(xclBOSyncDirection direction) {
    if (direction == XCL_BO_SYNC_BO_TO_DEVICE) {
      std::memcpy(device_, host_, bytes_);
    } else {
      std::memcpy(host_, device_, bytes_);
    }
  }
  void *address() const { return device_; }

private:
  static void *allocated(std::size_t bytes) {
    void *found = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (found == nullptr) {
      throw std::bad_alloc();
    }
    std::memset(found, 0xa5, bytes); // nobody is to rely on zeros
    return found;
  }
  std::size_t bytes_;
  void *host_;
  void *device_;
};

struct run {
  void wait() {}
};

template <class P> struct passed {
  template <class V> static P as(const V &value) { return static_cast<P>(value); }
};
template <class E> struct passed<E *> {
  static E *as(const bo &buffer) { return static_cast<E *>(buffer.address()); }
};

class kernel {
public:
  kernel(const device &, const uuid &, const std::string &) {}
  int group_id(int) const { return 0; }
  template <class... V> run operator()(const V &...values) {
    call(&::WEFT_KERNEL, values...);
    return {};
  }

private:
  template <class... P, class... V> static void call(void (*function)(P...), const V &...values) {
    function(passed<P>::as(values)...);
  }
};

} // namespace xrt

#endif
