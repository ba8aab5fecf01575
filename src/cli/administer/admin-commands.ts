// `patchbay keys|usage …`: the commands with which workspace administrators and the operator query a running gateway.
import { type Command, Option } from "commander";
import { ROLES } from "../../contract/set-up/app.ts";
import { SCOPES } from "../../contract/scopes.ts";
import { USAGE_GROUPS } from "../../contract/usage.ts";
import {
  withAdminOptions,
  examples,
  jsonOption,
  limitOption,
  outputOption,
  parseSeconds,
  repeatableOption,
  type Run,
  urlOption,
  yesOption,
} from "../command-kit.ts";
import { EXIT_CODE_HELP } from "../exit-codes.ts";
import {
  createKey,
  type KeyCreateOptions,
  type KeyListOptions,
  type KeyRevokeOptions,
  type KeyRotateOptions,
  listKeys,
  revokeKey,
  rotateKey,
} from "./keys.ts";
import { usage, type UsageOptions } from "../inspect/usage.ts";

export function addUsage(program: Command, run: Run): void {
  program
    .command("usage")
    .description("See what was used and what it cost, told apart by who pays.")
    .addHelpText(
      "before",
      examples(
        "patchbay usage",
        "patchbay usage --from 2026-11-01 --group-by day,model",
        "patchbay usage --workspace acme --group-by app,key --csv -o acme.csv",
        "patchbay usage --admin-url http://127.0.0.1:8081 --group-by workspace --json",
      ),
    )
    .addHelpText("after", `\n${EXIT_CODE_HELP}`)
    .addOption(new Option("--workspace <workspace>", "As an administrator of this workspace, by slug or id."))
    .addOption(new Option("--admin-url <url>", "As the operator: address of the admin listener, all workspaces."))
    .addOption(new Option("--from <day>", "First day, UTC, such as 2026-11-01; 29 days before the last unless given."))
    .addOption(new Option("--to <day>", "Last day, UTC; today unless given."))
    .addOption(new Option("--group-by <names>", `What rows tell apart, with commas: ${USAGE_GROUPS.join(", ")}.`))
    .addOption(new Option("--app <id>", "Only this app's; for administrators."))
    .addOption(new Option("--key <id>", "Only this key's; for administrators."))
    .addOption(new Option("--csv", "Print the rows as CSV.").conflicts("json"))
    .addOption(jsonOption())
    .addOption(outputOption())
    .addOption(urlOption())
    .addOption(adminOrAppKeyOption())
    .action((options: UsageOptions) => run.interruptibly(() => usage(options, run.terminal, run.signal)));
}

export function addKeys(program: Command, run: Run): void {
  const keys = program
    .command("keys")
    .description("Make, list, rotate and revoke a workspace's API keys.")
    .addHelpText(
      "before",
      examples(
        "patchbay keys create --app notes --name notes-prod",
        "NOTES_KEY=$(patchbay keys create --app notes --scope transcribe --mode test)",
        "patchbay keys list --state active",
        "patchbay keys rotate key_01m7xvdv3gfy48mypwbq45tkm4 --overlap 86400",
        "patchbay keys revoke key_01m7xvdv3gfy48mypwbq45tkm4 --yes",
      ),
    )
    .addHelpText("after", `\n${EXIT_CODE_HELP}`);
  withAdminOptions(keys.command("list").alias("ls").description("List keys, newest first, without their secrets."))
    .addOption(new Option("--app <app>", "Only this app's, by slug or id."))
    .addOption(new Option("--role <role>", "Only keys of this role.").choices(ROLES))
    .addOption(new Option("--state <state>", "Only keys in this state.").choices(["active", "expired", "revoked"]))
    .addOption(limitOption())
    .action((options: KeyListOptions) => run.interruptibly(() => listKeys(options, run.terminal, run.signal)));
  withAdminOptions(keys.command("create").description("Make a key; it is printed this once, alone on stdout."))
    .addOption(new Option("--app <app>", "Slug or id of its app; not given: a key of an administrator."))
    .addOption(
      new Option("--role <role>", "`admin` also administers the workspace; member unless given.").choices(ROLES),
    )
    .addOption(new Option("--mode <mode>", "`test`: the sandbox answers, nothing is spent.").choices(["live", "test"]))
    .addOption(new Option("--name <name>", "What people call it."))
    .addOption(repeatableOption("--scope <scope>", "What it may do; transcribe, chat and jobs unless given.", SCOPES))
    .addOption(new Option("--expires-at <time>", "When it stops working, such as 2027-01-31T00:00:00Z."))
    .addOption(new Option("--route <route>", "Route instead of the app's."))
    .addOption(new Option("--audio-input-override <route>", "Route of audio requests instead of the app's."))
    .addOption(new Option("--audio-purpose-policy <policy>", "Instead of the app's.").choices(["fallback", "strict"]))
    .addOption(
      new Option(
        "--settings <file>",
        "JSON of what has no option, such as quota and purposes, as the API names it; `-` for stdin.",
      ),
    )
    .action((options: KeyCreateOptions) => run.interruptibly(() => createKey(options, run.terminal, run.signal)));
  withAdminOptions(
    keys
      .command("rotate")
      .description("Make a key that takes over from another; it is printed this once, alone on stdout.")
      .argument("<id>", "The old key's id."),
  )
    .addOption(
      new Option(
        "--overlap <seconds>",
        "How long the old one goes on working, at most seven days; 0 unless given.",
      ).argParser(parseSeconds),
    )
    .action((id: string, options: KeyRotateOptions) =>
      run.interruptibly(() => rotateKey(id, options, run.terminal, run.signal)),
    );
  withAdminOptions(
    keys.command("revoke").description("Revoke a key: within 5 s nothing takes it.").argument("<id>", "The key's id."),
  )
    .addOption(yesOption())
    .action((id: string, options: KeyRevokeOptions) =>
      run.interruptibly(() => revokeKey(id, options, run.terminal, run.signal)),
    );
}

function adminOrAppKeyOption(): Option {
  return new Option(
    "--api-key <key>",
    "Key of the app, or of an administrator (PATCHBAY_API_KEY; default: a saved one).",
  );
}
