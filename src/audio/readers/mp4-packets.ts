// Adds up the number and duration of an mp4 track's packets, counting only packets that are completely in the file.
import type { ByteReader } from "./byte-reader.ts";
import { InvalidAudio } from "./invalid-audio.ts";
import type { Track } from "./mp4-track.ts";
import { opusPacketSeconds } from "./opus.ts";

export type PacketSum = {
  /** By the codec's own packet durations, and by the container's clock. */
  seconds: number;
  clockSeconds: number;
  packets: number;
  bytes: number;
};

export const emptySum = (): PacketSum => ({ seconds: 0, clockSeconds: 0, packets: 0, bytes: 0 });

/** Upper bound per packet of a codec without a known rule: the container's clock is not trusted beyond it. */
const LONGEST_PACKET_SECONDS = 1;

/** Counts `count` consecutive packets of `size` bytes from `offset`. `ticks` is the duration of each in the container's clock. */
export function addPackets(
  reader: ByteReader,
  track: Track,
  sum: PacketSum,
  run: { offset: number; size: number; count: number; ticks: number },
): void {
  const { offset, size, ticks } = run;
  const count = size > 0 ? Math.min(run.count, Math.max(0, Math.floor((reader.size - offset) / size))) : 0;
  if (count === 0) return;
  sum.packets += count;
  sum.bytes += count * size;
  sum.clockSeconds += (count * ticks) / track.timescale;
  if (sum.bytes > reader.size) throw new InvalidAudio("counts the same bytes more than once");
  const { packet } = track;
  if (packet.kind === "bytes") {
    sum.seconds += (count * size) / packet.perSecond;
    return;
  }
  if (packet.kind !== "opus") {
    const packetSeconds =
      packet.kind === "frames" ? packet.seconds : Math.min(ticks / track.timescale, LONGEST_PACKET_SECONDS);
    sum.seconds += count * packetSeconds;
    return;
  }
  for (let index = 0; index < count; index++) {
    const at = offset + index * size;
    sum.seconds += opusPacketSeconds(reader.u8(at), size > 1 ? reader.u8(at + 1) : 0);
  }
}
