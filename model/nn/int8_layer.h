// A fully connected layer in integers of eight bits, which processors multiply
// two to four times as fast as floats:
//
//   y[j] = b[j] + s t[j] sum_k X[k] V[k, j]
//
// where s X is nearly the input and t[j] V[., j] nearly column j of the weight.
// X and V are whole numbers from -127 to 127, so s and t[j] are the largest
// absolute values of the input and of the column, divided by 127. The sum is
// exact: it does not depend on the processor.
//
//   Threads  thread-safe; each thread uses its own scratch.
#ifndef SEMRANK_MODEL_NN_INT8_LAYER_H_
#define SEMRANK_MODEL_NN_INT8_LAYER_H_

#include <vector>

#include "model/nn/gemm.h"

namespace semrank {

// Memory that Apply reuses between calls. Not thread-safe.
struct Int8Scratch {
  std::vector<float> units;   // of X
  std::vector<float> scales;  // s of each row
};

class Int8Layer {
 public:
  // Copies the weight [inputs, width], of at most 65,536 inputs, not the bias
  // [width], which must outlive this.
  Int8Layer(const StridedMatrix& weight, const float* bias);

  int width() const { return weight_.columns(); }
  // Row i of `outputs` [rows, width()] from row i of `inputs`; they must not
  // overlap. An input that is not finite makes its row NaN or infinite.
  void Apply(int rows, const float* inputs, Int8Scratch& scratch,
             float* outputs) const;

 private:
  int num_inputs_;
  const float* bias_;                 // b
  PackedMatrix weight_;               // V in units (gemm.h)
  std::vector<float> column_scales_;  // t
  // The initial values of the sums, integers in the bits of floats. Where units
  // of X hold X + 128, they are -128 times the sum of V's column.
  std::vector<float> first_sums_;
};

}  // namespace semrank

#endif  // SEMRANK_MODEL_NN_INT8_LAYER_H_
