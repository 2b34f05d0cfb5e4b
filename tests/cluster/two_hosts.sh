#!/usr/bin/env bash
# Two hosts on one machine: network namespaces with names and addresses of their own and a wire between them. By hand, as root.
#   two_hosts.sh ATTNSCOPE-MPI FILE [RANKS] [RATE]     RATE as tc has it: 1gbit; "": the wire as it is
# Prints what each host sent, and fails where a map differs from that of one rank.
set -euo pipefail
program=$(readlink -f "$1")
file=$(readlink -f "$2")
ranks=${3:-4}
rate=${4:-}
work=$(mktemp -d)
names=("scope-a-$$" "scope-b-$$")
finish() {
    for name in "${names[@]}"; do ip netns del "$name" 2>/dev/null || true; done
    rm -rf "$work"
}
trap finish EXIT

wire=("va$$" "vb$$")
ip link add "${wire[0]}" type veth peer name "${wire[1]}"
for n in 0 1; do
    ip netns add "${names[n]}"
    ip link set "${wire[n]}" netns "${names[n]}"
    ip -n "${names[n]}" addr add "10.77.0.$((n + 1))/24" dev "${wire[n]}"
    ip -n "${names[n]}" link set "${wire[n]}" up
    ip -n "${names[n]}" link set lo up
    [[ -z $rate ]] || ip netns exec "${names[n]}" tc qdisc add dev "${wire[n]}" root tbf rate "$rate" burst 1mb latency 50ms
done

# What ssh would be: the other host is the other namespace, with a host name of its own.
cat >"$work/shell" <<END
#!/usr/bin/env bash
shift  # the address
exec ip netns exec ${names[1]} unshare -u bash -c "hostname host-b; \$*"
END
chmod +x "$work/shell"
cat >"$work/hosts" <<END
10.77.0.1 slots=$(((ranks + 1) / 2))
10.77.0.2 slots=$((ranks / 2))
END

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
both() {
    ip netns exec "${names[0]}" unshare -u bash -c "hostname host-a; exec \"\$@\"" _ \
        mpirun -n "$ranks" --hostfile "$work/hosts" --bind-to none --mca plm_rsh_agent "$work/shell" --mca plm_rsh_no_tree_spawn 1 \
        --mca btl tcp,self,vader --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 "$program" "$@"
}
sent() { ip -n "${names[$1]}" -s -j link show "${wire[$1]}" | python3 -c 'import json,sys; print(json.load(sys.stdin)[0]["stats64"]["tx"]["bytes"])'; }

mpirun -n 1 "$program" map "$file" -o "$work/one"
both map "$file" -o "$work/two"
echo "host a sent $(sent 0) bytes, host b $(sent 1)"
diff -r "$work/one" "$work/two"
echo "the same files"
