// Recorded replies, written out from the providers' documentation, and the transcript each must become.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import type {
  ProviderSegment,
  ProviderTranscript,
  ProviderWord,
  Receipt,
  SpeechAudio,
  SpeechProvider,
  SpeechRequest,
} from "../../../src/providers/provider.ts";
import { audioFixture, type GoldenModel, requestFor } from "./fixtures.ts";
import { targetOf } from "./subject.ts";

export interface ReplyCase {
  /** The guarantee. */
  readonly name: string;
  readonly golden: GoldenModel;
  /** A file next to the tests, or a body in place. */
  readonly reply: URL | object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly wishes?: Partial<SpeechRequest>;
  readonly audio?: Partial<SpeechAudio>;
  /** Only the members that the case is about. */
  readonly transcript?: Partial<ProviderTranscript>;
  /** Every receipt, as `feature grade yes|no`. */
  readonly receipts: readonly string[];
}

export function replyContract(provider: SpeechProvider, cases: readonly ReplyCase[]): void {
  for (const each of cases) {
    test(`providers.receipts, providers.strict-reply: ${provider.kind}, ${each.name}`, async () => {
      const transcript = await normalised(provider, each);
      for (const [member, value] of Object.entries(each.transcript ?? {})) {
        assert.deepEqual(transcript[member as keyof ProviderTranscript], value, member);
      }
      assert.deepEqual(transcript.receipts.map(printed).toSorted(), [...each.receipts].toSorted());
    });
  }
}

export async function normalised(provider: SpeechProvider, each: ReplyCase): Promise<ProviderTranscript> {
  const { speech, target } = targetOf(provider, each.golden);
  const body: unknown = each.reply instanceof URL ? JSON.parse(await readFile(each.reply, "utf8")) : each.reply;
  return provider.normalise(
    { body, headers: each.headers ?? {} },
    requestFor(speech, each.wishes ?? {}),
    target,
    audioFixture(each.audio),
  );
}

function printed({ feature, grade, delivered }: Receipt): string {
  return `${feature} ${grade} ${delivered ? "yes" : "no"}`;
}

/** A word or segment, short: text, start, end, then what else it has. */
export function piece(
  text: string,
  start: number,
  end: number,
  more: Partial<ProviderWord & ProviderSegment> = {},
): ProviderWord {
  return { text, start, end, confidence: null, speaker: null, channel: null, ...more };
}
