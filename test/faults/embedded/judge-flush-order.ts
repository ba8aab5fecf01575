// Finds in the system calls of gateway and server, for each dispatch and each answer, the statement that it depends on, the flush and the commit.
import type { Kind } from "../failover/keyed-client.ts";
import type { SystemCall } from "./strace.ts";

export interface Traced {
  readonly kind: Kind;
  readonly name: string;
  readonly requestId: string;
  readonly jobId: string | null;
  readonly status: number | null;
}

export interface FlushedEvent {
  readonly what: "dispatch" | "202" | "keyed answer";
  readonly kind: Kind;
  /** Transactions of this request on disk before it. */
  readonly flushed: number;
  /** Of the write to the disk. */
  readonly flushMs: number;
  /** From its end to the event. */
  readonly afterMs: number;
}

const SENDS = new Set(["write", "writev", "sendto", "sendmsg"]);
const FLUSHES = new Set(["fdatasync", "fsync"]);

export function judgeFlushOrder(traced: readonly Traced[], calls: readonly SystemCall[]) {
  const violations: string[] = [];
  const events: FlushedEvent[] = [];
  const sends = calls.filter(({ name }) => SENDS.has(name));
  const transactions = transactionsOf(calls);
  const judge = (
    what: FlushedEvent["what"],
    one: Traced,
    { ids, sinceMs = 0 }: { readonly ids: readonly string[]; readonly sinceMs?: number },
    event: SystemCall | undefined,
  ): void => {
    if (event === undefined) return void violations.push(`${one.name}: ${one.kind}: no ${what} was seen`);
    const begun = transactions.filter(
      (each) =>
        each.startMs > sinceMs &&
        each.startMs < event.startMs &&
        ids.some((id) => each.said.some(({ text }) => text.includes(id))),
    );
    // Next to a job's submission and its call, its worker and the request log write about the same job.
    const own = one.jobId === null ? begun : begun.filter(({ acknowledgedMs }) => acknowledgedMs < event.startMs);
    // What only reads writes no log.
    const last = own.findLast(({ isWriting }) => isWriting);
    if (last === undefined)
      return void violations.push(
        `${one.name}: ${what}: of ${own.length} transactions before it none had written its log when it was acknowledged`,
      );
    if (last.acknowledgedMs > event.startMs)
      return void violations.push(`${one.name}: ${what} before its commit was acknowledged`);
    if (last.flush === null)
      return void violations.push(`${one.name}: ${what}: its commit was acknowledged before the log was flushed`);
    const { startMs, endMs } = last.flush;
    const flushed = own.filter(({ isWriting, flush }) => isWriting && flush !== null).length;
    events.push({ what, kind: one.kind, flushed, flushMs: endMs - startMs, afterMs: event.startMs - endMs });
  };
  for (const one of traced) {
    if (one.status !== 200 && one.status !== 202) {
      violations.push(`${one.name}: ${one.kind}: ${one.status}`);
      continue;
    }
    const ids = [one.requestId, ...(one.jobId === null ? [] : [one.jobId])];
    const dispatch = dispatchOf(one.name, sends);
    judge("dispatch", one, { ids }, dispatch);
    const answer = sends.find(({ text }) => text.includes("HTTP/1.1 20") && text.includes(one.requestId));
    // An answer waits for the settlement, which names the attempt; a 202 for the job itself.
    if (one.kind === "job") judge("202", one, { ids }, answer);
    else {
      const sinceMs = dispatch?.startMs ?? 0;
      judge("keyed answer", one, { ids: attemptsOf(one.requestId, transactions, sinceMs), sinceMs }, answer);
    }
  }
  return { violations, events };
}

interface Transaction {
  /** What the server read. */
  readonly said: readonly SystemCall[];
  readonly startMs: number;
  readonly acknowledgedMs: number;
  readonly isWriting: boolean;
  /** Of the log, by any of the server's processes, between its first statement and its acknowledgement. */
  readonly flush: SystemCall | null;
}

/** As the settlement behind a dispatch names them. */
function attemptsOf(requestId: string, transactions: readonly Transaction[], sinceMs: number): readonly string[] {
  const reservations = transactions.filter(
    ({ said, startMs }) => startMs < sinceMs && said.some(({ text }) => text.includes(requestId)),
  );
  const named = reservations.flatMap(({ said }) => said.flatMap(({ text }) => text.match(/att_\w{26}/gu) ?? []));
  return [...new Set(named)];
}

/** ReadyForQuery of a session that is in no transaction, as strace prints it. */
const IDLE = String.raw`Z\0\0\0\5I`;

function transactionsOf(calls: readonly SystemCall[]): readonly Transaction[] {
  const inLog = calls.filter(({ file }) => file.includes("/pg_wal/"));
  const flushes = inLog.filter(({ name }) => FLUSHES.has(name));
  const found: Transaction[] = [];
  const open = new Map<number, SystemCall[]>();
  for (const call of calls) {
    if (call.name === "recvfrom" && call.text.startsWith(', "'))
      open.set(call.pid, [...(open.get(call.pid) ?? []), call]);
    const said = open.get(call.pid);
    if (call.name !== "sendto" || said === undefined || !call.text.includes(IDLE)) continue;
    open.delete(call.pid);
    const startMs = said[0]?.endMs ?? call.startMs;
    const isWithin = (each: SystemCall) => each.startMs >= startMs && each.endMs <= call.startMs;
    found.push({
      said,
      startMs,
      acknowledgedMs: call.startMs,
      isWriting: inLog.some((each) => each.pid === call.pid && isWithin(each)),
      flush: flushes.findLast(isWithin) ?? null,
    });
  }
  return found;
}

/** The first byte: a head may leave before the body that names it. */
function dispatchOf(name: string, sends: readonly SystemCall[]): SystemCall | undefined {
  const named = sends.find(({ text }) => text.includes(name));
  if (named === undefined) return undefined;
  const isHead = ({ pid, fd, text }: SystemCall): boolean =>
    pid === named.pid && fd === named.fd && /^, (?:\[\{iov_base=)?"POST \//u.test(text);
  return sends.findLast((call) => call.startMs <= named.startMs && isHead(call));
}
