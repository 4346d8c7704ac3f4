#include "pass/plan.h"

#include <algorithm>
#include <numeric>

namespace deadheat {

namespace {

constexpr double SHARES = 4;  // for each thread, into which what is left is divided for the next piece

double pairs(const Range &range, const Member &block) {
    return static_cast<double>(range.stop - range.start) * static_cast<double>(block.queries.size());
}

}  // namespace

Plan::Plan(const std::vector<Shard> &shards, std::size_t most_rows, int threads) : threads_(threads) {
    std::vector<std::vector<Row>> rows;
    for (const Shard &shard : shards) {
        rows.push_back(rows_of(shard, members_.emplace_back()));
        for (const Row &row : rows.back())
            for (const Member *block : row.blocks) left_ += pairs(row.range, *block);
    }
    for (std::size_t k = 0; k < shards.size(); ++k) {
        while (static_cast<Index>(collecting_.size()) > threads_) add_collecting(collecting_.front()->last);
        add_making(members_[k], most_rows);
        add_collecting(static_cast<Index>(pieces_.size()));  // what the last pieces of the shard before have counted
        add_counting(members_[k], rows[k]);
    }
    add_collecting(static_cast<Index>(pieces_.size()));
}

/// The ranges of a shard, each with the blocks that it is counted for; from the last one on, where one that is a block has
/// most others before it, each of which it serves as a symmetric block.
std::vector<Plan::Row> Plan::rows_of(const Shard &shard, Members &members) {
    for (const auto &[number, queries] : shard.queries) members[number].queries = queries;
    std::vector<Row> rows;
    for (const Section &section : shard.sections)
        for (const Range &range : section.ranges) {
            const auto own = members.find(range.block);
            Member *symmetric = own == members.end() ? nullptr : &own->second;
            if (symmetric != nullptr) symmetric->columns = range;
            Row row{range, {}, symmetric, static_cast<Index>(rows.size())};
            for (std::int64_t number : section.blocks)
                if (const auto result = members.find(number);
                    result != members.end() && (symmetric == nullptr || number <= range.block))
                    row.blocks.push_back(&result->second);
            if (!row.blocks.empty()) rows.push_back(std::move(row));
        }
    std::reverse(rows.begin(), rows.end());
    return rows;
}

/// The blocks that are needed first come first: the last one as a symmetric block, and the others in their order.
void Plan::add_making(Members &members, std::size_t most_rows) {
    std::vector<Member *> listed;
    std::size_t n_row = 0;
    for (auto &[number, member] : members) listed.push_back(&member), n_row += member.queries.size();
    if (!listed.empty()) std::rotate(listed.begin(), listed.end() - 1, listed.end());
    for (Member *member : listed) {
        member->made = member->last = static_cast<Index>(pieces_.size());
        pieces_.push_back({Piece::make, 0, member, n_row <= most_rows});
    }
}

/// Cut the blocks of a row into runs that are a share of what is left.
std::vector<Piece> Plan::cut(const Row &row) {
    std::vector<Piece> cut;
    for (auto block = row.blocks.begin(); block != row.blocks.end();) {
        Piece piece{Piece::count, row.symmetric == nullptr ? 0 : row.symmetric->made + 1, row.symmetric, false, row.range};
        const double share = threads_ == 1 ? left_ : left_ / (SHARES * static_cast<double>(threads_));
        double taken = 0;
        do {
            taken += pairs(row.range, **block), left_ -= pairs(row.range, **block);
            piece.after = std::max(piece.after, (*block)->made + 1);
            piece.blocks.push_back(*block++);
        } while (block != row.blocks.end() && taken < share);
        const auto first = piece.blocks.begin() + row.number % static_cast<Index>(piece.blocks.size());
        std::rotate(piece.blocks.begin(), first, piece.blocks.end());  // so that threads seldom count for one block at once
        cut.push_back(std::move(piece));
    }
    return cut;
}

void Plan::add_counting(Members &members, const std::vector<Row> &rows) {
    std::vector<Piece> counting;
    for (const Row &row : rows)
        for (Piece &piece : cut(row)) counting.push_back(std::move(piece));
    std::map<Member *, Index> n_piece;  // that count for each block
    for (auto &[number, member] : members) n_piece.emplace(&member, 0);
    const auto with_blocks = [](const Piece &piece, const auto &work) {
        for (Member *block : piece.blocks) work(block);
        if (piece.member != nullptr &&
            std::find(piece.blocks.begin(), piece.blocks.end(), piece.member) == piece.blocks.end())
            work(piece.member);
    };
    for (const Piece &piece : counting) with_blocks(piece, [&](Member *block) { ++n_piece[block]; });
    for (const auto &[block, n] : n_piece)
        if (n == 0) collecting_.push_back(block);
    for (Piece &piece : counting) {
        const auto number = static_cast<Index>(pieces_.size());
        with_blocks(piece, [&](Member *block) {
            block->last = number;
            if (--n_piece[block] == 0) collecting_.push_back(block);
        });
        pieces_.push_back(std::move(piece));
    }
}

/// Add the collecting of blocks whose last pieces are so early in the list.
void Plan::add_collecting(Index last) {
    for (; !collecting_.empty() && collecting_.front()->last <= last; collecting_.pop_front())
        pieces_.push_back({Piece::collect, collecting_.front()->last + 1, collecting_.front()});
}

std::vector<Int64s> smaller_to_the_end(const Queries &queries, Index least, int threads) {
    double left = 0;
    for (const auto &[number, of_block] : queries) left += static_cast<double>(of_block.size());
    std::vector<Int64s> runs;
    for (const auto &[number, of_block] : queries) {
        const Int64s all(of_block);
        for (std::size_t start = 0; start < all.size();) {
            const auto share = threads == 1 ? static_cast<Index>(left) : static_cast<Index>(left / (SHARES * threads));
            const std::size_t n = std::min(all.size() - start, at(std::max(least, share / least * least)));
            runs.push_back(all.subspan(start, n));
            start += n, left -= static_cast<double>(n);
        }
    }
    return runs;
}

}  // namespace deadheat
