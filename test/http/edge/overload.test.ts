// Overload over real sockets: judged by what a head announces, before a body is read. Heads alone are sent here: what they announce is held
// for them.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { after, before, test } from "node:test";
import { HELLO, postChat } from "../../harness/chat-client.ts";
import { KEY, OTHER_KEY } from "../../harness/gateway.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { errorBody } from "../../../src/contract/error-body.ts";
import { type ChatGateway, startChatGateway } from "../chat/chat-gateway.ts";

let gateway: ChatGateway;
before(async () => {
  const app = (id: string, secret: string) => ({
    id,
    route: "chat",
    keys: [{ id: `${id}-key`, secret, scopes: ["chat" as const, "transcribe" as const] }],
  });
  const file = (given: ConfigurationFile): ConfigurationFile => ({
    ...given,
    workspaces: [{ id: "acme", apps: [app("notes", KEY), app("quiet", OTHER_KEY)] }],
  });
  gateway = await startChatGateway({ file });
});
after(() => gateway.close());

/** The default of `max_chat_body_bytes`; of 256 MiB one app fills 192. */
const LARGEST_CHAT = 20_971_520;
const FILLS_MEMORY = 9;
/** The default of `max_audio_bytes`; of 8 GiB one app fills 6. */
const LARGEST_UPLOAD = 26_214_400;
const FILLS_FILES = 245;

interface Head {
  readonly path: string;
  readonly bytes: number;
  readonly key?: string;
}

function announce({ path, bytes, key = KEY }: Head): ClientRequest {
  const type = path === "/v1/chat" ? "application/json" : "multipart/form-data; boundary=x";
  const headers = { authorization: `Bearer ${key}`, "content-type": type, "content-length": bytes };
  const sent = request(`${gateway.origin}${path}`, { method: "POST", headers: { ...headers, expect: "100-continue" } });
  sent.on("error", () => undefined);
  sent.flushHeaders();
  return sent;
}

/** Answered with 100 Continue: admitted, and its body waited for. */
async function admitted(head: Head): Promise<Disposable> {
  const sent = announce(head);
  await once(sent, "continue");
  return { [Symbol.dispose]: () => sent.destroy() };
}

async function refused(head: Head): Promise<readonly unknown[]> {
  const [response] = (await once(announce(head), "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response) text += String(chunk);
  const { error } = errorBody.parse(JSON.parse(text));
  return [response.statusCode, error.code, error.retryable, response.headers["retry-after"]];
}

const OVERLOADED = [503, "OVERLOADED", true, "5"];

for (const [what, head, most] of [
  ["chats, which are held in memory", { path: "/v1/chat", bytes: LARGEST_CHAT }, FILLS_MEMORY],
  ["uploads, which go to files", { path: "/v1/transcription", bytes: LARGEST_UPLOAD }, FILLS_FILES],
] as const) {
  test(`api.admission, api.admission-fair: ${what}, fill their room: 503 before the body, and another app still has its own`, async () => {
    using held = new DisposableStack();
    const all = await Promise.all(Array.from({ length: most }, () => admitted(head)));
    for (const each of all) held.use(each);
    assert.deepEqual(await refused(head), OVERLOADED);
    const others = await admitted({ ...head, key: OTHER_KEY });
    assert.deepEqual(await refused({ path: "/v1/chat", bytes: LARGEST_CHAT + 1 }), [
      413,
      "BODY_TOO_LARGE",
      false,
      undefined,
    ]);
    others[Symbol.dispose]();
    all[0]?.[Symbol.dispose]();
    held.use(await admittedSoon(head));
  });
}

/** Another's end is seen a moment after it. */
async function admittedSoon(head: Head): Promise<Disposable> {
  const sent = announce(head);
  const continued = await Promise.race([
    once(sent, "continue").then(() => true),
    once(sent, "response").then(() => false),
  ]);
  if (continued) return { [Symbol.dispose]: () => sent.destroy() };
  sent.destroy();
  return admittedSoon(head);
}

test("api.admission-unsaid: a chat of undeclared length counts as it arrives: 503 where the room ends, and a small one is served", async () => {
  using held = new DisposableStack();
  const large = { path: "/v1/chat", bytes: LARGEST_CHAT };
  for (const each of await Promise.all(Array.from({ length: FILLS_MEMORY }, () => admitted(large)))) held.use(each);
  assert.equal((await postChat(gateway.origin, {})).status, 200);
  const answer = await fetch(`${gateway.origin}/v1/chat`, {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: chunked(15 * 1_048_576),
    duplex: "half",
  });
  assert.deepEqual([answer.status, errorBody.parse(await answer.json()).error.code], [503, "OVERLOADED"]);
});

async function* chunked(bytes: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`{"messages":${JSON.stringify([HELLO])},"purpose":"`);
  for (let sent = 0; sent < bytes; sent += 65_536) yield Buffer.alloc(65_536, "a");
}
