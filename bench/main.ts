// `npm run bench [-- name …options]`: without a name, every benchmark. Each is a bounded run that ends by itself.
import { parseArgs } from "node:util";
import { benchMemory } from "./memory.ts";
import { printReport, type Report } from "./report.ts";
import { parseBytes } from "./sizes.ts";
import { benchTranscription } from "./transcription.ts";

const USAGE = `npm run bench -- [transcription | memory] [options]

transcription  requests/s of the gateway beside a bare forwarder, and where its time goes
  --size 1MiB          of the audio; the WAV header comes on top
  --seconds 8          of load for each of the two, in three alternating rounds
  --connections 16
  --engine pglite      or postgres
memory         resident memory while many large uploads are under way
  --uploads 200        at once
  --size 25MiB         of each file, header included
--json prints the result's JSON alone.`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    size: { type: "string" },
    seconds: { type: "string", default: "8" },
    connections: { type: "string", default: "16" },
    uploads: { type: "string", default: "200" },
    engine: { type: "string", default: "pglite" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const { engine } = values;
if (values.help || (engine !== "pglite" && engine !== "postgres")) {
  console.log(USAGE);
  process.exit(values.help ? 0 : 2);
}

const BENCHES: Readonly<Record<string, () => Promise<Report>>> = {
  transcription: () =>
    benchTranscription({
      sizeBytes: parseBytes(values.size ?? "1MiB"),
      seconds: positive("seconds", values.seconds),
      connections: positive("connections", values.connections),
      engine,
    }),
  memory: () =>
    benchMemory({ sizeBytes: parseBytes(values.size ?? "25MiB"), uploads: positive("uploads", values.uploads) }),
};

const names = positionals.length === 0 ? Object.keys(BENCHES) : positionals;
for (const name of names) {
  const bench = BENCHES[name];
  if (bench === undefined) {
    console.error(`There is no benchmark ${name}.\n\n${USAGE}`);
    process.exit(2);
  }
  printReport(await bench(), values.json);
}

function positive(name: string, text: string): number {
  const number = Number(text);
  if (number > 0) return number;
  console.error(`--${name} must be a number above 0, not ${text}.`);
  process.exit(2);
}
