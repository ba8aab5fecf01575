// Serves a page that captions the microphone, and gives it a token for each session, so that no browser ever has the API key.
//   PATCHBAY_URL=http://127.0.0.1:8080 PATCHBAY_API_KEY=… PORT=3000 node server.mjs
// Then open http://127.0.0.1:3000. Browsers allow the microphone on localhost and over https only.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { env } from "node:process";

const gateway = env.PATCHBAY_URL ?? "http://127.0.0.1:8080";
const files = {
  "/": ["index.html", "text/html; charset=utf-8"],
  "/captions.js": ["captions.js", "text/javascript; charset=utf-8"],
  "/samples.js": ["samples.js", "text/javascript; charset=utf-8"],
};

/** In an application, check here who asks: each token opens one session at your cost. */
async function token() {
  const answer = await fetch(`${gateway}/v1/transcription/realtime-token`, {
    method: "POST",
    headers: { authorization: `Bearer ${env.PATCHBAY_API_KEY}` },
  });
  if (!answer.ok) throw new Error(`no token: ${answer.status} ${await answer.text()}`);
  const { token } = await answer.json();
  return { token, url: `${gateway.replace(/^http/, "ws")}/v1/transcription/realtime` };
}

async function answer(request, response) {
  const file = files[request.url];
  if (request.method === "GET" && file !== undefined) {
    response.writeHead(200, { "content-type": file[1] }).end(await readFile(new URL(file[0], import.meta.url)));
  } else if (request.method === "POST" && request.url === "/token") {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(await token()));
  } else response.writeHead(404).end();
}

const server = createServer((request, response) =>
  answer(request, response).catch((error) => {
    console.error(error.message);
    response.writeHead(502).end();
  }),
);
server.listen(Number(env.PORT ?? 3000), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
