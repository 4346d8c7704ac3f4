// The lines of TREC files, compared with what was put in them.
#include <cstdlib>
#include <string>

#include "check.h"
#include "inputs/lines.h"

namespace {

using namespace deadheat;
using namespace deadheat::tests;

struct Found {
    Index n_line, n_run;
    std::vector<std::int64_t> places, firsts;
    std::vector<double> numbers;
};

Found find(const std::string &text, LineForm form, std::size_t room) {
    std::vector<std::uint8_t> bytes(text.begin(), text.end());
    Found result{0, 0, std::vector<std::int64_t>(6 * room), std::vector<std::int64_t>(room), std::vector<double>(room)};
    std::tie(result.n_line, result.n_run) =
        find_fields(bytes, form, {result.places.data(), static_cast<Index>(room), 6, 6}, result.numbers, result.firsts);
    return result;
}

constexpr LineForm RUN{6, 4, true, false}, QRELS{4, 3, false, true};

TEST(random_lines_are_found) {
    Random random(5);
    const std::string blanks[] = {" ", "\t", "  ", " \r", "\v"};
    const auto blank = [&] { return blanks[random.below(5)]; };
    for (Index n_line = 0; n_line < 40; ++n_line) {
        std::string text;
        std::vector<std::string> documents, numbers;
        Index n_run = 0, query = -1;
        for (Index i = 0; i < n_line; ++i) {
            if (random.below(4) == 0) text += random.below(2) == 0 ? "\n" : " # a comment\n";
            const Index next = random.below(3);
            n_run += next != query;
            query = next;
            documents.push_back(std::string("d").append(std::to_string(random.below(1000))));
            numbers.push_back(std::to_string(random.number<double>()));
            text += std::string(static_cast<std::size_t>(query), 'q') + "x" + blank() + "0" + blank() + documents.back() +
                    blank() + "1" + blank() + numbers.back() + blank() + "tag" + (random.below(2) == 0 ? " of it" : "");
            if (i + 1 < n_line || random.below(2) == 0) text += "\n";
        }
        const Found result = find(text, RUN, static_cast<std::size_t>(n_line));
        CHECK(result.n_line == n_line && result.n_run == n_run);
        for (std::size_t i = 0; i < documents.size(); ++i) {
            const auto at = static_cast<std::size_t>(result.places[6 * i + 2]),
                       end = static_cast<std::size_t>(result.places[6 * i + 3]);
            CHECK(text.substr(at, end - at) == documents[i]);
            const double number = std::strtod(numbers[i].c_str(), nullptr);
            CHECK(result.numbers[i] != result.numbers[i] || same(result.numbers[i], number));
        }
    }
}

TEST(numbers_are_correctly_rounded_or_left) {
    constexpr const char *TEXTS[] = {"0",
                                     "-0",
                                     "1",
                                     "+1.5",
                                     ".5",
                                     "5.",
                                     "0.1",
                                     "123456789.0125",
                                     "9007199254740992",
                                     "1e22",
                                     "1.7e-5",
                                     "-3E+2",
                                     "9007199254740993",
                                     "1e23",
                                     "1e-23",
                                     "0.30000000000000000000001",
                                     "nan",
                                     "inf",
                                     "1e",
                                     "",
                                     "-",
                                     ".",
                                     "1_0",
                                     "0x1",
                                     "1e9999999999999999999999"};
    for (const char *text : TEXTS) {
        const std::string line = std::string("q 0 d 1 ") + (*text == 0 ? "?" : text) + " t";
        const double got = find(line, RUN, 1).numbers[0];
        CHECK(got != got || same(got, std::strtod(text, nullptr)));
    }
    for (const char *text : {"0.1", "1e22", "9007199254740992", "-7"}) {
        CHECK(same(find(std::string("q 0 d 1 ") + text + " t", RUN, 1).numbers[0], std::strtod(text, nullptr)));
    }
    CHECK(find("q 0 d 2", QRELS, 1).numbers[0] == 2 && find("q 0 d 2.0", QRELS, 1).numbers[0] != 2);
}

TEST(lines_with_another_number_of_fields_are_refused) {
    CHECK(find("q 0 d", QRELS, 1).n_line == -1 && find("q 0 d 1 x", QRELS, 1).n_line == -1);
    CHECK(find("q 0 d 1 2", RUN, 1).n_line == -1 && find("q 0 d 1 2 t more", RUN, 1).n_line == 1);
    CHECK(find("", RUN, 0).n_line == 0);
}

}  // namespace
