// Identifiers: a prefix that says what it names, and a sortable UUIDv7 in Crockford base32. Branded, made only here.
import { randomFillSync } from "node:crypto";

const PREFIX = {
  request: "req",
  transcription: "tr",
  chat: "chat",
  attempt: "att",
  lease: "lea",
  workspace: "ws",
  app: "app",
  key: "key",
  connection: "con",
  route: "rt",
  budget: "bud",
  job: "job",
  event: "evt",
  delivery: "whd",
  deliveryAttempt: "wha",
  deletion: "del",
  grant: "gra",
} as const;

type Kind = keyof typeof PREFIX;
export type Id<K extends Kind> = string & { readonly __id: K };
export type RequestId = Id<"request">;
export type AttemptId = Id<"attempt">;
export type LeaseId = Id<"lease">;
export type WorkspaceId = Id<"workspace">;
export type AppId = Id<"app">;
export type KeyId = Id<"key">;
export type JobId = Id<"job">;
export type EventId = Id<"event">;
export type DeliveryId = Id<"delivery">;

/** A fresh id such as `req_01jd…`, 26 base32 digits: of one process, later ids sort after earlier ones. */
export function newId<K extends Kind>(kind: K): Id<K> {
  return brand(kind, `${PREFIX[kind]}_${nextUuid()}`);
}

const CROCKFORD = Buffer.from("0123456789abcdefghjkmnpqrstvwxyz");
const digits = Buffer.alloc(26);
const TIME_DIGITS = 10;
/** The 16 bits behind the time: the version, and the count. */
const FIRST = 0x7000;
const LAST = 0x7fff;
let millisecond = 0;
let counted = FIRST;

/**
 * A UUIDv7 that counts within its millisecond (RFC 9562 section 6.2, method 1), as Node's own does not: two attempts of one request
 * may begin in the same. A millisecond that is full, or a clock that is set back, borrows from the next. Written digit by digit, five
 * bits each behind two zero bits: a chat has four ids.
 */
function nextUuid(): string {
  const nowMs = Date.now();
  counted += 1;
  if (nowMs > millisecond || counted > LAST) {
    millisecond = Math.max(nowMs, millisecond + 1);
    let rest = millisecond;
    for (let at = TIME_DIGITS - 1; at >= 0; at -= 1) {
      put(at, rest);
      rest = Math.floor(rest / 32);
    }
    counted = FIRST | (randomBits() & 0x7ff);
  }
  const high = 0x8000_0000 | (randomBits() & 0x3fff_ffff);
  const low = randomBits();
  put(10, counted >> 11);
  put(11, counted >> 6);
  put(12, counted >> 1);
  put(13, (counted << 4) | (high >>> 28));
  for (let at = 14, shift = 23; shift > 0; at += 1, shift -= 5) put(at, high >>> shift);
  put(19, (high << 2) | (low >>> 30));
  for (let at = 20, shift = 25; shift >= 0; at += 1, shift -= 5) put(at, low >>> shift);
  return digits.toString("latin1");
}

/** The lowest five bits. */
function put(at: number, bits: number): void {
  digits[at] = CROCKFORD[bits & 31] ?? 0;
}

const pool = new Uint32Array(1_024);
let taken = pool.length;

/** 32 of them; the system is asked for many at once. */
function randomBits(): number {
  if (taken === pool.length) {
    randomFillSync(pool);
    taken = 0;
  }
  return pool[taken++] ?? 0;
}

/** Takes the text for such an id: read back from our own storage, or only looked for there. */
export function brand<K extends Kind>(_kind: K, value: string): Id<K> {
  return value as Id<K>;
}
