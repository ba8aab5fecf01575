// Submits a recording as a job, waits for the webhook that announces its end, and prints the transcript.
//   npm install ./patchbay-gateway-*.tgz      # the packed file: docs/guides/install.md
//   PATCHBAY_API_KEY=$ADMIN_KEY npx patchbay-gateway listen --forward-to http://127.0.0.1:3000/    # in a second terminal; prints the secret
//   PATCHBAY_URL=http://127.0.0.1:8080 PATCHBAY_API_KEY=… PATCHBAY_WEBHOOK_SECRET=whsec_… node job-and-webhook.ts call.mp3
// In production the gateway delivers to an https address that you set with `patchbay webhooks set`.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { argv, env } from "node:process";
import { buffer } from "node:stream/consumers";
import { Patchbay } from "patchbay-gateway/client";
import { verifyWebhook } from "patchbay-gateway/webhooks";

const path = argv[2];
const secret = env["PATCHBAY_WEBHOOK_SECRET"];
if (path === undefined || secret === undefined)
  throw new Error("usage: PATCHBAY_WEBHOOK_SECRET=whsec_… node job-and-webhook.ts FILE");

/** The ends of jobs. A delivery may arrive before the answer of the submission, so either side creates the entry. */
const ends = new Map<string, PromiseWithResolvers<string>>();
const endOf = (id: string): PromiseWithResolvers<string> => {
  const end = ends.get(id) ?? Promise.withResolvers<string>();
  ends.set(id, end);
  return end;
};

const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const verdict = verifyWebhook({ body: await buffer(request), headers: request.headers, secret });
  // The same event may arrive twice. A promise is resolved once.
  if (verdict.ok) endOf(verdict.event.job_id).resolve(verdict.event.status);
  response.writeHead(verdict.ok ? 204 : 400).end();
};

const server = createServer((request, response) => void receive(request, response));
server.listen(Number(env["PORT"] ?? 3000), "127.0.0.1");

const patchbay = new Patchbay(); // reads PATCHBAY_URL and PATCHBAY_API_KEY
const job = await patchbay.jobs.submit({ path }, { diarization: true, metadata: { example: "job-and-webhook" } });
console.log(`submitted ${job.job_id}`);
console.log(`webhook: ${await endOf(job.job_id).promise}`);
// The webhook has no transcript. `result` throws the error of a job that failed.
const transcript = await patchbay.jobs.result(await patchbay.jobs.get(job.job_id));
console.log(transcript.content);
server.close();
server.closeAllConnections();
