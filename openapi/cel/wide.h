// 128-bit integers, for sums that must not overflow before they are checked.
#pragma once

namespace mailroom::cel {

__extension__ typedef __int128 Wide;

}  // namespace mailroom::cel
