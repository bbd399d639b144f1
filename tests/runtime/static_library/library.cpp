// A library as kept_statics_test.cpp needs it: it makes a static object when it is used.
#include <cstdlib>

extern "C" void make_static() {
  struct Object {
    ~Object() { std::_Exit(1); }
  };
  static const Object object;
}
