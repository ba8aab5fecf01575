// Reads a request with audio that is JSON: the base64 audio goes to the spool as it arrives, the small rest is parsed strictly.
import { audioTooLarge } from "../../audio/audio-too-large.ts";
import { isRecord } from "../../lib/json/json-guards.ts";
import type { Base64Intake } from "./audio-intake.ts";
import { eachChunk } from "./body-chunks.ts";
import { VALUE_LIMITS } from "./fields.ts";
import { createJsonAudioScanner } from "./json-audio-scanner.ts";
import { JsonBodyFault } from "./json-string.ts";
import { type BodyReading, MAX_REST_BYTES, type RawBody } from "./raw-body.ts";
import { parseStrictJson } from "./strict-json.ts";

export async function readJsonBody(reading: BodyReading): Promise<RawBody> {
  const { faults, maxAudioBytes } = reading;
  try {
    const rest = await divertAudio(reading);
    const parsed = parseStrictJson(rest, VALUE_LIMITS);
    if (!parsed.ok) throw faults.fatal(null, parsed.message);
    if (!isRecord(parsed.value)) throw faults.fatal(null, "The body must be a JSON object.");
    const fields = new Map(Object.entries(parsed.value));
    const audio = fields.get("audio");
    fields.delete("audio");
    if (audio !== undefined && audio !== null && typeof audio !== "string" && !isRecord(audio)) {
      faults.add("audio", "`audio` must be an object, or a string of base64.");
    }
    return { fields, audio: new Map(isRecord(audio) ? Object.entries(audio) : []), fileName: null, mediaType: null };
  } catch (error) {
    if (error instanceof JsonBodyFault) throw faults.fatal(null, error.message);
    throw error;
  }

  async function divertAudio({ body, intake }: BodyReading): Promise<Buffer> {
    let current: Base64Intake | null = null;
    // The scanner is synchronous and the spool is not. The operations of each chunk are queued and finished in order before the next chunk.
    let pendingOperations: (() => Promise<void> | void)[] = [];
    const scanner = createJsonAudioScanner(
      { maxRestBytes: MAX_REST_BYTES, maxDepth: VALUE_LIMITS.maxDepth },
      {
        onName: (name) => faults.noteRouteControl(name),
        onAudioStart: (param) => {
          current = intake.beginBase64(param, { lineBreaks: false });
        },
        onAudio: (text) => {
          const target = current;
          pendingOperations.push(() => target?.push(text));
        },
        onAudioEnd: () => {
          const target = current;
          pendingOperations.push(() => target?.end());
        },
      },
    );
    const bound = {
      maxBytes: maxAudioBytes,
      tooLarge: (receivedBytes: number) => audioTooLarge({ maxBytes: maxAudioBytes, param: "audio" }, receivedBytes),
    };
    await eachChunk(body, bound, async (chunk) => {
      try {
        scanner.push(chunk);
      } finally {
        // What precedes an error is processed before it is thrown, regardless of chunk boundaries.
        for (const take of pendingOperations) await take();
        pendingOperations = [];
      }
    });
    return scanner.end();
  }
}
