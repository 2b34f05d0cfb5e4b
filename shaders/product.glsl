// C[z] = A[z] B[z] + what was there, in tiles of kTile x kTile. The kernel that includes this file says what the
// matrices are:
//   float left(int z, int row, int n)         A[z][row, n]
//   float right(int z, int n, int column)     B[z][n, column]
//   float start(int z, int row, int column)   C before the term call.depth_first
//   void store(int z, int row, int column, float sum)
// and may define TERM(sum, a, b), one more term of the sum.
// Group: 8 x 8 invocations with 4 x 4 entries each, for tile call.task_first + x of the tiles (z, row, column).
// C++ asks for at most kMostTerms terms of the sum at a time, because Mesa's
// software renderer silently stops the loops of an invocation after 65,535 rounds in all.
#ifndef TERM
#define TERM(sum, a, b) ((sum) + (a) * (b))
#endif

layout(local_size_x = 8, local_size_y = 8) in;

shared float a_slice[kSlice][kTile + 1];
shared float b_slice[kSlice][kTile + 1];

/// The next kSlice terms of the tile's rows and columns; 0 beyond the edges.
void load_slices(int z, int row_first, int column_first, int n_first) {
    for (int entry = int(gl_LocalInvocationIndex); entry < kTile * kSlice; entry += 64) {
        int n = entry % kSlice, row = entry / kSlice;
        bool inside = n_first + n < call.depth_end && row_first + row < call.rows;
        a_slice[n][row] = inside ? left(z, row_first + row, n_first + n) : 0.0;
        int column = entry % kTile;
        n = entry / kTile;
        inside = n_first + n < call.depth_end && column_first + column < call.columns;
        b_slice[n][column] = inside ? right(z, n_first + n, column_first + column) : 0.0;
    }
}

void main() {
    int column_tiles = (call.columns + kTile - 1) / kTile;
    int row_tiles = (call.rows + kTile - 1) / kTile;
    int task = call.task_first + int(gl_WorkGroupID.x);
    int z = task / (row_tiles * column_tiles);
    int row_first = task / column_tiles % row_tiles * kTile;
    int column_first = task % column_tiles * kTile;
    int my_row = int(gl_LocalInvocationID.y) * 4, my_column = int(gl_LocalInvocationID.x) * 4;

    float sum[4][4];
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 4; ++c) {
            int row = row_first + my_row + r, column = column_first + my_column + c;
            bool inside = row < call.rows && column < call.columns;
            sum[r][c] = inside ? start(z, row, column) : 0.0;
        }
    for (int n_first = call.depth_first; n_first < call.depth_end; n_first += kSlice) {
        load_slices(z, row_first, column_first, n_first);
        barrier();
        for (int n = 0; n < kSlice; ++n)
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < 4; ++c)
                    sum[r][c] = TERM(sum[r][c], a_slice[n][my_row + r], b_slice[n][my_column + c]);
        barrier();
    }
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 4; ++c) {
            int row = row_first + my_row + r, column = column_first + my_column + c;
            if (row < call.rows && column < call.columns) store(z, row, column, sum[r][c]);
        }
}
