// A gateway with a route for every kind of answer, and callers that can disconnect from each (R15).
import { request as httpRequest } from "node:http";
import { WebSocket } from "ws";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { ConfigurationFile } from "../../../src/config/schema/file.ts";
import { speech } from "../../harness/client.ts";
import { neverResting, startGateway, type TestGateway } from "../../harness/gateway.ts";

const ROUTES = {
  deepgram: [["dg", "nova-3"]],
  pair: [
    ["dg", "nova-3"],
    ["dg", "nova-2"],
  ],
  whisper: [["oa", "whisper-1"]],
  polled: [["aa", "universal-2"]],
  events: [["oa", "gpt-4o-transcribe"]],
  samples: [["aa", "universal-streaming-english"]],
  chat: [["oa", "gpt-4o"]],
  "chat-pair": [
    ["oa", "gpt-4o"],
    ["an", "claude-sonnet-4-5"],
  ],
} as const;
export type RouteName = keyof typeof ROUTES;

const keyOf = (route: RouteName): string => `key-of-the-hang-up-app-on-${route}`;

function file(sandbox: Sandbox): ConfigurationFile {
  return {
    connections: [
      { id: "dg", kind: "deepgram", api_key: "dg-secret", base_url: sandbox.deepgramUrl },
      { id: "oa", kind: "openai", api_key: "oa-secret", base_url: sandbox.openaiUrl },
      { id: "aa", kind: "assemblyai", api_key: "aa-secret", base_url: sandbox.assemblyaiUrl },
      { id: "an", kind: "anthropic", api_key: "an-secret", base_url: sandbox.anthropicUrl },
    ],
    routes: Object.entries(ROUTES).map(([id, targets]) => ({
      id,
      targets: targets.map(([connection, model]) => ({ connection, model })),
    })),
    workspaces: [
      {
        id: "acme",
        apps: (Object.keys(ROUTES) as RouteName[]).map((route) => ({
          id: route,
          route,
          keys: [{ id: `k-${route}`, secret: keyOf(route), scopes: ["transcribe", "chat"] }],
        })),
      },
    ],
  };
}

export function startSetting(): Promise<TestGateway> {
  return startGateway({ file, wrapGateway: neverResting });
}

/** A caller that can disconnect without notice. */
export interface Caller {
  /** Resolves after so many pieces of text. */
  texts(count: number): Promise<void>;
  /** For live transcription: sends frames. */
  say(frames: readonly (object | Uint8Array)[]): void;
  vanish(): void;
}

export function askForTranscript(origin: string, route: RouteName, fields: Record<string, string>): Promise<Caller> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append("file", new Blob([new Uint8Array(speech())]), "audio.wav");
  return post(`${origin}/v1/transcription`, route, new Response(form));
}

export function askForChat(origin: string, route: RouteName, fields: object): Promise<Caller> {
  const body = JSON.stringify({ messages: [{ role: "user", content: "Hello" }], ...fields });
  return post(`${origin}/v1/chat`, route, new Response(body, { headers: { "content-type": "application/json" } }));
}

async function post(url: string, route: RouteName, message: Response): Promise<Caller> {
  const body = Buffer.from(await message.arrayBuffer());
  const counter = createCounter();
  const request = httpRequest(url, {
    method: "POST",
    agent: false,
    headers: {
      authorization: `Bearer ${keyOf(route)}`,
      "content-type": message.headers.get("content-type") ?? "",
      "content-length": body.byteLength,
    },
  });
  request.on("error", () => undefined);
  request.on("response", (response) => {
    response.on("error", () => undefined);
    response.on("data", (bytes: Buffer) => counter.add(bytes.toString().split(/^event: \S+\.delta$/mu).length - 1));
  });
  request.end(body);
  return {
    texts: counter.reached,
    say: () => {
      throw new Error("a request has nothing more to say");
    },
    vanish: () => void request.destroy(),
  };
}

export async function converse(origin: string, route: RouteName): Promise<Caller> {
  const socket = new WebSocket(`${origin.replace("http", "ws")}/v1/transcription/realtime`, {
    headers: { authorization: `Bearer ${keyOf(route)}` },
  });
  const counter = createCounter();
  socket.on("error", () => undefined);
  socket.on("message", (data: Buffer) => {
    if (data.toString().includes('"transcript.delta"')) counter.add(1);
  });
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  return {
    texts: counter.reached,
    say: (frames) => {
      for (const frame of frames) socket.send(frame instanceof Uint8Array ? frame : JSON.stringify(frame));
    },
    vanish: () => socket.terminate(),
  };
}

function createCounter(): {
  readonly add: (count: number) => void;
  readonly reached: (count: number) => Promise<void>;
} {
  let pieceCount = 0;
  let waiting: { readonly count: number; readonly wake: () => void }[] = [];
  const look = (): void => {
    for (const { wake } of waiting.filter(({ count }) => pieceCount >= count)) wake();
    waiting = waiting.filter(({ count }) => pieceCount < count);
  };
  return {
    add: (count) => {
      pieceCount += count;
      look();
    },
    reached: (count) =>
      new Promise((resolve) => {
        waiting.push({ count, wake: resolve });
        look();
      }),
  };
}
