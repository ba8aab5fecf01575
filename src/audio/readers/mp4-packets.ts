// Adds up the packets of one mp4 track whose bytes are really in the file.
import type { ByteReader } from "./byte-reader.ts";
import { InvalidAudio } from "./invalid-audio.ts";
import type { Track } from "./mp4-track.ts";
import { opusPacketSeconds } from "./opus.ts";

export type PacketSum = {
  /** By the codec's own lengths of packets, and by the container's clock. */
  seconds: number;
  clockSeconds: number;
  packets: number;
  bytes: number;
};

export const emptySum = (): PacketSum => ({ seconds: 0, clockSeconds: 0, packets: 0, bytes: 0 });

/** No packet of a codec we know no rule for is longer; the container's clock is not believed beyond it. */
const LONGEST_PACKET_SECONDS = 1;

/** Counts `count` packets of `size` bytes lying one after another from `offset`; `ticks` is what the clock gives each. */
export function addPackets(
  reader: ByteReader,
  track: Track,
  sum: PacketSum,
  run: { offset: number; size: number; count: number; ticks: number },
): void {
  const { offset, size, ticks } = run;
  const present = size > 0 ? Math.min(run.count, Math.max(0, Math.floor((reader.size - offset) / size))) : 0;
  if (present === 0) return;
  sum.packets += present;
  sum.bytes += present * size;
  sum.clockSeconds += (present * ticks) / track.timescale;
  if (sum.bytes > reader.size) throw new InvalidAudio("counts the same bytes more than once");
  const { packet } = track;
  if (packet.kind === "bytes") {
    sum.seconds += (present * size) / packet.perSecond;
    return;
  }
  if (packet.kind !== "opus") {
    const each = packet.kind === "frames" ? packet.seconds : Math.min(ticks / track.timescale, LONGEST_PACKET_SECONDS);
    sum.seconds += present * each;
    return;
  }
  for (let index = 0; index < present; index++) {
    const at = offset + index * size;
    sum.seconds += opusPacketSeconds(reader.u8(at), size > 1 ? reader.u8(at + 1) : 0);
  }
}
