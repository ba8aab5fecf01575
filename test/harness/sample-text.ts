// The words of the bundled sample, as its generator was given them (sandbox/samples/make-sample.sh). The sandbox answers the sample with them.
export const SAMPLE_TURNS = [
  { speaker: "S1", text: "Good morning, this is the harbour office. How can I help?" },
  { speaker: "S2", text: "Hello. Can I move my boat to pier seven?" },
  { speaker: "S1", text: "Pier seven is free from ten. For how long?" },
  { speaker: "S2", text: "Two nights, please. Thank you." },
] as const;

export const SAMPLE_TEXT = SAMPLE_TURNS.map(({ text }) => text).join(" ");
