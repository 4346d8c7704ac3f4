// Counts the scores of each row between the edges of that row, which ascend. Slot k is for scores that are not below k edges.
// Slot 0, farther than all that is relevant, is not counted. If odd slots are open, because what is there may be tied, it is
// listed as row, column and slot: `opened` has the number of all of it, and then as much as there is room for. A column counts
// its weight, or 1 where that is null. A block of threads takes a row, with its edges and counts in shared memory.
extern "C" __global__ void count_rows(const double *scores, const double *edges, const int *weight, int n_column, int n_edge,
                                      int openable, int room, int *counts, int *opened) {
    extern __shared__ double edge[];
    int *count = reinterpret_cast<int *>(edge + n_edge);
    const long long row = blockIdx.x;
    for (int k = threadIdx.x; k < n_edge; k += blockDim.x) edge[k] = edges[row * n_edge + k];
    for (int k = threadIdx.x; k <= n_edge; k += blockDim.x) count[k] = 0;
    __syncthreads();
    for (int column = threadIdx.x; column < n_column; column += blockDim.x) {
        const double score = scores[row * n_column + column];
        if (score < edge[0]) continue;
        int slot = 1, left = n_edge - 1;  // edges that it is not below, and those after them that are not examined
        while (left > 0) {
            const int half = (left + 1) / 2;
            const bool above = edge[slot + half - 1] <= score;
            slot += above ? half : 0, left = above ? left - half : half - 1;
        }
        if (openable && slot % 2 == 1) {
            const long long position = atomicAdd(opened, 1);
            if (position < room)
                opened[3 * position + 1] = static_cast<int>(row), opened[3 * position + 2] = column, opened[3 * position + 3] = slot;
        } else {
            atomicAdd(&count[slot], weight == nullptr ? 1 : weight[column]);
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k <= n_edge; k += blockDim.x) counts[row * (n_edge + 1) + k] = count[k];
}
