// Media types and file extensions of the audio formats: those sent to providers, and those that callers may declare [measuring.hints].
import type { AudioFormat } from "../contract/transcription/audio-formats.ts";

/** Sent to providers, whatever the caller declared. */
export const MEDIA: Record<AudioFormat, { mediaType: string; extension: string }> = {
  mp3: { mediaType: "audio/mpeg", extension: ".mp3" },
  mp4: { mediaType: "audio/mp4", extension: ".mp4" },
  m4a: { mediaType: "audio/mp4", extension: ".m4a" },
  mpeg: { mediaType: "video/mpeg", extension: ".mpeg" },
  wav: { mediaType: "audio/wav", extension: ".wav" },
  webm: { mediaType: "audio/webm", extension: ".webm" },
};

const MPEG4_TYPES = [
  "audio/mp4",
  "video/mp4",
  "audio/m4a",
  "audio/x-m4a",
  "audio/mp4a-latm",
  "audio/x-mp4",
  "application/mp4",
];
const MPEG4_EXTENSIONS = ["mp4", "m4a", "m4b", "m4p", "m4v"];
const MPEG_AUDIO_TYPES = [
  "audio/mpeg",
  "audio/mp3",
  "audio/x-mp3",
  "audio/mpga",
  "audio/mpeg3",
  "audio/x-mpeg-3",
  "audio/x-mpeg",
  "audio/mp2",
];

const TYPES: Record<AudioFormat, readonly string[]> = {
  mp3: MPEG_AUDIO_TYPES,
  mp4: MPEG4_TYPES,
  m4a: MPEG4_TYPES,
  mpeg: ["video/mpeg", "audio/mpeg", "video/x-mpeg", "video/mp2p"],
  wav: ["audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave", "audio/x-pn-wav"],
  webm: ["audio/webm", "video/webm"],
};
const EXTENSIONS: Record<AudioFormat, readonly string[]> = {
  mp3: ["mp3", "mpga", "mp2", "mp1", "mpa", "mpeg"],
  mp4: MPEG4_EXTENSIONS,
  m4a: MPEG4_EXTENSIONS,
  mpeg: ["mpeg", "mpg"],
  wav: ["wav", "wave"],
  webm: ["webm", "weba"],
};
const OTHER_TYPES = [
  "audio/ogg",
  "audio/flac",
  "audio/x-flac",
  "audio/aac",
  "audio/opus",
  "audio/aiff",
  "audio/x-aiff",
  "video/quicktime",
];
const OTHER_EXTENSIONS = [
  "ogg",
  "oga",
  "opus",
  "flac",
  "aac",
  "aiff",
  "aif",
  "mov",
  "avi",
  "mkv",
  "mka",
  "wma",
  "amr",
  "3gp",
];
const KNOWN_TYPES = new Set([...Object.values(TYPES).flat(), ...OTHER_TYPES]);
const KNOWN_EXTENSIONS = new Set([...Object.values(EXTENSIONS).flat(), ...OTHER_EXTENSIONS]);

/** False only if the hint names another audio or video format: the warning MEDIA_TYPE_MISMATCH. No hint, or an unknown one, matches. */
export function mediaTypeMatches(format: AudioFormat, declared: string | null, fileName: string | null): boolean {
  const type = declared?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (KNOWN_TYPES.has(type) && !TYPES[format].includes(type)) return false;
  const extension = fileName === null ? "" : fileName.slice(fileName.lastIndexOf(".") + 1).toLowerCase();
  return !KNOWN_EXTENSIONS.has(extension) || EXTENSIONS[format].includes(extension);
}
