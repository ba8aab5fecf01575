// A gateway with both listeners, and a client for the administration; every answer is held against its published schema.
import assert from "node:assert/strict";
import type { z } from "zod";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { ADMIN_ENDPOINTS } from "../../../src/contract/endpoints/admin-endpoints.ts";
import { errorsOf } from "../../../src/contract/endpoints/endpoint.ts";
import { ENDPOINTS } from "../../../src/contract/endpoints/endpoints.ts";
import type { Sandbox } from "../../../sandbox/server.ts";
import { type Answer, send } from "../../harness/client.ts";
import { standardFile, startGateway, type TestGateway, type TestGatewayOptions } from "../../harness/gateway.ts";

export const OPERATOR_KEY = "test-key-of-the-operator-0000001";
export const ADMIN_KEY = "test-key-of-the-administrator-01";
export const OTHER_ADMIN_KEY = "test-key-of-another-admin-000001";

/** The standard file with an operator, and an administrator in either workspace. */
export function adminFile(sandbox: Sandbox): ConfigurationFile {
  const file = standardFile(sandbox);
  const keys = [ADMIN_KEY, OTHER_ADMIN_KEY];
  return {
    ...file,
    operator_keys: [{ id: "root", secret: OPERATOR_KEY }],
    plans: [{ id: "free", monthly_chat_tokens: 1_000, credits_usd: "5" }],
    workspaces: (file.workspaces ?? []).map((workspace, at) => ({
      ...workspace,
      admin_keys: [{ id: `${workspace.id}-admin`, secret: keys[at] ?? "" }],
    })),
  };
}

export function startAdminGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  return startGateway({ file: adminFile, ...options });
}

export interface Call {
  readonly key?: string | null;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Calls below `/admin/v1` go to the admin listener with the operator's key, all others to the public one with acme's. */
export async function call(gateway: TestGateway, method: string, path: string, options: Call = {}): Promise<Answer> {
  const isAdmin = path.startsWith("/admin/");
  const { key = isAdmin ? OPERATOR_KEY : ADMIN_KEY, body, headers } = options;
  const answer = await send(`${isAdmin ? gateway.adminOrigin : gateway.origin}${path}`, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  holdAgainstContract(method, path, answer, isAdmin);
  return answer;
}

function holdAgainstContract(method: string, path: string, answer: Answer, isAdmin: boolean): void {
  const [plain = ""] = path.split("?");
  const contract = (isAdmin ? ADMIN_ENDPOINTS : ENDPOINTS).find(
    (candidate) =>
      candidate.method === method && new RegExp(`^${candidate.path.replaceAll(/:[a-z_]+/g, "[^/]+")}$`).test(plain),
  );
  assert(contract !== undefined, `${method} ${plain} is not documented`);
  if (answer.code !== null) {
    assert(
      errorsOf(contract).some((code) => code === answer.code),
      `${method} ${plain}: ${answer.code} is not documented`,
    );
    return;
  }
  const schema = contract.responses[answer.status]?.content["application/json"];
  assert(schema !== undefined, `${method} ${plain}: ${answer.status} is not documented`);
  schema.parse(answer.json);
}

/** The object of a good answer. */
export function viewOf<S extends z.ZodType>(schema: S, answer: Answer): z.infer<S> {
  assert(answer.status === 200 || answer.status === 201, answer.text);
  return schema.parse(answer.json);
}

export function etagOf(answer: Answer): string {
  const etag = answer.headers.get("etag");
  assert(etag !== null, "the answer has no ETag");
  return etag;
}

export function auditRows({ database }: Pick<TestGateway, "database">) {
  return database.db.selectFrom("audit_log").selectAll().orderBy("id").execute();
}

/** Refused as expected, and nothing has been recorded. */
export async function refuses(
  gateway: TestGateway,
  [status, code]: readonly [number, string],
  work: () => Promise<Answer>,
): Promise<Answer> {
  const before = (await auditRows(gateway)).length;
  const answer = await work();
  assert.deepEqual([answer.status, answer.code], [status, code], answer.text);
  assert.equal((await auditRows(gateway)).length, before, "a refusal left an audit row");
  return answer;
}
