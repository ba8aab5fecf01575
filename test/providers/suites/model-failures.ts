// The failure table over every model but the first, which has a test for each line: how a failure is read must not depend on
// what was asked for. One server and one connection pool for all of them; the deadline passes because its clock is moved, without a wait.
import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { test } from "node:test";
import type { FailureKind, ProviderError } from "../../../src/providers/io.ts";
import { httpServer, readAll } from "../../outbound/loopback.ts";
import { failureAt, PROVIDER_TEXT, STATUSES } from "./failure-suite.ts";
import { type ContractSubject, targetOf } from "./subject.ts";
import { CREDENTIAL, outboundFor } from "./wire-suite.ts";

type Reply = (response: ServerResponse, request: IncomingMessage) => unknown;

const DEADLINE_MS = 10_000;

export function everyModelFails(subject: ContractSubject): void {
  const { kind } = subject.provider;
  // Over a socket: tested in the sockets' own tests.
  const others = subject.golden
    .slice(1)
    .filter((golden) => targetOf(subject.provider, golden).speech.streamsOnly !== true);
  if (others.length === 0) return;

  test(`providers.failure-kinds: ${kind}, every other model fails as the first does`, async (t) => {
    let reply: Reply = () => undefined;
    let before: ContractSubject["before"];
    const url = await httpServer(t, async (request, response) => {
      await readAll(request);
      const first = before?.(request.url ?? "");
      if (first === undefined) reply(response, request);
      else response.end(JSON.stringify(first));
    });
    const outbound = outboundFor(t);

    for (const golden of others) {
      const wire = { ...subject, ...subject.wireOf?.(golden) };
      const name = `${kind}/${golden.model}${golden.settings === undefined ? "" : ` ${JSON.stringify(golden.settings)}`}`;
      await t.test(
        `providers.failure-kinds: ${name}, each status, bad reply, cut, slow first byte, reset and abort`,
        async (each) => {
          before = wire.before;
          const caller = new AbortController();
          const refusal = JSON.stringify(wire.refusal("some_code", `${PROVIDER_TEXT} ${CREDENTIAL}`));
          const ask = async (what: string, expected: FailureKind, answer: Reply): Promise<ProviderError> => {
            reply = answer;
            const options = { outbound, deadlineMs: DEADLINE_MS, signal: caller.signal };
            const error = await failureAt(each, subject, url, options, golden);
            assert.equal(error.kind, expected, what);
            return error;
          };

          for (const [status, expected] of STATUSES) {
            const error = await ask(String(status), expected, (response) =>
              response.writeHead(status, { "x-echo": CREDENTIAL }).end(refusal),
            );
            assert.deepEqual([error.status, error.retryAfterSeconds], [status, null]);
          }
          const limited = await ask("429", "rate_limited", (r) => r.writeHead(429, { "retry-after": "17" }).end("{}"));
          assert.equal(limited.retryAfterSeconds, 17);

          await ask("an error body", "bad_reply", (response) => response.end(refusal));
          await ask("broken JSON", "bad_reply", (response) => response.end(`{"text": "${PROVIDER_TEXT}`));
          await ask("an empty body", "bad_reply", (response) => response.end());
          await ask("an object without fields", "bad_reply", (response) => response.end('{"request_id":"r"}'));
          await ask("a list", "bad_reply", (response) => response.end("[]"));
          await ask("half an answer", "unknown", (response) => {
            response.writeHead(200, { "content-length": "500" });
            response.write("{", () => response.destroy());
          });
          await ask("a reset", "unknown", (_, { socket }) => socket.resetAndDestroy());

          each.mock.timers.enable({ apis: ["setTimeout"] });
          await ask("no first byte", "timeout", () => each.mock.timers.tick(DEADLINE_MS));
          each.mock.timers.reset();

          await ask("the caller gone", "aborted", () => caller.abort());
        },
      );
    }
  });
}
