// An existing program with OpenAI's client: only the base URL, the key and the model's name change.
//   npm install openai
//   PATCHBAY_URL=http://127.0.0.1:8080 PATCHBAY_API_KEY=… node transcribe-and-chat.mjs call.mp3
import { createReadStream } from "node:fs";
import { argv, env, stdout } from "node:process";
import OpenAI from "openai";

const client = new OpenAI({ baseURL: `${env.PATCHBAY_URL}/v1`, apiKey: env.PATCHBAY_API_KEY });

// `auto` is the route of the key. `purpose/<label>` selects one of its purposes.
const transcript = await client.audio.transcriptions.create({ model: "auto", file: createReadStream(argv[2]) });
console.log(transcript.text);

const stream = await client.chat.completions.create({
  model: "auto",
  messages: [{ role: "user", content: `Sum this up: ${transcript.text}` }],
  stream: true,
});
for await (const chunk of stream) stdout.write(chunk.choices[0]?.delta.content ?? "");
stdout.write("\n");
