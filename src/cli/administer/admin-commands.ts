// Declares `patchbay keys …` and `patchbay usage`, for administrators and the operator: their subcommands, options and help.
import { type Command, Option } from "commander";
import { ROLES } from "../../contract/settings/app.ts";
import { SCOPES } from "../../contract/scopes.ts";
import { USAGE_GROUPS } from "../../contract/usage.ts";
import {
  withAdminOptions,
  helpFooter,
  jsonOption,
  limitOption,
  outputOption,
  parseSeconds,
  repeatableOption,
  type Run,
  urlOption,
  yesOption,
} from "../command-kit.ts";
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
    .description("Show usage and cost, by billing class.")
    .addHelpText(
      "after",
      helpFooter(
        "patchbay usage",
        "patchbay usage --from 2026-11-01 --group-by day,model",
        "patchbay usage --workspace acme --group-by app,key --csv -o acme.csv",
        "patchbay usage --admin-url http://127.0.0.1:8081 --group-by workspace --json",
      ),
    )
    .addOption(new Option("--workspace <workspace>", "Workspace to administer, by slug or id."))
    .addOption(
      new Option("--admin-url <url>", "Address of the admin listener: usage of all workspaces, for operators."),
    )
    .addOption(
      new Option("--from <day>", "First day in UTC, such as 2026-11-01 (default: 29 days before the last day)."),
    )
    .addOption(new Option("--to <day>", "Last day in UTC (default: today)."))
    .addOption(new Option("--group-by <names>", `Dimensions to group by, comma-separated: ${USAGE_GROUPS.join(", ")}.`))
    .addOption(new Option("--app <id>", "Filter by app (administrators only)."))
    .addOption(new Option("--key <id>", "Filter by key (administrators only)."))
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
    .description("Create, list, rotate and revoke a workspace's API keys.")
    .addHelpText(
      "after",
      helpFooter(
        "patchbay keys create --app notes --name notes-prod",
        "NOTES_KEY=$(patchbay keys create --app notes --scope transcribe --mode test)",
        "patchbay keys list --state active",
        "patchbay keys rotate key_01m7xvdv3gfy48mypwbq45tkm4 --overlap 86400",
        "patchbay keys revoke key_01m7xvdv3gfy48mypwbq45tkm4 --yes",
      ),
    );
  withAdminOptions(
    keys
      .command("list")
      .addHelpText("after", helpFooter("patchbay keys list --state active", "patchbay keys list --app notes --json"))
      .alias("ls")
      .description("List keys, newest first, without their secrets."),
  )
    .addOption(new Option("--app <app>", "Filter by app, by slug or id."))
    .addOption(new Option("--role <role>", "Filter by role.").choices(ROLES))
    .addOption(new Option("--state <state>", "Filter by state.").choices(["active", "expired", "revoked"]))
    .addOption(limitOption())
    .action((options: KeyListOptions) => run.interruptibly(() => listKeys(options, run.terminal, run.signal)));
  withAdminOptions(
    keys
      .command("create")
      .addHelpText(
        "after",
        helpFooter(
          "patchbay keys create --app notes --name notes-prod",
          "NOTES_KEY=$(patchbay keys create --app notes --scope transcribe --mode test)",
          "patchbay keys create --role admin --name on-call",
        ),
      )
      .description("Create a key. It is printed once, alone on stdout."),
  )
    .addOption(new Option("--app <app>", "Slug or id of its app. Without it, an administrator key is created."))
    .addOption(
      new Option("--role <role>", "`admin` can also administer the workspace (default: member).").choices(ROLES),
    )
    .addOption(
      new Option("--mode <mode>", "`test`: the sandbox answers and nothing is charged.").choices(["live", "test"]),
    )
    .addOption(new Option("--name <name>", "Display name."))
    .addOption(repeatableOption("--scope <scope>", "What it may do (default: transcribe, chat and jobs).", SCOPES))
    .addOption(new Option("--expires-at <time>", "When it expires, such as 2027-01-31T00:00:00Z."))
    .addOption(new Option("--route <route>", "Route that overrides the app's."))
    .addOption(new Option("--audio-input-override <route>", "Route of audio requests that overrides the app's."))
    .addOption(
      new Option("--audio-purpose-policy <policy>", "Overrides the app's policy.").choices(["fallback", "strict"]),
    )
    .addOption(
      new Option(
        "--settings <file>",
        "JSON of fields without an option, such as quota and purposes, named as in the API; `-` for stdin.",
      ),
    )
    .action((options: KeyCreateOptions) => run.interruptibly(() => createKey(options, run.terminal, run.signal)));
  withAdminOptions(
    keys
      .command("rotate")
      .addHelpText("after", helpFooter("patchbay keys rotate key_01m7xvdv3gfy48mypwbq45tkm4 --overlap 86400"))
      .description("Create a key that replaces another. It is printed once, alone on stdout.")
      .argument("<id>", "The old key's id."),
  )
    .addOption(
      new Option("--overlap <seconds>", "How long the old key stays valid, at most seven days (default: 0).").argParser(
        parseSeconds,
      ),
    )
    .action((id: string, options: KeyRotateOptions) =>
      run.interruptibly(() => rotateKey(id, options, run.terminal, run.signal)),
    );
  withAdminOptions(
    keys
      .command("revoke")
      .addHelpText(
        "after",
        helpFooter(
          "patchbay keys revoke key_01m7xvdv3gfy48mypwbq45tkm4",
          "patchbay keys revoke key_01m7xvdv3gfy48mypwbq45tkm4 --yes",
        ),
      )
      .description("Revoke a key. It is rejected everywhere within 5 s.")
      .argument("<id>", "The key's id."),
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
