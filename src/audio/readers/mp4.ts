// Measures mp4 and m4a: sums the audio packets with bytes in the file, by the codec's own frame lengths, as far as the edit list plays them.
import { type ByteReader, text4 } from "./byte-reader.ts";
import { InvalidAudio, type Reading } from "./invalid-audio.ts";
import { type Box, type BoxTree, findBox, readBox, readTree } from "./mp4-boxes.ts";
import { applyEdits, type Played } from "./mp4-edits.ts";
import { addFragment, readDefaults } from "./mp4-fragments.ts";
import { emptySum, type PacketSum } from "./mp4-packets.ts";
import { addTableSamples } from "./mp4-samples.ts";
import { readTrack, type Track } from "./mp4-track.ts";

type Counted = { readonly track: Track; readonly sum: PacketSum };

/** Eight channels of lossless audio at 192 kHz stay below. Above it, a clock was falsified to make a long recording cheap. */
const MOST_BYTES_PER_SECOND = 5_000_000;

export function readMp4(reader: ByteReader): Reading {
  const { moov, fragments, trailingBytes } = readTopLevel(reader);
  if (!moov) throw new InvalidAudio("is cut off before its index");
  const tracks = readTracks(reader, moov);
  if (tracks.length === 0) throw new InvalidAudio("has no audio track");
  for (const { track, sum } of tracks) {
    if (fragments.length === 0 || findBox(track.table, "stco") || findBox(track.table, "co64"))
      addTableSamples(reader, track, sum);
  }
  if (fragments.length > 0) {
    const byId = new Map(tracks.map((entry) => [entry.track.id, entry]));
    const defaults = readDefaults(reader, moov);
    for (const moof of fragments) addFragment(reader, moof, byId, defaults);
  }
  const longest = tracks
    .map((entry) => ({ ...entry, played: playedSeconds(entry) }))
    .reduce((a, b) => (b.played.seconds > a.played.seconds ? b : a));
  if (longest.sum.packets === 0) throw new InvalidAudio("contains no audio data");
  const { codec, channels, sampleRate } = longest.track;
  const { seconds, isNoticeable } = longest.played;
  return {
    codec,
    channels,
    sampleRate,
    durationSeconds: seconds,
    audioTracks: tracks.length,
    trailingBytes,
    ...(isNoticeable ? { uneditedSeconds: Math.round(longest.sum.seconds * 1000) / 1000 } : {}),
  };
}

/** Does not count fragments, because a long recording has any number of them. Each box advances by at least 8 bytes. */
function readTopLevel(reader: ByteReader): {
  moov: BoxTree | null;
  fragments: readonly Box[];
  trailingBytes: number;
} {
  const fragments: Box[] = [];
  let moov: BoxTree | null = null;
  for (let at = 0; at + 8 <= reader.size; ) {
    // After a complete recording: another one, which players do not play, or bytes that are not a box.
    if (moov && (!BOX_TYPE.test(text4(reader, at + 4)) || (fragments.length === 0 && startsAnother(reader, at))))
      return { moov, fragments, trailingBytes: reader.size - at };
    const box = readBox(reader, at, reader.size, true);
    const isCut = box.end > reader.size;
    if (box.type === "moov" && isCut) throw new InvalidAudio("is cut off inside its index");
    if (box.type === "moov" && !moov) moov = readTree(reader, box);
    if (box.type === "moof" && !isCut) fragments.push(box);
    at = box.end;
  }
  return { moov, fragments, trailingBytes: 0 };
}

/** Printable ASCII, and the © of QuickTime's types. */
const BOX_TYPE = /^[\x20-\x7e\xa9]{4}$/;

const startsAnother = (reader: ByteReader, at: number): boolean => at > 0 && text4(reader, at + 4) === "ftyp";

function readTracks(reader: ByteReader, moov: BoxTree): readonly Counted[] {
  const header = findBox(moov, "mvhd");
  const timescale = header ? reader.u32(header.start + (reader.u8(header.start) === 1 ? 20 : 12)) : 0;
  const tracks: Counted[] = [];
  for (const trak of moov.children) {
    const track = trak.type === "trak" ? readTrack(reader, trak, timescale) : null;
    if (track) tracks.push({ track, sum: emptySum() });
  }
  return tracks;
}

function playedSeconds({ track, sum }: Counted): Played {
  if (track.packet.kind === "clock" && sum.bytes > 0 && sum.bytes / MOST_BYTES_PER_SECOND > sum.seconds) {
    throw new InvalidAudio("has a length that its size contradicts");
  }
  const { edits, packet, codec } = track;
  const leastPrimingSeconds = codec === "aac" && packet.kind === "frames" ? packet.seconds : 0;
  return applyEdits(edits, { ...sum, leastPrimingSeconds });
}
