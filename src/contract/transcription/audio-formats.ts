// The audio formats that uploads may have (mp3, mp4, wav and others), detected from the content [measuring.content-decides].

/** "mp3" is any MPEG audio stream, layers I to III (.mp3, .mpga, .mp2); "mpeg" is an MPEG program stream. */
export const AUDIO_FORMATS = ["mp3", "mp4", "m4a", "mpeg", "wav", "webm"] as const;
export type AudioFormat = (typeof AUDIO_FORMATS)[number];
