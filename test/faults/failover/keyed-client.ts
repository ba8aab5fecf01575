// A client that submits keyed requests of every kind and follows the answers: it waits for Retry-After and resends the same request with the same key to the
// next gateway.
import { setTimeout as wait } from "node:timers/promises";
import { formAround, noiseWav } from "../../../bench/upstream/wav.ts";
import type { SandboxCall } from "../../../sandbox/server.ts";
import { askHttp, type HttpQuestion } from "../ask-http.ts";

export const KINDS = ["transcription", "chat", "job"] as const;
export type Kind = (typeof KINDS)[number];

export interface Submission {
  readonly kind: Kind;
  /** Its key, which also identifies its calls at the provider. */
  readonly name: string;
  /** Polls at this interval instead of waiting for Retry-After, to detect when its key is free. */
  readonly isImpatient: boolean;
}

export interface Answered {
  readonly atMs: number;
  /** Null: the connection broke. */
  readonly status: number | null;
  readonly code: string;
  readonly text: string;
}

export interface Ended {
  readonly submission: Submission;
  /** In order; the last one is final. */
  readonly answers: readonly Answered[];
}

const FORM = formAround(noiseWav(16_044));
const CLOSING = "--\r\n";
const IMPATIENT_MS = 100;
/** Default. */
const LONGEST_MS = 90_000;
const PATHS: Readonly<Record<Kind, string>> = {
  transcription: "/v1/transcription",
  chat: "/v1/chat",
  job: "/v1/transcription/jobs",
};

/** Resends until an answer is final. */
export async function submit(
  origins: readonly string[],
  secret: string,
  submission: Submission,
  firstAt: number,
  longestMs = LONGEST_MS,
): Promise<Ended> {
  const answers: Answered[] = [];
  const lastMs = performance.now() + longestMs;
  for (let turn = firstAt; ; turn += 1) {
    const answer = await askHttp(origins[turn % origins.length] ?? "", false, question(submission, secret));
    const code = /"code":"([A-Za-z_]+)"/u.exec(answer.text)?.[1] ?? "";
    answers.push({ atMs: performance.now(), status: answer.status, code, text: answer.text.slice(0, 300) });
    const retryAfter = answer.headers["retry-after"];
    const isToRepeat = answer.status === null || answer.headers["x-should-retry"] === "true";
    if (!isToRepeat || performance.now() > lastMs) return { submission, answers };
    await wait(submission.isImpatient ? IMPATIENT_MS : Number(retryAfter ?? 1) * 1_000);
  }
}

/** Number of provider calls for each name; names end with `-end`, so that none is a prefix of another. */
export function countCalls(calls: readonly SandboxCall[], names: ReadonlySet<string>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { query, fields } of calls) {
    const requestText = [...query, ...fields].map(([, value]) => value).join(" ");
    for (const [name] of requestText.matchAll(/[\w-]+-end\b/gu))
      if (names.has(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

export function question({ kind, name }: Submission, secret: string): HttpQuestion {
  const headers = { authorization: `Bearer ${secret}`, "idempotency-key": name };
  if (kind === "chat") {
    const body = Buffer.from(JSON.stringify({ messages: [{ role: "user", content: `Hello ${name}` }] }));
    return { method: "POST", path: PATHS.chat, headers: { ...headers, "content-type": "application/json" }, body };
  }
  const boundary = FORM.contentType.slice(FORM.contentType.indexOf("=") + 1);
  const term = `\r\nContent-Disposition: form-data; name="keyterms"\r\n\r\n${name}\r\n--${boundary}--\r\n`;
  const body = Buffer.concat([FORM.body.subarray(0, -CLOSING.length), Buffer.from(term)]);
  return { method: "POST", path: PATHS[kind], headers: { ...headers, "content-type": FORM.contentType }, body };
}
