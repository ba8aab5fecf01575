// Finds, in the system calls of gateway and server, the statement, the flush and the commit that each dispatch and each answer depend on.
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
  /** Duration of the write to the disk. */
  readonly flushMs: number;
  /** Time from its end to the event. */
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
    const started = transactions.filter(
      (each) =>
        each.startMs > sinceMs &&
        each.startMs < event.startMs &&
        ids.some((id) => each.said.some(({ text }) => text.includes(id))),
    );
    // Besides a job's submission and its call, its worker and the request log write about the same job.
    const own = one.jobId === null ? started : started.filter(({ acknowledgedMs }) => acknowledgedMs < event.startMs);
    // Transactions that only read write no log.
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
    // An answer waits for the settlement, which names the attempt; a 202 waits for the job itself.
    if (one.kind === "job") judge("202", one, { ids }, answer);
    else {
      const sinceMs = dispatch?.startMs ?? 0;
      judge("keyed answer", one, { ids: attemptsOf(one.requestId, transactions, sinceMs), sinceMs }, answer);
    }
  }
  return { violations, events };
}

interface Transaction {
  /** Received by the server. */
  readonly said: readonly SystemCall[];
  readonly startMs: number;
  readonly acknowledgedMs: number;
  readonly isWriting: boolean;
  /** Flush of the write-ahead log by any process of the server, between its first statement and its acknowledgement. */
  readonly flush: SystemCall | null;
}

/** As named by the settlement after a dispatch. */
function attemptsOf(requestId: string, transactions: readonly Transaction[], sinceMs: number): readonly string[] {
  const reservations = transactions.filter(
    ({ said, startMs }) => startMs < sinceMs && said.some(({ text }) => text.includes(requestId)),
  );
  const attemptIds = reservations.flatMap(({ said }) => said.flatMap(({ text }) => text.match(/att_\w{26}/gu) ?? []));
  return [...new Set(attemptIds)];
}

/** ReadyForQuery of a session without a transaction, as strace prints it. */
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

/** The first byte: the headers may be sent before the body that contains the name. */
function dispatchOf(name: string, sends: readonly SystemCall[]): SystemCall | undefined {
  const bodyWrite = sends.find(({ text }) => text.includes(name));
  if (bodyWrite === undefined) return undefined;
  const isHead = ({ pid, fd, text }: SystemCall): boolean =>
    pid === bodyWrite.pid && fd === bodyWrite.fd && /^, (?:\[\{iov_base=)?"POST \//u.test(text);
  return sends.findLast((call) => call.startMs <= bodyWrite.startMs && isHead(call));
}
