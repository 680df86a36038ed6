#include "backends/cpu/Operators.h"
namespace tilewright::cpu {
void addNormalizations(Table &table) {}
} // namespace tilewright::cpu
