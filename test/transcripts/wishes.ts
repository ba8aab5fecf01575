// What a caller may ask of a transcript, drawn at random: by what a provider can do together.
import * as fc from "fast-check";
import type { TranscriptionFields } from "../../src/contract/transcription/transcription-fields.ts";

const FORMATS = ["json", "text", "verbose_json", "diarized_json", "srt", "vtt"] as const;
export const format = fc.constantFrom(...FORMATS);
const timestamps = fc.constantFrom("word", "segment", "both" as const);
const optional = { requiredKeys: [] };

/** Speakers, or channels, or neither: what ElevenLabs takes. */
export const speakersOrChannels: fc.Arbitrary<TranscriptionFields> = fc.oneof(
  fc.record({ timestamps, response_format: format, diarization: fc.boolean() }, optional),
  fc.record(
    { timestamps, multichannel: fc.constant(true), response_format: fc.constantFrom("json", "text", "srt", "vtt") },
    { requiredKeys: ["multichannel"] },
  ),
);
/** Word times, and channels without speakers. */
export const timesOrChannels: fc.Arbitrary<TranscriptionFields> = fc.record(
  {
    timestamps,
    multichannel: fc.boolean(),
    response_format: fc.constantFrom("json", "text", "verbose_json", "srt", "vtt"),
  },
  { requiredKeys: ["timestamps"] },
);
export const anything: fc.Arbitrary<TranscriptionFields> = fc.record(
  { timestamps, response_format: format, diarization: fc.boolean(), multichannel: fc.boolean() },
  optional,
);
export const timesOnly: fc.Arbitrary<TranscriptionFields> = fc.record(
  { timestamps, response_format: fc.constantFrom("json", "text", "verbose_json", "srt", "vtt") },
  optional,
);
/** Speakers and times, of one channel. */
export const speakersAndTimes: fc.Arbitrary<TranscriptionFields> = fc.record(
  { timestamps, response_format: format, diarization: fc.boolean() },
  optional,
);
/** Neither times nor speakers. */
export const plainText: fc.Arbitrary<TranscriptionFields> = fc.record(
  { response_format: fc.constantFrom("json", "text") },
  optional,
);
