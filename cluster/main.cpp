// attnscope-mpi: maps and calls of attention that outgrow one machine, shared by the ranks of an MPI job.

#include <algorithm>
#include <iostream>
#include <vector>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/terminal.h"
#include "app/files/held_signals.h"
#include "attn_version.h"
#include "cluster/parts.h"
#include "cluster/world.h"
#include "core/threads.h"

namespace attn::cluster {
namespace {

constexpr std::string_view kHelp =
    "attnscope-mpi: what outgrows one machine, shared by the ranks of an MPI job.\n\n"
    "Usage:\n"
    "  mpirun -n P attnscope-mpi map FILE -o DIR [options]         the exact overview of a map; "
    "attnscope DIR shows it\n"
    "  mpirun -n P attnscope-mpi attend FILE -o OUT.npz [options]  one attention call, with --grad "
    "its gradients\n"
    "  mpirun -n P attnscope-mpi heads MODEL --texts FILE -o OUT.npz  every head of a model over a "
    "corpus\n"
    "  attnscope-mpi --version | --help; attnscope-mpi COMMAND --help\n\n"
    "A rank computes on one thread: start as many as there are cores. Every number is the same for "
    "every P.\n";

int dispatch(cli::Args args, cli::Streams io) {
    const std::string first = args.empty() ? "" : args.front();
    if (first == "--help" || first == "-h" || first == "--version") {
        io.out << (first == "--version" ? "attnscope-mpi " ATTN_VERSION "\n" : kHelp);
        return cli::kSuccess;
    }
    if (first == "map") return run_map(args.subspan(1), io);
    if (first == "attend") return run_attend(args.subspan(1), io);
    if (first == "heads") return run_corpus(args.subspan(1), io);
    return cli::report({fmt::format("the command is '{}'; expected map, attend or heads", first),
                        ErrorKind::input},
                       "attnscope-mpi", io);
}

int run(int count, char** text) {
    const std::vector<std::string> args(text + std::min(count, 1), text + count);
    std::ostream silent(nullptr);  // what every rank would say is said once
    std::ostream& out = is_first() ? std::cout : silent;
    std::ostream& err = is_first() ? std::cerr : silent;
    const ThreadLimit one(1);
    return dispatch(args, {out, err});
}

}  // namespace
}  // namespace attn::cluster

int main(int count, char** text) {
    attn::cli::write_printable();
    attn::files::hold_signals_while_saving();
    const attn::cluster::World world(&count, &text);
    return attn::cluster::run(count, text);
}
