// Callers who open a connection for each request, behind others who keep theirs busy.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { json, KEY, startEdge } from "./harness.ts";

const CALLERS = 24;

test("api.accept-burst: callers that connect together are accepted together: requests wait while connections are accepted, of which Node accepts one a turn", async (t) => {
  let turn = 0;
  let next = setImmediate(count);
  function count(): void {
    turn += 1;
    next = setImmediate(count);
  }
  t.after(() => clearImmediate(next));
  const began = new Set<number>();
  const { port } = await startEdge(t, {
    handle: async () => {
      began.add(turn);
      return json({ ok: true });
    },
  });
  const request = `POST /v1/transcription HTTP/1.1\r\nHost: gateway\r\n${KEY}Content-Length: 0\r\nConnection: close\r\n\r\n`;
  const answers = await Promise.all(
    Array.from({ length: CALLERS }, () => {
      const socket = connect({ host: "127.0.0.1", port });
      socket.write(request);
      return text(socket);
    }),
  );
  assert(answers.every((answer) => answer.startsWith("HTTP/1.1 200 ")));
  assert(began.size <= CALLERS / 4, `they began in ${began.size} turns`);
});
