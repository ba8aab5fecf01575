// Measures WebM: walks every cluster and block, including those of unknown size in a browser's live recording, and adds up the audio packets. After invalid
// bytes it continues at the next cluster, as decoders do.
import type { ByteReader } from "./byte-reader.ts";
import { type Element, listElements, readAscii, readElement, readUnsigned, readVint } from "./ebml.ts";
import { CHUNK_LIMIT, InvalidAudio, type Reading } from "./invalid-audio.ts";
import { addBlock, emptyWebmSum, settle, type WebmSum } from "./webm-packets.ts";
import { readWebmTracks, type WebmTrack } from "./webm-track.ts";

const ID = {
  ebml: 0x1a45dfa3,
  docType: 0x4282,
  segment: 0x18538067,
  info: 0x1549a966,
  tracks: 0x1654ae6b,
  cluster: 0x1f43b675,
  time: 0xe7,
  simpleBlock: 0xa3,
  group: 0xa0,
  block: 0xa1,
  padding: 0x75a2,
  timeScale: 0x2ad7b1,
} as const;
/** SeekHead, Cues, Tags, Chapters, Attachments: like those above, they end a cluster of unknown size. */
const SEGMENT_LEVEL: ReadonlySet<number> = new Set([
  ID.ebml,
  ID.segment,
  ID.info,
  ID.tracks,
  ID.cluster,
  0x114d9b74,
  0x1c53bb6b,
  0x1254c367,
  0x1043a770,
  0x1941a469,
]);

/** Other elements of a cluster: Position, PrevSize, SilentTracks, EncryptedBlock. Void and CRC-32 are allowed anywhere. */
const ANYWHERE: ReadonlySet<number> = new Set([0xec, 0xbf]);
const CLUSTER_LEVEL: ReadonlySet<number> = new Set([
  ...ANYWHERE,
  ID.time,
  ID.simpleBlock,
  ID.group,
  0xa7,
  0xab,
  0x5854,
  0xaf,
]);

type State = {
  readonly tracks: Map<number, { track: WebmTrack; sum: WebmSum }>;
  tickSeconds: number;
  others: number;
  docType: string;
  trailingBytes: number;
};

export function readWebm(reader: ByteReader): Reading {
  const state: State = { tracks: new Map(), tickSeconds: 0.001, others: 0, docType: "webm", trailingBytes: 0 };
  let at = 0;
  for (;;) {
    const element = hasSound(state) ? elementAmongJunk(reader, at, state) : readElement(reader, at);
    if (!element) break;
    const next = readSegmentLevel(reader, element, state);
    if (next === null) break;
    at = next;
  }
  return conclude(state);
}

const hasSound = (state: State): boolean => state.tracks.values().some(({ sum }) => sum.packets > 0);

/** The element at `at`, or the next cluster if there is none. Null at the end of the file. */
function elementAmongJunk(reader: ByteReader, at: number, state: State): Element | null {
  const element = elementOrJunk(reader, at);
  if (element === null) return null;
  if (element !== "junk" && (SEGMENT_LEVEL.has(element.id) || ANYWHERE.has(element.id))) return element;
  for (let next = reader.indexOf(0x1f, at + 1); next >= 0; next = reader.indexOf(0x1f, next + 1)) {
    if (next + 4 > reader.size) break;
    if (reader.u32(next) !== ID.cluster) continue;
    const cluster = elementOrJunk(reader, next);
    if (cluster !== "junk") return cluster;
  }
  state.trailingBytes = reader.size - at;
  return null;
}

function elementOrJunk(reader: ByteReader, at: number): Element | null | "junk" {
  try {
    return readElement(reader, at);
  } catch (error) {
    if (error instanceof InvalidAudio) return "junk";
    throw error;
  }
}

/** The position to continue from. Null: the recording is truncated. */
function readSegmentLevel(reader: ByteReader, element: Element, state: State): number | null {
  if (element.id === ID.segment) return element.start;
  if (element.id === ID.cluster) return readCluster(reader, element, state);
  if (element.end === Number.POSITIVE_INFINITY) throw new InvalidAudio("has an element of an impossible size");
  state.others += 1;
  if (state.others > CHUNK_LIMIT) throw new InvalidAudio("has more elements than a recording can need");
  if (element.id === ID.ebml) state.docType = readDocType(reader, element) ?? state.docType;
  if (element.id === ID.info) readInfo(reader, element, state);
  if (element.id === ID.tracks) {
    for (const track of readWebmTracks(reader, element, state.docType)) {
      state.tracks.set(track.number, { track, sum: state.tracks.get(track.number)?.sum ?? emptyWebmSum() });
    }
  }
  return element.end > reader.size ? null : element.end;
}

function readDocType(reader: ByteReader, header: Element): string | null {
  const element = listElements(reader, header).find(({ id }) => id === ID.docType);
  return element ? readAscii(reader, element) : null;
}

function readInfo(reader: ByteReader, info: Element, state: State): void {
  for (const element of listElements(reader, info)) {
    if (element.id !== ID.timeScale) continue;
    state.tickSeconds = readUnsigned(reader, element) / 1e9;
    if (state.tickSeconds === 0) throw new InvalidAudio("has a timestamp scale of zero");
  }
}

function readCluster(reader: ByteReader, cluster: Element, state: State): number | null {
  let time = 0;
  let others = 0;
  let at = cluster.start;
  while (at < cluster.end) {
    const isEndless = cluster.end === Number.POSITIVE_INFINITY;
    const element = isEndless && hasSound(state) ? elementOrJunk(reader, at) : readElement(reader, at);
    if (!element) return null;
    // A cluster of unknown size ends at the next element of the segment, or at bytes that are not an element.
    if (isEndless && (element === "junk" || !CLUSTER_LEVEL.has(element.id))) return at;
    if (element === "junk") throw new InvalidAudio("has an element without an id or size");
    if (element.end === Number.POSITIVE_INFINITY || element.end > cluster.end)
      throw new InvalidAudio("has an element that is larger than the one around it");
    // A block truncated by the end of the file does not count.
    if (element.end > reader.size) return null;
    if (element.id === ID.time) time = readUnsigned(reader, element);
    else if (element.id === ID.simpleBlock) readBlock(reader, element, time, state);
    else if (element.id === ID.group) readGroup(reader, element, time, state);
    else if ((others += 1) > CHUNK_LIMIT) throw new InvalidAudio("has more elements than a recording can need");
    at = element.end;
  }
  return at;
}

function readGroup(reader: ByteReader, group: Element, clusterTime: number, state: State): void {
  let sum: WebmSum | null = null;
  for (const element of listElements(reader, group)) {
    if (element.id === ID.block) sum = readBlock(reader, element, clusterTime, state);
    if (element.id === ID.padding && sum) {
      const isNegative = element.end > element.start && reader.u8(element.start) >= 128;
      sum.lastPaddingSeconds = isNegative ? 0 : readUnsigned(reader, element) / 1e9;
    }
  }
}

function readBlock(reader: ByteReader, element: Element, clusterTime: number, state: State): WebmSum | null {
  const number = readVint(reader, element.start, element.end);
  if (!number || number.next + 3 > element.end) return null;
  const target = state.tracks.get(number.value);
  if (!target) return null;
  const raw = reader.u8(number.next) * 256 + reader.u8(number.next + 1);
  const time = (clusterTime + (raw >= 0x8000 ? raw - 0x10000 : raw)) * state.tickSeconds;
  addBlock(reader, target.track, target.sum, {
    start: number.next + 3,
    end: element.end,
    flags: reader.u8(number.next + 2),
    time,
  });
  return target.sum;
}

function conclude(state: State): Reading {
  const tracks = [...state.tracks.values()];
  if (tracks.length === 0) throw new InvalidAudio("has no audio track");
  const longest = tracks
    .map((entry) => ({ ...entry, seconds: playedSeconds(entry.track, entry.sum) }))
    .reduce((a, b) => (b.seconds > a.seconds ? b : a));
  if (longest.sum.packets === 0) throw new InvalidAudio("contains no audio data");
  const { codec, channels, sampleRate } = longest.track;
  const { trailingBytes } = state;
  return { codec, channels, sampleRate, durationSeconds: longest.seconds, audioTracks: tracks.length, trailingBytes };
}

/** If only the clock counts, the last packet is assumed to be as long as the one before it. */
function playedSeconds(track: WebmTrack, sum: WebmSum): number {
  settle(sum, sum.lastSeconds);
  if (
    !track.isOpus &&
    track.bytesPerSecond === null &&
    sum.bytes > Math.max(1, sum.seconds) * track.mostBytesPerSecond
  ) {
    throw new InvalidAudio("has a length that its size contradicts");
  }
  return Math.max(0, sum.seconds - track.delaySeconds - Math.min(sum.lastPaddingSeconds, sum.lastSeconds));
}
