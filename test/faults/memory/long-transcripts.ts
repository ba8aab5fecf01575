// A provider whose transcripts of an hour have very many long words, in utterances of ten.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export async function startLongTranscripts(count: number) {
  const words = Array.from({ length: count }, (_, at) => ({
    word: `${"word".repeat(15)}${at}`,
    start: (at * 3_600) / count,
    end: ((at + 0.9) * 3_600) / count,
    confidence: 0.98,
  }));
  const transcript = words.map(({ word }) => word).join(" ");
  const utterances = Array.from({ length: count / 10 }, (_, at) => {
    const utterance = words.slice(at * 10, at * 10 + 10);
    return {
      transcript: utterance.map(({ word }) => word).join(" "),
      start: utterance[0]?.start,
      end: utterance.at(-1)?.end,
    };
  });
  const body = JSON.stringify({
    metadata: { request_id: "unread", duration: 3_600, model_info: { m: { name: "general-nova-3", arch: "nova-3" } } },
    results: { channels: [{ alternatives: [{ transcript, words, confidence: 0.98 }] }], utterances },
  });
  const server = createServer((request, response) => {
    request.resume();
    request.once("end", () => response.writeHead(200, { "content-type": "application/json" }).end(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
