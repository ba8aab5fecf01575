// Runs only the sandbox (`npm run sandbox -- --port 9090`), for demonstrations and for gateways in another process.
import { parseArgs } from "node:util";
import { DIALECTS } from "./openai/dialects.ts";
import { CONTROL_PATH } from "./control.ts";
import { startSandbox } from "./server.ts";

const USAGE = "usage: npm run sandbox -- [--host 127.0.0.1] [--port 9090]\n";

function readArguments(): { host: string; port: number } | null {
  try {
    const { values } = parseArgs({
      options: { host: { type: "string", default: "127.0.0.1" }, port: { type: "string", default: "9090" } },
    });
    const port = Number(values.port);
    return Number.isInteger(port) && port >= 0 && port <= 65_535 ? { host: values.host, port } : null;
  } catch {
    return null;
  }
}

async function main(): Promise<void> {
  const options = readArguments();
  if (options === null) {
    process.stderr.write(USAGE);
    process.exitCode = 2;
    return;
  }
  const sandbox = await startSandbox({ ...options, nowMs: Date.now });
  const lines = [
    "The sandbox is listening. It recognises nothing: its transcripts state the measured facts of the audio,",
    "and its chats count what they were sent.",
    `  AssemblyAI              ${sandbox.assemblyaiUrl}`,
    `  Anthropic               ${sandbox.anthropicUrl}`,
    `  Google Speech           ${sandbox.googleSpeechUrl}`,
    `  Gemini                  ${sandbox.geminiUrl}`,
    `  Deepgram                ${sandbox.deepgramUrl}`,
    `  ElevenLabs              ${sandbox.elevenlabsUrl}`,
    `  OpenAI                  ${sandbox.openaiUrl}`,
    ...DIALECTS.map((dialect) => `  ${`compatible ${dialect}`.padEnd(24)}${sandbox.compatibleUrl(dialect)}`),
    `  faults and calls        ${sandbox.origin}${CONTROL_PATH}faults  ${sandbox.origin}${CONTROL_PATH}calls`,
    "  Any credential but `invalid` is accepted.",
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
  const stop = (): void => {
    sandbox.close().catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      process.exitCode = 1;
    });
  };
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
}

main().catch((error: unknown) => {
  process.stderr.write(`the sandbox could not start: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
