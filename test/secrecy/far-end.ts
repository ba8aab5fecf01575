// A provider of speech and chat whose every answer, good or bad, holds what must not be kept: transcripts, echoes of credentials and
// prompts. It speaks OpenAI's wire format.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";

export const MOODS = ["well", "rejects", "unauthorized", "fails", "garbage", "breaks", "limits"] as const;
export type Mood = (typeof MOODS)[number];

export interface FarEnd extends AsyncDisposable {
  readonly url: string;
  /** Everything it was sent, credentials included. */
  readonly heard: () => string;
  feel(mood: Mood): void;
}

/** `say` makes the words of the next answer. */
export async function startFarEnd(say: () => string): Promise<FarEnd> {
  let mood: Mood = "well";
  let heard = "";
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    heard += `${request.url} ${request.headers.authorization} ${(await buffer(request)).toString("latin1")}\n`;
    const words = say();
    if (mood === "breaks") {
      response.writeHead(200, { "content-type": "application/json", "content-length": "9999" });
      response.write(`{"text":"${words}`, () => request.socket.destroy());
      return;
    }
    if (mood === "garbage") {
      response.writeHead(200, { "content-type": "application/json" }).end(`{"text": ${words}`);
      return;
    }
    if (mood !== "well") {
      const status = { rejects: 400, unauthorized: 401, fails: 500, limits: 429 }[mood];
      const message = `${words} ${request.headers.authorization}`;
      const headers = { "content-type": "application/json", "x-request-id": "far-end-1" };
      response
        .writeHead(status, headers)
        .end(JSON.stringify({ error: { message, type: words, code: words, param: words } }));
      return;
    }
    const isChat = request.url?.endsWith("/chat/completions") === true;
    if (isChat && heard.slice(heard.lastIndexOf("/chat/completions")).includes('"stream":true')) {
      stream(response, words);
      return;
    }
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(isChat ? chatOf(words) : transcriptOf(words)));
  };
  const server = createServer((request, response) => void take(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/v1`,
    heard: () => heard,
    feel: (next) => {
      mood = next;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const USAGE = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 };

function transcriptOf(words: string): unknown {
  const segment = {
    id: 0,
    seek: 0,
    start: 0,
    end: 7,
    text: words,
    tokens: [],
    temperature: 0,
    avg_logprob: -0.1,
    compression_ratio: 1,
    no_speech_prob: 0.01,
  };
  return { task: "transcribe", language: "english", duration: 7.378, text: words, segments: [segment] };
}

function chatOf(words: string): unknown {
  const choice = { index: 0, message: { role: "assistant", content: words }, finish_reason: "stop" };
  return { id: "c", object: "chat.completion", created: 1, model: "one", choices: [choice], usage: USAGE };
}

function stream(response: ServerResponse, words: string): void {
  const chunk = (more: object) =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "one", ...more })}\n\n`;
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(chunk({ choices: [{ index: 0, delta: { role: "assistant", content: words }, finish_reason: null }] }));
  response.write(chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }));
  response.write(chunk({ choices: [], usage: USAGE }));
  response.end("data: [DONE]\n\n");
}
