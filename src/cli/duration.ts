// Parses a duration as people type it: `90s`, `30m`, `1h`, `2h30m`, `7d`.
import { EXIT } from "./exit-codes.ts";
import { CliError } from "./terminal.ts";

const PARTS = /^(?:(?<days>\d+)d)?(?:(?<hours>\d+)h)?(?:(?<minutes>\d+)m)?(?:(?<seconds>\d+)s)?$/u;

/** Returns seconds. The gateway validates the range. */
export function readDuration(text: string, option: string): number {
  const parts = text === "" ? undefined : PARTS.exec(text)?.groups;
  if (parts === undefined)
    throw new CliError(EXIT.usage, `${option}: ${JSON.stringify(text)} is not a duration.`, {
      hints: ["use a duration such as 90s, 30m, 1h, 2h30m or 7d"],
    });
  const { days = 0, hours = 0, minutes = 0, seconds = 0 } = parts;
  return Number(days) * 86_400 + Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
}
