#!/usr/bin/env bash
# A sweep on a real Slurm: three nodes on loopback, started and stopped here. Half-way one node is
# lost with what runs on it; the second call finds what is missing and submits only that, the third
# merges, and the store is that of a local run. Skipped (77) where Slurm cannot be started.
#
#   tests/jobs/test_slurm.sh AUTOTUNE SOURCE_DIR
. "$(dirname "$0")/../support/script.sh"
PATH=$PATH:/usr/sbin:/sbin
deadline=$((SECONDS + 180))

needs slurmctld slurmd sbatch squeue sinfo jq # Debian's slurm-wlm has Slurm
[[ $EUID -eq 0 ]] || skip 'slurmd needs root'

lab=$scratch/lab
mkdir "$lab" 'a folder'
cd 'a folder' || exit 2
export SLURM_CONF=$lab/slurm.conf
unset "${!SBATCH_@}" "${!SQUEUE_@}"

# Processes of the jobs on a node, or on any: by the environment that slurmd gives them.
job_processes() { # node or nothing
    local found
    for found in $(grep -lzxF "SLURM_CONF=$SLURM_CONF" /proc/[0-9]*/environ 2>/dev/null |
        xargs -r grep -lz "^SLURMD_NODENAME=${1:-}" 2>/dev/null); do
        found=${found#/proc/}
        echo "${found%/environ}"
    done
}

end_daemon() { # name, signal
    local pid
    pid=$(cat "$lab/$1.pid" 2>/dev/null) && [[ $pid ]] && kill "-$2" "$pid" 2>/dev/null
    return 0
}

stop_slurm() {
    local name
    for name in slurmctld slurmd.n1 slurmd.n2 slurmd.n3; do end_daemon $name KILL; done
    job_processes | xargs -r kill -KILL 2>/dev/null
    rm -f "$lab"/*.pid
}

at_end() {
    stop_slurm
    if [[ -s $scratch/failed ]]; then tail -n 15 "$lab"/log/*.log; fi
}
trap 'exit 1' INT TERM

# Until the command succeeds; false when there is no more time.
wait_until() { # command…
    while ! "$@"; do
        ((SECONDS < deadline)) || return 1
        sleep 0.2
    done
}

free_ports() { # of four in a row the first
    local base port
    while ((SECONDS < deadline)); do
        base=$((20000 + RANDOM % 10000))
        for port in 0 1 2 3; do
            (exec 3<>"/dev/tcp/127.0.0.1/$((base + port))") 2>/dev/null && continue 2
        done
        echo $base
        return
    done
}

write_conf() { # first port
    local host node
    host=$(hostname -s)
    mkdir -p "$lab"/state "$lab"/log
    {
        echo "ClusterName=tunelab"
        echo "SlurmctldHost=$host(127.0.0.1)"
        echo "SlurmctldPort=$1"
        echo "SlurmUser=root"
        echo "SlurmdUser=root"
        echo "AuthType=auth/none"
        echo "CredType=cred/none"
        echo "AuthInfo=cred_expire=5"
        echo "CommunicationParameters=NoCtldInAddrAny,NoInAddrAny"
        echo "ProctrackType=proctrack/linuxproc"
        echo "TaskPlugin=task/none"
        echo "SwitchType=switch/none"
        echo "MpiDefault=none"
        echo "SelectType=select/cons_tres"
        echo "SelectTypeParameters=CR_Core"
        echo "SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1"
        echo "ReturnToService=2"
        echo "SlurmdTimeout=6"
        echo "KillWait=2"
        echo "StateSaveLocation=$lab/state"
        echo "SlurmdSpoolDir=$lab/spool.%n"
        echo "SlurmctldPidFile=$lab/slurmctld.pid"
        echo "SlurmdPidFile=$lab/slurmd.%n.pid"
        echo "SlurmctldLogFile=$lab/log/slurmctld.log"
        echo "SlurmdLogFile=$lab/log/slurmd.%n.log"
        echo "SlurmdParameters=config_overrides"
        for node in 1 2 3; do
            echo "NodeName=n$node NodeHostname=$host NodeAddr=127.0.0.1 Port=$(($1 + node)) CPUs=2" \
                "SocketsPerBoard=1 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=500"
        done
        echo "PartitionName=tune Nodes=n[1-3] Default=YES MaxTime=INFINITE State=UP"
    } >"$SLURM_CONF"
}

all_idle() { [[ $(timeout 5 sinfo -h -N -t idle -o %N 2>/dev/null | sort -u | wc -l) -eq 3 ]]; }

start_slurm() {
    local node try until
    for try in 1 2 3; do
        write_conf "$(free_ports)"
        slurmctld -c >>"$lab/log/start.log" 2>&1
        for node in n1 n2 n3; do
            mkdir -p "$lab/spool.$node"
            slurmd -N $node >>"$lab/log/start.log" 2>&1
        done
        until=$((SECONDS + 20))
        while ((SECONDS < until)); do
            all_idle && return 0
            sleep 0.2
        done
        stop_slurm
    done
    return 1
}

start_slurm || skip "Slurm does not start: $(tail -n 2 "$lab/log/start.log" "$lab/log/slurmctld.log" 2>&1 | tr '\n' ' ')"

# 240 jobs; of a task some tenths of a second.
cat >"a sweep's.cfg" <<'CFG'
op = "matmul";
shapes = { m = { from = 16; to = 2048; factor = 2; }; k = [240, 496, 1008, 2032, 272, 80]; n = [336, 496, 720, 1024, 48]; };
CFG
check 'the local run' "$autotune" sweep "a sweep's.cfg" --db local.db
"$autotune" store export local.db >local.jsonl 2>&1
equal 'results of the local run' 240 "$(wc -l <local.jsonl)"

slurm_sweep() { # database, more options…
    local db=$1
    shift
    timeout 60 "$autotune" sweep "a sweep's.cfg" --db "$db" --slurm --tasks 12 --nodes 3 --threads 1 \
        --partition tune --format json "$@" >answer.json 2>answer.err
}

# The first process of a job that computes on n2; with it dies its slurmstepd, so that nobody tells
# how it ended, and the node's slurmd.
lose_node() {
    local pid steps=()
    for pid in $(job_processes n2); do
        [[ $(readlink "/proc/$pid/exe") == "$autotune" ]] || continue
        ls "$db".slurm/shard-*.db >/dev/null 2>&1 || continue
        end_daemon slurmd.n2 KILL
        steps=("$(awk '{ print $4 }' "/proc/$pid/stat" 2>/dev/null)")
        ((${steps[0]:-0} > 1)) && kill -KILL "${steps[0]}" 2>/dev/null
        kill -KILL "$pid" 2>/dev/null && return 0
        slurmd -N n2 >>"$lab/log/start.log" 2>&1 # too late for this one
    done
    return 1
}

array_done() { [[ -z $(timeout 5 squeue -h --me 2>&1) ]]; }

# A lost task is not started anew by Slurm itself here: finding it is what is tested.
export SBATCH_NO_REQUEUE=1
lost=0
for try in 1 2 3; do
    db="all of try $try.db"
    slurm_sweep "$db" --submit
    status=$?
    [[ $status -eq 1 && $(jq .tasks_again answer.json) -eq 12 ]] && pass ||
        fail "submission: status $status, $(cat answer.json answer.err)"
    while ((SECONDS < deadline)); do
        if lose_node; then
            lost=1
            break
        fi
        array_done && break
    done
    # While it runs nothing is submitted twice.
    slurm_sweep "$db" --submit
    ((lost)) && break
done
[[ $lost -eq 1 ]] && pass || fail 'no task was caught on the second node'
queued=$(jq .tasks_queued answer.json) again=$(jq .tasks_again answer.json)
[[ $again -eq 0 && $queued -ge 1 ]] && pass || fail "resubmitted while in the queue: $(cat answer.json)"
wait_until array_done || fail "the queue does not empty: $(squeue 2>&1)"

slurm_sweep "$db"
missing=$(jq .missing answer.json) tasks=$(jq .tasks_missing answer.json)
[[ $missing -gt 0 && $tasks -ge 1 && $tasks -le 11 ]] && pass || fail "lost tasks: $(cat answer.json answer.err)"
slurm_sweep "$db" --submit
[[ $(jq .tasks_again answer.json) -eq $tasks && $(jq .submitted.array answer.json) != null ]] && pass ||
    fail "resubmission: $(cat answer.json answer.err)"
wait_until array_done || fail "the queue does not empty again: $(squeue 2>&1)"

# The merge job has joined them; asking again says so.
"$autotune" store export "$db" >merged.jsonl 2>&1
check 'the merge job: as the local run' cmp local.jsonl merged.jsonl
slurm_sweep "$db" --submit
status=$?
[[ $status -eq 0 && $(jq .missing answer.json) -eq 0 ]] && pass || fail "complete: status $status, $(cat answer.json answer.err)"
"$autotune" store export "$db" >merged.jsonl 2>&1
check 'in the end: as the local run' cmp local.jsonl merged.jsonl

echo "lost were $missing jobs of $tasks tasks"
finish
