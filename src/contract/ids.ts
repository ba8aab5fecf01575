// Identifiers: a prefix that says what it names, and a sortable UUIDv7 in Crockford base32. Branded, made only here.
import { randomInt, randomUUID } from "node:crypto";

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

const CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz";

/** A fresh id such as `req_01jd…`, 26 base32 digits: of one process, later ids sort after earlier ones. */
export function newId<K extends Kind>(kind: K): Id<K> {
  return brand(kind, `${PREFIX[kind]}_${base32(nextUuid())}`);
}

/** The four digits behind the time: the version, and the count. */
const FIRST = 0x7000;
const LAST = 0x7fff;
let millisecond = 0;
let time = "";
let counted = FIRST;

/**
 * A UUIDv7 that counts within its millisecond (RFC 9562 section 6.2, method 1), as Node's own does not: two attempts of one request
 * may begin in the same. A millisecond that is full, or a clock that is set back, borrows from the next.
 */
function nextUuid(): string {
  const nowMs = Date.now();
  counted += 1;
  if (nowMs > millisecond || counted > LAST) {
    millisecond = Math.max(nowMs, millisecond + 1);
    time = millisecond.toString(16).padStart(12, "0");
    counted = randomInt(FIRST, 0x7800);
  }
  return time + counted.toString(16) + randomUUID().slice(19);
}

/** Takes the text for such an id: read back from our own storage, or only looked for there. */
export function brand<K extends Kind>(_kind: K, value: string): Id<K> {
  return value as Id<K>;
}

const HYPHEN = 45;
const digits = Buffer.alloc(26);

/** 128 bits in hexadecimal as 26 digits of five bits, behind two zero bits. One string and no bigint: a chat has four ids. */
function base32(uuid: string): string {
  let held = 0;
  let bits = 2;
  let length = 0;
  for (let at = 0; at < uuid.length; at += 1) {
    const code = uuid.charCodeAt(at);
    if (code === HYPHEN) continue;
    held = (held << 4) | (code < 58 ? code - 48 : code - 87);
    bits += 4;
    if (bits < 5) continue;
    bits -= 5;
    digits[length++] = CROCKFORD.charCodeAt((held >> bits) & 31);
    held &= (1 << bits) - 1;
  }
  return digits.toString("latin1");
}
