// What a request's record keeps of the reasons of providers with runs, sockets and chats, when they quote the request.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { requestRecord } from "../../../src/contract/requests.ts";
import { postChat, streamChat } from "../../harness/chat-client.ts";
import { beginStream, chunk, json } from "../../harness/chat-upstream.ts";
import { type Answer, get, postForm } from "../../harness/client.ts";
import { type ChatGateway, startChatGateway } from "../chat/chat-gateway.ts";
import { OPERATOR_KEY, written } from "./records.ts";

const SPEECH_KEY = "test-key-of-the-speech-app-0001";
let gateway: ChatGateway;
before(async () => {
  gateway = await startChatGateway({
    with: () => ({
      operator: OPERATOR_KEY,
      routes: { runs: "aa/universal-2" },
      apps: { speech: { route: "runs", scopes: ["transcribe"], key: SPEECH_KEY } },
    }),
    route: { targets: ["first/one"] },
  });
});
afterEach(() => gateway.sandbox.clearFaults());
after(() => gateway.close());

async function errorOf({ headers }: Pick<Answer, "headers">) {
  await written(gateway);
  const id = headers.get("x-request-id") ?? "";
  const found = await get(gateway.adminOrigin, `/admin/v1/requests/${id}`, OPERATOR_KEY);
  return requestRecord.parse(found.json).attempts.at(-1)?.provider_error ?? assert.fail("no reason");
}

test("requests.provider-error, providers.failure-quotes: a failed run has its provider's reason, without the key terms that it quotes", async () => {
  gateway.sandbox.addFault({
    wire: "assemblyai",
    fault: { kind: "run_error", message: "Transcoding failed. Do not use 'Falcon' or Brückner & Söhne GmbH." },
  });
  const fields = { keyterms: ["Falcon", "Brückner & Söhne GmbH"] };
  const answer = await postForm(gateway.origin, { key: SPEECH_KEY, fields });
  assert.equal(answer.status, 503);
  const { status, message } = await errorOf(answer);
  assert.deepEqual([status, message], [200, "Transcoding failed. Do not use '[request text]."]);
});

const SECRET = "The patient Jane Roe has been ill since Tuesday";
const messages = [{ role: "user", content: SECRET }];

test("requests.provider-error, providers.failure-quotes: a chat's reason does not quote the messages, plain and streamed", async () => {
  const refusal = { error: { message: `Invalid message: '${SECRET}' (policy 4)`, code: "policy" }, request_id: "r-1" };
  gateway.first.behave((call) => json(call, 400, refusal));
  for (const answer of [
    await postChat(gateway.origin, { messages }),
    await streamChat(gateway.origin, { messages }),
    await postChat(gateway.origin, { messages }, { headers: { "idempotency-key": "quoted" } }),
  ])
    assert.deepEqual(await errorOf(answer), {
      status: 400,
      code: "policy",
      request_id: "r-1",
      message: "Invalid message: '[request text]' (policy 4)",
    });
});

test("requests.provider-error, providers.failure-quotes: a stream that breaks does not quote the answer", async () => {
  const text = "Jane Roe should drink more water";
  gateway.first.behave((call) => {
    beginStream(call);
    chunk(call, { content: text });
    call.response.end(
      `data: ${JSON.stringify({ error: { message: `Stopped at: ${text}`, code: "server_error" } })}\n\n`,
    );
  });
  const { code, message } = await errorOf(await streamChat(gateway.origin, { messages }));
  assert.deepEqual([code, message], ["server_error", "Stopped at: [request text]"]);
});
