// `patchbay webhooks …`: commands, options and help.
import { type Command, Option } from "commander";
import { DELIVERY_STATES } from "../../contract/webhook.ts";
import {
  withAdminOptions,
  examples,
  jsonOption,
  limitOption,
  parseSeconds,
  repeatableOption,
  type Run,
  yesOption,
} from "../command-kit.ts";
import { EXIT_CODE_HELP } from "../exit-codes.ts";
import type { AdminOptions } from "./keys.ts";
import { verifyDelivery, type VerifyOptions } from "./verify-webhook.ts";
import {
  type DeliveryListOptions,
  listDeliveries,
  redeliver,
  type RedeliverOptions,
  removeWebhook,
  setWebhook,
  showWebhook,
  testWebhook,
  type WebhookRemoveOptions,
  type WebhookSetOptions,
} from "./webhooks.ts";

export function addWebhooks(program: Command, run: Run): void {
  const webhooks = program
    .command("webhooks")
    .description("Set up a workspace's webhook, see its deliveries, send them again, check their signatures.")
    .addHelpText(
      "before",
      examples(
        "SECRET=$(patchbay webhooks set https://hooks.acme.example/patchbay)",
        "patchbay webhooks test",
        "patchbay webhooks list --status failed",
        "patchbay webhooks redeliver --failed --from 2026-11-20T00:00:00Z",
        "patchbay webhooks verify -H 'X-SVC-Webhook-Ts: 1795176001' -H 'X-SVC-Webhook-Signature: 4471cd8a…' < body",
      ),
    )
    .addHelpText("after", `\n${EXIT_CODE_HELP}`);
  addSettings(webhooks, run);
  withAdminOptions(
    webhooks.command("list").alias("ls").description("List deliveries of the last seven days, newest first."),
  )
    .addOption(new Option("--status <status>", "Only deliveries in this state.").choices(DELIVERY_STATES))
    .addOption(limitOption())
    .action((options: DeliveryListOptions) =>
      run.interruptibly(() => listDeliveries(options, run.terminal, run.signal)),
    );
  withAdminOptions(
    webhooks
      .command("test")
      .description("Send one signed test delivery, now; exit code 7 if the receiver does not take it."),
  ).action((options: AdminOptions) => run.interruptibly(() => testWebhook(options, run.terminal, run.signal)));
  withAdminOptions(
    webhooks
      .command("redeliver")
      .alias("resend")
      .description("Deliver events again, under the same ids.")
      .argument("[id...]", "The deliveries' ids."),
  )
    .addOption(new Option("--failed", "All that were given up."))
    .addOption(new Option("--from <time>", "Of these, only those made since, such as 2027-01-31T00:00:00Z."))
    .action((ids: readonly string[], options: RedeliverOptions) =>
      run.interruptibly(() => redeliver(ids, options, run.terminal, run.signal)),
    );
  webhooks
    .command("verify")
    .description("Check the signature of a delivery; exit code 1 if it is not right. No gateway is asked.")
    .argument("[file]", "The body, byte for byte; stdin unless given.")
    .addOption(repeatableOption("-H, --header <header>", "A header as it came, `Name: value`."))
    .addOption(new Option("--secret <secret>", "The signing secret, better given as PATCHBAY_WEBHOOK_SECRET."))
    .addOption(
      new Option("--tolerance <seconds>", "How old the delivery may be; 300 unless given.").argParser(parseSeconds),
    )
    .addOption(jsonOption())
    .action((file: string | undefined, options: VerifyOptions) =>
      run.interruptibly(() => verifyDelivery(file, options, run.terminal)),
    );
}

function addSettings(webhooks: Command, run: Run): void {
  withAdminOptions(webhooks.command("show").description("Print where events go, and how that fares.")).action(
    (options: AdminOptions) => run.interruptibly(() => showWebhook(options, run.terminal, run.signal)),
  );
  withAdminOptions(
    webhooks
      .command("set")
      .description("Say where events go; a new signing secret is printed this once, alone on stdout.")
      .argument("<url>", "The receiver: https, a public address."),
  )
    .addOption(new Option("--disable", "Deliver nothing until it is set again."))
    .addOption(new Option("--rotate-secret", "Make a new secret; for 24 hours the old one signs too."))
    .addOption(new Option("--revoke-previous", "End signing with the old secret at once."))
    .action((url: string, options: WebhookSetOptions) =>
      run.interruptibly(() => setWebhook(url, options, run.terminal, run.signal)),
    );
  withAdminOptions(webhooks.command("remove").description("Remove the webhook; what waits for delivery is given up."))
    .addOption(yesOption())
    .action((options: WebhookRemoveOptions) =>
      run.interruptibly(() => removeWebhook(options, run.terminal, run.signal)),
    );
}
