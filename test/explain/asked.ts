// Requests of a random set-up, sent to a gateway, and what it has on record of each.
import { setImmediate as turn } from "node:timers/promises";
import { fixture } from "../audio/build-audio.ts";
import { HELLO, postChat } from "../harness/chat-client.ts";
import { type Answer, postForm } from "../harness/client.ts";
import type { TestGateway } from "../harness/gateway.ts";
import type { RandomApp, RandomRequest } from "./random-set-up.ts";

export interface Asked {
  readonly app: RandomApp;
  readonly request: RandomRequest;
  readonly id: string;
  /** Its answer, where it was a dry run that was not refused. */
  readonly dryRun: unknown;
}

async function send({ origin }: TestGateway, { secret: key }: RandomApp, request: RandomRequest): Promise<Answer> {
  const { task, fields, file } = request;
  if (task === "chat") return postChat(origin, { messages: HELLO, ...fields }, { key });
  const form = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === "object" ? value : String(value)]),
  );
  const path = task === "translate" ? "/v1/translation" : "/v1/transcription";
  return postForm(origin, { path, key, file: fixture(file), fields: form });
}

export async function askAll(gateway: TestGateway, apps: readonly RandomApp[]): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  for (const app of apps)
    for (const request of app.requests) {
      const answer = await send(gateway, app, request);
      const isDryRun = request.fields["dry_run"] === true && answer.status === 200;
      const id = answer.headers.get("x-request-id") ?? "";
      asked.push({ app, request, id, dryRun: isDryRun ? answer.json : null });
    }
  return asked;
}

/** As `patchbay route explain` words it. */
export async function traceOf({ app, database }: TestGateway, id: string): Promise<unknown> {
  for (;;) {
    await app.requestLog.flush();
    const row = await database.db
      .selectFrom("requests")
      .select(["asked", "purpose", "route", "route_version", "refusal", "candidates"])
      .where("id", "=", id)
      .executeTakeFirst();
    if (row !== undefined)
      return { object: "route_trace", ...row, candidates: row.candidates === null ? null : worded(row.candidates) };
    await turn();
  }
}

/** Kept under its name in the code. */
function worded(candidates: unknown): unknown {
  return JSON.parse(JSON.stringify(candidates).replaceAll('"pausedUntil":', '"paused_until":'));
}
