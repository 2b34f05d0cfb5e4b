// Does nothing: where this does not run under valgrind, nothing that is linked with these libraries does.
#include <hwy/targets.h>

int main() { return hwy::SupportedTargets() == 0 ? 1 : 0; }
