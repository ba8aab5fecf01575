// Reads movie fragments (moof), which MediaRecorder and streaming encoders write instead of one index.
import type { ByteReader } from "./byte-reader.ts";
import { InvalidAudio } from "./invalid-audio.ts";
import { type Box, type BoxTree, countEntries, findBox, readTree } from "./mp4-boxes.ts";
import { addPackets, type PacketSum } from "./mp4-packets.ts";
import type { Track } from "./mp4-track.ts";

export type Defaults = { readonly ticks: number; readonly size: number };

/** Sample defaults by track id, from mvex/trex. */
export function readDefaults(reader: ByteReader, moov: BoxTree): ReadonlyMap<number, Defaults> {
  const defaults = new Map<number, Defaults>();
  for (const box of findBox(moov, "mvex")?.children ?? []) {
    if (box.type !== "trex" || box.end - box.start < 24) continue;
    defaults.set(reader.u32(box.start + 4), { ticks: reader.u32(box.start + 12), size: reader.u32(box.start + 16) });
  }
  return defaults;
}

export function addFragment(
  reader: ByteReader,
  moof: Box,
  tracks: ReadonlyMap<number, { readonly track: Track; readonly sum: PacketSum }>,
  defaults: ReadonlyMap<number, Defaults>,
): void {
  for (const traf of readTree(reader, moof).children) {
    if (traf.type !== "traf") continue;
    const header = findBox(traf, "tfhd");
    if (!header || header.end - header.start < 8) throw new InvalidAudio("has a damaged fragment");
    const id = reader.u32(header.start + 4);
    const target = tracks.get(id);
    if (!target) continue;
    const fragment = readFragmentHeader(reader, header, moof.at, defaults.get(id) ?? { ticks: 0, size: 0 });
    let offset = fragment.base;
    for (const run of traf.children) {
      if (run.type === "trun") offset = addRun(reader, run, { ...fragment, offset }, target);
    }
  }
}

function readFragmentHeader(
  reader: ByteReader,
  box: Box,
  moofAt: number,
  inherited: Defaults,
): Defaults & { base: number } {
  const flags = reader.u32(box.start) & 0xffffff;
  let at = box.start + 8;
  const field = (bit: number, bytes: number): number | null => {
    if ((flags & bit) === 0) return null;
    at += bytes;
    if (at > box.end) throw new InvalidAudio("has a damaged fragment");
    return bytes === 8 ? reader.u32(at - 8) * 2 ** 32 + reader.u32(at - 4) : reader.u32(at - 4);
  };
  const base = field(0x1, 8) ?? moofAt;
  field(0x2, 4);
  const ticks = field(0x8, 4) ?? inherited.ticks;
  return { base, ticks, size: field(0x10, 4) ?? inherited.size };
}

/** Returns the end of the run's data: the next run starts there unless it states another offset. */
function addRun(
  reader: ByteReader,
  box: Box,
  fragment: Defaults & { readonly base: number; readonly offset: number },
  target: { readonly track: Track; readonly sum: PacketSum },
): number {
  const flags = reader.u32(box.start) & 0xffffff;
  const hasTicks = (flags & 0x100) !== 0;
  const hasSize = (flags & 0x200) !== 0;
  const entryBytes =
    4 * (Number(hasTicks) + Number(hasSize) + Number((flags & 0x400) !== 0) + Number((flags & 0x800) !== 0));
  const count = countEntries(reader, box, 4, entryBytes);
  let at = box.start + 8;
  let offset = fragment.offset;
  if ((flags & 0x1) !== 0) {
    offset = fragment.base + (reader.u32(at) | 0);
    at += 4;
  }
  if ((flags & 0x4) !== 0) at += 4;
  if (at + count * entryBytes > box.end || offset < 0) throw new InvalidAudio("has a damaged fragment");
  if (!hasTicks && !hasSize) {
    addPackets(reader, target.track, target.sum, { offset, size: fragment.size, count, ticks: fragment.ticks });
    return offset + count * fragment.size;
  }
  for (let index = 0; index < count; index++, at += entryBytes) {
    const ticks = hasTicks ? reader.u32(at) : fragment.ticks;
    const size = hasSize ? reader.u32(at + (hasTicks ? 4 : 0)) : fragment.size;
    addPackets(reader, target.track, target.sum, { offset, size, count: 1, ticks });
    offset += size;
  }
  return offset;
}
