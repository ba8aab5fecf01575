// The schema of alert destinations, of the operator and of workspaces, and of the thresholds of alerts.
import { z } from "zod";
import { ALERT_EVENTS, WORKSPACE_ALERT_EVENTS } from "../../contract/alerts.ts";
import { MAX_URL_CHARACTERS, SECRET_MARK, section, textOrNull } from "../../contract/settings/kit.ts";
import { weaknessOfChosen } from "../../lib/weak-secret.ts";

/** Marked as a secret, because the path or the query may contain a token, as those of Slack do. */
const DESTINATION_URL = z
  .string()
  .max(MAX_URL_CHARACTERS)
  .refine(isDestinationUrl, "must be an http:// or https:// URL without credentials or a fragment")
  .meta(SECRET_MARK);

const SIGNING_SECRET = textOrNull()
  .refine(
    (text) => text === null || isSigningSecret(text),
    'must be `whsec_` and 24 to 64 random bytes in base64; make one with `echo "whsec_$(openssl rand -base64 32)"`',
  )
  .meta(SECRET_MARK);

function destination<const Event extends string>(events: readonly [Event, ...Event[]]) {
  return section({
    url: DESTINATION_URL.describe(
      "Receiver of the alerts. The address rules of webhooks apply: https and public addresses, unless `webhooks` allows others.",
    ),
    events: z
      .array(z.enum(events))
      .min(1)
      .default([...events])
      .describe("Events that are sent. Default: all of them."),
    secret: SIGNING_SECRET.describe(
      "Signing secret, `whsec_` and random bytes in base64; not set: derived from `secrets.key_pepper` and printed by `patchbay alerts secret`.",
    ),
  });
}

export const alertDestination = destination(ALERT_EVENTS);
export const workspaceAlertDestination = destination(WORKSPACE_ALERT_EVENTS);

export const alertThresholdsSection = section({
  circuit_open_minutes: z
    .int()
    .min(1)
    .max(1_440)
    .default(5)
    .describe("`circuit_open`: minutes without a successful call after which an open circuit is reported."),
  jobs_failing_share: z
    .number()
    .gt(0)
    .max(1)
    .default(0.5)
    .describe("`jobs_failing`: share of the jobs that ended in the window, from which failures are reported."),
  jobs_failing_min_jobs: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(10)
    .describe("`jobs_failing`: minimum number of failed jobs in the window."),
  jobs_failing_window_minutes: z
    .int()
    .min(1)
    .max(1_440)
    .default(15)
    .describe("`jobs_failing`: length of the window in minutes."),
  disk_free_bytes: z
    .int()
    .min(0)
    .default(1_073_741_824)
    .describe("`disk_low`: free bytes below which the disk of `data_dir`, or of its spool, is reported. 0: never."),
});

function isDestinationUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const isWeb = url.protocol === "http:" || url.protocol === "https:";
  return isWeb && url.username === "" && url.password === "" && url.hash === "";
}

function isSigningSecret(text: string): boolean {
  const [, encoded] = /^whsec_([A-Za-z0-9+/]+={0,2})$/u.exec(text) ?? [];
  if (encoded === undefined || weaknessOfChosen(encoded) !== null) return false;
  const bytes = Buffer.from(encoded, "base64");
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString("base64") === encoded;
}
