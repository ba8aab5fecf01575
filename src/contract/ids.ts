// Typed identifiers of all objects: a prefix for the kind, and a sortable UUIDv7 in Crockford base32. The types are branded, and ids are created only here.
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
  alert: "alr",
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
export type AlertId = Id<"alert">;

/** A new id such as `req_01jd…`, with 26 base32 digits. Within one process, later ids sort after earlier ones. */
export function newId<K extends Kind>(kind: K): Id<K> {
  return brand(kind, `${PREFIX[kind]}_${nextUuid()}`);
}

const CROCKFORD = Buffer.from("0123456789abcdefghjkmnpqrstvwxyz");
const digits = Buffer.alloc(26);
const TIME_DIGITS = 10;
/** The 16 bits after the time: version and counter. */
const FIRST = 0x7000;
const LAST = 0x7fff;
let millisecond = 0;
let counter = FIRST;

/**
 * A UUIDv7 with a counter within its millisecond (RFC 9562 section 6.2, method 1), which Node.js lacks: two attempts of one request may begin in the same
 * millisecond. A full millisecond, or a clock set back, borrows from the next. Written digit by digit, five bits each after two zero bits, for speed: a chat
 * needs four ids.
 */
function nextUuid(): string {
  const nowMs = Date.now();
  counter += 1;
  if (nowMs > millisecond || counter > LAST) {
    millisecond = Math.max(nowMs, millisecond + 1);
    let rest = millisecond;
    for (let at = TIME_DIGITS - 1; at >= 0; at -= 1) {
      writeDigit(at, rest);
      rest = Math.floor(rest / 32);
    }
    counter = FIRST | (randomBits() & 0x7ff);
  }
  const high = 0x8000_0000 | (randomBits() & 0x3fff_ffff);
  const low = randomBits();
  writeDigit(10, counter >> 11);
  writeDigit(11, counter >> 6);
  writeDigit(12, counter >> 1);
  writeDigit(13, (counter << 4) | (high >>> 28));
  for (let at = 14, shift = 23; shift > 0; at += 1, shift -= 5) writeDigit(at, high >>> shift);
  writeDigit(19, (high << 2) | (low >>> 30));
  for (let at = 20, shift = 25; shift >= 0; at += 1, shift -= 5) writeDigit(at, low >>> shift);
  return digits.toString("latin1");
}

/** Writes the lowest five bits. */
function writeDigit(at: number, bits: number): void {
  digits[at] = CROCKFORD[bits & 31] ?? 0;
}

const pool = new Uint32Array(1_024);
let poolIndex = pool.length;

/** 32 random bits, from a buffer that is filled in bulk. */
function randomBits(): number {
  if (poolIndex === pool.length) {
    randomFillSync(pool);
    poolIndex = 0;
  }
  return pool[poolIndex++] ?? 0;
}

/** Casts text to an id: for ids read from storage, or used only to look up a row. */
export function brand<K extends Kind>(_kind: K, value: string): Id<K> {
  return value as Id<K>;
}
