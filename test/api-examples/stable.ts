// Gives recorded examples values that are the same at every recording: ids, times, secrets and addresses; and cuts long lists and texts.
import { createHash } from "node:crypto";
import type { OperationExamples, OperationExample } from "../../src/http/pages/openapi-examples.ts";
import type { TestGateway } from "../harness/gateway.ts";

const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
const ID = /\b(?:req|tr|chat|att|lea|ws|app|key|con|rt|bud|job|evt|whd|wha|del|gra|alr)_[0-9a-z]{26}\b/gu;
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z/gu;
const STEP_MS = 60_000;
/** Time of day of every recording. */
const TIME_OF_DAY = "T09:30:00.000Z";
const MOST_ITEMS = 2;
const MOST_CHARACTERS = 400;
const WEBHOOK_SECRET = "whsec_Gcns7gvKLiF+0k+aDVz4AmYEqf7YS9i5eN1yruX5lKU=";
const TOKEN = "EXAMPLE0EXAMPLE0EXAMPLE0EXAMPLE0";
const API_KEY = `svc_live_${TOKEN}`;
/** By the names of their fields. */
const SECRETS: Readonly<Record<string, string>> = {
  secret: API_KEY,
  last4: API_KEY.slice(-4),
  secret_last4: WEBHOOK_SECRET.slice(-4),
  token: TOKEN,
};

export function stableExamples(
  recorded: ReadonlyMap<string, OperationExample>,
  { origin, adminOrigin, sandbox, dataDir }: Pick<TestGateway, "origin" | "adminOrigin" | "sandbox" | "dataDir">,
  startedAt: Date,
): OperationExamples {
  const ids = new Map<string, string>();
  const places = [
    [sandbox.deepgramUrl, "https://api.deepgram.com"],
    [sandbox.openaiUrl, "https://api.openai.com/v1"],
    [sandbox.origin, "https://provider.example.com"],
    [origin, "https://gateway.example.com"],
    [adminOrigin, "http://127.0.0.1:8081"],
    [dataDir, "/etc/patchbay"],
  ] as const;
  const text = (value: string): string => {
    let stable = value;
    for (const [from, to] of places) stable = stable.replaceAll(from, to);
    return stable
      .replaceAll(ID, (id) => {
        const known = ids.get(id) ?? stableId(id, ids.size);
        ids.set(id, known);
        return known;
      })
      .replaceAll(TIME, (time) => stableTime(time, startedAt))
      .replaceAll(/\/v1\/transcription\/results\/[^"/\s]+/gu, `/v1/transcription/results/${TOKEN}`);
  };
  const stable = (value: unknown, key: string): unknown => {
    if (typeof value === "string") return secretFor(key, value) ?? text(value);
    if (typeof value === "number") return key.endsWith("_ms") ? 12 : value;
    if (Array.isArray(value)) return value.map((each) => stable(each, key));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [text(name), stable(member, name)]));
  };
  const examples = [...recorded].map(([operationId, { answers, ...asked }]) => [
    operationId,
    { ...(stable(asked, "") as object), answers: shorten(stable(answers, "")) },
  ]);
  return Object.fromEntries(examples) as OperationExamples;
}

function secretFor(key: string, value: string): string | undefined {
  if (value.startsWith("whsec_")) return WEBHOOK_SECRET;
  if (/^"[\w-]+"$/u.test(value) && key === "If-Match") return '"5f2c1d0e9b8a7766"';
  return SECRETS[key];
}

/** Looks like an id, and is the same whenever as many came before it. */
function stableId(id: string, before: number): string {
  const prefix = id.slice(0, id.lastIndexOf("_"));
  const bytes = createHash("sha256").update(`${prefix} ${before}`).digest();
  const rest = Array.from(bytes.subarray(0, 19), (byte) => DIGITS[byte % DIGITS.length] ?? "0").join("");
  return `${prefix}_01kb1v3${rest}`;
}

/** Midnights stay. Others are moved to one time of day, and keep their distance to each other in whole minutes. */
function stableTime(time: string, startedAt: Date): string {
  if (/T00:00:00(?:\.0+)?Z$/u.test(time)) return time;
  const base = Date.parse(`${startedAt.toISOString().slice(0, 10)}${TIME_OF_DAY}`);
  const distanceMs = Math.round((Date.parse(time) - startedAt.getTime()) / STEP_MS) * STEP_MS;
  return new Date(base + distanceMs).toISOString();
}

/** Pages and lists would hide the rest of an example. */
function shorten(value: unknown): unknown {
  if (typeof value === "string") return value.length <= MOST_CHARACTERS ? value : `${value.slice(0, MOST_CHARACTERS)}…`;
  if (Array.isArray(value)) return value.slice(0, MOST_ITEMS).map(shorten);
  if (typeof value !== "object" || value === null) return value;
  if ("openapi" in value && "paths" in value) return { openapi: value.openapi };
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shorten(member)]));
}
