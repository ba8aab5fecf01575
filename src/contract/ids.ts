// Identifiers: a prefix that says what it names, and a sortable UUIDv7 in Crockford base32. Branded, made only here.
import { randomUUIDv7 } from "node:crypto";

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

/** A fresh id such as `req_01jd…`, 26 base32 digits: later ids sort after earlier ones. */
export function newId<K extends Kind>(kind: K): Id<K> {
  return brand(kind, `${PREFIX[kind]}_${base32(BigInt(`0x${randomUUIDv7().replaceAll("-", "")}`))}`);
}

/** Trusts a string read back from our own storage. */
export function brand<K extends Kind>(_kind: K, value: string): Id<K> {
  return value as Id<K>;
}

function base32(value: bigint): string {
  let text = "";
  for (let rest = value, digit = 0; digit < 26; digit += 1, rest >>= 5n) {
    text = CROCKFORD.charAt(Number(rest & 31n)) + text;
  }
  return text;
}
