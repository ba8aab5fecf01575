// Keyed transcriptions, and checks over all their answers: at most one provider call per key (R1), and one answer that never changes (R2).
import type { Agent } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { formAround, noiseWav } from "../../bench/upstream/wav.ts";
import type { Sandbox } from "../../sandbox/server.ts";
import { askHttp, type HttpAnswer } from "./ask-http.ts";

const AUDIO_BYTES = 16_044;
const FORM = formAround(noiseWav(AUDIO_BYTES));
const CLOSING = "--\r\n";

/** A unique key term identifies the calls of a key at the provider. */
export function askKeyed(
  origin: string,
  { name, secret, agent = false }: { readonly name: string; readonly secret: string; readonly agent?: Agent | false },
): Promise<HttpAnswer> {
  const boundary = FORM.contentType.slice(FORM.contentType.indexOf("=") + 1);
  const term = `\r\nContent-Disposition: form-data; name="keyterms"\r\n\r\n${name}\r\n--${boundary}--\r\n`;
  const body = Buffer.concat([FORM.body.subarray(0, -CLOSING.length), Buffer.from(term)]);
  return askHttp(origin, agent, {
    method: "POST",
    path: "/v1/transcription",
    headers: { authorization: `Bearer ${secret}`, "content-type": FORM.contentType, "idempotency-key": name },
    body,
  });
}

export interface KeyHistory {
  add(name: string, answer: HttpAnswer): void;
  /** The key is final: it has an answer, or a permanent refusal. */
  isSettled(name: string): boolean;
  faults(sandbox: Pick<Sandbox, "calls">): readonly string[];
  counts(): { readonly keys: number; readonly served: number; readonly unavailable: number };
}

export function createKeyHistory(): KeyHistory {
  const answers = new Map<string, HttpAnswer[]>();
  const codeOf = ({ text }: HttpAnswer): string => /"code":"([A-Za-z_]+)"/u.exec(text)?.[1] ?? "";
  const isServed = ({ status }: HttpAnswer) => status === 200;
  const isBurned = (answer: HttpAnswer) => codeOf(answer) === "IDEMPOTENT_RESULT_UNAVAILABLE";
  const has = (name: string, kind: (answer: HttpAnswer) => boolean) => (answers.get(name) ?? []).some(kind);
  const names = () => [...answers.keys()];
  return {
    add: (name, answer) => void answers.set(name, [...(answers.get(name) ?? []), answer]),
    isSettled: (name) => has(name, isServed) || has(name, isBurned),
    counts: () => ({
      keys: answers.size,
      served: names().filter((name) => has(name, isServed)).length,
      unavailable: names().filter((name) => has(name, isBurned)).length,
    }),
    faults: ({ calls }) => {
      const submitted = new Map<string, number>();
      for (const { query } of calls) {
        const term = query.find(([field]) => field === "keyterm")?.[1];
        if (term !== undefined) submitted.set(term, (submitted.get(term) ?? 0) + 1);
      }
      const found: string[] = [];
      for (const [name, all] of answers) {
        const callCount = submitted.get(name) ?? 0;
        const bodies = new Set(all.filter(isServed).map(({ text }) => text)).size;
        if (callCount > 1) found.push(`${name}: ${callCount} provider calls`);
        if (bodies > 1) found.push(`${name}: ${bodies} different answers`);
        if (bodies === 1 && all.some(isBurned)) found.push(`${name}: answered, and unavailable`);
        if (bodies === 1 && callCount === 0) found.push(`${name}: answered without a provider call`);
        for (const { status, text } of all)
          if (status !== null && status !== 200 && status < 409) found.push(`${name}: ${status} ${text.slice(0, 200)}`);
      }
      return found;
    },
  };
}

const SETTLE_MS = 60_000;
const RETRY_MS = 250;

/** Retried like a careful application, at any gateway; answered requests are repeated too and must return the same. */
export async function untilSettled(
  history: KeyHistory,
  names: readonly string[],
  { origins, secret }: { readonly origins: readonly string[]; readonly secret: string },
): Promise<readonly string[]> {
  const lastMs = performance.now() + SETTLE_MS;
  const settle = async (name: string): Promise<string | null> => {
    for (let turn = 0; turn === 0 || !history.isSettled(name); turn += 1) {
      const answer = await askKeyed(origins[turn % origins.length] ?? "", { name, secret });
      history.add(name, answer);
      if (performance.now() > lastMs)
        return `${name}: not settled, at last ${answer.status} ${answer.text.slice(0, 200)}`;
      if (!history.isSettled(name)) await wait(RETRY_MS);
    }
    return null;
  };
  return (await Promise.all(names.map(settle))).filter((fault) => fault !== null);
}
