#include "distances/products.h"

#include <stdexcept>

#include "support/float_mode.h"

namespace deadheat {

template <class T>
Panels<T>::Panels(Index rows, Index dim, Index width)
    : rows_(rows), dim_(dim), numbers_(at((rows + width - 1) / width * width * dim)) {}

template <class T>
Panels<T> packed(Matrix<const T> rows) {
    const auto &loops = std::get<ProductLoops<T>>(product_loops());
    Panels<T> panels(rows.rows, rows.columns, loops.width);
    loops.pack(rows, panels);
    return panels;
}

template <class T>
void multiply(const Panels<T> &left, Index row, const Panels<T> &right, Index column, Index chunk, Matrix<T> out) {
    const FlushingMode mode;
    std::get<ProductLoops<T>>(product_loops()).multiply(left, row, right, column, chunk, out);
}

template <class T>
void product(const Panels<T> &left, const Panels<T> &right, Index chunk, Matrix<T> out) {
    if (left.dim() < 1 || left.dim() != right.dim() || left.rows() != out.rows || right.rows() != out.columns || chunk < 1)
        throw std::invalid_argument("rows, chunk and product must fit each other");
    multiply(left, 0, right, 0, chunk, out);
}

template class Panels<float>;
template class Panels<double>;
template Panels<float> packed(Matrix<const float>);
template Panels<double> packed(Matrix<const double>);
template void multiply(const Panels<float> &, Index, const Panels<float> &, Index, Index, Matrix<float>);
template void multiply(const Panels<double> &, Index, const Panels<double> &, Index, Index, Matrix<double>);
template void product(const Panels<float> &, const Panels<float> &, Index, Matrix<float>);
template void product(const Panels<double> &, const Panels<double> &, Index, Matrix<double>);

}  // namespace deadheat
