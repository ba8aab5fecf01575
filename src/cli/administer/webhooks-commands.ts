// Declares `patchbay webhooks …`: its subcommands, options and help.
import { type Command, Option } from "commander";
import { DELIVERY_STATES } from "../../contract/webhook.ts";
import {
  withAdminOptions,
  helpFooter,
  jsonOption,
  limitOption,
  parseSeconds,
  repeatableOption,
  type Run,
  yesOption,
} from "../command-kit.ts";
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
    .description("Set up a workspace's webhook, list and redeliver events, verify signatures.")
    .addHelpText(
      "after",
      helpFooter(
        "SECRET=$(patchbay webhooks set https://hooks.acme.example/patchbay)",
        "patchbay webhooks test",
        "patchbay webhooks list --status failed",
        "patchbay webhooks redeliver --failed --from 2026-11-20T00:00:00Z",
        "patchbay webhooks verify -H 'X-SVC-Webhook-Ts: 1795176001' -H 'X-SVC-Webhook-Signature: 4471cd8a…' < body",
      ),
    );
  addSettings(webhooks, run);
  withAdminOptions(
    webhooks
      .command("list")
      .addHelpText("after", helpFooter("patchbay webhooks list", "patchbay webhooks list --status failed --limit 50"))
      .alias("ls")
      .description("List deliveries of the last seven days, newest first."),
  )
    .addOption(new Option("--status <status>", "Filter by state.").choices(DELIVERY_STATES))
    .addOption(limitOption())
    .action((options: DeliveryListOptions) =>
      run.interruptibly(() => listDeliveries(options, run.terminal, run.signal)),
    );
  withAdminOptions(
    webhooks
      .command("test")
      .addHelpText("after", helpFooter("patchbay webhooks test"))
      .description("Send a signed test delivery now. Exit code 7 if the receiver does not accept it."),
  ).action((options: AdminOptions) => run.interruptibly(() => testWebhook(options, run.terminal, run.signal)));
  withAdminOptions(
    webhooks
      .command("redeliver")
      .addHelpText(
        "after",
        helpFooter(
          "patchbay webhooks redeliver whd_01m7xvdv3gfy48mypwbq45tkm4",
          "patchbay webhooks redeliver --failed --from 2026-11-20T00:00:00Z",
        ),
      )
      .alias("resend")
      .description("Redeliver events under the same ids.")
      .argument("[id...]", "The deliveries' ids."),
  )
    .addOption(new Option("--failed", "All failed deliveries."))
    .addOption(new Option("--from <time>", "Of these, only those created since, such as 2027-01-31T00:00:00Z."))
    .action((ids: readonly string[], options: RedeliverOptions) =>
      run.interruptibly(() => redeliver(ids, options, run.terminal, run.signal)),
    );
  webhooks
    .command("verify")
    .addHelpText(
      "after",
      helpFooter(
        "patchbay webhooks verify body -H 'X-SVC-Webhook-Ts: 1795176001' -H 'X-SVC-Webhook-Signature: 4471cd8a…'",
      ),
    )
    .description("Verify the signature of a delivery offline. Exit code 1 if it is invalid.")
    .argument("[file]", "The body, byte for byte (default: stdin).")
    .addOption(repeatableOption("-H, --header <header>", "A header as received, `Name: value`."))
    .addOption(new Option("--secret <secret>", "The signing secret; prefer PATCHBAY_WEBHOOK_SECRET."))
    .addOption(
      new Option("--tolerance <seconds>", "Maximum age of the delivery in seconds (default: 300).").argParser(
        parseSeconds,
      ),
    )
    .addOption(jsonOption())
    .action((file: string | undefined, options: VerifyOptions) =>
      run.interruptibly(() => verifyDelivery(file, options, run.terminal)),
    );
}

function addSettings(webhooks: Command, run: Run): void {
  withAdminOptions(
    webhooks
      .command("show")
      .addHelpText("after", helpFooter("patchbay webhooks show", "patchbay webhooks show --workspace acme --json"))
      .description("Print the receiver and its state."),
  ).action((options: AdminOptions) => run.interruptibly(() => showWebhook(options, run.terminal, run.signal)));
  withAdminOptions(
    webhooks
      .command("set")
      .addHelpText(
        "after",
        helpFooter(
          "SECRET=$(patchbay webhooks set https://hooks.acme.example/patchbay)",
          "patchbay webhooks set https://hooks.acme.example/patchbay --rotate-secret",
        ),
      )
      .description("Set the receiver. A new signing secret is printed once, alone on stdout.")
      .argument("<url>", "URL of the receiver: https, public address."),
  )
    .addOption(new Option("--disable", "Stop deliveries until it is set again."))
    .addOption(new Option("--rotate-secret", "Create a new secret; the old one also signs for 24 hours."))
    .addOption(new Option("--revoke-previous", "Stop signing with the old secret immediately."))
    .action((url: string, options: WebhookSetOptions) =>
      run.interruptibly(() => setWebhook(url, options, run.terminal, run.signal)),
    );
  withAdminOptions(
    webhooks
      .command("remove")
      .addHelpText("after", helpFooter("patchbay webhooks remove", "patchbay webhooks remove --workspace acme --yes"))
      .description("Remove the webhook. Pending deliveries are dropped."),
  )
    .addOption(yesOption())
    .action((options: WebhookRemoveOptions) =>
      run.interruptibly(() => removeWebhook(options, run.terminal, run.signal)),
    );
}
