#include "storage/object/parking.h"

namespace mailroom {
namespace {

thread_local Parking* here = nullptr;

}  // namespace

Parking* Parking::Here() { return here; }

void Parking::Enter(Parking* task) { here = task; }

}  // namespace mailroom
