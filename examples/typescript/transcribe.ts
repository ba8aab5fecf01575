// Transcribes a recording and prints who said what, and when.
//   npm install ./patchbay-gateway-*.tgz      # the packed file: docs/guides/install.md
//   PATCHBAY_URL=http://127.0.0.1:8080 PATCHBAY_API_KEY=… node transcribe.ts call.mp3
import { argv, exit } from "node:process";
import { Patchbay, PatchbayError } from "patchbay-gateway/client";

const path = argv[2];
if (path === undefined) throw new Error("usage: node transcribe.ts FILE");

const patchbay = new Patchbay(); // reads PATCHBAY_URL and PATCHBAY_API_KEY
try {
  const transcript = await patchbay.transcribe({ path }, { diarization: true, timestamps: "segment" });
  for (const { start, speaker, text } of transcript.segments)
    console.log(`${start?.toFixed(1) ?? "?"} s  ${speaker ?? "?"}: ${text}`);
  console.log(`${transcript.usage.audio_seconds} seconds of audio`);
} catch (error) {
  if (!(error instanceof PatchbayError)) throw error;
  // Refusals have a code, a request id for the operator, and a page that says what to do.
  console.error(error.code, error.message, error.requestId, error.docUrl);
  exit(1);
}
