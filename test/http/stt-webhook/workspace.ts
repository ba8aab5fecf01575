// A gateway with two workspaces and their administrators, and receivers behind a pretended internet.
import type { TestContext } from "node:test";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { errorBody } from "../../../src/contract/error-body.ts";
import { type PretendInternet, pretendInternet } from "../../outbound/pretend-internet.ts";
import { httpServer, readAll } from "../../outbound/loopback.ts";
import { sandboxConnections, startGateway, type TestGateway } from "../../harness/gateway.ts";

export const ADMIN = "key-of-the-administrator-of-acme-1";
export const MEMBER = "key-of-a-member-of-acme-0000000001";
export const OTHER_ADMIN = "key-of-the-administrator-of-other1";
export const OPERATOR = "key-of-the-operator-of-everything1";
export const RECEIVER = "https://receiver.example/hooks?token=of-the-owner";
export const PATH = "/workspace/acme/stt-webhook";

function workspaces(sandbox: Sandbox): ConfigurationFile {
  const workspace = (id: string, admin: string, member: string) => ({
    id,
    apps: [{ id: "notes", route: "speech", keys: [{ id: "member", secret: member }] }],
    admin_keys: [{ id: "admin", secret: admin }],
  });
  return {
    connections: sandboxConnections(sandbox),
    routes: [{ id: "speech", targets: [{ connection: "dg", model: "nova-3" }] }],
    operator_keys: [{ id: "root", secret: OPERATOR }],
    workspaces: [
      workspace("acme", ADMIN, MEMBER),
      workspace("other", OTHER_ADMIN, "key-of-a-member-of-other-000000001"),
    ],
  };
}

export interface Delivered {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
  readonly url: string;
}

export interface WebhookWorld {
  readonly gateway: TestGateway;
  readonly internet: PretendInternet;
  readonly received: Delivered[];
  /** The next delivery that reaches the receiver. */
  next(): Promise<Delivered>;
  /** What the receiver answers from now on. */
  status(code: number): void;
}

/** One for a file of tests: `t` is what closes it. */
export async function openWorld(
  t: TestContext,
  webhooks: NonNullable<ConfigurationFile["webhooks"]> = {},
): Promise<WebhookWorld> {
  const internet = pretendInternet();
  const received: Delivered[] = [];
  let waiting: ((delivered: Delivered) => void)[] = [];
  let code = 204;
  const receiver = await httpServer(t, async (request, response) => {
    const delivered = { headers: request.headers, body: await readAll(request), url: request.url ?? "" };
    response.writeHead(code).end("noted");
    received.push(delivered);
    const waiters = waiting;
    waiting = [];
    for (const tell of waiters) tell(delivered);
  });
  internet.name("receiver.example", ["93.184.216.34"]);
  internet.server("93.184.216.34", receiver);
  const gateway = await startGateway({
    file: (sandbox) => ({ ...workspaces(sandbox), webhooks }),
    network: internet,
  });
  t.after(() => gateway.close());
  return {
    gateway,
    internet,
    received,
    next: () => new Promise((resolve) => waiting.push(resolve)),
    status: (next) => {
      code = next;
    },
  };
}

export interface Called {
  readonly status: number;
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>>;
  readonly code: string | null;
  readonly requestId: string;
  readonly etag: string | null;
}

export async function call(
  { origin }: Pick<TestGateway, "origin">,
  method: string,
  path: string,
  options: {
    readonly key?: string;
    readonly body?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): Promise<Called> {
  const { key = ADMIN, body, headers } = options;
  const response = await fetch(`${origin}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const code = response.ok ? null : errorBody.parse(json).error.code;
  return {
    status: response.status,
    text,
    json,
    code,
    requestId: response.headers.get("x-request-id") ?? "",
    etag: response.headers.get("etag"),
  };
}
