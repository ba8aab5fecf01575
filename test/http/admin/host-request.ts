// A request under a Host header of the test's choosing, which `fetch` does not allow.
import assert from "node:assert/strict";
import { errorBody } from "../../../src/contract/error-body.ts";
import { say } from "../edge/harness.ts";

export async function statusOf(origin: string, path: string, host: string | null): Promise<number> {
  return (await request(origin, path, host)).status;
}

export async function assertRefused(origin: string, path: string, host: string): Promise<void> {
  const { status, body } = await request(origin, path, host);
  assert.equal(status, 400, `${path} ${host}`);
  const { error } = errorBody.parse(JSON.parse(body));
  assert.equal(error.code, "INVALID_REQUEST");
  assert.match(error.message, /server\.admin\.allowed_hosts/u);
}

async function request(origin: string, path: string, host: string | null) {
  const head = host === null ? "1.0\r\n" : `1.1\r\nHost: ${host}\r\n`;
  const [reply] = await say(Number(new URL(origin).port), `GET ${path} HTTP/${head}Connection: close\r\n\r\n`);
  assert.ok(reply !== undefined, "no answer");
  return reply;
}
