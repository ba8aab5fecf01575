// `patchbay webhooks verify`: checks offline whether a delivery is genuine, and if not, why [cli.webhooks].
import { type AlertVerdict, verifyAlert, verifyWebhook, type WebhookVerdict } from "../../webhooks/verify.ts";
import { EXIT } from "../exit-codes.ts";
import { printJson } from "../print.ts";
import { readBytesArgument } from "../read-argument.ts";
import { CliError, type Terminal, stripControlCharacters, write } from "../terminal.ts";

export interface VerifyOptions {
  readonly header?: readonly string[];
  readonly secret?: string;
  readonly tolerance?: number;
  readonly json?: boolean;
}

type Reason = Extract<WebhookVerdict, { readonly ok: false }>["reason"];

const WHY: Readonly<Record<Reason, readonly [message: string, hint: string]>> = {
  missing_header: [
    "X-SVC-Webhook-Ts or X-SVC-Webhook-Signature is missing.",
    "pass both as received: -H 'X-SVC-Webhook-Ts: …' -H 'X-SVC-Webhook-Signature: …'",
  ],
  malformed_timestamp: ["X-SVC-Webhook-Ts is not a time in whole Unix seconds.", "pass it as received"],
  stale_timestamp: [
    "The timestamp is too old; receivers reject it.",
    "for a stored delivery, raise the allowed age: --tolerance 86400",
  ],
  future_timestamp: ["The timestamp is in the future.", "compare this machine's clock with the gateway's"],
  wrong_signature: [
    "The signature does not match this body, time and secret.",
    "pass the exact bytes that were received, and the whole secret including whsec_",
  ],
  malformed_body: [
    "The signature is valid, but the body is neither a webhook event nor an alert.",
    "check what was signed",
  ],
};

export async function verifyDelivery(
  file: string | undefined,
  options: VerifyOptions,
  terminal: Terminal,
): Promise<void> {
  const secret = options.secret ?? terminal.env["PATCHBAY_WEBHOOK_SECRET"] ?? "";
  if (secret === "") throw new CliError(EXIT.usage, "No signing secret. Use --secret or set PATCHBAY_WEBHOOK_SECRET.");
  const headers = Object.fromEntries((options.header ?? []).map(parseHeader));
  const body = await readBytesArgument(file ?? "-", "the body", terminal);
  const tolerance = options.tolerance === undefined ? {} : { toleranceSeconds: options.tolerance };
  const verdict = verifyWebhook({ body, headers, secret, ...tolerance });
  const asAlert = verifyAlert({ body, headers, secret, ...tolerance });
  if (asAlert.ok) return printAlert(asAlert, options, terminal);
  if (!verdict.ok) {
    const [message, hint] = WHY[verdict.reason];
    throw new CliError(EXIT.unexpected, message, { hints: [hint], document: verdict });
  }
  if (options.json === true) return printJson(terminal, verdict);
  const { event, id } = verdict;
  await write(
    terminal.stdout,
    stripControlCharacters(`OK: ${event.type}  ${event.job_id}  ${event.occurred_at}${id === null ? "" : `  ${id}`}\n`),
  );
}

/** Alerts are signed in the same way [alerts.signature]. */
async function printAlert(
  verdict: Extract<AlertVerdict, { readonly ok: true }>,
  options: VerifyOptions,
  terminal: Terminal,
): Promise<void> {
  if (options.json === true) return printJson(terminal, verdict);
  const { event, cause, occurred_at: at, id } = verdict.alert;
  await write(terminal.stdout, stripControlCharacters(`OK: ${event}  ${cause}  ${at}  ${id}\n`));
}

function parseHeader(line: string): readonly [string, string] {
  const colon = line.indexOf(":");
  if (colon < 1)
    throw new CliError(EXIT.usage, "-H must be a header as received, such as 'X-SVC-Webhook-Ts: 1795176001'.");
  return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
}
