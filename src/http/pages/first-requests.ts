// The first example requests for a new user, shown by /docs and /llms.txt and run by tests unchanged [api.first-requests].
export interface FirstRequest {
  readonly title: string;
  readonly language: "sh" | "js" | "ts";
  readonly code: string;
}

const AUTHORIZED = `-H "Authorization: Bearer $PATCHBAY_API_KEY"`;

export const FIRST_REQUESTS: readonly FirstRequest[] = [
  {
    title: "A recording to text, with speakers",
    language: "sh",
    code: `curl -s "$PATCHBAY_URL/v1/transcription" ${AUTHORIZED} -F file=@call.mp3 -F diarization=true`,
  },
  {
    title: "To captions",
    language: "sh",
    code: `curl -s "$PATCHBAY_URL/v1/transcription" ${AUTHORIZED} -H "Accept: text/vtt" -F file=@call.mp3 -F response_format=vtt`,
  },
  {
    title: "A long one, as a job; the answer has its poll_url",
    language: "sh",
    code: `curl -s "$PATCHBAY_URL/v1/transcription/jobs" ${AUTHORIZED} -F file=@call.mp3`,
  },
  {
    title:
      "From the command line, which reads both variables. In a checkout, type `npm run patchbay --` for `patchbay`",
    language: "sh",
    code: "patchbay transcribe call.mp3 --diarization --format srt -o call.srt",
  },
  {
    title: "From TypeScript: the client reads them, too. See [its page](/docs/reference/client)",
    language: "ts",
    code: `import { Patchbay } from "patchbay-gateway/client";

const patchbay = new Patchbay();
const transcript = await patchbay.transcribe({ path: "call.mp3" }, { diarization: true });
console.log(transcript.content);`,
  },
  {
    title: "With OpenAI's client: another base URL, and auto for the model",
    language: "js",
    code: `import { createReadStream } from "node:fs";
import { env } from "node:process";
import OpenAI from "openai";

const client = new OpenAI({ baseURL: env.PATCHBAY_URL + "/v1", apiKey: env.PATCHBAY_API_KEY });
const transcript = await client.audio.transcriptions.create({ model: "auto", file: createReadStream("call.mp3") });
const chat = await client.chat.completions.create({
  model: "auto",
  messages: [{ role: "user", content: \`Sum this up: \${transcript.text}\` }],
});
console.log(chat.choices[0].message.content);`,
  },
];

/** The variables that the examples use. */
export const FIRST_VARIABLES =
  "The examples read two variables: `PATCHBAY_URL`, the address of this gateway, and `PATCHBAY_API_KEY`, a key of an app.";
