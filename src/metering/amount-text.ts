// Writes what a budget counts for logs and alerts: "41.20 USD", "80 s of audio", "8 tokens".
import type { Meter } from "./budget.ts";
import { formatUsd } from "./money.ts";

export function amountText(kind: Meter["kind"], amount: bigint): string {
  switch (kind) {
    case "usd":
      return `${formatUsd(amount)} USD`;
    case "audio_seconds":
      return `${Number(amount) / 1000} s of audio`;
    case "tokens":
      return `${amount} tokens`;
  }
}
