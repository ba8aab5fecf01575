// Builds a segment of `verbose_json` as OpenAI sends it. The compatible servers differ in a field or two.
import type { SimulatedSegment } from "../simulate.ts";

export const verboseSegment = ({ text, start, end, words }: SimulatedSegment, id: number) => ({
  id,
  seek: 0,
  start,
  end,
  // OpenAI's texts begin with a space.
  text: ` ${text}`,
  tokens: words.map((_, index) => 50_364 + index),
  temperature: 0,
  avg_logprob: -0.25,
  compression_ratio: 1,
  no_speech_prob: 0.01,
});
