// Formats srt and vtt as the providers do. Does not use the product's own formatter, because tests compare it with this file.
import type { SimulatedSegment } from "./simulate.ts";

export const toSrt = (segments: readonly SimulatedSegment[]): string =>
  segments
    .map(({ start, end, text }, index) => `${index + 1}\n${stamp(start, ",")} --> ${stamp(end, ",")}\n${text}\n\n`)
    .join("");

export const toVtt = (segments: readonly SimulatedSegment[]): string =>
  `WEBVTT\n\n${segments.map(({ start, end, text }) => `${stamp(start, ".")} --> ${stamp(end, ".")}\n${text}\n\n`).join("")}`;

function stamp(seconds: number, mark: string): string {
  const total = Math.round(seconds * 1000);
  const pad = (value: number, width = 2): string => String(Math.floor(value)).padStart(width, "0");
  return `${pad(total / 3_600_000)}:${pad((total / 60_000) % 60)}:${pad((total / 1000) % 60)}${mark}${pad(total % 1000, 3)}`;
}
