// Damaged HTTP over real sockets: the same bytes in any TCP segmentation get the same answers, all in the gateway's words, and the server
// continues to serve [api.fuzzed].
import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import * as fc from "fast-check";
import { get, open, post, type RawReply, startEdge } from "../http/edge/harness.ts";
import type { Fuzz } from "./fuzz.ts";
import { cutAt, cuts } from "./pieces.ts";

const BODY = "the quick brown fox";
const REQUESTS = [
  get("/v1/me"),
  post(`Content-Length: ${BODY.length}\r\n`, BODY),
  post("Transfer-Encoding: chunked\r\n", `a\r\n${BODY.slice(0, 10)}\r\n9;x=y\r\n${BODY.slice(10)}\r\n0\r\n\r\n`),
  post(`Content-Length: ${BODY.length}\r\nExpect: 100-continue\r\n`, BODY),
];
const TOKENS = [
  "\r\n",
  "\r",
  "\n",
  " ",
  "\t",
  ":",
  "\0",
  "\u00ff",
  "Content-Length: 3\r\n",
  "Transfer-Encoding: chunked\r\n",
  "Host: y\r\n",
  "Authorization: x\r\n",
  " HTTP/1.0",
  "ffffffffffffffff\r\n",
  "-1\r\n",
  "%",
  "?a=b",
  "../",
  "X-SVC-Purpose: \u0080\r\n",
];
const damage = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(...TOKENS), fc.nat(3)), {
  maxLength: 3,
});

/** Everything but what names the request. */
function comparable({ status, headers, body }: RawReply): unknown {
  // An unknown method is reported as such where its line came in one piece, and as malformed where it did not: what the
  // parser gives up on is all there is to judge by.
  if (status === 405 || body.includes("not well-formed")) return "no request";
  const text = body.replaceAll(/req_[0-9a-z]{26}/gu, "req");
  return [status, headers["connection"] ?? null, headers["content-type"] ?? null, text];
}

async function ask(port: number, pieces: readonly Buffer[]): Promise<readonly RawReply[]> {
  const { socket, untilClose } = await open(port);
  for (const piece of pieces) {
    if (piece.length > 0) socket.write(piece);
    await nextTurn();
  }
  // What is not whole by now never will be.
  socket.end();
  return untilClose();
}

export const http: Fuzz = {
  about: "damaged requests over TCP, in any segmentation",
  shortRuns: 60,
  open: async () => {
    const ends: (() => Promise<void>)[] = [];
    const { port } = await startEdge({ after: (end) => void ends.push(end as () => Promise<void>) });
    return {
      property: fc.asyncProperty(fc.constantFrom(...REQUESTS), damage, cuts, async (text, changes, places) => {
        const bytes = Buffer.from(
          changes.reduce((whole, [where, token, left]) => {
            const at = Math.floor(where * whole.length);
            return whole.slice(0, at) + token + whole.slice(at + left);
          }, text),
          "latin1",
        );
        const whole = await ask(port, [bytes]);
        for (const { status, body } of whole) {
          assert.ok(status < 500, `${status} ${body}`);
          if (status >= 400) assert.match(body, /"request_id":"req_/u);
        }
        assert.deepEqual((await ask(port, cutAt(bytes, places))).map(comparable), whole.map(comparable));
      }) as fc.IAsyncProperty<unknown>,
      close: async () => {
        for (const end of ends) await end();
      },
    };
  },
};
