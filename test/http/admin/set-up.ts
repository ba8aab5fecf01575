// A gateway with a platform route that the API made, and what tests of connections, routes and purposes share.
import assert from "node:assert/strict";
import { hashKey, visibleParts } from "../../../src/auth/key-format.ts";
import { connectionView } from "../../../src/contract/admin/connections.ts";
import { newId } from "../../../src/contract/ids.ts";
import { routeView } from "../../../src/contract/admin/routes.ts";
import { type Answer, postForm } from "../../harness/client.ts";
import { PEPPER, type TestGateway } from "../../harness/gateway.ts";
import { call, etagOf, viewOf } from "./admin.ts";

export const PLATFORM = "/admin/v1";
export const ACME = "/workspace/acme";
export const ACME_BY_OPERATOR = "/admin/v1/workspaces/acme";

export const connectionOf = (answer: Answer) => viewOf(connectionView, answer);
export const routeOf = (answer: Answer) => viewOf(routeView, answer);

export async function connect(gateway: TestGateway, base: string, body: object, key?: string) {
  return connectionOf(
    await call(gateway, "POST", `${base}/connections`, { body, ...(key === undefined ? {} : { key }) }),
  );
}

export const targets = (...models: readonly (readonly [string, string])[]) =>
  models.map(([connection, model]) => ({ connection, model }));

/** Makes a route and lets it serve. */
export async function publish(
  gateway: TestGateway,
  base: string,
  body: { readonly id: string; readonly targets: object },
) {
  await call(gateway, "POST", `${base}/routes`, { body });
  return routeOf(await call(gateway, "POST", `${base}/routes/${body.id}/publish`, { body: {} }));
}

/** A new version of it, as a draft. */
export async function revise(gateway: TestGateway, base: string, id: string, body: object) {
  const path = `${base}/routes/${id}`;
  const etag = etagOf(await call(gateway, "GET", path));
  return routeOf(await call(gateway, "PUT", path, { body, headers: { "if-match": etag } }));
}

let made = 0;

/** A key of the app `notes` that runs on this route. */
export async function keyOn({ database }: TestGateway, route: string): Promise<string> {
  made += 1;
  const secret = `test-key-of-a-route-number-${String(made).padStart(4, "0")}`;
  const app = await database.db
    .selectFrom("apps")
    .select(["id", "workspace_id"])
    .where("slug", "=", "notes")
    .executeTakeFirstOrThrow();
  await database.db
    .insertInto("api_keys")
    .values({
      id: newId("key"),
      workspace_id: app.workspace_id,
      app_id: app.id,
      name: route,
      role: "member",
      scopes: ["transcribe", "jobs"],
      ...visibleParts(secret),
      secret_hash: hashKey(PEPPER, secret),
      settings: JSON.stringify({ route }),
      managed_by: "test",
    })
    .execute();
  return secret;
}

/** Which model served a transcription of this key, and by which version of its route. */
export async function served(gateway: TestGateway, key: string, fields: Readonly<Record<string, string>> = {}) {
  gateway.sandbox.clearCalls();
  const answer = await postForm(gateway.origin, { key, fields });
  await gateway.app.requestLog.flush();
  const record = await gateway.database.db
    .selectFrom("requests")
    .select(["route", "route_version"])
    .where("id", "=", answer.headers.get("x-request-id") ?? "")
    .executeTakeFirst();
  assert(record !== undefined, answer.text);
  return {
    code: answer.code,
    model: gateway.sandbox.calls.at(-1)?.model ?? null,
    route: record.route,
    version: record.route_version,
  };
}
